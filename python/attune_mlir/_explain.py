# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which kernel a call runs, and why."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _attention, _compiler, _devices, _frameworks, _schedules

#: How many alternatives are printed.
_PRINTED = 5


@dataclasses.dataclass(frozen=True)
class Resources:
    """What a kernel takes of the chip. None where no assembler said."""

    #: 32-bit registers of a thread, and bytes that it spills to memory.
    registers: int | None
    spill_bytes: int | None
    #: Shared memory of a workgroup in bytes, and its threads.
    shared_bytes: int
    threads: int
    #: Workgroups of this call.
    workgroups: int
    #: What a model says of the main loop as machine code, by the names of docs/Manifest.md without `loop_`; empty where it says
    #: nothing.
    loop: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def describe_loop(self) -> str:
        """The terms of `loop`: what one iteration takes each part of the chip."""
        clocks = {name.removesuffix("_clocks"): count for name, count in self.loop.items() if name.endswith("_clocks")}
        return (
            f"{self.loop['warps']} warps of an SM; clocks: {clocks['matrix']} matrix, "
            f"{clocks['vector']} vector ({clocks['exp']} exponentials), {clocks['shared']} shared memory "
            f"({clocks['conflict']} conflicts), {clocks['cache']} cache, {clocks['alone']} one warp ({clocks['wait']} waits); "
            f"{self.loop['tflops']} TFLOP/s"
        )


@dataclasses.dataclass(frozen=True)
class Alternative:
    """Another schedule and what it costs."""

    #: What differs, by the names of the tunables.
    changes: Mapping[str, str]
    #: As measured where `Explanation.measured_ns` is, else as predicted.
    ns: float
    #: Times as long as the kernel that runs takes.
    ratio: float

    def __str__(self) -> str:
        changes = " ".join(f"{name}={value}" for name, value in self.changes.items())
        return f"{self.ns / 1000:10.1f} us {100 * (self.ratio - 1):+7.1f} %  {changes}"


@dataclasses.dataclass(frozen=True)
class Explanation:
    """Which kernel a call of `attention` runs, as `explain` found. `str()` is for people."""

    chip: str
    #: "cpu" where the kernel is executed thread by thread, else the device: "cuda:0".
    device: str
    #: Name of the kernel's entry.
    kernel: str
    #: Those of kernels that run with it: that list blocks before it, or merge parts of the keys behind it.
    others: tuple[str, ...]
    #: Numbers of queries and keys, and of batches, up to which calls share the schedule.
    seq_q: int
    seq_k: int
    batch: int
    #: Values by tunables (docs/generated/Knobs.md).
    schedule: Mapping[str, str]
    #: "search" where `tune` found the schedule, "choice" where the compiler chose it.
    source: str
    resources: Resources
    #: Time of a launch by the compiler's model, in nanoseconds; None where it has none.
    predicted_ns: float | None
    #: As the search measured it, for the sizes that it was given; None where there was none, or no device.
    measured_ns: float | None
    #: The fastest other schedules: those that the search measured, else those that differ in one value, as predicted.
    alternatives: Sequence[Alternative]

    def __str__(self) -> str:
        used = self.resources
        registers = "no assembler, so registers are not known" if used.registers is None else f"{used.registers} registers"
        spills = f", {used.spill_bytes} bytes spilled" if used.spill_bytes else ", no spills" if used.spill_bytes == 0 else ""
        why = {"search": "found by a search", "choice": "chosen by the compiler without a search"}[self.source]
        named = f"{self.kernel}, with {' and '.join(self.others)}," if self.others else self.kernel
        lines = [
            f"{named} for {self.chip} on {'the CPU, executed thread by thread' if self.device == 'cpu' else self.device}",
            f"  schedule    {why}, for up to {self.seq_q} queries and {self.seq_k} keys in {self.batch} batches",
            "              " + " ".join(f"{name}={value}" for name, value in self.schedule.items()),
            f"  resources   {registers}{spills}, {used.shared_bytes} bytes of shared memory, {used.workgroups} x {used.threads} threads",
        ]
        if used.loop:
            lines.append(f"  main loop   {used.describe_loop()}")
        if self.measured_ns is not None:
            lines.append(f"  measured    {self.measured_ns / 1000:.1f} us")
        if self.predicted_ns is not None:
            lines.append(f"  predicted   {self.predicted_ns / 1000:.1f} us on {self.chip}")
        kind = "predicted" if self.measured_ns is None else "measured"
        lines += [f"  {kind if n == 0 else '':11} {one}" for n, one in enumerate(self.alternatives[:_PRINTED])]
        return "\n".join(lines)


def _find_alternatives(costs: _schedules.Costs, winner: dict[str, Any] | None) -> list[Alternative]:
    if winner and winner["measured_ns"] is not None:
        own = winner["measured_ns"]
        found = [Alternative(changes, ns, ns / own) for changes, ns in winner["alternatives"]]
    else:
        own = costs.predicted_ns
        found = [Alternative({name: value}, ns, ns / own) for name, value, ns in costs.neighbours] if own else []
    return sorted(found, key=lambda one: one.ns)


def _count_workgroups(manifest: Mapping[str, Any], call: _attention.Call) -> int:
    """By the grid's product."""
    names = {n: one.get("name") for n, one in enumerate(manifest["arguments"])}
    extents = {n: call.inputs[name].shape for n, name in names.items() if name in call.inputs}

    def measure(factor: Any) -> int:
        if isinstance(factor, int):
            return factor
        if "sum" in factor:
            return sum(map(measure, factor["sum"]))
        size: int = extents[factor["argument"]][factor["index"]]
        return -(-size // int(factor["per"]))

    count = math.prod(measure(factor) for factor in manifest["grid"]) * int(manifest.get("cluster", 1))
    return min(count, int(manifest.get("grid_limit", count)))


def _read_resources(manifest: Mapping[str, Any], call: _attention.Call) -> Resources:
    said = manifest["resources"]
    registers = said.get("registers")
    spills = said.get("spill_store_bytes") if registers is None or "spill_store_bytes" in said else 0
    loop = {name.removeprefix("loop_"): value for name, value in said.items() if name.startswith("loop_")}
    threads = math.prod(manifest["block"])
    return Resources(registers, spills, manifest["shared_bytes"], threads, _count_workgroups(manifest, call), loop)


def get_chip(place: tuple[str, int], chip: str | None) -> str:
    """What a device is compiled for."""
    return _devices.get_device(*place, chip).chip


def explain_call(call: _attention.Call, chip: str | None) -> Explanation:
    """`explain`, of a call that was checked."""
    name = get_chip(call.place, chip)
    scheduled = _schedules.schedule(call.problem.make_module(), call.bucket, name)
    # What the host executor runs says nothing of the chip's registers.
    kernels = _compiler.compile(scheduled.module, chip=name).kernels
    (main,) = (kernel for kernel in kernels if kernel.name.endswith("_kernel"))
    resources = _read_resources(main.manifest, call)
    costs = _schedules.get_costs(scheduled.module, call.named_sizes)
    kind, number = call.place
    return Explanation(
        chip=name,
        device=kind if kind == "cpu" else f"{kind}:{number}",
        kernel=main.name,
        others=tuple(kernel.name for kernel in kernels if kernel is not main),
        seq_q=call.bucket.seq_q,
        seq_k=call.bucket.seq_k,
        batch=call.bucket.batch,
        schedule=costs.schedule,
        source="choice" if scheduled.winner is None else "search",
        resources=resources,
        predicted_ns=costs.predicted_ns,
        measured_ns=scheduled.winner["measured_ns"] if scheduled.winner else None,
        alternatives=_find_alternatives(costs, scheduled.winner),
    )


def read_arguments(
    q: Any,
    k: Any,
    v: Any,
    alibi_slopes: Any,
    sinks: Any,
    functions: tuple[Any, Any, Any],
    scales: tuple[Any, ...],
    dropout_p: float = 0.0,
    **options: Any,
) -> _attention.Call:
    """The call of `attention` with these arguments, which has to have something to compute.

    `functions` are score_mod, mask_mod and block_mask; `scales` those of q, k and v, zero points of k and v, the type of weights, and
    that of the result with its scale.
    """
    has_functions, has_scales = (any(one is not None for one in given) for given in (functions, scales))
    arrays = [x.detach() if x is not None and _frameworks.is_torch(x) else x for x in (q, k, v, alibi_slopes, sinks)]
    dropout = None
    if probability := _attention.read_dropout(dropout_p, (q, k, v), has_scales):
        from . import _dropout

        dropout = _dropout.make_example(probability, q.device)
    call: _attention.Call
    if _attention.is_scaled((q, k, v), has_scales, has_functions, options["layout"]):
        from . import _serving, _serving_options

        plain_q, plain_k, plain_v, slopes, logits = arrays
        form = _serving_options.Options(
            causal=bool(options["causal"]),
            window=options["window"],
            softcap=options["softcap"],
            scale=options["scale"],
            alibi_slopes=slopes,
            sinks=logits,
            return_lse=bool(options["return_lse"]),
            latent=None,
            batch_invariant=False,
            weights=scales[5],
            check=False,
            descales=(scales[0], scales[1], scales[2]),
            zeros=(scales[3], scales[4]),
            narrow=(scales[6], scales[7]),
        )
        call = _serving.read_attention(plain_q, plain_k, plain_v, form)
    elif not has_functions:
        # Gradients of dropout read it, wanted or not.
        options["return_lse"] = options["return_lse"] or dropout is not None
        call = _attention.read_call(*arrays, **options, dropout=dropout)
    else:
        return_lse = options.pop("return_lse")
        modified = _attention.make_form(q, functions, alibi_slopes=arrays[3], **options)._replace(dropout=dropout)
        from . import _flex

        call = _flex.read_call(dict(zip("qkv", arrays, strict=False)), modified, arrays[4], return_lse=bool(return_lse))
    if 0 in (call.sizes.batch, call.sizes.seq_q, call.sizes.seq_k):
        raise ValueError(f"expects at least one query and one key, for without them no kernel runs, but got q of shape {tuple(q.shape)}")
    return call


def explain(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    softcap: float | None = None,
    scale: float | None = None,
    alibi_slopes: Any = None,
    sinks: Any = None,
    dropout_p: float = 0.0,
    score_mod: Callable[..., Any] | None = None,
    mask_mod: Callable[..., Any] | None = None,
    block_mask: Any = None,
    q_descale: Any = None,
    k_descale: Any = None,
    v_descale: Any = None,
    k_zero: Any = None,
    v_zero: Any = None,
    weights: Any = None,
    out_dtype: Any = None,
    out_descale: Any = None,
    return_lse: bool = False,
    layout: str = "bshd",
    chip: str | None = None,
) -> Explanation:
    """Says which kernel `attention` runs with these arguments, which schedule it has and why, and what others cost.

    `flex_attention` runs the same ones, with layout="bhsd".

    The kernel is compiled if it is nowhere, and not launched. `str()` of the result is for people; its fields are in
    bytes and nanoseconds. On the CPU it is about the chip whose kernels are executed there.

    Times are predictions of the compiler's model until `tune` has measured (docs/Tuning.md).

    TypeError, ValueError, CompileError and RuntimeError are those of `attention`; ValueError also where there is
    nothing to compute.
    """
    functions = (score_mod, mask_mod, block_mask)
    options = {"causal": causal, "window": window, "softcap": softcap, "scale": scale, "return_lse": return_lse, "layout": layout}
    scales = (q_descale, k_descale, v_descale, k_zero, v_zero, weights, out_dtype, out_descale)
    return explain_call(read_arguments(q, k, v, alibi_slopes, sinks, functions, scales, dropout_p, **options), chip)
