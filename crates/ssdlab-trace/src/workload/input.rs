//! Bytes of a trace file: decompression by content, a large line buffer, and how much of the file is consumed.

use std::io::{Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::inputs;

/// Longest line, bytes. A longer one is reported as unreadable instead of being held in memory.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024;
/// Number of bytes at the start of a text from which its format is recognised.
pub(crate) const SAMPLE_BYTES: usize = 64 * 1024;
const BUFFER_BYTES: usize = 512 * 1024;

/// The compression of a file, detected by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// Not compressed.
    None,
    /// gzip, one or several members.
    Gzip,
    /// bzip2, one or several streams.
    Bzip2,
    /// Zstandard, one or several frames.
    Zstd,
}

impl Compression {
    /// The compression that the first bytes of a file indicate.
    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // "BZh1" .. "BZh9", then the magic number of a block or of the end of an empty stream.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Compression::Bzip2,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Compression::None => "plain",
            Compression::Gzip => "gzip",
            Compression::Bzip2 => "bzip2",
            Compression::Zstd => "zstd",
        }
    }
}

/// Counter of the bytes of a file consumed so far; other threads may read it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Consumed {
    bytes: Arc<AtomicU64>,
    total: u64,
}

impl Consumed {
    /// Share of the file consumed, 0..=1; `None` if its length is unknown (a pipe).
    pub(crate) fn share(&self) -> Option<f64> {
        (self.total > 0).then(|| (self.bytes.load(Ordering::Relaxed) as f64 / self.total as f64).min(1.0))
    }
}

struct Counting<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The decompressed lines of a file, in one reused buffer.
pub(crate) struct Lines {
    input: Box<dyn Read + Send>,
    path: PathBuf,
    compression: Compression,
    consumed: Consumed,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    number: u64,
    caller: Caller,
}

/// A line or binary record: its number from 1, and its text without the line end, or `None` for a line longer than [`LINE_BYTES_MAX`].
pub(crate) struct Line<'a> {
    pub(crate) number: u64,
    pub(crate) text: Option<&'a [u8]>,
}

impl Lines {
    /// Opens a file or a pipe; its first bytes determine the compression. Reading ends once `caller` requests a stop.
    pub(crate) fn open(path: &Path, caller: &Caller) -> Result<Self> {
        let file = inputs::open(path).map_err(|e| Error::io("read", path, e))?;
        let metadata = file.metadata().map_err(|e| Error::io("read", path, e))?;
        let total = if metadata.is_file() { metadata.len() } else { 0 };
        let consumed = Consumed { bytes: Arc::default(), total };
        let mut file = Counting { inner: file, bytes: consumed.bytes.clone() };
        let head = read_head(&mut file).map_err(|e| Error::io("read", path, e))?;
        let compression = Compression::of(&head);
        let whole = Cursor::new(head).chain(file);
        let input: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(whole),
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(whole)),
            Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(whole)),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(whole).map_err(|e| Error::io("read", path, e))?),
        };
        let buffer = vec![0; BUFFER_BYTES];
        let (path, caller) = (path.to_path_buf(), caller.clone());
        Ok(Lines { input, path, compression, consumed, buffer, start: 0, end: 0, at_end: false, number: 0, caller })
    }

    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    pub(crate) fn consumed(&self) -> &Consumed {
        &self.consumed
    }

    /// The first bytes of the decompressed text, at most [`SAMPLE_BYTES`], without consuming them, and whether they are the whole text.
    pub(crate) fn sample(&mut self) -> Result<(&[u8], bool)> {
        while self.end - self.start < SAMPLE_BYTES && !self.at_end {
            self.fill()?;
        }
        let end = self.end.min(self.start + SAMPLE_BYTES);
        Ok((&self.buffer[self.start..end], self.at_end && end == self.end))
    }

    /// The next line, or `None` at the end. A last line without a line end counts.
    #[inline]
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let waiting = &self.buffer[self.start..self.end];
            if let Some(found) = memchr::memchr(b'\n', &waiting[searched..]) {
                let length = searched + found;
                let from = self.start;
                self.start += length + 1;
                return Ok(Some(self.line(from, length)));
            }
            searched = waiting.len();
            if searched > LINE_BYTES_MAX {
                return self.too_long();
            }
            if self.at_end {
                if searched == 0 {
                    return Ok(None);
                }
                let from = self.start;
                self.start = self.end;
                return Ok(Some(self.line(from, searched)));
            }
            self.fill()?;
        }
    }

    /// The next record of `size` bytes (fewer at the end of the file), or `None` at the end. `size` must be far below [`BUFFER_BYTES`].
    pub(crate) fn next_record(&mut self, size: usize) -> Result<Option<Line<'_>>> {
        while self.end - self.start < size && !self.at_end {
            self.fill()?;
        }
        let length = size.min(self.end - self.start);
        if length == 0 {
            return Ok(None);
        }
        self.number += 1;
        let from = self.start;
        self.start += length;
        Ok(Some(Line { number: self.number, text: Some(&self.buffer[from..from + length]) }))
    }

    #[inline]
    fn line(&mut self, from: usize, length: usize) -> Line<'_> {
        self.number += 1;
        let text = &self.buffer[from..from + length];
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        // A byte order mark, as spreadsheets write it.
        let text = if self.number == 1 { text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text) } else { text };
        Line { number: self.number, text: (text.len() <= LINE_BYTES_MAX).then_some(text) }
    }

    /// Skips a line longer than [`LINE_BYTES_MAX`] and returns it without text.
    fn too_long(&mut self) -> Result<Option<Line<'_>>> {
        self.number += 1;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += found + 1;
                break;
            }
            self.start = self.end;
            if self.at_end {
                break;
            }
            self.fill()?;
        }
        Ok(Some(Line { number: self.number, text: None }))
    }

    /// Moves the unread bytes to the front of the buffer and reads more behind them. There is always room: callers stop at
    /// [`LINE_BYTES_MAX`].
    #[cold]
    fn fill(&mut self) -> Result<()> {
        self.caller.check()?;
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        assert!(self.end < self.buffer.len(), "a line buffer is full");
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => {
                    self.end += count;
                    self.consumed.share().inspect(|&share| self.caller.report_progress(share));
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(self.unreadable(e)),
            }
            return Ok(());
        }
    }

    fn unreadable(&self, source: std::io::Error) -> Error {
        // An error with a number comes from the operating system, any other from a decoder.
        if self.compression == Compression::None || source.raw_os_error().is_some() {
            return Error::io("read", &self.path, source);
        }
        let (path, name, line) = (self.path.display(), self.compression.name(), self.number + 1);
        let what = if source.kind() == ErrorKind::UnexpectedEof { "cut short" } else { "damaged" };
        Error::Trace(format!("{path}: the {name} data is {what} (near line {line} of the text): {source}"))
    }
}

/// Reads the first 8 bytes, from which the compression is detected; fewer if the file is shorter.
fn read_head(file: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(8).read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn lines_of(path: &Path) -> Result<Vec<Option<String>>> {
        let mut lines = Lines::open(path, &Caller::default())?;
        let mut all = Vec::new();
        while let Some(line) = lines.next_line()? {
            all.push(line.text.map(|t| String::from_utf8_lossy(t).into_owned()));
        }
        Ok(all)
    }

    fn compressed(text: &[u8]) -> Vec<(Compression, Vec<u8>)> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).unwrap();
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bzip2.write_all(text).unwrap();
        vec![
            (Compression::Gzip, gzip.finish().unwrap()),
            (Compression::Bzip2, bzip2.finish().unwrap()),
            (Compression::Zstd, zstd::encode_all(text, 1).unwrap()),
        ]
    }

    #[test]
    fn lines_end_with_lf_or_crlf_or_the_file() {
        let file = file_of(b"\xef\xbb\xbfone\r\n\ntwo");
        assert_eq!(lines_of(file.path()).unwrap(), [Some("one".into()), Some("".into()), Some("two".into())]);
        assert_eq!(lines_of(file_of(b"").path()).unwrap(), []);
    }

    #[test]
    fn an_endless_line_is_passed_over_in_bounded_memory() {
        let mut bytes = vec![b'x'; 3 * BUFFER_BYTES];
        bytes.extend(b"\nnext\n");
        assert_eq!(lines_of(file_of(&bytes).path()).unwrap(), [None, Some("next".into())]);
    }

    #[test]
    fn compression_is_told_by_content_and_concatenated_parts_are_read() {
        for (kind, mut bytes) in compressed(b"first\nsecond\n") {
            bytes.extend(compressed(b"third\n").into_iter().find(|(k, _)| *k == kind).unwrap().1);
            let file = file_of(&bytes);
            assert_eq!(Lines::open(file.path(), &Caller::default()).unwrap().compression(), kind);
            assert_eq!(lines_of(file.path()).unwrap().len(), 3, "{kind:?}");
        }
    }

    #[test]
    fn cut_compressed_data_is_an_error_that_says_so() {
        let text: Vec<u8> = (0..20_000u32).flat_map(|i| format!("{}\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect();
        for (kind, bytes) in compressed(&text) {
            for keep in [bytes.len() / 2, bytes.len() - 3] {
                let message = lines_of(file_of(&bytes[..keep]).path()).unwrap_err().to_string();
                assert!(message.contains(kind.name()) && message.contains("cut short"), "{kind:?} {keep}: {message}");
            }
        }
    }
}
