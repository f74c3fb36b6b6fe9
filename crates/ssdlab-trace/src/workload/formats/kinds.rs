//! Kinds of files that are often taken for block traces, by marks in their text: what each is, and what to record instead.

use super::recognise::most;

/// What has the requests that a file lacks.
#[derive(Clone, Copy)]
enum Instead {
    /// A program that records the block requests of Linux.
    Linux,
    /// A recording of the disk events of Windows.
    Windows,
    /// Anything else.
    Other(&'static str),
}

impl Instead {
    fn text(self) -> &'static str {
        match self {
            Instead::Linux => "record the block requests below it: ssdlab trace record, or blktrace",
            Instead::Windows => {
                "record the disk's events (xperf -on DISK_IO, xperf -i FILE.etl -o FILE.csv -a dumper) and make a CSV of them: \
                 docs/trace-formats.md has the command"
            }
            Instead::Other(what) => what,
        }
    }
}

/// A kind of file.
struct Kind {
    what: &'static str,
    instead: Instead,
    /// Any of these in a file means this kind: texts that one line holds, in their order, in either case.
    marks: &'static [&'static [&'static str]],
}

const FILES: &str = "a trace of file operations, which has no addresses on a device";
const KEYS: &str = "a trace of keys or objects (get, set, ...), which has no addresses on a device";
const LLM: &str = "a trace of requests to a language model (lengths of prompts and answers), which has no addresses on a device";
const AVERAGES: &str = "averages or counters over intervals, which have no single requests";
const HISTOGRAM: &str = "a histogram, which has no single requests";
const LATENCIES: &str = "latencies without addresses";
const SUMMARY: &str = "the summary of a benchmark, which has no single requests";
const WINDOWS_FILES: &str = "file operations of Windows (Procmon), which have no addresses on a device";
const OF_FIO: Instead = Instead::Other(
    "record its requests with write_iolog=FILE, run its job with --fio, or calibrate a drive to its JSON output (--output-format=json, then ssdlab calibrate FILE.json)",
);

static KINDS: &[Kind] = &[
    Kind {
        what: "a log of SPDK's NVMe driver, which has only the commands that it printed, mostly those that failed",
        instead: Instead::Other("record all with SPDK's tracepoints (-e bdev, spdk_trace), and make a CSV of its BDEV_IO_START lines"),
        marks: &[&["print_command:", "sqid:", "cid:"], &["print_completion:", "sqid:", "cid:"], &["spdk", "dpdk", "initialization"]],
    },
    Kind {
        what: "the output of spdk_trace; its starts of requests count the blocks of a device, whose size it does not state",
        instead: Instead::Other(
            "make a CSV of them (B: bytes of a block): awk -v B=512 'BEGIN{print \"timestamp_us,op,offset_bytes,size_bytes\"} \
             /BDEV_IO_START/{o=t=a=n=\"\";for(i=1;i<NF;i++){if($i==\"type:\")o=$(i+1);if($i==\"offset:\")a=$(i+1);if($i==\"len:\")n=$(i+1);\
             if(t==\"\"&&$i~/:$/&&$(i+1)~/^[0-9]+[.][0-9]+$/)t=$(i+1)}o=substr(\"RWTF\",o,1);\
             if(o!=\"\")printf \"%s,%s,%.0f,%.0f\\n\",t,o,a*B,n*B}' FILE",
        ),
        marks: &[&["TSC Rate:"], &["BDEV_IO_START", "id:"], &["BDEV_IO_DONE", "id:"], &["NVMF_REQ_", "id:"], &["NVME_", "_SUBMIT", "id:"]],
    },
    Kind {
        what: "text of bpf_printk, whose layout only its program knows",
        instead: Instead::Other(
            "record the kernel's own events: trace-cmd record -e block:block_rq_issue, ssdlab trace record, or blktrace; or print CSV with \
             the header timestamp_us,op,offset_bytes,size_bytes",
        ),
        marks: &[&["bpf_trace_printk:"], &["bpf_printk:"]],
    },
    Kind {
        what: "file operations of Darshan (DXT), which have no addresses on a device",
        instead: Instead::Linux,
        marks: &[
            &["# darshan log version"],
            &["# DXT,"],
            &["X_POSIX"],
            &["X_MPIIO"],
            &["#", "Module", "Rank", "Segment", "Offset", "Length"],
        ],
    },
    Kind {
        what: LLM,
        instead: Instead::Linux,
        marks: &[
            &["ContextTokens", "GeneratedTokens"],
            &["request tokens", "response tokens"],
            &["input_length", "output_length"],
            &["input_len", "output_len"],
            &["prompt_tokens", "completion_tokens"],
            &["num_prefill_tokens", "num_decode_tokens"],
            &["input_tokens", "output_tokens"],
            &["prompt_len", "output_len"],
        ],
    },
    Kind {
        what: WINDOWS_FILES,
        instead: Instead::Windows,
        marks: &[&["Process Name", "Operation", "Path"], &["<procmon>"], &["<ProcessName>", "<Operation>"]],
    },
    Kind {
        what: "the output of tracerpt or wevtutil, whose events of disks have no columns of their own",
        instead: Instead::Windows,
        marks: &[
            &["Event Name", "Event ID", "Clock-Time"],
            &["Event Name", "Type", "TID", "Clock-Time"],
            &["schemas.microsoft.com/win/2004/08/events"],
            &["Files Processed:", ".etl"],
        ],
    },
    Kind {
        what: "counters of Windows (typeperf, Performance Monitor), averages without single requests",
        instead: Instead::Windows,
        marks: &[&["(PDH-CSV"], &["(PDH-TSV"], &["\\PhysicalDisk("], &["\\LogicalDisk("]],
    },
    Kind {
        what: "the summary of a benchmark of Windows, which has no single requests",
        instead: Instead::Windows,
        marks: &[
            &["Command Line:", "diskspd"],
            &["Results for timespan"],
            &["<TimeSpan>"],
            &["<ComputerName>"],
            &["<Profile>"],
            &["CrystalDiskMark"],
            &["AS SSD Benchmark"],
            &["ATTO Disk Benchmark"],
            &["'Test Type,"],
        ],
    },
    Kind {
        what: "the output of fio, a summary without single requests",
        instead: OF_FIO,
        marks: &[
            &["(g=", "rw=", "bs=", "ioengine="],
            &["fio-", "Starting", "process"],
            &[": IOPS=", "BW="],
            &["Run status group"],
            &["3;fio-"],
            &["4;fio-"],
            &["5;fio-"],
        ],
    },
    Kind {
        what: SUMMARY,
        instead: Instead::Linux,
        marks: &[
            &["sysbench ", "LuaJIT"],
            &["<<<", "request=", "time="],
            &["ioping statistics"],
            &["Timing buffered disk reads"],
            &["Timing cached reads"],
            &["records in"],
            &["bytes", "copied,"],
            &["Iozone: Performance Test"],
            &["Version", "Sequential Output", "Sequential Input"],
            &["Filebench Version"],
            &["IO Summary:", "ops"],
            &["Vdbench distribution"],
            &["interval", "i/o", "MB/sec"],
            &["transaction type:"],
            &["tps =", "connections"],
            &["[OVERALL],"],
            &["micros/op"],
            &["Device Information", "IOPS", "MiB/s"],
            &["OPERATION", "RESULT TYPE", "FIRST DONE"],
            &["KDiskMark ("],
            &["[METRIC]"],
            &["Mean Throughput Over", "seconds"],
            &["Summary of all tests"],
            &["requests completed in", "seconds"],
        ],
    },
    Kind {
        what: AVERAGES,
        instead: Instead::Linux,
        marks: &[
            &["Device", "r/s", "w/s"],
            &["Device", "tps"],
            &["DEV", "tps", "%util"],
            &["rd_sec/s", "wr_sec/s"],
            &["rkB/s", "wkB/s"],
            &["bread/s", "bwrtn/s"],
            &["avg-cpu:"],
            &["procs", "memory", "swap", "cpu"],
            &["-dsk/", "-net/"],
            &["read", "writ", "recv", "send"],
            &["UID", "PID", "kB_rd/s"],
            &["Total DISK READ"],
            &["capacity", "operations", "bandwidth"],
            &["AAA,progname,nmon"],
            &["#<--", "DISK"],
            &["[DSK]"],
            &["%usr", "%sys", "%iowait"],
            &["Smart Log for NVME"],
            &["smartctl ", "linux"],
            &["Linux", "_x86_64_", "CPU)"],
            &["Linux", "_aarch64_", "CPU)"],
            &["==================== All Devices"],
            &["KB/t", "tps", "MB/s"],
            &["read_bytes", "write_bytes", "read_count"],
        ],
    },
    Kind {
        what: HISTOGRAM,
        instead: Instead::Linux,
        marks: &[
            &["Histogram:", "virtual machine worldgroup"],
            &["Frequency", "Histogram Bucket Limit"],
            &["Histogram:", "IO"],
            &["usecs", ": count", "distribution"],
            &["msecs", ": count", "distribution"],
            &["nsecs", ": count", "distribution"],
            &["kbytes", ": count", "distribution"],
            &[": count", "distribution"],
            &["Distribution -------------", "count"],
            &["[", ")", "|@"],
            &["Value", "Percentile", "TotalCount"],
        ],
    },
    Kind {
        what: LATENCIES,
        instead: Instead::Other(
            "record with biosnoop of BCC (biosnoop-bpfcc), whose table has SECTOR and BYTES, with ssdlab trace record, or with blktrace",
        ),
        marks: &[&["DISK", "COMM", "PID", "LAT(ms)"], &["Tracing block device I/O", "Ctrl-C"], &["COMM", "PID", "TYPE", "DEV", "LATms"]],
    },
    Kind {
        what: "sums over programs (biotop), which have no single requests",
        instead: Instead::Linux,
        marks: &[&["PID", "COMM", "D MAJ MIN DISK", "I/O"]],
    },
    Kind {
        what: FILES,
        instead: Instead::Linux,
        marks: &[&["COMM", "PID", "FILENAME"], &["PID", "COMM", "FD", "ERR", "PATH"], &["# Recorder"]],
    },
    Kind {
        what: KEYS,
        instead: Instead::Linux,
        marks: &[
            &["[0 ", "] \"GET\""],
            &["[0 ", "] \"SET\""],
            &["READ usertable"],
            &["UPDATE usertable"],
            &["INSERT usertable"],
            &["SCAN usertable"],
        ],
    },
    Kind {
        what: "JSON of bpftrace (-f json), in which lines of text are values",
        instead: Instead::Other(
            "let bpftrace print text (without -f json), as CSV with the header timestamp_us,op,offset_bytes,size_bytes",
        ),
        marks: &[&["{\"type\":", "attached_probes"], &["{\"type\":", "printf", "\"data\":"], &["{\"type\":", "\"data\":", "{\"@"]],
    },
    Kind {
        what: "a log of the kernel, which has only the requests that it reports",
        instead: Instead::Linux,
        marks: &[&["I/O error, dev ", "sector"], &["] nvme nvme"], &["] EXT4-fs"], &["] systemd["]],
    },
];

/// Message about a file of one of the kinds; `None` for others.
pub(super) fn message(lines: &[&[u8]]) -> Option<String> {
    let lower: Vec<Vec<u8>> = lines.iter().map(|line| line.to_ascii_lowercase()).collect();
    let lines: Vec<&[u8]> = lower.iter().map(Vec::as_slice).collect();
    let is_in = |kind: &&Kind| kind.marks.iter().any(|mark| lines.iter().any(|line| holds(line, mark)));
    let named = KINDS.iter().find(is_in).map(|kind| told(kind.what, kind.instead));
    named.or_else(|| most(&lines, is_of_diskstats).then(|| told(AVERAGES, Instead::Linux)))
}

fn told(what: &str, instead: Instead) -> String {
    format!("{what}; {}", instead.text())
}

/// Names of fields that only traces without addresses have, by kind.
static FIELDS: &[(&str, Instead, &[&str])] = &[
    (
        LLM,
        Instead::Linux,
        &[
            "hash_ids",
            "input_length",
            "output_length",
            "input_len",
            "output_len",
            "prompt",
            "prompt_len",
            "prompt_tokens",
            "completion_tokens",
            "input_tokens",
            "output_tokens",
            "num_prefill_tokens",
            "num_decode_tokens",
            "conversations",
            "messages",
        ],
    ),
    ("the output of fio, a summary without single requests", OF_FIO, &["fio version", "clat_ns", "slat_ns"]),
    (AVERAGES, Instead::Linux, &["sysstat", "rkb/s", "wkb/s", "avg-cpu", "read_iops", "write_iops", "iops"]),
    (
        FILES,
        Instead::Linux,
        &["ph", "traceevents", "filename", "fname", "file_name", "fhash", "path", "file", "inode", "ino", "fd", "syscall"],
    ),
    (
        KEYS,
        Instead::Linux,
        &["key", "key_size", "cachekey", "cache_key", "obj_id", "object_id", "objectid", "object", "bucket", "uri", "url"],
    ),
];

/// Message about a file that has fields of a kind, as `has` tells; `None` for others.
pub(super) fn of_names(has: impl Fn(&[&str]) -> bool) -> Option<String> {
    FIELDS.iter().find(|(_, _, names)| has(names)).map(|&(what, instead, _)| told(what, instead))
}

/// Whether a line is of /proc/diskstats: two numbers, a device, and 11 or more counters.
fn is_of_diskstats(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &&[u8]| word.iter().all(u8::is_ascii_digit);
    words.len() >= 14 && words.iter().enumerate().all(|(at, word)| is_number(word) != (at == 2))
}

/// Whether a line, in lower case, holds the texts of a mark in their order.
fn holds(line: &[u8], mark: &[&str]) -> bool {
    let mut rest = line;
    mark.iter().all(|text| {
        let found = memchr::memmem::find(rest, text.to_ascii_lowercase().as_bytes());
        found.inspect(|at| rest = &rest[at + text.len()..]).is_some()
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::own::tests::requests_of;
    use super::super::recognise;

    #[test]
    fn what_is_no_block_trace_is_named_with_what_to_record_instead() {
        for (text, what, instead) in [
            (
                "[2025-01-02 03:04:05.600000] nvme_qpair.c: 250:nvme_io_qpair_print_command: *NOTICE*: READ sqid:2 cid:5 nsid:1 lba:96 len:8\n",
                "a log of SPDK",
                "spdk_trace",
            ),
            ("TSC Rate: 2000000000\ncore  1:  7.5 (  15000)  BDEV_IO_START  id: r3 type: 1 offset: 8 len: 8\n", "spdk_trace", "awk"),
            ("  fio-77 [001] d..21 12.5: bpf_trace_printk: W 4096 8\n", "bpf_printk", "block_rq_issue"),
            (
                "# darshan log version: 3.41\n# DXT, file_id: 7, file_name: /scratch/a\n X_POSIX 0 write 0 0 4096 0.1 0.2\n",
                "DXT",
                "trace record",
            ),
            (
                "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,GPT-4,472,18,490,API log\n",
                "language model",
                "trace record",
            ),
            ("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.680,374,44\n", "language model", "trace record"),
            (
                "\"Time of Day\",\"Process Name\",\"PID\",\"Operation\",\"Path\"\n\"1:02:03 PM\",\"a.exe\",\"4\",\"ReadFile\",\"C:\\x\"\n",
                "Procmon",
                "xperf",
            ),
            ("Event Name,  Type,  Event ID,  Version,  Channel,  Clock-Time\nDiskIo, Read, 0, 3, 0, 133\n", "tracerpt", "xperf"),
            ("<?xml version=\"1.0\"?>\n<Event xmlns=\"http://schemas.microsoft.com/win/2004/08/events/event\">\n", "tracerpt", "xperf"),
            ("\nCommand Line: diskspd.exe -b4K -d5 x.dat\n\nInput parameters:\n", "summary of a benchmark of Windows", "xperf"),
            ("Linux 6.1.0 (host) \t01/02/25 \t_x86_64_\t(8 CPU)\n\nDevice  r/s  w/s\nsda  1.00  2.00\n", "averages", "trace record"),
            ("   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n   8       1 sda1 1 2 3 4 5 6 7 8 9 10 11\n", "averages", "trace record"),
            ("12:00:01 AM  DEV  tps  rkB/s  wkB/s  %util\n12:10:01 AM  sda  4.00  8.00  9.00  1.00\n", "averages", "trace record"),
            (
                "Histogram: IO lengths of commands,virtual machine worldgroup ID : 7,virtual disk handle ID : 8\nmin,4096\n",
                "a histogram",
                "trace record",
            ),
            (
                "     usecs               : count     distribution\n         0 -> 1          : 12       |****|\n",
                "a histogram",
                "trace record",
            ),
            (
                "Attaching 4 probes...\nTIME(ms)     DISK    COMM             PID    LAT(ms)\n611          nvme0n1 bash             4179      10\n",
                "without addresses",
                "biosnoop-bpfcc",
            ),
            ("job: (g=0): rw=randread, bs=(R) 4096B-4096B, ioengine=libaio, iodepth=4\nfio-3.36\n", "fio", "write_iolog"),
            ("sysbench 1.0.20 (using system LuaJIT 2.1.0)\n\nThroughput:\n", "summary of a benchmark", "trace record"),
            ("1339518083.107412 [0 127.0.0.1:60866] \"GET\" \"x\"\n", "keys or objects", "trace record"),
        ] {
            let message = recognise(Path::new("x"), text.as_bytes(), true).err().unwrap().to_string();
            assert!(message.contains(what) && message.contains(instead) && !message.contains('\n'), "{text}: {message}");
        }
    }

    #[test]
    fn the_command_for_spdk_trace_makes_a_trace_of_it() {
        let text = "TSC Rate: 2000000000\ncore  1:    7.500 (   15000)  BDEV_IO_START   id: r3  type: 2  ctx: 0x20  offset: 16 len: 8\n\
                    core  1:    9.500 (   19000)  BDEV_IO_DONE   id: r3  time: 2.000\n";
        let message = super::message(&text.lines().map(str::as_bytes).collect::<Vec<_>>()).unwrap();
        assert_eq!(requests_of(&message[message.find("awk ").unwrap()..], text), [(7_500, "Write".into(), 8192, 4096)]);
    }

    /// The names of processes in a trace are no marks.
    #[test]
    fn a_trace_of_a_tool_is_read() {
        let text = "8,16 0 1 0.5 77 Q R 0 + 8 [diskspd]\n8,16 0 2 0.6 77 Q W 8 + 8 [sysbench LuaJIT]\n";
        assert_eq!(recognise(Path::new("x"), text.as_bytes(), true).unwrap().format.name, "blkparse");
    }
}
