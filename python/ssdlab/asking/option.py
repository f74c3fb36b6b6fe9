"""Definition of an option of a run, and what is derived from `ssdlab.asking.options`: signatures, documentation and checks."""

import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

__all__ = [
    "Completion",
    "Form",
    "Heading",
    "Option",
    "complete",
    "file_types",
    "option_of",
    "options_of",
    "picked",
    "signature_with",
    "takes",
]

Form = Literal["text", "number", "count", "size", "seed", "positive", "file", "folder", "flag", "choice", "texts"]
"""Form of a value on the command line: a `count` may be 5k or 2M, a `size` 64MiB; a `choice` is a value of its type; `texts` belong to an
option that may be repeated."""
Heading = Literal["What is simulated", "Traces", "Checks", "Results", "Timelines", "Options"]
"""Heading under which the help of a command with many options lists an option."""
Completion = Literal["device", "scheme", "workload", "format", "key"]
"""Source of shell completions: names of presets, of trace formats, or of configuration keys."""


FILE_TYPES = (int, float, str, dict, bool)
"""Types of an option in a TOML file."""
ARGUMENTS = "    Args:\n"
WIDTH = 120
"""Width of generated documentation, characters."""

Options = TypeVar("Options", bound=Mapping[str, Any])
Function = TypeVar("Function", bound=Callable[..., Any])


_places = itertools.count()


@dataclass(frozen=True)
class Option:
    """An option of a run."""

    about: str
    """Description. The first sentence is the help on the command line."""
    usage: str = ""
    """Flags on the command line, and the placeholder of the value, such as `--device NAME`; empty for an option of Python only."""
    heading: Heading = "Options"
    form: Form = "text"
    complete: Completion | None = None
    default: Any = None
    """Default value."""
    key: str | None = None
    """Configuration key that the option sets, if any."""
    check: Literal["text", "number", "path"] | None = None
    """Check of the value in `Setup`, before the run; `path` for input files."""
    place: int = field(default_factory=lambda: next(_places), compare=False)
    """Position in help, from the order of definition."""

    @property
    def help(self) -> str:
        """The help on the command line."""
        first, dot, _ = self.about.partition(". ")
        return first + dot.strip()

    @property
    def flags(self) -> list[str]:
        """The flags of the option; none for an option of Python only."""
        return [word for word in self.usage.split() if word.startswith("-")]

    @property
    def metavar(self) -> str | None:
        """The placeholder of the value in help; `None` for a flag or a choice."""
        return next((word for word in self.usage.split() if not word.startswith("-")), None)


def option_of(annotation: Any) -> Option | None:
    """The `Option` in a parameter's annotation, if any."""
    return next((entry for entry in getattr(annotation, "__metadata__", ()) if isinstance(entry, Option)), None)


@cache
def annotations_of(kind: type) -> Mapping[str, Any]:
    """Annotated types of the options in a class of `ssdlab.asking.options`, by name, in the order of help."""
    hints = get_type_hints(kind, include_extras=True)
    places = {name: option.place for name, hint in hints.items() if (option := option_of(hint)) is not None}
    return MappingProxyType({name: hints[name] for name in sorted(places, key=places.__getitem__)})


@cache
def options_of(kind: type) -> Mapping[str, Option]:
    """Options in a class of `ssdlab.asking.options`, by name, in the order of help."""
    return MappingProxyType({name: cast("Option", option_of(hint)) for name, hint in annotations_of(kind).items()})


def file_types(kind: type) -> dict[str, tuple[type, ...]]:
    """TOML types of the options in a class of `ssdlab.asking.options`, by name; integers come first."""
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
    """Completes the given options with defaults.

    Raises:
        TypeError: an option does not exist; the message is that of Python.
    """
    known = options_of(kind)
    for name in given:
        if name not in known:
            raise TypeError(f"{caller}() got an unexpected keyword argument '{name}'")
    return cast("Options", {name: given.get(name, option.default) for name, option in known.items()})


def picked(kind: type[Options], given: Mapping[str, Any]) -> Options:
    """The given options that belong to `kind`."""
    return cast("Options", {name: given[name] for name in options_of(kind) if name in given})


def signature_with(plain: inspect.Signature, kind: type) -> inspect.Signature:
    """The signature of a function that takes `**options: Unpack[kind]`, with the options as keyword parameters.

    The order is: positional parameters, options in the order of help, the function's own keyword parameters.
    """
    own = [one for one in plain.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    by_place = [one for one in own if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    spelled = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=annotations_of(kind)[name])
        for name, option in options_of(kind).items()
    ]
    parameters = [*by_place, *spelled, *(one for one in own if one not in by_place)]
    return plain.replace(parameters=parameters)


def takes(kind: type, *, without: type | None = None) -> Callable[[Function], Function]:
    """A decorator that shows the options of `kind` in `help` and `inspect.signature`, for a function with `**options: Unpack[kind]`.

    Args:
        kind: a class of `ssdlab.asking.options`.
        without: class of options that are documented elsewhere; descriptions of the others are added to the docstring, as first arguments.
    """

    def shown(function: Function) -> Function:
        signature = signature_with(inspect.signature(function), kind)
        plain = [one.replace(annotation=getattr(one.annotation, "__origin__", one.annotation)) for one in signature.parameters.values()]
        function.__signature__ = signature.replace(parameters=plain)  # type: ignore[attr-defined]
        elsewhere = {} if without is None else options_of(without)
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
    """A docstring with descriptions of arguments inserted before its own."""
    if not lines:
        return text
    head, found, rest = text.partition(ARGUMENTS)
    if not found:
        head, found, rest = text.partition("    Raises:\n")
        rest = found + rest
        return "".join((head, ARGUMENTS, *(f"{line}\n" for line in lines), "\n", rest))
    return "".join((head, found, *(f"{line}\n" for line in lines), rest))
