"""Mutation testing of the core: would a test fail if an operator, constant, condition or call were changed? Run it by `make mutants`.

All mutants are compiled into one pair of test programs, since a build for each would take days. In a copy of the sources, an expression `e`
becomes `match crate::mutants::at(17) { 17 => MUTATED, _ => e }`, and an environment variable selects the active mutant. Mutants that do not
compile, according to the compiler, are dropped.

First every test runs alone, without a mutant, and records the mutants that it reaches. Then each mutant is run with the tests that reach
it, fastest first, until one fails, hangs or crashes. Results are saved: an interrupted run can be continued, and survivors are tried again
when tests have changed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tree_sitter_rust
from rust_sources import CORE, ROOT, core_files, lines_without_tests
from tree_sitter import Language, Node, Parser

PLACE = ROOT / "target" / "mutants"
COPY = PLACE / "workspace"
RESULTS = PLACE / "results.json"
BASELINE = PLACE / "baseline.json"
PARTS = ("arbiter", "gc", "ftl", "sched", "ssd", "storage/interface")
"""Parts of the core that are mutated by default: modules, folders or files."""
TESTS = ("test", "--release", "--lib", "--test", "main", "--no-run")
CORE_ALONE = ("test", "--release", "--test", "main", "--no-run")
"""Arguments of cargo that compile the core once, without its unit tests."""
ROUNDS = 15
"""Maximum number of rounds in which mutants that do not compile are dropped."""
PATIENCE = 10
"""Factor by which a mutant's tests may take longer than without it, before they count as hanging."""
PATIENCE_S = 20.0
"""Time that is added to this limit, s."""
GROUPS_S = (0.3, 2.0, 10.0, 60.0)
"""Limits of the total time of tests that run together, s: each group may take up to the next limit."""

SWITCH = """//! Says which mutant is active.
use std::fs::File;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

const RECORDS: u32 = u32::MAX - 1;
const UNKNOWN: u32 = u32::MAX;
static ACTIVE: AtomicU32 = AtomicU32::new(UNKNOWN);
static SEEN: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
static RECORD: OnceLock<File> = OnceLock::new();

/// The active mutant, at a point where there are some.
#[inline(always)]
pub fn at(point: u32) -> u32 {
    let active = ACTIVE.load(Relaxed);
    if active >= RECORDS { rarely(point) } else { active }
}

#[cold]
#[inline(never)]
fn rarely(point: u32) -> u32 {
    if ACTIVE.load(Relaxed) == UNKNOWN {
        let active = match std::env::var("MUTANTS_RECORD") {
            Ok(_) => RECORDS,
            Err(_) => std::env::var("MUTANT").map_or(0, |text| text.parse().expect("a number")),
        };
        ACTIVE.store(active, Relaxed);
        if active != RECORDS {
            return active;
        }
    }
    let seen = &SEEN[point as usize];
    if !seen.load(Relaxed) && !seen.swap(true, Relaxed) {
        let path = || std::env::var("MUTANTS_RECORD").expect("it is set");
        let open = || std::fs::OpenOptions::new().append(true).create(true).open(path()).expect("the record can be written");
        let mut file = RECORD.get_or_init(open);
        file.write_all(format!("{point}\\n").as_bytes()).expect("the record can be written");
    }
    0
}
"""

COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
SWAPPED = {"+": "-", "-": "+", "&&": "||", "||": "&&", "+=": "-=", "-=": "+="}
LARGEST = 16
"""Maximum constant that is incremented."""
# Not mutated: constant expressions; patterns, in which expressions are not allowed; code for tests only; text.
LEFT_OUT = re.compile(
    r"const_(item|block|parameter)|static_item|enum_variant|(inner_)?attribute_item|macro_(invocation|definition)|type_arguments|array_type|"
    r"(tuple_struct|struct|tuple|slice|or|range|captured|ref|reference)_pattern"
)


@dataclass(frozen=True)
class Mutant:
    """A change at one place of the sources."""

    id: int
    file: str
    line: int
    column: int
    kind: str
    change: str

    @property
    def name(self) -> str:
        """A unique readable name."""
        return f"{self.file}:{self.line}:{self.column}: {self.change}"

    def part(self, parts: Iterable[str]) -> str:
        """The part of the core that contains the mutant, among `parts`."""
        return next(part for part in parts if holds(part, ROOT / self.file))


def holds(part: str, file: Path) -> bool:
    """Whether a source belongs to a part of the core, such as `gc`, `storage/interface` or `ssd/mechanisms/units.rs`."""
    path = file.relative_to(CORE).as_posix()
    return path in (part, f"{part}.rs") or path.startswith(f"{part}/")


def one_line(text: str) -> str:
    """A piece of source, shortened to one line."""
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


class Rewriter:
    """Rewrites one source to contain its mutants."""

    def __init__(self, file: Path, first: int, dropped: set[str]) -> None:
        self.source = file.read_bytes()
        self.file = file.relative_to(ROOT).as_posix()
        self.dropped = dropped
        self.next = first
        self.mutants: list[Mutant] = []
        self.text = self.visit(Parser(Language(tree_sitter_rust.language())).parse(self.source).root_node)

    def original(self, node: Node) -> str:
        """The original text of a node."""
        return self.source[node.start_byte : node.end_byte].decode()

    def left_out(self, node: Node) -> bool:
        """Whether a node and its children are not mutated."""
        if LEFT_OUT.fullmatch(node.type):
            return True
        before, attributes = node.prev_named_sibling, []
        while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
            attributes.append(self.original(before))
            before = before.prev_named_sibling
        if any(words in attribute for attribute in attributes for words in ("cfg(test)", "#[test]", "doc(hidden)")):
            return True
        return node.type == "function_item" and any(
            child.type == "function_modifiers" and "const" in self.original(child) for child in node.children
        )

    def visit(self, node: Node) -> str:
        """The rewritten text of a node."""
        if node.type != "source_file" and self.left_out(node):
            return self.original(node)
        inside = self.guard(node) if node.type == "match_pattern" else self.children(node)
        changes = [change for change in self.changes(node) if self.name(node, change[1]) not in self.dropped]
        return self.switch(node, inside, changes) if changes else inside

    def guard(self, node: Node) -> str:
        """The pattern of a match arm unchanged, with its guard rewritten."""
        condition = node.child_by_field_name("condition")
        if condition is None:
            return self.original(node)
        before = self.source[node.start_byte : condition.start_byte].decode()
        return before + self.visit(condition) + self.source[condition.end_byte : node.end_byte].decode()

    def children(self, node: Node) -> str:
        """The text of a node with its children rewritten."""
        pieces, at = [], node.start_byte
        for child in node.children:
            pieces += [self.source[at : child.start_byte].decode(), self.visit(child)]
            at = child.end_byte
        return "".join([*pieces, self.source[at : node.end_byte].decode()])

    @staticmethod
    def place(node: Node) -> tuple[int, int]:
        """Row and column of a node's operator, or else of the node: several expressions may begin at one place."""
        row, column = (node.child_by_field_name("operator") or node).start_point
        return row, column

    def name(self, node: Node, change: str) -> str:
        """The name of a mutant of this node."""
        row, column = self.place(node)
        return f"{self.file}:{row + 1}:{column + 1}: {change}"

    def switch(self, node: Node, inside: str, changes: list[tuple[str, str, str]]) -> str:
        """A node with its mutants, given as kind, description and mutated text. Comments mark the extent of each."""
        row, column = self.place(node)
        point, arms = self.next, []
        for kind, change, text in changes:
            self.mutants.append(Mutant(self.next, self.file, row + 1, column + 1, kind, change))
            arms.append(f"{self.next} => /*<{self.next}*/{{ {text} }}/*{self.next}>*/,")
            self.next += 1
        last = self.next - 1
        body = f"match crate::mutants::at({point}) {{ {' '.join(arms)} _ => {{ {inside} }} }}"
        if node.type == "expression_statement":
            return f"/*<{point}-{last}*/{body}/*{last}>*/"
        return f"/*<{point}-{last}*/({body})/*{last}>*/"

    def changes(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """The mutants of a node: kind, description, text."""
        if node.type == "binary_expression":
            yield from self.binary(node)
        elif node.type == "compound_assignment_expr":
            operator = self.original(node.child_by_field_name("operator"))
            if operator in SWAPPED:
                left, right = (self.original(node.child_by_field_name(side)) for side in ("left", "right"))
                new = SWAPPED[operator]
                yield "arithmetic", f"`{one_line(self.original(node))}`: `{operator}` -> `{new}`", f"{left} {new} {right}"
        elif node.type == "unary_expression" and self.original(node.children[0]) == "!":
            yield "negation", f"`{one_line(self.original(node))}`: `!` dropped", self.original(node.children[1])
        elif node.type == "integer_literal":
            yield from self.constant(node)
        elif node.type == "boolean_literal":
            old, new = ("true", "false") if self.original(node) == "true" else ("false", "true")
            yield "constant", f"`{one_line(self.original(node.parent))}`: `{old}` -> `{new}`", new
        elif node.type == "expression_statement":
            yield from self.statement(node)
        yield from self.condition(node)
        yield from self.returned(node)

    def binary(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """Mutants with another binary operator."""
        left, operator, right = (self.original(node.child_by_field_name(part)) for part in ("left", "operator", "right"))
        shown = one_line(self.original(node))
        kind = "comparison" if operator in COMPARISONS else "logic" if operator in ("&&", "||") else "arithmetic"
        for new in COMPARISONS.get(operator, (SWAPPED[operator],) if operator in SWAPPED else ()):
            yield kind, f"`{shown}`: `{operator}` -> `{new}`", f"({left}) {new} ({right})"

    def constant(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """Mutants of a small number: incremented, or 0 instead of 1."""
        parent = node.parent
        found = re.fullmatch(r"(\d+)_?([iu](?:8|16|32|64|128|size))?", self.original(node))
        is_name = parent.type == "field_expression" or (parent.type == "array_expression" and parent.child_by_field_name("length") == node)
        if found is None or is_name or int(found[1]) > LARGEST:
            return
        value, ending = int(found[1]), found[2] or ""
        for new in (value + 1, 0) if value == 1 else (value + 1,):
            yield "constant", f"`{one_line(self.original(parent))}`: `{value}` -> `{new}`", f"{new}{ending}"

    def statement(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """Mutants with a call or an assignment removed."""
        inner = node.children[0]
        shown = one_line(self.original(node))
        while inner.type == "try_expression":
            inner = inner.children[0]
        if inner.type == "call_expression" and self.original(node).endswith(";"):
            yield "call", f"`{shown}` deleted", ""
        elif inner.type == "assignment_expression" and node.child(0).child_by_field_name("left").type in (
            "field_expression",
            "index_expression",
        ):
            yield "assignment", f"`{shown}` deleted", ""

    def condition(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """Mutants with the condition of an `if`, `while` or match arm always true or false."""
        parent = node.parent
        if (
            parent is None
            or parent.child_by_field_name("condition") != node
            or parent.type not in ("if_expression", "while_expression", "match_pattern")
        ):
            return
        if node.type in ("let_condition", "let_chain"):
            return  # its bindings would be missing
        shown = one_line(self.original(node))
        if parent.type != "while_expression":
            yield "condition", f"condition `{shown}` -> `true`", "true"
        yield "condition", f"condition `{shown}` -> `false`", "false"

    def returned(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """Mutants with the last expression of a bool function negated; operators there already have equivalent mutants."""
        block = node.parent
        function = block.parent if block is not None else None
        if function is None or function.type != "function_item" or block.type != "block" or not node.is_named:
            return
        result = function.child_by_field_name("return_type")
        is_last = block.named_children[-1] == node and node.type not in ("expression_statement", "let_declaration")
        if result is None or self.original(result) != "bool" or not is_last or node.type in ("binary_expression", "unary_expression"):
            return
        yield "returned", f"returned `{one_line(self.original(node))}` negated", f"!({self.original(node)})"


def rewritten(parts: Iterable[str], dropped: set[str]) -> tuple[dict[Path, str], list[Mutant]]:
    """The sources of these parts with all mutants except those known not to compile."""
    texts, mutants = {}, []
    for file in core_files():
        if any(holds(part, file) for part in parts) and file.name != "planted.rs":
            rewriter = Rewriter(file, 1 + len(mutants), dropped)
            texts[file] = rewriter.text
            mutants += rewriter.mutants
    return texts, mutants


def write(path: Path, text: bytes) -> None:
    """Writes a file only if its content changes, so that cargo does not recompile the others."""
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def copy(texts: dict[Path, str], count: int) -> None:
    """Copies the workspace, with rewritten sources."""
    asked = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, check=True, text=True, capture_output=True)
    changed = {
        CORE / "lib.rs": (CORE / "lib.rs").read_text() + "\n#[allow(missing_docs)]\nmod mutants;\n",
        CORE / "mutants.rs": SWITCH.replace("COUNT]", f"{count + 1}]").replace("; COUNT", f"; {count + 1}"),
        **texts,
    }
    for name in filter(None, asked.stdout.split("\0")):
        source, target = ROOT / name, COPY / name
        if source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_symlink():
                target.symlink_to(source.readlink())
        elif source.is_file() and source not in changed:
            write(target, source.read_bytes())
    for path, text in changed.items():
        write(COPY / path.relative_to(ROOT), text.encode())


def cargo(*words: str) -> tuple[bool, list[dict[str, Any]]]:
    """Runs cargo on the copy; returns success, and its messages."""
    # another target folder: cargo would confuse the copy with the sources
    env = os.environ | {"CARGO_TARGET_DIR": str(PLACE / "build"), "CARGO_INCREMENTAL": "1"}
    command = ["cargo", *words, "--locked", "-p", "ssdlab", "-p", "ssdlab-tests", "--message-format=json"]
    done = subprocess.run(command, cwd=COPY, env=env, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.returncode == 0, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def blamed(text: bytes, start: int, end: int) -> set[int]:
    """The mutants at the innermost place around an error in a rewritten source: one arm, or a whole node."""
    best: tuple[int, set[int]] | None = None
    for opened in re.finditer(rb"/\*<(\d+)(?:-(\d+))?\*/", text):
        first, last = int(opened[1]), int(opened[2] or opened[1])
        closing = f"/*{last}>*/".encode()
        closed = text.find(closing, opened.end())
        if opened[2]:  # the arm of the last mutant has the same mark, inside
            closed = text.find(closing, closed + 1)
        size = closed - opened.start()
        if opened.start() <= start and end <= closed and (best is None or size < best[0]):
            best = (size, set(range(first, last + 1)))
    return best[1] if best else set()


def errors(messages: Iterable[dict[str, Any]]) -> Iterator[tuple[Path, int, int, str]]:
    """Errors of the compiler: file, first and last byte, text."""
    for message in messages:
        said = message.get("message")
        if message.get("reason") != "compiler-message" or said["level"] != "error":
            continue
        for span in said["spans"]:
            if span["is_primary"]:
                yield COPY / span["file_name"], span["byte_start"], span["byte_end"], said["rendered"]


def prepare(parts: Iterable[str]) -> list[Mutant]:
    """Writes the copy, and drops mutants until the rest compiles; returns the remaining mutants."""
    notes = PLACE / "dropped.json"
    dropped: set[str] = set(json.loads(notes.read_text())) if notes.exists() else set()
    for turn in range(ROUNDS):
        texts, mutants = rewritten(parts, dropped)
        copy(texts, len(mutants))
        compiles, messages = cargo(*CORE_ALONE)
        if compiles:
            return mutants
        by_id = {mutant.id: mutant.name for mutant in mutants}
        before = len(dropped)
        for path, start, end, text in errors(messages):
            if found := blamed(path.read_bytes(), start, end):
                dropped |= {by_id[number] for number in found}
            else:
                print(text, file=sys.stderr)
        print(f"round {turn + 1}: {len(mutants)} mutants, {len(dropped)} do not compile", flush=True)
        notes.write_text(json.dumps(sorted(dropped), indent=1))
        if len(dropped) == before:
            break
    sys.exit("error: the mutants do not compile: see above")


@dataclass(frozen=True)
class Test:
    """A test in one of the test programs."""

    program: str
    name: str


@dataclass
class Tests:
    """Results of the tests without a mutant."""

    seconds: dict[Test, float] = field(default_factory=dict)
    reached: dict[int, list[Test]] = field(default_factory=dict)
    failing: list[Test] = field(default_factory=list)


def environment(swarm: int, **more: str) -> dict[str, str]:
    """The environment of a test: a fixed seed, `swarm` random cases, and no shrinking or recording of failing cases."""
    fixed = {"PROPTEST_MAX_SHRINK_ITERS": "0", "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1", "PROPTEST_RNG_SEED": "1", "RUST_BACKTRACE": "0"}
    fixed |= {"SWARM": str(swarm)} if swarm else {}
    return os.environ | fixed | more


def outcome(program: str, names: list[str], env: dict[str, str], limit_s: float) -> str | None:
    """Runs tests of one program in order; returns the first failing one, or that they hang or crash; `None` if all pass."""
    words = [program, "--test-threads=1", "--exact", *names]
    with subprocess.Popen(
        words, cwd=COPY / "crates" / "ssdlab", env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        stuck = threading.Event()

        def give_up() -> None:
            stuck.set()
            process.kill()

        timer = threading.Timer(limit_s, give_up)
        timer.start()
        try:
            for line in process.stdout or ():
                if found := re.fullmatch(r"test (.+?)(?: - should panic)? \.\.\. FAILED\n", line):
                    process.kill()
                    return found[1]
            process.wait()
        finally:
            timer.cancel()
        if stuck.is_set():
            return f"timeout in {names[0]}"
        return None if process.returncode == 0 else f"crash in {names[0]}"


def measure(programs: list[str], asked: argparse.Namespace) -> Tests:
    """Runs each test alone without a mutant, to measure its duration and, in a slower second run, the points that it reaches."""
    tests = []
    for program in programs:
        listed = subprocess.run(
            [program, "--list", "--format", "terse"], cwd=COPY / "crates" / "ssdlab", check=True, text=True, capture_output=True
        )
        names = [line.removesuffix(": test") for line in listed.stdout.splitlines() if line.endswith(": test")]
        tests += [Test(program, name) for name in names if not any(part in name for part in asked.leave_out)]
    known = Tests()

    def run(number: int, test: Test) -> None:
        record = PLACE / f"record-{number}"
        record.unlink(missing_ok=True)
        started = time.monotonic()
        failed = outcome(test.program, [test.name], environment(asked.swarm), asked.longest)
        known.seconds[test] = time.monotonic() - started
        if failed or outcome(test.program, [test.name], environment(asked.swarm, MUTANTS_RECORD=str(record)), 3600):
            known.failing.append(test)
        elif record.exists():
            for point in record.read_text().split():
                known.reached.setdefault(int(point), []).append(test)
        record.unlink(missing_ok=True)

    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for done, _ in enumerate(pool.map(run, range(len(tests)), tests), 1):
            if done % 50 == 0 or done == len(tests):
                print(f"{done} of {len(tests)} tests run without a mutant, {sum(known.seconds.values()):.0f} s", flush=True)
    return known


def measured(programs: list[str], asked: argparse.Namespace) -> Tests:
    """The results of `measure`, cached for each build."""
    key = [[program, Path(program).stat().st_mtime_ns] for program in programs] + [str(asked.swarm), str(asked.longest), *asked.leave_out]
    if BASELINE.exists():
        kept = json.loads(BASELINE.read_text())
        if kept["key"] == key:
            tests = [Test(*test) for test in kept["tests"]]
            reached = {int(point): [tests[number] for number in numbers] for point, numbers in kept["reached"].items()}
            return Tests(dict(zip(tests, kept["seconds"], strict=True)), reached, [tests[number] for number in kept["failing"]])
    known = measure(programs, asked)
    number = {test: number for number, test in enumerate(known.seconds)}
    kept = {
        "key": key,
        "tests": [[test.program, test.name] for test in number],
        "seconds": list(known.seconds.values()),
        "reached": {point: [number[test] for test in tests] for point, tests in known.reached.items()},
        "failing": [number[test] for test in known.failing],
    }
    BASELINE.write_text(json.dumps(kept))
    return known


def groups(tests: list[Test], seconds: dict[Test, float]) -> Iterator[list[Test]]:
    """The tests in order, fastest first, in groups of one program each with increasing total time."""
    limits = iter(GROUPS_S)
    limit, group, total = next(limits), [], 0.0
    for test in sorted(tests, key=lambda test: seconds[test]):
        if group and (total + seconds[test] > limit or test.program != group[0].program):
            yield group
            if total + seconds[test] > limit:
                limit = next(limits, limit)
            group, total = [], 0.0
        group.append(test)
        total += seconds[test]
    if group:
        yield group


def verdict(mutant: Mutant, tests: list[Test], seconds: dict[Test, float], swarm: int) -> dict[str, str]:
    """The outcome of a mutant."""
    if not tests:
        return {"outcome": "not reached"}
    for group in groups(tests, seconds):
        limit = PATIENCE_S + PATIENCE * sum(seconds[test] for test in group)
        if by := outcome(group[0].program, [test.name for test in group], environment(swarm, MUTANT=str(mutant.id)), limit):
            return {"outcome": "caught", "by": by}
    return {"outcome": "survived"}


def digest(texts: Iterable[str]) -> str:
    """A hash of sources."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def without_tests(file: Path) -> str:
    """A source without the tests at its end, which do not affect mutants."""
    return "".join(file.read_text().splitlines(keepends=True)[: lines_without_tests(file)]).rstrip()


class Results:
    """The outcomes of mutants, in a file."""

    def __init__(self, tested: str) -> None:
        sources = digest(map(without_tests, core_files()))
        old = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        same = old.get("sources") == sources
        self.head = {"sources": sources, "tests": tested}
        self.verdicts: dict[str, dict[str, str]] = old.get("verdicts", {}) if same else {}
        # survivors are tried again, after mutants without an outcome
        self.again: set[str] = set()
        if same and old.get("tests") != tested:
            self.again = {name for name, found in self.verdicts.items() if found["outcome"] != "caught"}
            self.verdicts = {name: found for name, found in self.verdicts.items() if name not in self.again}

    def put(self, mutant: Mutant, found: dict[str, str]) -> None:
        """Records the outcome of a mutant at once."""
        self.verdicts[mutant.name] = {"kind": mutant.kind, **found}
        new = RESULTS.with_suffix(".new")
        new.write_text(json.dumps({**self.head, "verdicts": self.verdicts}, indent=1))
        new.replace(RESULTS)


def report(mutants: list[Mutant], parts: Sequence[str], verdicts: dict[str, dict[str, str]]) -> None:
    """Prints survivors, and a row for each part."""
    tried = [mutant for mutant in mutants if mutant.name in verdicts]
    for mutant in tried:
        if (found := verdicts[mutant.name]["outcome"]) != "caught":
            print(f"{found}: {mutant.name}")
    print("| part | mutants | tried | caught | share |", "|---|--:|--:|--:|--:|", sep="\n")
    for name in sorted({mutant.part(parts) for mutant in mutants}):
        all_there = sum(mutant.part(parts) == name for mutant in mutants)
        found = [verdicts[mutant.name]["outcome"] for mutant in tried if mutant.part(parts) == name]
        caught = found.count("caught")
        print(f"| `{name}` | {all_there} | {len(found)} | {caught} | {100 * caught / max(1, len(found)):.1f} % |")


def main() -> None:
    """Builds and measures the tests, and tries the mutants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, metavar="N", help="try only N mutants, drawn at random, instead of all")
    parser.add_argument("--seed", type=int, default=1, help="for the draw")
    parser.add_argument("--only", action="append", help="change only this part, as gc or ssd/mechanisms/units.rs (more than once: these)")
    parser.add_argument("--match", help="try only mutants whose name this regular expression finds")
    parser.add_argument("--leave-out", action="append", default=[], help="leave out tests with this in their name")
    parser.add_argument("--longest", type=float, default=3600.0, help="leave out tests that take more seconds without a mutant")
    parser.add_argument("--swarm", type=int, default=150, help="cases of each random test; 0: as many as usual")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at once")
    parser.add_argument("--report", action="store_true", help="only print what is known")
    asked = parser.parse_args()
    PLACE.mkdir(parents=True, exist_ok=True)
    parts = asked.only or PARTS
    if unknown := [part for part in parts if not any(holds(part, file) for file in core_files())]:
        parser.error(f"no part of the core: {', '.join(unknown)}")
    mutants = prepare(parts)
    print(f"{len(mutants)} mutants", flush=True)
    chosen = [mutant for mutant in mutants if re.search(asked.match or "", mutant.name)]
    # a random order, so that the mutants tried before an interrupt are a sample
    chosen = random.Random(asked.seed).sample(chosen, len(chosen))[: asked.sample]
    tests = ROOT / "crates" / "ssdlab" / "tests"
    tested = digest(file.read_text() for file in sorted([*CORE.rglob("*.rs"), *tests.rglob("*.rs")]))
    results = Results(tested)
    if not asked.report:
        compiles, messages = cargo(*TESTS)
        if not compiles:
            print(*(text for *_, text in errors(messages)), sep="\n", file=sys.stderr)
            sys.exit("error: the tests do not compile with the mutants")
        # a fixed order: results of tests without a mutant are kept for these programs
        programs = sorted(message["executable"] for message in messages if message.get("executable"))
        todo = [mutant for mutant in chosen if mutant.name not in results.verdicts]
        try_all(sorted(todo, key=lambda mutant: mutant.name in results.again), programs, results, asked)
    report(chosen, parts, results.verdicts)


def try_all(todo: list[Mutant], programs: list[str], results: Results, asked: argparse.Namespace) -> None:
    """Tries mutants without an outcome."""
    if not todo:
        return
    known = measured(programs, asked)
    for test in known.failing:
        print(f"left out, fails without a mutant, or takes too long: {test.name}")
    reached = reached_by_mutant(known)
    started, lock = time.monotonic(), threading.Lock()

    def run(mutant: Mutant) -> None:
        found = verdict(mutant, reached.get(mutant.id, []), known.seconds, asked.swarm)
        with lock:
            results.put(mutant, found)
            if found["outcome"] != "caught":
                print(f"{found['outcome']}: {mutant.name}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for done, _ in enumerate(pool.map(run, todo), 1):
            if done % 10 == 0:
                left_min = (time.monotonic() - started) / done * (len(todo) - done) / 60
                print(f"{done} of {len(todo)} mutants tried, about {left_min:.0f} min left", flush=True)


def reached_by_mutant(known: Tests) -> dict[int, list[Test]]:
    """The tests that reach each mutant: those that reach its point, which has the number of its first mutant."""
    points: dict[int, int] = {}
    for file in sorted(COPY.joinpath(CORE.relative_to(ROOT)).rglob("*.rs")):
        for opened in re.finditer(r"/\*<(\d+)-(\d+)\*/", file.read_text()):
            points |= dict.fromkeys(range(int(opened[1]), int(opened[2]) + 1), int(opened[1]))
    return {number: known.reached.get(point, []) for number, point in points.items()}


if __name__ == "__main__":
    main()
