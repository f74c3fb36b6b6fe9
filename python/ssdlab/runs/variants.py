"""Variants of a comparison: what each is given beside what all have in common. A scheme is one kind of variant."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab._core import Config
from ssdlab.asking.option import options_of
from ssdlab.asking.options import CompareOptions, RunOptions, Set, VariantOptions, Variants_
from ssdlab.asking.plans import BLOCKS_KEY, SHORTHANDS, Fitted, Setup, fitted_device, is_preset_file, needed_bytes, value_text
from ssdlab.asking.policies import KINDS
from ssdlab.checks import mapping, nearest, path, shown, text, texts
from ssdlab.errors import ConfigError, Error, FileError, UsageError

__all__ = [
    "INSTEAD",
    "OF_RUN",
    "Variant",
    "are_schemes",
    "common_title",
    "compared",
    "entries",
    "fitted_setups",
    "idle_in_variant",
    "naming",
    "of_schemes",
    "of_tables",
    "pairs",
]

SCHEME, SET, VARIANTS = "scheme", "set", "variants"
OPTIONS = tuple(name for name in options_of(VariantOptions) if name != SET)
"""Options that a variant may have, besides `set`."""
TOGETHER = {name for kind in (RunOptions, CompareOptions) for name in options_of(kind)} - {*OPTIONS, SET}
"""Options of a comparison as a whole, or of a single run."""
OF_RUN = {*options_of(RunOptions)} - {*options_of(CompareOptions), *OPTIONS, SET}
"""Options of a single run that no comparison has."""
INSTEAD = {"timeline": "timelines"}
"""Options of a comparison in place of those of a single run."""
EITHER = {
    "workload": ("trace", "fio"),
    "trace": ("workload", "fio"),
    "fio": ("workload", "trace"),
    "prefill": ("state",),
    "state": ("prefill",),
}
"""Options that exclude each other: that of a variant replaces that of the comparison."""
OF_POLICY = {name: kind.key for name, kind in KINDS.items() if kind.excludes_key}
"""Configuration keys that an option replaces without setting them."""
RESERVED = ("against",)
"""Labels that `comparison.json` uses."""


@dataclass(frozen=True)
class Variant:
    """What is compared: a label, with options of a run, and pairs of key and TOML text."""

    label: str
    options: Mapping[str, Any]
    set: tuple[tuple[str, str], ...] = ()

    @property
    def scheme(self) -> str | None:
        """The scheme, if any."""
        return self.options.get(SCHEME)

    @property
    def is_scheme(self) -> bool:
        """Whether the variant is a scheme by its own name."""
        return dict(self.options) == {SCHEME: self.label} and not self.set

    def setup(self, common: Setup) -> Setup:
        """The setup of the variant's runs: its options and keys take precedence over those that all variants have."""
        own = {name: value for name, value in self.options.items() if name != SCHEME}
        keys = {key for key, _ in self.set}
        replaced = {other for name in own for other in EITHER.get(name, ())} | {name for name, key in OF_POLICY.items() if key in keys}
        keys |= {key for name, key in (*SHORTHANDS.items(), *OF_POLICY.items()) if name in own}
        kept = tuple(pair for pair in common.set if pair[0] not in keys)
        return common.with_changes(**{**dict.fromkeys(replaced - {*own}), **own, SET: (*kept, *self.set)})


def are_schemes(variants: Iterable[Variant]) -> bool:
    """Whether schemes are compared, each by its name, and nothing else."""
    return all(variant.is_scheme for variant in variants)


def compared(schemes: Any, variants: Variants_ | None, more: Sequence[Variant] = ()) -> list[Variant]:
    """What a comparison compares: schemes, or variants, which may have one scheme in common.

    Args:
        schemes: names of schemes.
        variants: options and keys by label, or the file that has them.
        more: further variants.

    Raises:
        UsageError: there is nothing to compare, or it is not clear what; a label is missing, or given twice.
    """
    names = texts("schemes", schemes)
    given = [*([] if variants is None else of_tables(variants)), *more]
    if not given and not names:
        raise UsageError("nothing to compare: name at least one scheme (--scheme NAME), or one variant (--variant 'LABEL: OPTIONS')")
    if not given:
        return of_schemes(names)
    if len(names) > 1:
        written = f"--variant '{names[0]}: --scheme {names[0]}'"
        raise UsageError(f"{len(names)} schemes were given beside variants: expected at most one, which all have; write {written}")
    _check_labels(given)
    return [Variant(one.label, {**dict.fromkeys((SCHEME,) if names else (), *names), **one.options}, one.set) for one in given]


def of_schemes(schemes: Sequence[str]) -> list[Variant]:
    """A variant for each scheme.

    Raises:
        UsageError: a scheme has no name, or is named twice, also by two paths of one file.
    """
    seen: dict[str, str] = {}
    for scheme in schemes:
        if not scheme.strip():
            raise UsageError(f'schemes: "{scheme}": expected a name (see `ssdlab list schemes`), or a file by a path ending in .toml')
        same = "+".join(os.path.realpath(part) if is_preset_file(part) else part for part in map(str.strip, scheme.split("+")))
        if same in seen:
            named = scheme if seen[same] == scheme else f"{seen[same]} and {scheme} are the same"
            raise UsageError(f"scheme named twice: {named}")
        seen[same] = scheme
    return [Variant(scheme, {SCHEME: scheme}) for scheme in schemes]


def of_tables(variants: Variants_) -> list[Variant]:
    """Variants from tables of options by label, or from a TOML file of such tables.

    Raises:
        UsageError: a table is invalid, or has an option that no variant may have.
        FileError: the file cannot be read.
        ConfigError: the file does not define variants.
    """
    if isinstance(variants, str | os.PathLike):
        return list(_in_file(Path(path(VARIANTS, variants))))
    if not isinstance(variants, Mapping):
        raise UsageError(f'variants = {shown(variants)}: expected a mapping such as {{"QLC": {{"device": "my-qlc.toml"}}}}, or a file')
    return [_of_table(label, table) for label, table in variants.items()]


def _of_table(label: object, table: object) -> Variant:
    name = text("a label of variants", label)
    options = mapping(f'variants["{name}"]', table)
    for option in options:
        if option not in (*OPTIONS, SET):
            raise UsageError(f'variant "{name}": {_unknown(option)}')
    return Variant(name, {option: value for option, value in options.items() if option != SET}, pairs(options.get(SET)))


def _unknown(option: str) -> str:
    if option in OF_RUN:
        instead = f": give {INSTEAD[option]} beside the variants" if option in INSTEAD else ""
        return f"{option} is an option of a single run, which compare does not have{instead}"
    if option in TOGETHER:
        return f"{option} is an option of the whole comparison: give it beside the variants"
    return f'no option "{option}"{nearest(option, OPTIONS)} (there are {", ".join(OPTIONS)}, and {SET} for keys of the configuration)'


def pairs(values: Set | None) -> tuple[tuple[str, str], ...]:
    """Single keys as pairs of key and TOML text."""
    return () if values is None else tuple((key, value_text(value)) for key, value in mapping(SET, values).items())


def _in_file(file: Path) -> Iterator[Variant]:
    """The variants in a file of tables `[[variants]]`. Names of files in it are relative to it, as in a sweep."""
    from ssdlab.asking.keys import described, read_file, read_toml  # noqa: PLC0415 (few comparisons read a file)

    data = read_toml(str(file), read_file(file))
    tables, others = data.pop(VARIANTS, None), list(data)
    if others or not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        found = f'unknown key "{others[0]}"; ' if others else ""
        raise ConfigError(f"{file}: {found}expected tables [[{VARIANTS}]], each with a label, options of a run, and {SET}")
    for index, table in enumerate(tables):
        where = f"{file}: {VARIANTS}[{index}]"
        for option in table:
            if option in TOGETHER:
                raise ConfigError(f"{where}: {_unknown(option)}")
        value = described(where, table, file.parent, OPTIONS)
        yield Variant(text(f"{where}: label", value.value), value.options, pairs(value.set))


def _check_labels(variants: Sequence[Variant]) -> None:
    seen: set[str] = set()
    for variant in variants:
        label = variant.label
        if not label.strip() or not label.isprintable():
            raise UsageError(f"variants: label {shown(label)}: expected a name of printable characters, such as small buffer")
        if ": " in f"{label} ":
            raise UsageError(f'variants: label "{label}": expected a name without a colon and a space, which end a label')
        if label in RESERVED:
            raise UsageError(f'variants: label "{label}": files of results use this name otherwise; choose another')
        if label in seen:
            raise UsageError(f'variants: label "{label}" is there twice: choose another for one of them')
        seen.add(label)


@contextlib.contextmanager
def naming(variant: Variant) -> Iterator[None]:
    """Context in which errors are those of a variant: their messages begin with its label. Those of a scheme do not."""
    try:
        yield
    except Error as error:
        if variant.is_scheme:
            raise
        message = f'variant "{variant.label}": {error}'
        if isinstance(error, FileError):
            raise FileError(message, error.errno, error.filename) from error
        raise type(error)(message) from error


def entries(variants: Sequence[Variant], common: Setup, exported: Sequence[int]) -> dict[str, Any]:
    """What the variants are, as `comparison.json` has it: for each, the options in which they may differ, and its own keys.

    Args:
        variants: what is compared.
        common: options and keys that all variants have.
        exported: bytes that the drive of each exports.

    Returns:
        An entry for each label; none for schemes.
    """
    if are_schemes(variants):
        return {}
    named = [name for name in OPTIONS if any(name in variant.options for variant in variants)]
    return {variant.label: _entry(variant, variant.setup(common), named, size) for variant, size in zip(variants, exported, strict=True)}


def _entry(variant: Variant, setup: Setup, named: Sequence[str], exported: int) -> dict[str, Any]:
    values: dict[str, Any] = {**setup.options, SCHEME: variant.scheme}
    return {
        "options": {name: _plain(values[name]) for name in named if values[name] is not None},
        SET: dict(variant.set),
        "fit": values["fit"] is not None,
        "exported_bytes": exported,
    }


def _plain(value: Any) -> Any:
    """An option as JSON has it: files and policies by name."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    named = value if hasattr(value, "__qualname__") else type(value)
    return value.item() if hasattr(value, "item") else named.__qualname__


# ---- setups ----------------------------------------------------------------------------------------------------------


def fitted_setups(common: Setup, variants: Sequence[Variant], seeds: Sequence[int]) -> list[Setup]:
    """The setup of each variant, with drives of one size where they are fitted.

    Raises:
        ssdlab.Error: the configuration of a variant cannot be simulated.
    """
    setups = []
    for one in variants:
        if "seed" in one.options and len(seeds) > 1:
            raise UsageError(f'variant "{one.label}": seed and seeds (--seeds) were both given: leave one of them out')
        with naming(one):
            setup = one.setup(common)
            setup.build(one.scheme)  # an error is that of this variant
            setups.append(setup)
    return _fitted_alike([(setup, one.scheme) for one, setup in zip(variants, setups, strict=True)])


MOST_ROUNDS = 20
"""Maximum number of sizes that are tried to find one that all fitted drives can have."""


def _fitted_alike(runs: Sequence[tuple[Setup, str | None]]) -> list[Setup]:
    """The setups of runs to compare, with devices that `fit` gives the same size.

    Args:
        runs: setup and scheme of each run.
    """
    alike = [setup for setup, _ in runs]
    for fit in dict.fromkeys(setup.options["fit"] for setup in alike):
        if fit is not None:
            places = [place for place, (setup, _) in enumerate(runs) if setup.options["fit"] == fit]
            fitted = [(*runs[place], runs[place][0].unfitted(runs[place][1])) for place in places]
            for place, device in zip(places, _of_one_size(fit, fitted), strict=True):
                setup, scheme = runs[place]
                alike[place] = _fitted_as(setup, setup.unfitted(scheme), device)
    return alike


def _of_one_size(fit: str | int, runs: Sequence[tuple[Setup, str | None, Config]]) -> list[Fitted]:
    """Devices that export the same number of bytes: the smallest that all can have and that the run that needs most needs.

    A drive that cannot be as small as others makes them larger, and programs of different sizes make all a multiple of each. If no size in
    reach is one of all drives, the closest sizes found.
    """
    wanted = max(needed_bytes(config, fit) for _, _, config in runs)
    found: list[Fitted] = []
    least = math.inf
    for _ in range(MOST_ROUNDS):
        try:
            devices = _of_shapes([config for _, _, config in runs], wanted)
            sizes = [
                setup.with_changes(fitted_as=device).build(scheme).exported_bytes
                for (setup, scheme, _), device in zip(runs, devices, strict=True)
            ]
        except ConfigError:
            if not found:
                raise
            break
        wanted = max(sizes)
        if wanted - min(sizes) < least:
            found, least = devices, wanted - min(sizes)
        if not least:
            break
    return found


def _of_shapes(configs: Sequence[Config], wanted: int) -> list[Fitted]:
    """A device for each configuration that exports at least the wanted bytes. Devices of one shape get the largest of them."""
    devices: dict[str, set[Fitted]] = {}
    for config in configs:
        devices.setdefault(_shape(config), set()).add(fitted_device(config, wanted))
    return [max(devices[_shape(config)]) for config in configs]


def _shape(config: Config) -> str:
    """What a device has in common with others before `fit` sets its number of blocks."""
    device = json.loads(config.get("device"))
    return json.dumps({key: value for key, value in device.items() if f"device.{key}" != BLOCKS_KEY}, sort_keys=True)


def _fitted_as(setup: Setup, config: Config, device: Fitted) -> Setup:
    """A setup with this device, unless `fit` finds it anyway."""
    fit = setup.options["fit"]
    alike = setup if fit is None or fitted_device(config, fit) == device else setup.with_changes(fitted_as=device)
    alike.held.update(setup.held)
    return alike


def common_title(parts: Sequence[Sequence[str]]) -> str:
    """A line with what all runs of a comparison have in common, from the parts of the title of each; without a single run's scheme."""
    common = [part for part in parts[0] if all(part in others for others in parts)]
    several = [] if parts[0][:1] == common[:1] else ["Several devices"]
    return ", ".join([*several, *(part for part in common if len(parts) > 1 or not part.startswith("scheme "))])


def idle_in_variant(own: Iterable[str], idle: Mapping[str, str]) -> list[str]:
    """A line for each of a variant's `own` keys that has no effect in its run; `idle`: what each key without effect needs."""
    return [f"{key} has no effect: it needs {idle[key]}; set that as well, or leave {key} out" for key in own if key in idle]
