# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The builtin types, by the names that upstream's package has. Each is written as text and parsed, which checks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _native
from ._context import Attribute, Context, Location, Self, Type, check_context, get_context


class _Plain(Type):
    """A type without parameters."""

    __slots__ = ()
    _text: str

    @classmethod
    def get(cls: type[Self], context: Context | None = None) -> Self:
        made: Self = Type.parse(cls._text, context)  # type: ignore[attr-defined]
        return made


class IndexType(_Plain):
    """index"""

    __slots__ = ()
    _text = "index"


class NoneType(_Plain):
    """none"""

    __slots__ = ()
    _text = "none"


class FloatType(_Plain):
    """A type of floats."""

    __slots__ = ()

    @property
    def width(self) -> int:
        """Bits."""
        return int(self._native.width)


class F16Type(FloatType):
    """f16"""

    __slots__ = ()
    _text = "f16"


class BF16Type(FloatType):
    """bf16"""

    __slots__ = ()
    _text = "bf16"


class F32Type(FloatType):
    """f32"""

    __slots__ = ()
    _text = "f32"


class F64Type(FloatType):
    """f64"""

    __slots__ = ()
    _text = "f64"


class Float8E4M3FNType(FloatType):
    """f8E4M3FN"""

    __slots__ = ()
    _text = "f8E4M3FN"


class Float8E5M2Type(FloatType):
    """f8E5M2"""

    __slots__ = ()
    _text = "f8E5M2"


class Float8E4M3FNUZType(FloatType):
    """f8E4M3FNUZ"""

    __slots__ = ()
    _text = "f8E4M3FNUZ"


class Float8E5M2FNUZType(FloatType):
    """f8E5M2FNUZ"""

    __slots__ = ()
    _text = "f8E5M2FNUZ"


class IntegerType(Type):
    """i32, si32, ui32 and so on, of any number of bits."""

    __slots__ = ()

    @staticmethod
    def get_signless(width: int, context: Context | None = None) -> IntegerType:
        return IntegerType(Type.parse(f"i{width}", context))

    @staticmethod
    def get_signed(width: int, context: Context | None = None) -> IntegerType:
        return IntegerType(Type.parse(f"si{width}", context))

    @staticmethod
    def get_unsigned(width: int, context: Context | None = None) -> IntegerType:
        return IntegerType(Type.parse(f"ui{width}", context))

    @property
    def width(self) -> int:
        """Bits."""
        return int(self._native.width)


class FunctionType(Type):
    """(inputs) -> results"""

    __slots__ = ()

    @staticmethod
    def get(inputs: Sequence[Type], results: Sequence[Type], context: Context | None = None) -> FunctionType:
        types = [*inputs, *results]
        owner = context or (types[0].context if types else get_context())
        check_context(owner, types)
        return FunctionType(Type.parse(f"({', '.join(map(str, inputs))}) -> ({', '.join(map(str, results))})", owner))

    @property
    def inputs(self) -> list[Any]:
        return [Type._wrap(native) for native in self._native.signature(False)]

    @property
    def results(self) -> list[Any]:
        return [Type._wrap(native) for native in self._native.signature(True)]


class ShapedType(Type):
    """A tensor, a vector or a memref."""

    __slots__ = ()

    @staticmethod
    def get_dynamic_size() -> int:
        """What a size known at run time only is in `shape`; where a shape is given, None is one, too."""
        return _native.DYNAMIC

    @property
    def shape(self) -> list[int]:
        return list(self._native.shape)

    @property
    def rank(self) -> int:
        return len(self._native.shape)

    @property
    def element_type(self) -> Any:
        return Type._wrap(self._native.element)

    def is_dynamic_dim(self, dim: int) -> bool:
        return bool(self._native.shape[dim] == _native.DYNAMIC)

    @classmethod
    def _make(cls: type[Self], name: str, shape: Sequence[int | None], element: Type, parameters: Sequence[Attribute | None]) -> Self:
        known = [parameter for parameter in parameters if parameter is not None]
        check_context(element.context, known)
        sizes = "".join("?x" if size is None or size == _native.DYNAMIC else f"{int(size)}x" for size in shape)
        made: Self = Type.parse(f"{name}<{', '.join([f'{sizes}{element}', *map(str, known)])}>", element.context)
        return made


class RankedTensorType(ShapedType):
    """tensor<2x?xf16>, and with an encoding tensor<2x?xf16, #encoding>"""

    __slots__ = ()

    @staticmethod
    def get(
        shape: Sequence[int | None], element_type: Type, encoding: Attribute | None = None, loc: Location | None = None
    ) -> RankedTensorType:
        return RankedTensorType._make("tensor", shape, element_type, [encoding])

    @property
    def encoding(self) -> Any:
        """The encoding, or None."""
        native = self._native.encoding
        return None if native is None else Attribute._wrap(native)


class VectorType(ShapedType):
    """vector<4xf32>"""

    __slots__ = ()

    @staticmethod
    def get(shape: Sequence[int], element_type: Type, loc: Location | None = None) -> VectorType:
        return VectorType._make("vector", shape, element_type, [])


class MemRefType(ShapedType):
    """memref<2x?xf16>, with a layout and a memory space where they are given"""

    __slots__ = ()

    @staticmethod
    def get(
        shape: Sequence[int | None],
        element_type: Type,
        layout: Attribute | None = None,
        memory_space: Attribute | None = None,
        loc: Location | None = None,
    ) -> MemRefType:
        return MemRefType._make("memref", shape, element_type, [layout, memory_space])
