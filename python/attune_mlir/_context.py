# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `attune_mlir.ir` stands on: contexts, types and attributes in general, and locations."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from . import _native
from ._diagnostics import CompileError, parse_diagnostics

if TYPE_CHECKING:
    from ._structure import InsertionPoint

Self = TypeVar("Self", bound="Handle")
Current = TypeVar("Current")


class Handle:
    """What Python holds of MLIR. Two handles are equal where they are of the same thing."""

    __slots__ = ("_native",)
    _native: Any

    @classmethod
    def _of(cls: type[Self], native: Any) -> Self:
        made = cls.__new__(cls)
        made._native = native
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and type(self._native) is type(other._native) and bool(self._native.key == other._native.key)

    def __hash__(self) -> int:
        return hash(self._native.key)


class _Stack(threading.local):
    """What `with` entered in this thread, innermost last: the object, and what is the context, location and insertion point then."""

    def __init__(self) -> None:
        self.frames: list[tuple[object, Context, Location | None, InsertionPoint | None]] = []


_STACK = _Stack()


class _CurrentOf(Generic[Current]):
    """A property of a class: what is entered, or None."""

    def __init__(self, position: int) -> None:
        self._position = position

    def __get__(self, instance: object, owner: type) -> Current | None:
        return _STACK.frames[-1][self._position] if _STACK.frames else None  # type: ignore[return-value]


class Entered:
    """What is a default within `with`."""

    __slots__ = ()

    def _push(self, context: Context, location: Location | None = None, point: InsertionPoint | None = None) -> None:
        if _STACK.frames and _STACK.frames[-1][1] == context:
            location, point = location or _STACK.frames[-1][2], point or _STACK.frames[-1][3]
        _STACK.frames.append((self, context, location, point))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not _STACK.frames or _STACK.frames[-1][0] is not self:
            raise RuntimeError("expects to leave what was entered last, but got something else")
        _STACK.frames.pop()


class Context(Handle, Entered):
    """All dialects of Attune and of upstream. Within `with`, the default of what takes a context.

    Types, attributes and operations of one context do not go together with those of another one.
    """

    __slots__ = ()
    current: _CurrentOf[Context] = _CurrentOf(1)

    def __init__(self) -> None:
        self._native = _native.Context()

    def __enter__(self) -> Context:
        self._push(self)
        return self


def get_context(given: Context | None = None) -> Context:
    """The given context, or that of the innermost `with`. Raises ValueError where there is none."""
    context = given or Context.current
    if context is None:
        raise ValueError("expects a context, as `with Context():` gives one, but got none")
    return context


def check_context(context: Context, parts: Sequence[Type | Attribute]) -> None:
    """Raises ValueError where a part is of another context, which text would not say."""
    if any(part.context != context for part in parts):
        raise ValueError("expects operations, types, attributes and locations of one context, but got those of two")


def quote(text: str) -> str:
    """A string as MLIR writes it."""
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in text.encode()) + '"'


class _Uniqued(Handle):
    """A type or an attribute: of the class of its kind, which is the most special one that there is."""

    __slots__ = ()
    _classes: ClassVar[dict[str, type[Any]]]

    def __init__(self, cast_from: object) -> None:
        """The same, known to be of this class. Raises ValueError where it is not."""
        if not isinstance(cast_from, type(self)):
            raise ValueError(f"expects {type(self).__name__}, but got {cast_from!r}")
        self._native = cast_from._native

    @classmethod
    def isinstance(cls, other: object) -> bool:
        """Whether it is of this class, as isinstance() says."""
        return isinstance(other, cls)

    @classmethod
    def _wrap(cls, native: Any) -> Any:
        made: _Uniqued = cls._classes.get(native.kind, cls)._of(native)
        return made

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "_classes"):
            cls._classes[cls.__name__] = cls

    @property
    def context(self) -> Context:
        return Context._of(self._native.context)

    def __str__(self) -> str:
        return str(self._native.text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


class Type(_Uniqued):
    """A type of any dialect."""

    __slots__ = ()
    _classes: ClassVar[dict[str, type[Any]]] = {}

    @staticmethod
    def parse(text: str, context: Context | None = None) -> Any:
        """A type as MLIR prints it. Raises CompileError where it is none."""
        native, said = get_context(context)._native.parse_type(text)
        if native is None:
            raise CompileError(parse_diagnostics(said))
        return Type._wrap(native)


class Attribute(_Uniqued):
    """An attribute of any dialect."""

    __slots__ = ()
    _classes: ClassVar[dict[str, type[Any]]] = {}

    @staticmethod
    def parse(text: str, context: Context | None = None) -> Any:
        """An attribute as MLIR prints it. Raises CompileError where it is none."""
        native, said = get_context(context)._native.parse_attribute(text)
        if native is None:
            raise CompileError(parse_diagnostics(said))
        return Attribute._wrap(native)

    @property
    def type(self) -> Any:
        """Its type, or None."""
        native = self._native.type
        return None if native is None else Type._wrap(native)

    @property
    def value(self) -> Any:
        """A number, a string, or a tuple or dictionary of such; the text of anything else. A unit attribute is True."""
        return self._native.value


class Location(Attribute, Entered):
    """Where an operation comes from. Within `with`, the default of operations that are built.

    Without one, operations come from the line of the program that builds them.
    """

    __slots__ = ()
    current: _CurrentOf[Location] = _CurrentOf(2)

    def __enter__(self) -> Location:
        self._push(self.context, self)
        return self

    @staticmethod
    def unknown(context: Context | None = None) -> Location:
        """No place."""
        return Location(Attribute.parse("loc(unknown)", context))

    @staticmethod
    def file(filename: str, line: int, col: int, context: Context | None = None) -> Location:
        """A place in a file; line and column count from 1."""
        return Location(Attribute.parse(f"loc({quote(filename)}:{line}:{col})", context))

    @staticmethod
    def name(name: str, childLoc: Location | None = None, context: Context | None = None) -> Location:  # noqa: N803
        """Something with a name, at a place."""
        child = "" if childLoc is None else f"({childLoc.text[4:-1]})"
        return Location(Attribute.parse(f"loc({quote(name)}{child})", childLoc.context if childLoc else context))

    @property
    def text(self) -> str:
        """As MLIR prints it."""
        return str(self._native.place[0])

    @property
    def filename(self) -> str | None:
        """Name of the source, or None where it is no place in a file."""
        name: str | None = self._native.place[1]
        return name

    @property
    def start_line(self) -> int | None:
        """From 1, or None."""
        line: int | None = self._native.place[2]
        return line

    @property
    def start_col(self) -> int | None:
        """From 1, or None."""
        column: int | None = self._native.place[3]
        return column

    @property
    def attr(self) -> Location:
        """Itself, for it is an attribute."""
        return self


_PACKAGE = os.path.dirname(__file__)


def find_location(context: Context) -> Location:
    """The location of the innermost `with`, or the line of the program that called this package."""
    if Location.current is not None and Location.current.context == context:
        return Location.current
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return Location.unknown(context)
    return Location.file(frame.f_code.co_filename, frame.f_lineno, 1, context)
