# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The builtin attributes, by the names that upstream's package has, and what makes them of Python's values.

Each is written as text and parsed, which checks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ._context import Attribute, Context, Location, Self, Type, check_context, get_context, quote
from ._types import BF16Type, F16Type, F32Type, F64Type, FloatType, IndexType, IntegerType, RankedTensorType, ShapedType


class UnitAttr(Attribute):
    """Is there or is not."""

    __slots__ = ()

    @staticmethod
    def get(context: Context | None = None) -> UnitAttr:
        return UnitAttr(Attribute.parse("unit", context))


class BoolAttr(Attribute):
    """true or false"""

    __slots__ = ()

    @staticmethod
    def get(value: bool, context: Context | None = None) -> BoolAttr:
        return BoolAttr(Attribute.parse("true" if value else "false", context))

    def __bool__(self) -> bool:
        return bool(self.value)


class IntegerAttr(Attribute):
    """A number of an integer type or of index, as 3 : i32."""

    __slots__ = ()

    @staticmethod
    def get(type: Type, value: int) -> Any:
        """Raises CompileError where the type does not have the value. Of i1, it is a BoolAttr."""
        if isinstance(type, IntegerType) and str(type) == "i1":
            return BoolAttr.get(bool(value), type.context)
        return IntegerAttr(Attribute.parse(f"{int(value)} : {type}", type.context))

    def __int__(self) -> int:
        return int(self.value)


class FloatAttr(Attribute):
    """A number of a type of floats, as 0.5 : f32."""

    __slots__ = ()
    #: Of types that have them: bits of infinity and of a NaN, and the sign.
    _BITS: ClassVar[Mapping[type[Type], tuple[int, int, int]]] = {
        F16Type: (0x7C00, 0x7E00, 1 << 15),
        BF16Type: (0x7F80, 0x7FC0, 1 << 15),
        F32Type: (0x7F800000, 0x7FC00000, 1 << 31),
        F64Type: (0x7FF << 52, 0x7FF8 << 48, 1 << 63),
    }

    @staticmethod
    def get(type: Type, value: float, loc: Location | None = None) -> FloatAttr:
        """The nearest number of the type. Raises CompileError or ValueError where it has none."""
        value = float(value)
        if not isinstance(type, FloatType):
            raise ValueError(f"expects a type of floats, but got {type!r}")
        text = f"{value:.17e}"
        if not math.isfinite(value):
            if type.__class__ not in FloatAttr._BITS:
                raise ValueError(f"expects a finite number of type {type}, but got {value}")
            infinity, nan, sign = FloatAttr._BITS[type.__class__]
            text = hex(nan if math.isnan(value) else infinity | sign * (value < 0))
        return FloatAttr(Attribute.parse(f"{text} : {type}", type.context))

    @staticmethod
    def get_f32(value: float, context: Context | None = None) -> FloatAttr:
        return FloatAttr.get(F32Type.get(context), value)

    @staticmethod
    def get_f64(value: float, context: Context | None = None) -> FloatAttr:
        return FloatAttr.get(F64Type.get(context), value)

    def __float__(self) -> float:
        return float(self.value)


class StringAttr(Attribute):
    """A string."""

    __slots__ = ()

    @staticmethod
    def get(value: str, context: Context | None = None) -> StringAttr:
        return StringAttr(Attribute.parse(quote(value), context))


class FlatSymbolRefAttr(Attribute):
    """The name of a function or of another symbol, as @name; `value` has no @."""

    __slots__ = ()

    @staticmethod
    def get(value: str, context: Context | None = None) -> FlatSymbolRefAttr:
        return FlatSymbolRefAttr(Attribute.parse("@" + quote(value), context))


class TypeAttr(Attribute):
    """A type; `value` is it."""

    __slots__ = ()

    @staticmethod
    def get(value: Type, context: Context | None = None) -> TypeAttr:
        check_context(context or value.context, [value])
        return TypeAttr(Attribute.parse(str(value), value.context))

    @property
    def value(self) -> Any:
        return Type._wrap(self._native.type)


def _join(parts: Sequence[Attribute], context: Context | None) -> tuple[str, Context]:
    owner = context or (parts[0].context if parts else get_context())
    check_context(owner, parts)
    return ", ".join(map(str, parts)), owner


class ArrayAttr(Attribute):
    """Attributes in order."""

    __slots__ = ()

    @staticmethod
    def get(attributes: Sequence[Attribute], context: Context | None = None) -> ArrayAttr:
        text, owner = _join(attributes, context)
        return ArrayAttr(Attribute.parse(f"[{text}]", owner))

    def __len__(self) -> int:
        return len(self._native.elements)

    def __iter__(self) -> Iterator[Any]:
        return (Attribute._wrap(native) for _, native in self._native.elements)

    def __getitem__(self, position: int) -> Any:
        return Attribute._wrap(self._native.elements[position][1])


class DictAttr(Attribute):
    """Attributes by names."""

    __slots__ = ()

    @staticmethod
    def get(value: Mapping[str, Attribute], context: Context | None = None) -> DictAttr:
        _, owner = _join(list(value.values()), context)
        return DictAttr(Attribute.parse("{" + ", ".join(f"{quote(name)} = {part}" for name, part in value.items()) + "}", owner))

    def __len__(self) -> int:
        return len(self._native.elements)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._native.elements)

    def __getitem__(self, name: str) -> Any:
        return Attribute._wrap(dict(self._native.elements)[name])


class _DenseArray(Attribute):
    """Integers."""

    __slots__ = ()
    _element: str

    @classmethod
    def get(cls: type[Self], values: Sequence[int], context: Context | None = None) -> Self:
        numbers = ", ".join(str(int(value)) for value in values)
        made: Self = Attribute.parse(f"array<{cls._element}{': ' * bool(numbers)}{numbers}>", context)  # type: ignore[attr-defined]
        return made

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[int]:
        return iter(self.value)

    def __getitem__(self, position: int) -> int:
        return int(self.value[position])


class DenseI32ArrayAttr(_DenseArray):
    """array<i32: 1, 2>"""

    __slots__ = ()
    _element = "i32"


class DenseI64ArrayAttr(_DenseArray):
    """array<i64: 1, 2>"""

    __slots__ = ()
    _element = "i64"


class AffineMapAttr(Attribute):
    """affine_map<(d0) -> (d0)>, which is parsed."""

    __slots__ = ()


class DenseElementsAttr(Attribute):
    """The elements of a tensor."""

    __slots__ = ()
    _ELEMENTS: ClassVar[Mapping[str, str]] = {
        "e": "f16",
        "f": "f32",
        "d": "f64",
        "b": "i8",
        "h": "i16",
        "i": "i32",
        "l": "i64",
        "q": "i64",
        "B": "ui8",
        "H": "ui16",
        "I": "ui32",
        "L": "ui64",
        "Q": "ui64",
    }

    @staticmethod
    def get(array: Any, type: ShapedType | None = None, context: Context | None = None) -> Any:
        """Those of an array with a buffer, as NumPy's, of floats or integers: in their own type and shape, or as bits of another one."""
        view = memoryview(array)
        if type is None:
            if view.format not in DenseElementsAttr._ELEMENTS:
                raise ValueError(f"expects elements of 8 to 64 bits, floats or integers, but got the format '{view.format}'")
            element = Type.parse(DenseElementsAttr._ELEMENTS[view.format], context)
            type = RankedTensorType.get(view.shape or (), element)
        data = f'"0x{view.tobytes().hex().upper()}"' if view.nbytes else ""
        return Attribute.parse(f"dense<{data}> : {type}", type.context)


class DenseIntElementsAttr(DenseElementsAttr):
    """Those of a tensor of integers."""

    __slots__ = ()


class AttrBuilder:
    """What makes an attribute of a value of Python, by the name of the attribute's kind in the dialect's definition."""

    _builders: ClassVar[dict[str, Callable[..., Attribute]]] = {}

    @staticmethod
    def contains(kind: str) -> bool:
        return True

    @staticmethod
    def get(kind: str) -> Callable[..., Attribute]:
        """Kinds without a builder take text, as MLIR prints the attribute."""
        return AttrBuilder._builders.get(kind, to_attribute)

    @staticmethod
    def insert(kind: str, builder: Callable[..., Attribute], replace: bool = False) -> None:
        if kind in AttrBuilder._builders and not replace:
            raise RuntimeError(f"expects a kind of attributes without a builder, but got '{kind}', which has one")
        AttrBuilder._builders[kind] = builder


def register_attribute_builder(kind: str, replace: bool = False) -> Callable[[Callable[..., Attribute]], Callable[..., Attribute]]:
    """Decorates a function of a value and `context` that makes attributes of this kind."""

    def register(builder: Callable[..., Attribute]) -> Callable[..., Attribute]:
        AttrBuilder.insert(kind, builder, replace)
        return builder

    return register


def to_attribute(value: object, context: Context | None = None) -> Any:
    """An attribute as it is, a type as one, and text parsed. Raises TypeError for anything else."""
    if isinstance(value, Attribute):
        return value
    if isinstance(value, Type):
        return TypeAttr.get(value)
    if isinstance(value, str):
        return Attribute.parse(value, context)
    raise TypeError(f"expects an attribute, or its text, but got {type(value).__name__}")


def _register() -> None:
    def get_integer(width: int) -> Callable[..., Attribute]:
        return lambda value, context=None: IntegerAttr.get(IntegerType.get_signless(width, context), value)

    def get_array(kind: str) -> Callable[..., Attribute]:
        builder = AttrBuilder.get(kind)
        return lambda value, context=None: ArrayAttr.get(
            [part if isinstance(part, Attribute) else builder(part, context=context) for part in value], context
        )

    simple: dict[str, Callable[..., Attribute]] = {
        **{f"I{width}Attr": get_integer(width) for width in (8, 16, 32, 64)},
        "BoolAttr": BoolAttr.get,
        "IndexAttr": lambda value, context=None: IntegerAttr.get(IndexType.get(context), value),
        "F32Attr": FloatAttr.get_f32,
        "F64Attr": FloatAttr.get_f64,
        **dict.fromkeys(("StrAttr", "SymbolNameAttr"), StringAttr.get),
        **dict.fromkeys(("FlatSymbolRefAttr", "SymbolRefAttr"), FlatSymbolRefAttr.get),
        "TypeAttr": lambda value, context=None: to_attribute(value, context),
        "DictionaryAttr": DictAttr.get,
        "DenseI32ArrayAttr": DenseI32ArrayAttr.get,
        "DenseI64ArrayAttr": DenseI64ArrayAttr.get,
    }
    for kind, builder in simple.items():
        AttrBuilder.insert(kind, builder)
    for kind, element in (("I64Array", "I64"), ("StrArray", "Str"), ("TypeArray", "Type"), ("DictArray", "Dictionary"), ("Array", "")):
        AttrBuilder.insert(f"{kind}Attr", get_array(f"{element}Attr"))


_register()
