"""Variants of a comparison: anything that a run takes, beside each other."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, SMALL, SMALL_OPTIONS, Ssdlab
from ssdlab.analysis.differences import Change, changes, in_words, of_variants
from ssdlab.asking import options
from ssdlab.asking.option import options_of
from ssdlab.cli.variants import parse_variants
from ssdlab.pages.report import Runs
from ssdlab.pages.report.causes import causes
from ssdlab.pages.report.runs import command_of, load
from ssdlab.pages.report.summary import summary
from ssdlab.pages.report.verdict import remarks, verdict
from ssdlab.pages.tables.numbers import duration
from ssdlab.runs.variants import OPTIONS, TOGETHER, Variant, compared

FILE = """
[[variants]]
label = "base"

[[variants]]
label = "small buffer"
set = { "buffer.bytes" = "64KiB" }

[[variants]]
label = "pgc"
scheme = "pgc"
seed = 2
"""


def test_the_command_line_takes_every_option_of_run_that_a_variant_may_have() -> None:
    taken = {name for name, option in options_of(options.VariantOptions).items() if option.usage}
    of_run = {name for name, option in options_of(options.RunOptions).items() if option.usage}
    assert of_run - taken == {
        "out",
        "save_state",
        "log_requests",
        "timeline",
        "timeline_window",
        "timeline_limit",
        "slowest",
        "blocks",
        "fio_json",
    }
    (found,) = parse_variants(["a: --device demo-4g --skip 2k --fit 64MiB --alone buffer.bytes=4MiB --set 'gc.soft = 0.1' --verify end"])
    given = {"device": "demo-4g", "skip": 2000, "fit": "64MiB", "alone": True, "verify": "end"}
    assert found == Variant("a", given, (("gc.soft", "0.1"), ("buffer.bytes", "4MiB")))
    assert parse_variants(["as it is:", "b : "]) == [Variant("as it is", {}), Variant("b", {})]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("x", '--variant "x": expected a label, a colon and a space'),
        (": gc.soft=0.1", "expected a label"),
        ("a: --out r", '--variant "a": --out is an option of the whole comparison: give it beside --variant'),
        ("a: --seeds=3", "--seeds is an option of the whole comparison"),
        ("a: --slowest 3", "--slowest is an option of the whole comparison: give it beside --variant"),
        ("a: --timeline x.json", "--timeline is an option of `ssdlab run`, which compare does not have: give --timelines beside --variant"),
        ("a: --save-state x", "--save-state is an option of `ssdlab run`, which compare does not have"),
        ("a: --json", "--json is an option of the whole comparison"),
        ("a: --bogus 3", '--variant "a": No such option: --bogus'),
        ("a: buffer", '--variant "a": buffer: expected an option of run or KEY=VALUE'),
        ("a: 'b", '--variant "a": \'b: No closing quotation'),
        ("a: --skip x", "expected a whole number"),
    ],
)
def test_words_that_are_no_variant_are_refused(words: str, message: str) -> None:
    with pytest.raises(ssdlab.UsageError) as found:
        parse_variants([words])
    assert message in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        ({"a": {"out": "x"}}, 'variant "a": out is an option of the whole comparison'),
        (
            {"a": {"timeline": "x"}},
            "timeline is an option of a single run, which compare does not have: give timelines beside the variants",
        ),
        ({"a": {"devise": "x"}}, 'variant "a": no option "devise"; did you mean "device"?'),
        ({" ": {}}, "expected a name of printable characters"),
        ({"a: b": {}}, "without a colon and a space"),
        ({"against": {}}, "files of results use this name otherwise"),
        ({"a": {"set": {"gc.sofd": 1}}}, 'variant "a": gc.sofd: unknown key'),
        ({"a": 3}, "expected a mapping"),
        ({5: {}}, "a label of variants = 5: expected a text"),
        (5, "variants = 5: expected a mapping"),
        ({"a": {"device": "none-such"}}, 'variant "a": '),
        ({"a": {}, "a, seed 2": {}}, 'label "a, seed 2" is also the name of a run under another seed'),
        ({"a": {"seed": 3}, "b": {}}, 'variant "a": seed and seeds (--seeds) were both given'),
    ],
)
def test_invalid_variants_are_refused_before_any_run(variants: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ssdlab.Error) as found:
        ssdlab.compare(variants=variants, set=SMALL, requests=10, seeds=2, out=tmp_path / "out")
    assert message in str(found.value)
    assert not (tmp_path / "out").exists()


def test_what_to_compare_must_be_clear() -> None:
    with pytest.raises(ssdlab.UsageError, match="nothing to compare"):
        ssdlab.compare()
    with pytest.raises(ssdlab.UsageError, match=r"2 schemes were given beside variants: expected at most one"):
        ssdlab.compare(schemes=["npgc", "pgc"], variants={"a": {}})
    with pytest.raises(ssdlab.UsageError, match='label "a" is there twice'):
        compared([], {"a": {}}, [Variant("a", {})])
    assert not {*OPTIONS} & TOGETHER


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[variants]]\ndevice = 'x'\n", "variants[0]: label is missing"),
        ("[[variants]]\nlabel = 'a'\nout = 'x'\n", "variants[0]: out is an option of the whole comparison"),
        ("[[variants]]\nlabel = 'a'\ndevise = 'x'\n", 'unknown key "devise"; did you mean "device"?'),
        ("[[variants]]\nlabel = 'a'\n[[variants]]\nlabel = 'a'\n", 'label "a" is there twice'),
        ("device = 'x'\n", 'unknown key "device"; expected tables [[variants]]'),
        ("variants = 3\n", "expected tables [[variants]]"),
        ("[[variants]\n", "not valid TOML"),
    ],
)
def test_an_invalid_file_of_variants_gets_one_line(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "variants.toml"
    file.write_text(text)
    with pytest.raises(ssdlab.Error) as found:
        ssdlab.compare(variants=file, requests=10)
    assert message in str(found.value)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssdlab.Comparison, Path]:
    out = tmp_path_factory.mktemp("variants")
    (out / "variants.toml").write_text(FILE)
    where = out / "out"
    return ssdlab.compare(schemes=["npgc"], variants=out / "variants.toml", set=SMALL, requests=300, paired=True, out=where), where


def test_each_variant_is_the_run_that_its_options_describe(three: tuple[ssdlab.Comparison, Path]) -> None:
    comparison, out = three
    small = SMALL | {"buffer.bytes": "64KiB"}
    alone = {
        "base": ssdlab.run(scheme="npgc", set=SMALL, requests=300),
        "small buffer": ssdlab.run(scheme="npgc", set=small, requests=300),
        "pgc": ssdlab.run(scheme="pgc", set=SMALL, requests=300, seed=2),
    }
    assert {label: run.digest for label, run in comparison.items()} == {label: run.digest for label, run in alone.items()}
    saved = ssdlab.load(out)
    assert isinstance(saved, ssdlab.Comparison)
    assert {label: run.digest for label, run in saved.items()} == {label: run.digest for label, run in alone.items()}
    assert saved.variants == comparison.variants
    assert comparison.variants["pgc"]["options"] == {"scheme": "pgc", "seed": 2}
    assert "What each variant changes against base" in str(comparison)
    assert str(saved) == str(comparison)


def test_options_and_keys_of_a_variant_take_the_place_of_those_of_all() -> None:
    found = ssdlab.compare(
        variants={"trace's": {"queue_depth": 4}, "key": {"set": {"workload.queue_depth": 8}}, "other": {"workload": "fio-randread"}},
        queue_depth=2,
        set={key: value for key, value in SMALL.items() if key != "workload.interarrival_us"},
        requests=50,
    )
    assert [run.config["workload"]["queue_depth"] for run in found.values()] == [4, 8, 2]


def test_changes_have_before_and_after(three: tuple[ssdlab.Comparison, Path]) -> None:
    comparison, _ = three
    assert comparison.changes["small buffer"] == [Change("buffer.bytes", "0", "64 KiB")]
    assert comparison.changes["pgc"][:2] == [Change("scheme", "npgc", "pgc"), Change("seed", "1", "2")]
    assert all(not change.given for change in comparison.changes["pgc"][2:])
    assert in_words(comparison.changes["small buffer"]) == "buffer.bytes 64 KiB instead of 0"
    assert in_words(comparison.changes["pgc"]).startswith("scheme pgc instead of npgc; seed 2 instead of 1 (and ")


def test_only_variants_with_the_same_requests_are_paired(three: tuple[ssdlab.Comparison, Path]) -> None:
    comparison, _ = three
    assert set(comparison.paired) == {"small buffer"}
    (remark,) = [remark for remark in comparison.remarks if remark.code == "other-requests"]
    assert (remark.where, remark.severity) == (("pgc",), "warning")
    assert "(seed)" in remark.sentence


def test_the_same_requests_at_other_times_are_paired_and_said() -> None:
    found = ssdlab.compare(
        variants={
            "base": {},
            "faster": {"time_scale": 2.0},
            "closed": {"queue_depth": 4},
            "even": {"set": {"workload.arrival": "fixed"}},
            "bounded": {"set": {"workload.max_outstanding": 1000}},
        },
        set=SMALL,
        requests=300,
        paired=True,
    )
    assert set(found.paired) == {"faster", "closed", "even", "bounded"}
    assert {remark.where for remark in found.remarks if remark.code == "other-times"} == {("faster",), ("closed",), ("even",)}
    assert not [remark for remark in found.remarks if remark.code == "other-requests"]


def test_drives_of_different_sizes_are_fitted_or_said() -> None:
    """12 MiB of 4 KiB pages with 16 in a block: by hand, 3072 pages on 8 planes; what each drive exports is at least that."""
    variants = {"two": {"set": {"device.channels": 2}}, "four": {"set": {"device.channels": 4}}}
    common = {key: value for key, value in SMALL.items() if key not in ("device.channels", "device.blocks_per_plane")}
    apart = ssdlab.compare(variants=variants, set=common, requests=50)
    (remark,) = [remark for remark in apart.remarks if remark.code == "other-sizes"]
    assert remark.severity == "warning"
    assert "up to 2 times as much" in remark.sentence
    fitted = ssdlab.compare(variants=variants, set=common, requests=50, fit="12MiB")
    sizes = [entry["exported_bytes"] for entry in fitted.variants.values()]
    assert min(sizes) >= 12 << 20
    assert max(sizes) / min(sizes) < 1.25
    assert apart.variants["four"]["exported_bytes"] == 2 * apart.variants["two"]["exported_bytes"]


def exported(fit: str, **variants: dict[str, Any]) -> tuple[set[int], set[str]]:
    """The exported sizes of fitted variants, and the codes of the remarks."""
    found = ssdlab.compare(variants=variants, fit=fit, requests=20)  # type: ignore[arg-type]
    return {entry["exported_bytes"] for entry in found.variants.values()}, {remark.code for remark in found.remarks}


def test_drives_of_different_shapes_are_fitted_to_one_size() -> None:
    """Programs of 4 KiB on 8 pools, and on 6 in blocks of another size: by hand, multiples of 32 KiB and of 24 KiB are ones of 96 KiB.

    Of 10 MiB, 10,485,760 bytes, the next multiple of 98,304 is 107 times that.
    """
    eight, six = {"set": {"device.channels": 8}}, {"set": {"device.channels": 6, "device.pages_per_block": 96}}
    alone = [ssdlab.run(set=one["set"], fit="10MiB", requests=20).fit.exported_bytes for one in (eight, six)]  # type: ignore[arg-type]
    assert (alone[0] % (8 * 4096), alone[1] % (6 * 4096)) == (0, 0)
    for variants in ({"eight": eight, "six": six}, {"six": six, "eight": eight}):
        sizes, codes = exported("10MiB", **variants)
        assert (len(sizes), "other-sizes" in codes) == (1, False)
        assert sizes.pop() % (96 << 10) == 0


def test_drives_that_cannot_be_small_make_all_as_large() -> None:
    """Regression: they exported 2.8 GiB, 64 MiB and 2 GiB, and a remark said that no closer was possible."""
    small = {name: {"device": name} for name in ("nvme-4g", "lee2013", "demo-4g")}
    least = max(ssdlab.run(device=name, fit="64MiB", requests=20).fit.exported_bytes for name in small)
    found = ssdlab.compare(variants=small, fit="64MiB", requests=20)
    assert {entry["exported_bytes"] for entry in found.variants.values()} == {least}
    assert "other-sizes" not in {remark.code for remark in found.remarks}
    (larger,) = [remark for remark in found.remarks if remark.code == "fit-larger"]
    assert "lee2013, demo-4g: A drive that it is compared with cannot be smaller." in larger.why
    assert larger.why.startswith("nvme-4g: With fewer blocks it could not collect")


def test_drives_fitted_to_different_sizes_are_said_to_be() -> None:
    found = ssdlab.compare(variants={"a": {"fit": "16MiB"}, "b": {"fit": "32MiB"}}, set={"device.pages_per_block": 16}, requests=20)
    (remark,) = [remark for remark in found.remarks if remark.code == "other-sizes"]
    assert remark.remedy.startswith("Fit all drives to one size")
    assert "All were fitted" not in remark.sentence


def test_numbers_in_files_may_be_texts_as_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "timestamp_us,op,offset_bytes,size_bytes\n" + "".join(f"{i}00,W,{i % 9 * 4096},4096\n" for i in range(99))
    )
    file = tmp_path / "v.toml"
    file.write_text('[[variants]]\nlabel = "a"\nrequests = "0.04k"\nskip = "20"\n[[variants]]\nlabel = "b"\nrequests = "many"\n')
    with pytest.raises(ssdlab.ConfigError, match='requests = "many": expected a whole number such as 5000'):
        ssdlab.compare(variants=file, trace=tmp_path / "t.csv", set=DRIVE)
    file.write_text('[[variants]]\nlabel = "a"\nrequests = "40"\n[[variants]]\nlabel = "b"\nrequests = "0k"\nskip = "1k"\n')
    with pytest.raises(ssdlab.UsageError, match="requests = 0"):
        ssdlab.compare(variants=file, trace=tmp_path / "t.csv", set=DRIVE)
    file.write_text('[[variants]]\nlabel = "a"\nrequests = "40"\n[[variants]]\nlabel = "b"\nrequests = 40\nskip = "20"\n')
    found = ssdlab.compare(variants=file, trace=tmp_path / "t.csv", set=DRIVE)
    assert [sum(run["requests"].values()) for run in found.values()] == [40, 40]
    assert found.variants["b"]["options"] == {"requests": 40, "skip": 20}
    swept = ssdlab.sweep({"seed": [1]}, requests="0.1k", set=SMALL)  # type: ignore[arg-type]
    assert sum(swept[0].result["requests"].values()) == 100


def test_a_policy_of_ones_own_is_instead_of_the_built_in_one() -> None:
    def first(candidates: ssdlab.Candidates) -> int:
        return candidates.blocks[0]

    found = ssdlab.compare(variants={"base": {"set": {"gc.victim": "fifo"}}, "ours": {"victim": first}}, set=SMALL, requests=50)
    (change,) = found.changes["ours"]
    assert str(change).startswith("victim test_a_policy_of_ones_own")
    assert str(change).endswith(" instead of fifo")


def test_equal_variants_are_said() -> None:
    found = ssdlab.compare(variants={"a": {}, "b": {"set": {"gc.soft": SMALL["gc.soft"]}}}, set=SMALL, requests=100)
    (remark,) = [remark for remark in found.remarks if remark.code == "same-result"]
    assert "the same configuration" in remark.sentence
    assert "b: nothing, its configuration is the same" in str(found)


def test_a_key_without_effect_is_named_with_its_variant() -> None:
    with pytest.warns(ssdlab.IdleKeyWarning, match=r'variant "idle": cache.soon has no effect: it needs a cache'):
        ssdlab.compare(variants={"base": {}, "idle": {"set": {"cache.soon": 4}}}, set=SMALL, requests=50)


def test_several_seeds_have_means_of_each_variant() -> None:
    found = ssdlab.compare(variants={"base": {}, "spare": {"set": {"device.overprovisioning": 0.3}}}, set=SMALL, requests=200, seeds=3)
    assert found.seeds is not None
    assert list(found.seeds.estimates) == ["base", "spare"]
    alone = ssdlab.run(set=SMALL | {"device.overprovisioning": 0.3}, requests=200, seed=3)
    assert found.seeds.runs["spare"][3].digest == alone.digest


def test_schemes_are_one_kind_of_variant(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    """Files of schemes have no entry that earlier versions did not write, and the same results as variants."""
    words = ["--workload", "lee2013-synthetic", *SMALL_OPTIONS, "--requests", "200", "--out"]
    ssdlab_command("compare", "--scheme", "npgc", "--scheme", "pgc", *words, str(tmp_path / "schemes"))
    ssdlab_command("compare", "--variant", "npgc: --scheme npgc", "--variant", "second: --scheme pgc", *words, str(tmp_path / "variants"))
    schemes, variants = (json.loads((tmp_path / name / "comparison.json").read_text()) for name in ("schemes", "variants"))
    assert set(schemes) == {"runs", "remarks"}
    assert set(variants) == {"runs", "remarks", "variants"}
    assert [run["digest"] for run in schemes["runs"].values()] == [run["digest"] for run in variants["runs"].values()]
    assert (tmp_path / "schemes" / "pgc" / "result.json").is_file()
    runs = load(tmp_path / "variants")
    assert (runs.kind, load(tmp_path / "schemes").kind) == ("variant", "scheme")


def test_the_command_to_repeat_it_is_made_of_variants(
    three: tuple[ssdlab.Comparison, Path], tmp_path: Path, ssdlab_command: Ssdlab
) -> None:
    _, out = three
    command = command_of(load(out))
    assert command is not None
    assert "--variant base: " in command or "--variant 'base: " in command
    assert "--paired" in command
    ssdlab_command(*shlex.split(command)[1:], "--out", str(tmp_path / "again"))
    again = json.loads((tmp_path / "again" / "comparison.json").read_text())
    before = json.loads((out / "comparison.json").read_text())
    assert {label: run["digest"] for label, run in again["runs"].items()} == {label: run["digest"] for label, run in before["runs"].items()}


# ---- reasons ---------------------------------------------------------------------------------------------------------


def with_parts(parts: dict[str, float], **entries: Any) -> dict[str, Any]:
    return {"breakdown_ns": {"all": parts}, "latency_ns": {"all": {"mean": sum(parts.values())}}, **entries}


def reasons(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return list(causes(*Runs.of({"before": before, "after": after})))


def test_what_kept_a_buffer_full_is_named_with_the_jobs() -> None:
    before = with_parts({"host_queue": 1e4, "gc": 1e4}, buffer={"full_waits": 12, "capacity": 4096}, gc={"jobs": 402, "pages_moved": 9000})
    after = with_parts(
        {"host_queue": 9e5, "gc": 1e4}, buffer={"full_waits": 1203, "capacity": 256}, gc={"jobs": 651, "pages_moved": 20_000}
    )
    assert reasons(before, after) == [
        "waiting in front of the drive 900 µs instead of 10.0 µs (1,203 instead of 12 requests waited for room in the write buffer; "
        "it holds 256 instead of 4,096 units; what kept it full: 651 instead of 402 GC jobs, 20,000 instead of 9,000 pages moved)"
    ]
    (back,) = reasons(after, before)
    assert "it holds 4,096 instead of 256 units; what emptied it: 402 instead of 651 GC jobs" in back


def test_a_full_buffer_of_idle_chips_is_not_put_down_to_collection() -> None:
    before = with_parts({"host_queue": 1e4}, buffer={"full_waits": 12, "capacity": 4096}, gc={"jobs": 2581}, utilisation={"chips": [0.2]})
    after = with_parts(
        {"host_queue": 9e5}, buffer={"full_waits": 1203, "capacity": 1024}, gc={"jobs": 2775}, utilisation={"chips": [0.2277]}
    )
    (found,) = reasons(before, after)
    assert "GC jobs" not in found
    assert found.endswith(
        "it holds 1,024 instead of 4,096 units; chips were busy only 22.8 % of the time: bursts, or waits for single dies, fill it)"
    )


def test_the_best_variant_by_a_figure_is_named(ssdlab_command: Ssdlab) -> None:
    words = [*SMALL_OPTIONS, "--scheme", "npgc", "--scheme", "pgc", "--requests", 400, "--seeds", 2, "--best", "latency_ns.read.mean"]
    shown = ssdlab_command("compare", *words)
    data = ssdlab_command("compare", *words, "--json").json()
    means = {label: figures["latency_ns.read.mean"]["mean"] for label, figures in data["seeds"]["schemes"].items()}
    first, second = sorted(means, key=means.__getitem__)
    assert (data["best"]["label"], data["best"]["next"]["label"]) == (first, second)
    assert f"(lowest): {first}, " in shown.out
    assert "read mean" in shown.out.split("Change against", maxsplit=1)[0]
    assert "read mean" in shown.out.split("Change against", maxsplit=1)[1]
    assert 'did you mean "p99"?' in ssdlab_command("compare", *words[:-1], "p98").failed(2)


@pytest.mark.parametrize("seeds", [1, 2])
def test_several_figures_are_shown_with_the_best_by_each(ssdlab_command: Ssdlab, seeds: int) -> None:
    words = [*SMALL_OPTIONS, "--scheme", "npgc", "--scheme", "pgc", "--requests", 400, "--seeds", seeds]
    for figure in ("latency_ns.read.p99_9", "p99", "latency_ns.write.p90", "p99"):
        words += ["--best", figure]
    shown = ssdlab_command("compare", *words).out
    named = re.findall(r"^Best by (\S+) response time( of \w+)? \(lowest\)", shown, re.MULTILINE)
    assert named == [("p99.9", " of reads"), ("p99", ""), ("p90", " of writes")]
    data = ssdlab_command("compare", *words, "--json").json()
    assert [one["figure"] for one in data["best"]] == ["latency_ns.read.p99_9", "latency_ns.all.p99", "latency_ns.write.p90"]
    if seeds == 1:
        tables = shown.split("Best by", maxsplit=1)[0]
        for run in data["runs"].values():
            assert duration(run["latency_ns"]["read"]["p99_9"]) in tables
            assert duration(run["latency_ns"]["write"]["p90"]) in tables
    assert 'did you mean "p99"?' in ssdlab_command("compare", *words, "--best", "p98").failed(2)


def test_one_run_each_judges_by_the_intervals_of_the_report() -> None:
    compared = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=1500)
    told = compared.outcome("latency_ns.write.mean")
    assert "whether that is chance is not known: several seeds would tell (--seeds 5)." in told
    assert "others that were judged" not in told, "one seed judges none of them"
    with pytest.raises(ssdlab.UsageError, match="neither high nor low"):
        compared.outcome("gc.jobs")


def test_what_buffers_hold_differs_in_bytes() -> None:
    held = [with_parts({"gc": 1.0}, bytes_written={"held": count}) for count in (28 << 10, -(80 << 10))]
    rows = [row for group in summary(Runs.of({"a": held[0], "b": held[1]})) for row in group.rows if row.place == "bytes_written.held"]
    assert rows[0].cells[1].difference == "\N{MINUS SIGN}108 KiB"


def test_counters_that_changed_the_other_way_are_no_reason() -> None:
    """Collection costs more time although fewer jobs ran: only the longer jobs can be why."""
    before = with_parts({"gc": 1e5}, gc={"jobs": 100, "pages_moved": 5000, "duration_ns": {"mean": 1e6}})
    after = with_parts({"gc": 3e5}, gc={"jobs": 50, "pages_moved": 5100, "duration_ns": {"mean": 4e6}})
    assert reasons(before, after) == [
        "waiting for garbage collection 300 µs instead of 100 µs (4.00 ms instead of 1.00 ms for a job in the mean)"
    ]


def test_waits_for_dies_that_do_as_much_come_from_the_order_of_operations() -> None:
    busy = {"utilisation": {"chips": [0.2, 0.4]}}
    (found,) = reasons(with_parts({"die_queue": 1e5}, **busy), with_parts({"die_queue": 3e5}, **busy))
    assert found.endswith("(same work, better order)")


def test_changes_of_made_up_results() -> None:
    """Names first, then keys that were set, then those that follow: five, of which a sentence names the first four."""
    runs = {
        "a": {"config": {"gc": {"soft": 0.05, "scope": "chip"}, "buffer": {"bytes": 16 << 20}}},
        "b": {"config": {"gc": {"soft": 0.1, "scope": "none"}, "buffer": {"bytes": 3 << 19}}},
    }
    given = {"a": {"options": {"device": "x"}}, "b": {"options": {"device": "y"}, "set": {"gc.soft": "0.1"}}}
    assert list(map(str, changes(runs, given)["b"])) == [
        "device y instead of x",
        "gc.soft 0.1 instead of 0.05",
        "gc.scope none instead of chip",
        "buffer.bytes 1.5 MiB instead of 16 MiB",
    ]
    assert in_words(changes(runs, given)["b"]) == "device y instead of x; gc.soft 0.1 instead of 0.05 (and 2 keys that follow from it)"
    assert in_words(changes(runs, {})["b"], most=2) == "gc.soft 0.1 instead of 0.05; gc.scope none instead of chip; 1 more"
    assert of_variants(runs, {}) == []


def test_the_page_and_the_verdict_say_what_a_variant_changes(three: tuple[ssdlab.Comparison, Path], tmp_path: Path) -> None:
    comparison, _ = three
    comparison.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<code>buffer.bytes</code> 64 KiB <span" in page
    assert "instead of 0</span>" in page
    slow, fast = (with_parts({"gc": time}, config={"gc": {"soft": soft}}) for time, soft in ((3e5, 0.1), (1e5, 0.2)))
    given = {label: {"options": {}, "set": {}, "exported_bytes": 1} for label in ("a", "b")}
    runs = Runs.of({"a": slow, "b": fast}, variants=given)
    assert "b had the shortest mean response time" in verdict(runs)
    assert "b has gc.soft 0.2 instead of 0.1." in remarks(runs)


def test_variants_that_differ_in_what_is_measured_are_said() -> None:
    """Responses are the same, and the statistics are not: neither one configuration nor one result."""
    found = ssdlab.compare(
        variants={"all": {}, "late": {"warm_up": 50}, "again": {}, "more": {"requests": 120}, "zero": {"warm_up": 0}},
        set=SMALL,
        requests=100,
    )
    said = {remark.where: remark.sentence for remark in found.remarks if remark.code == "other-requests"}
    assert list(said) == [("late",), ("more",)]
    assert "The measured requests are not those of all (warm_up)" in said["late",]
    assert "(requests)" in said["more",]
    assert [remark.where for remark in found.remarks if remark.code == "same-result"] == [("all", "again", "zero")]
    assert found["all"]["digest"] == found["late"]["digest"]
    assert "late: Warm-up: the first 50 requests" in str(found)
    swept = ssdlab.sweep({"warm_up": [0, 50]}, requests=100, set=SMALL)
    assert not [remark for remark in swept.remarks if remark.code == "same-result"]
