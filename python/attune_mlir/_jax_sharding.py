# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How XLA divides attention of JAX's arrays between devices: by batches, and by heads of keys with the heads of queries that use them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

from . import _gradients, _operands


def _name_dims(layout: str) -> dict[str, str]:
    """Letters of dimensions, by the names of arrays: g are heads of keys, each with r of the h heads of queries."""
    of_output = layout.replace("d", "e")
    of_key = layout.replace("s", "t").replace("h", "g")
    dims = dict(zip(_gradients.PARTS, (layout, of_key, of_key.replace("d", "e")), strict=True))
    dims |= {"output": of_output, "output_grad": of_output, "lse": "bhs", "lse_grad": "bhs"}
    return {**dims, _operands.name_slopes(): "h", "sinks": "h"}


def divide(name: str, compute: Callable[..., Any], operands: Mapping[str, Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    """`compute`, which XLA may call on each device for a part of the operands, which it is given in their order."""
    if name not in ("attention", "attention_gradients"):
        return compute
    jax.eval_shape(compute, *operands.values())  # says what is wrong before sizes are read
    dims = _name_dims(options["layout"])
    given = [dims[operand] for operand in operands]
    if name == "attention":
        made = [dims["output"]] + [dims["lse"]] * options["return_lse"]
    else:
        of = (*_gradients.PARTS, _operands.name_slopes())
        made = [dims[one] for one, is_wanted in zip(of, options["wanted"], strict=True) if is_wanted]
    query, key = (dict(zip(dims[part], operands[part].shape, strict=True)) for part in _gradients.PARTS[:2])
    # A gradient of slopes is a sum over batches.
    sizes = {"g": key["g"]} if "h" in made else {"b": query["b"], "g": key["g"]}
    group = query["h"] // key["g"]

    def write(arrays: list[str]) -> str:
        of_heads = "g" if group == 1 else "r" if key["g"] == 1 else "(g r)"
        return ", ".join(" ".join(of_heads if letter == "h" else letter for letter in array) for array in arrays)

    def partition(mesh: Any, _: Any, results: Any) -> Any:
        axes: dict[str, Any] = {}
        # As the first result is wanted, which has all of these dimensions. Where XLA's mesh is not known, neither are its axes.
        for letter, part in zip(made[0], getattr(results[0].sharding, "spec", ()), strict=False):
            known = letter.replace("h", "g")
            names = part if isinstance(part, tuple) else () if part is None else (part,)
            if known in sizes and sizes[known] % math.prod(mesh.shape[one] for one in names) == 0:
                axes[known] = part
        axes["h"] = axes.get("g")
        found = [tuple(NamedSharding(mesh, PartitionSpec(*map(axes.get, array))) for array in arrays) for arrays in (made, given)]
        return mesh, compute, found[0], found[1]

    rule = f"{write(given)} -> {write(made)}"
    whole = tuple(letter for letter in dict.fromkeys(rule) if letter.isalpha() and letter not in sizes)
    divided = custom_partitioning(compute)
    factors = {"r": group} if "(" in rule else {}  # of what is no dimension of its own
    divided.def_partition(
        partition,
        infer_sharding_from_operands=lambda *described: partition(*described)[2],
        sharding_rule=rule,
        need_replication_factors=whole,
        **factors,
    )
    return divided  # type: ignore[no-any-return]
