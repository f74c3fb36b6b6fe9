"""What an option of a run is, and what follows from its definition in `ssdlab.options`: signatures, documentation, checks."""

import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, Literal, Required, TypeVar, Union, cast, get_args, get_origin, get_type_hints

__all__ = [
    "NEEDED",
    "Completion",
    "Form",
    "Heading",
    "Option",
    "Shell",
    "complete",
    "file_types",
    "option_of",
    "options_of",
    "picked",
    "signature_with",
    "takes",
]

Form = Literal["text", "number", "count", "size", "seed", "positive", "file", "folder", "flag", "choice", "texts"]
"""How the command line reads a value: a `count` may be 5k or 2M, a `size` 64MiB; a `choice` is one of the values of its type; `texts` are
of an option that may be repeated."""
Heading = Literal["What is simulated", "Traces", "Checks", "Results", "Timelines", "Options"]
"""Where the help of a command that has many options lists one."""
Completion = Literal["device", "scheme", "workload", "format", "key"]
"""What a shell completes a value to: names of presets, of trace formats, of configuration keys."""


FILE_TYPES = (int, float, str, dict)
"""What an option can be in a TOML file."""
NEEDED = inspect.Parameter.empty
"""The default of an option that must be given."""
ARGUMENTS = "    Args:\n"
WIDTH = 120
"""Of documentation that is made here, characters."""

Options = TypeVar("Options", bound=Mapping[str, Any])
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Shell:
    """An option as the command line has it."""

    usage: str
    """Its names, and what stands for its value: `--device NAME`."""
    help: str
    heading: Heading = "Options"
    form: Form = "text"
    complete: Completion | None = None

    @property
    def flags(self) -> list[str]:
        """Its names."""
        return [word for word in self.usage.split() if word.startswith("-")]

    @property
    def metavar(self) -> str | None:
        """What stands for its value in the help, if not its choices."""
        return next((word for word in self.usage.split() if not word.startswith("-")), None)


_places = itertools.count()


@dataclass(frozen=True)
class Option:
    """An option of a run."""

    about: str | None
    """For callers of Python; `None` for one that only the command line has."""
    shell: Shell | None = None
    """`None` for one that only Python has."""
    default: Any = None
    """`NEEDED` if it must be given."""
    key: str | None = None
    """The key of the configuration that it stands for."""
    check: Literal["text", "number", "path"] | None = None
    """What a `Setup` checks it for before it begins: an input's name is a `path`."""
    place: int = field(default_factory=lambda: next(_places), compare=False)
    """In the order of this file."""


def option_of(annotation: Any) -> Option | None:
    """The option that a parameter is annotated with."""
    return next((entry for entry in getattr(annotation, "__metadata__", ()) if isinstance(entry, Option)), None)


@cache
def annotations_of(kind: type) -> Mapping[str, Any]:
    """By name, the annotated types of the options of one of the classes of `ssdlab.options`, in the order of help."""
    hints = {name: get_args(hint)[0] if _is_required(hint) else hint for name, hint in get_type_hints(kind, include_extras=True).items()}
    places = {name: option.place for name, hint in hints.items() if (option := option_of(hint)) is not None}
    return MappingProxyType({name: hints[name] for name in sorted(places, key=places.__getitem__)})


def _is_required(hint: Any) -> bool:
    return getattr(hint, "__origin__", None) is Required


@cache
def options_of(kind: type) -> Mapping[str, Option]:
    """By name, the options of one of the classes of `ssdlab.options`, in the order of help."""
    return MappingProxyType({name: cast("Option", option_of(hint)) for name, hint in annotations_of(kind).items()})


def file_types(kind: type) -> dict[str, tuple[type, ...]]:
    """By name, the types that the options of one of the classes of `ssdlab.options` have in a TOML file, whole numbers first."""
    return {name: tuple(sorted(_file_types(hint.__origin__), key=FILE_TYPES.index)) for name, hint in annotations_of(kind).items()}


def _file_types(hint: Any) -> Iterator[type]:
    if hint is float:
        yield from (int, float)
    elif hint in FILE_TYPES:
        yield hint
    elif get_origin(hint) is Literal:
        yield from {type(value) for value in get_args(hint)}
    elif get_origin(hint) in (Union, UnionType):
        yield from dict.fromkeys(kind for entry in get_args(hint) for kind in _file_types(entry))
    elif get_origin(hint) is Mapping:
        yield dict


def complete(caller: str, kind: type, given: Options) -> Options:
    """What a caller gave, with the defaults of the rest.

    Raises:
        TypeError: if there is no such option, or one is missing that must be given, as Python has it of any function.
    """
    known = options_of(kind)
    for name in given:
        if name not in known:
            raise TypeError(f"{caller}() got an unexpected keyword argument '{name}'")
    missing = [name for name, option in known.items() if option.default is NEEDED and name not in given]
    if missing:
        raise TypeError(f"{caller}() missing a required keyword-only argument: '{missing[0]}'")
    return cast("Options", {name: given.get(name, option.default) for name, option in known.items()})


def picked(kind: type[Options], given: Mapping[str, Any]) -> Options:
    """Those of the given options that are of `kind`."""
    return cast("Options", {name: given[name] for name in options_of(kind) if name in given})


def signature_with(plain: inspect.Signature, kind: type) -> inspect.Signature:
    """The signature of a function that takes the options of `kind` as `**options`, with these spelled out.

    First stands what is given by its place, then what must be given, then the other options in the order of help, last what is the
    function's own.
    """
    own = [one for one in plain.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    by_place = [one for one in own if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    spelled = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=annotations_of(kind)[name])
        for name, option in options_of(kind).items()
    ]
    spelled.sort(key=lambda one: one.default is not NEEDED)
    parameters = [*by_place, *spelled, *(one for one in own if one not in by_place)]
    return plain.replace(parameters=parameters)


def takes(kind: type, *, but: type | None = None) -> Callable[[Function], Function]:
    """Lets `help` and `inspect.signature` show the options of `kind`, which a function takes as `**options: Unpack[kind]`.

    Args:
        kind: one of the classes of `ssdlab.options`.
        but: the options of this class are described elsewhere; the others are in the function's documentation, as its first arguments.
    """

    def shown(function: Function) -> Function:
        signature = signature_with(inspect.signature(function), kind)
        plain = [one.replace(annotation=getattr(one.annotation, "__origin__", one.annotation)) for one in signature.parameters.values()]
        function.__signature__ = signature.replace(parameters=plain)  # type: ignore[attr-defined]
        elsewhere = {} if but is None else options_of(but)
        lines = [
            line
            for name, option in options_of(kind).items()
            if name not in elsewhere
            for line in textwrap.wrap(f"{name}: {option.about}", WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 12)
        ]
        function.__doc__ = _with_arguments(function.__doc__ or "", lines)
        return function

    return shown


def _with_arguments(text: str, lines: list[str]) -> str:
    """A docstring with descriptions of arguments in front of those that it has."""
    if not lines:
        return text
    head, found, rest = text.partition(ARGUMENTS)
    if not found:
        head, found, rest = text.partition("    Raises:\n")
        rest = found + rest
        return "".join((head, ARGUMENTS, *(f"{line}\n" for line in lines), "\n", rest))
    return "".join((head, found, *(f"{line}\n" for line in lines), rest))
