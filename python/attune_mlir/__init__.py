# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attune: attention and matmul kernels, compiled, cached and launched.

    import attune_mlir as attune

    out = attune.attention(q, k, v, causal=True)            # NumPy, PyTorch, CuPy, JAX: what speaks DLPack
    compiled = attune.compile(source, chip=..., format="isa")

Nothing is loaded before it is used: the compiler comes with the first call.
"""

import importlib
import typing

if typing.TYPE_CHECKING:
    from . import cache, dialects, ir, numpy, reports
    from ._append import append
    from ._attention import attention
    from ._compiler import (
        Chip,
        Compiled,
        CompileError,
        Diagnostic,
        Kernel,
        Module,
        chips,
        compile,
        parse,
        run_pipeline,
        version,
    )
    from ._explain import Alternative, Explanation, Resources, explain
    from ._merge import merge
    from ._paged import PagedCache
    from ._pytorch import flex_attention, register_flash_attention, register_operators, register_transformers, sdpa
    from ._quantize import quantize
    from ._search import SearchResult, search
    from ._serving import decode, varlen
    from ._tune import TuneResult, tune
    from .ir import Block, Location, Operation, Region, Value

__all__ = [
    "Alternative",
    "Block",
    "Chip",
    "CompileError",
    "Compiled",
    "Diagnostic",
    "Explanation",
    "Kernel",
    "Location",
    "Module",
    "Operation",
    "PagedCache",
    "Region",
    "Resources",
    "SearchResult",
    "TuneResult",
    "Value",
    "append",
    "attention",
    "cache",
    "chips",
    "compile",
    "decode",
    "dialects",
    "explain",
    "flex_attention",
    "ir",
    "merge",
    "numpy",
    "parse",
    "quantize",
    "register_flash_attention",
    "register_operators",
    "register_transformers",
    "reports",
    "run_pipeline",
    "sdpa",
    "search",
    "tune",
    "varlen",
    "version",
]

#: Where names are; the rest is in _compiler.
_MODULES = {
    "append": "._append",
    "attention": "._attention",
    **dict.fromkeys(("Alternative", "Explanation", "Resources", "explain"), "._explain"),
    "PagedCache": "._paged",
    "merge": "._merge",
    "quantize": "._quantize",
    **dict.fromkeys(("decode", "varlen"), "._serving"),
    **dict.fromkeys(("SearchResult", "search"), "._search"),
    **dict.fromkeys(("TuneResult", "tune"), "._tune"),
    **dict.fromkeys(("Block", "Location", "Operation", "Region", "Value"), ".ir"),
    **dict.fromkeys(("flex_attention", "register_flash_attention", "register_operators", "register_transformers", "sdpa"), "._pytorch"),
}


def __getattr__(name: str) -> object:
    """Loads what a name stands for when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    if name in ("cache", "dialects", "ir", "numpy", "reports"):
        return importlib.import_module(f".{name}", __name__)
    value = getattr(importlib.import_module(_MODULES.get(name, "._compiler"), __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
