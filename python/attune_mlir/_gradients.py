# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of attention: their kernels, from the module of the forward pass, and the launch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from . import _compiler, _devices, _frameworks, _native, _schedules

#: Whose gradients there are, as kernels call them.
PARTS = ("query", "key", "value")


@dataclasses.dataclass(frozen=True)
class Gradients:
    """What kernels are compiled for."""

    #: Has a gradient of the LSE where it returns that.
    forward: _devices.Problem
    #: Which of query, key and value gradients are wanted of.
    wanted: tuple[bool, bool, bool]
    #: Whether they have equal bits in each launch.
    deterministic: bool
    #: Arguments of the forward pass whose gradients are wanted as well: sinks, and what its scores read.
    others: tuple[int, ...] = ()

    def make_module(self) -> _compiler.Module:
        """The gradients in the attn dialect. CompileError where an operation has no derivative."""
        parts = [number for number, is_wanted in enumerate(self.wanted) if is_wanted]
        numbers = ",".join(map(str, [*parts, *self.others]))
        options = f"wrt={numbers} deterministic={str(self.deterministic).lower()} keep-forward=false"
        return _compiler.run_pipeline(self.forward.make_module(), f"builtin.module(attn-differentiate{{{options}}})")


@dataclasses.dataclass(frozen=True)
class Saved:
    """What the forward pass leaves, and gradients of its results. Arrays are row-major without gaps."""

    output: Any
    lse: Any
    output_grad: Any
    lse_grad: Any = None


#: As kernels call them.
SAVED = tuple(field.name for field in dataclasses.fields(Saved))


def run(
    place: tuple[str, int],
    chip: str | None,
    problem: Gradients,
    bucket: _schedules.Bucket,
    read: Mapping[str, _native.Tensor],
    saved: Saved,
    parts: list[Any],
    known: Callable[..., bool] | None = None,
    others: Mapping[str, Any] | None = None,
) -> list[Any]:
    """Compiles and launches. `parts` are query, key and value; gives the gradients of those that are wanted, None of the others.

    Behind them are those of other arguments, in float32.

    `read` are the arguments of the forward pass, by what kernels call them. `known` learns the call, with `parts`, what is saved and
    `others`, which are among `read` where they are no None, as inputs, if it is one for a GPU.
    """
    framework = _frameworks.find_framework(parts[0])
    named = dict(read)
    kept = {name: array for name, array in vars(saved).items() if array is not None}
    named.update((name, _frameworks.make_tensor(array, name)) for name, array in kept.items())
    gradients: list[Any] = [None] * len(PARTS)
    for number, (name, part) in enumerate(zip(PARTS, parts, strict=True)):
        if problem.wanted[number]:
            gradients[number] = framework.empty(part, tuple(part.shape), _frameworks.get_dtype_name(named[name]))
            named[f"{name}_grad"] = _frameworks.make_tensor(gradients[number], f"{name}_grad", writable=True)
    names = [f"{name}_grad" for number, name in enumerate(PARTS) if problem.wanted[number]]
    for order, number in enumerate(problem.others):
        # Kernels call sinks by their name.
        like = read.get(f"argument{number}") or read["sinks"]
        gradients.append(framework.empty(parts[0], tuple(like.shape), "float32"))
        names.append(f"tensor{order}_grad")
        named[names[-1]] = _frameworks.make_tensor(gradients[-1], names[-1], writable=True)
    device, kernel = _devices.get_kernel(place, chip, problem, bucket)
    places = _devices.find_places(kernel)
    arguments, queue = _devices.run(device, kernel, [named[name] for name in places], parts[0], None)
    behind = {} if others is None else others
    inputs = [*PARTS, *kept, *(name for name, array in behind.items() if array is not None)]
    if known is not None and not device.is_host and all(name in places for name in inputs):
        results = [places[name] for name in names]
        known([*parts, *kept.values(), *behind.values()], [places[name] for name in inputs], results, arguments, kernel, queue)
    return gradients
