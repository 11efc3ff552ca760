# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as an operator of PyTorch, attune::attention.

    attune::attention(q, k, v, alibi_slopes, sinks, *, causal, window, softcap, scale, return_lse, layout, chip) -> (out, lse)

    attune::attention_backward(out_grad, lse_grad, q, k, v, out, lse, alibi_slopes, sinks, *, causal, window, softcap, scale,
                               layout, chip, wanted) -> (q_grad, k_grad, v_grad, slopes_grad, sinks_grad)

Arguments are those of `attune_mlir.attention`; without `return_lse`, `lse` has no elements, and neither have gradients
that are not `wanted`. The operators are what torch.compile, torch.export, autograd, vmap, autocast and fake tensors see. A
plain call without gradients goes past PyTorch's dispatcher, which takes longer than the rest of a call.

The first operator has kernels in the extension that repeat calls which were made before, and pass others on to two operators
with the same arguments: attune::attention_compute, for tensors that are memory, and attune::attention_record, which does what
PyTorch's autograd does. Both are Python's. With a PyTorch that has no stable ABI to do so, they are the operator itself.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch._guards import detect_fake_mode
from torch._library import autograd as operator_autograd
from torch.autograd import forward_ad
from torch.utils._device import DeviceContext

from . import _attention, _frameworks, _gradients, _known, _native

if TYPE_CHECKING:
    from . import _serving

NO_GRADIENTS = (
    "expects {} without gradients, for which attune_mlir has no kernel: "
    "call it in torch.no_grad() or torch.inference_mode(), or detach() what requires them"
)
NO_PLACES = "expects out and stream in plain calls alone, not where PyTorch traces, maps, casts or records gradients"

_library = torch.library.Library("attune", "DEF")
for _name in ("attention", "attention_compute", "attention_record"):
    _library.define(
        f"{_name}(Tensor q, Tensor k, Tensor v, Tensor? alibi_slopes=None, Tensor? sinks=None, *, bool causal=False,"
        " int[]? window=None, float? softcap=None, float? scale=None, bool return_lse=False, str layout='bshd',"
        " str? chip=None) -> (Tensor, Tensor)",
        tags=(torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag),
    )
_library.define(
    "attention_backward(Tensor out_grad, Tensor? lse_grad, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse,"
    " Tensor? alibi_slopes, Tensor? sinks, *, bool causal, int[]? window, float? softcap, float? scale, str layout,"
    " str? chip, bool[] wanted) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    tags=(torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag),
)
_PLAIN = frozenset((torch.Tensor, torch.nn.Parameter, type(None)))
_operator = torch.ops.attune.attention
_backward_operator = torch.ops.attune.attention_backward


def detach(tensor: Any) -> Any:
    """A tensor without gradients, for DLPack does not hand out others."""
    return tensor.detach() if getattr(tensor, "requires_grad", False) else tensor


def check_tensors(operator: Any, arrays: Sequence[Any]) -> None:
    """TypeError for arrays of other frameworks, with which plain calls alone can be made, among an operator's arguments."""
    if _PLAIN.issuperset(map(type, arrays)):
        return
    for number, array in enumerate(arrays):
        for one in array if isinstance(array, list) else (array,):
            if one is not None and not _frameworks.is_torch(one):
                name, kind = operator.default._schema.arguments[number].name, _frameworks.describe_type(one)
                raise TypeError(f"expects {name} of PyTorch's tensors where PyTorch traces, maps, casts or records a call, but got {kind}")


def has_tangents(*arrays: Any) -> bool:
    """Whether derivatives of forward mode are wanted of tensors, or those of lists. Other arrays may be among them."""
    if forward_ad._current_level < 0:
        return False
    found = (one for x in arrays for one in (x if isinstance(x, (list, tuple)) else (x,)))
    return any(isinstance(x, torch.Tensor) and forward_ad.unpack_dual(x).tangent is not None for x in found)


def check_tangents(*arrays: Any) -> None:
    """NotImplementedError for tensors with derivatives of forward mode, which results would have lost."""
    if has_tangents(*arrays):
        raise NotImplementedError("expects no derivatives of forward mode, for which attune_mlir has no kernel: use backward mode")


def register_autograd(library: Any, name: str, differentiate: Callable[..., Any], save: Callable[..., None] | None = None) -> None:
    """What autograd does of an operator, as torch.library.register_autograd has it, but that derivatives of forward mode are refused."""
    operator = getattr(torch.ops.attune, name).default
    run = operator_autograd.make_autograd_impl(operator, operator_autograd.Info(differentiate, save))

    def check_and_run(keys: Any, *arguments: Any, **options: Any) -> Any:
        check_tangents(*arguments)
        if is_transformed() and records(*arguments):
            raise NotImplementedError(f"expects no gradients of attune::{name} in transforms of torch.func, which has no rule for them")
        return run(keys, *arguments, **options)

    library.impl(name, check_and_run, "Autograd", with_keyset=True)


def as_plain(tensor: Any) -> Any:
    """A tensor of PyTorch's own class, as a parameter is not. Other arrays stay what they are."""
    return tensor.detach() if type(tensor) is not torch.Tensor and isinstance(tensor, torch.Tensor) else tensor


def compute(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    alibi_slopes: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    *,
    causal: bool = False,
    window: Any = None,
    softcap: float | None = None,
    scale: float | None = None,
    return_lse: bool = False,
    layout: str = "bshd",
    chip: str | None = None,
    dropout: tuple[float, torch.Tensor] | None = None,
    **places: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The kernel of the operator, on any device. `dropout` is a probability, and a seed and an offset."""
    tensors, known = (q, k, v, alibi_slopes, sinks), None
    if not places:
        probability, random = dropout or (0, None)
        options = (0, causal, window, softcap, scale, return_lse, layout, chip, probability, None, None)
        if (found := _native.launch_known(*options, *tensors, random)) is not None:
            return found if return_lse else (found, q.new_empty(0, dtype=torch.float32))
        known = functools.partial(_native.add_known, options)
    out, lse = _attention.compute(
        *(detach(as_plain(x)) for x in tensors),
        causal=causal,
        window=window,
        softcap=softcap,
        scale=scale,
        return_lse=return_lse,
        layout=layout,
        chip=chip,
        known=known,
        dropout=dropout,
        **places,
    )
    return out, q.new_empty(0, dtype=torch.float32) if lse is None else lse


def fake(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    alibi_slopes: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    *,
    return_lse: bool = False,
    layout: str = "bshd",
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes and strides of the results."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4:
            raise ValueError(f"expects {name} to have 4 dimensions, but got shape {tuple(tensor.shape)}")
    batch, heads, length = (q.shape[layout.index(letter)] for letter in "bhs")
    out = q.new_empty((*q.shape[:3], v.shape[3]))
    return out, q.new_empty((batch, heads, length) if return_lse else 0, dtype=torch.float32)


torch.library.register_fake("attune::attention", fake, lib=_library)


def differentiate_sinks(
    is_wanted: bool,
    has_scores: bool,
    sinks: Any,
    out: torch.Tensor,
    lse: torch.Tensor,
    out_grad: torch.Tensor,
    lse_grad: torch.Tensor | None,
    layout: str,
) -> tuple[bool, torch.Tensor | None]:
    """Whether kernels are to add up the gradient of the sinks, and where they are not, that gradient if it is wanted.

    Kernels add in no order, and are not launched without scores. The gradient follows from the results, by heads:
    -sum exp(sink - lse) * (out_grad · out - lse_grad). What is behind the last one of packed sequences saw no sink, and has an LSE of -inf.
    """
    if not is_wanted or (has_scores and not is_deterministic()):
        return is_wanted, None
    deltas = (out_grad.float() * out).sum(-1)
    if layout == "bshd":
        deltas = deltas.transpose(1, 2)
    if lse_grad is not None:
        deltas = deltas - lse_grad
    return False, -torch.where(lse > -torch.inf, (sinks[:, None] - lse).exp() * deltas, 0).sum((0, 2))


def find_gradients(
    out_grad: torch.Tensor,
    lse_grad: torch.Tensor | None,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    lse: torch.Tensor,
    alibi_slopes: torch.Tensor | None,
    sinks: torch.Tensor | None,
    *,
    wanted: Sequence[bool],
    packed: _serving.Packed | None = None,
    **options: Any,
) -> tuple[torch.Tensor | None, ...]:
    """The gradients of q, k, v, slopes and sinks that are wanted, and None of others.

    Those of `packed` sequences have a batch of 1 in front, but for the numbers that say where they are.
    """
    *of_parts, of_slopes, of_sinks = wanted
    deterministic, has_scores = is_deterministic(), bool(q.numel() and k.numel())
    is_added, sinks_grad = differentiate_sinks(of_sinks, has_scores, sinks, out, lse, out_grad, lse_grad, options["layout"])
    if not has_scores or not (any(wanted[:4]) or is_added):
        parts = zip((q, k, v, alibi_slopes), wanted, strict=False)
        return *(torch.zeros_like(x) if x is not None and is_wanted else None for x, is_wanted in parts), sinks_grad
    known, found = None, None
    kept = [x.contiguous() for x in (out, lse, out_grad, lse_grad) if x is not None]
    of_q, of_k, of_v = of_parts
    if alibi_slopes is None and _PLAIN.issuperset(map(type, kept)):
        # Sinks are in the log-sum-exps: none but the kernel of their gradient reads them again.
        kind = 1 | of_q << 1 | of_k << 2 | of_v << 3 | (sinks is None) << 4 | deterministic << 5 | is_added << 6
        longest, integers = ((None, None), {}) if packed is None else (packed.longest, packed.integers)
        if packed is not None:
            kind = _known.kinds[kind, "varlen"]
        probability, random = options.get("dropout") or (0, None)
        first = (kind, options["causal"], options["window"], options["softcap"], options["scale"], False)
        names = (*first, options["layout"], options["chip"], probability, *longest)
        behind = (random, *integers.values(), *((sinks,) if is_added else ()))
        if (found := _native.launch_known(*names, q, k, v, *kept, *behind)) is None:
            known = functools.partial(_native.add_known, names)
    if found is not None:
        gradients = iter((found,) if isinstance(found, torch.Tensor) else found)
        made = [next(gradients) if is_wanted else None for is_wanted in of_parts]
        return *made, None, next(gradients) if is_added else sinks_grad
    made = _attention.compute_gradients(
        (*(detach(as_plain(x)) for x in (q, k, v)), detach(alibi_slopes), detach(sinks)),
        _gradients.Saved(*map(detach, kept)),
        (of_q, of_k, of_v, of_slopes, is_added),
        deterministic=deterministic,
        known=known,
        packed=packed,
        **options,
    )
    return tuple(made) if is_added else (*made[:4], sinks_grad)


def fill_gradients(out_grad: torch.Tensor, found: tuple[torch.Tensor | None, ...]) -> tuple[torch.Tensor, ...]:
    """Gradients as operators return them, without elements where they are not wanted."""
    dtypes = (out_grad.dtype,) * 3 + (torch.float32,) * 2
    return tuple(out_grad.new_empty(0, dtype=dtype) if x is None else x for x, dtype in zip(found, dtypes, strict=True))


def _compute_backward(out_grad: torch.Tensor, *arguments: Any, **options: Any) -> tuple[torch.Tensor, ...]:
    """The kernels of the second operator, on any device."""
    return fill_gradients(out_grad, find_gradients(out_grad, *arguments, **options))


for _key in ("CPU", "CUDA"):
    _library.impl("attention_backward", _compute_backward, _key)


def is_deterministic() -> bool:
    """Whether gradients have equal bits each time they are computed."""
    found: bool = torch.are_deterministic_algorithms_enabled()
    return found


def fake_backward(
    out_grad: Any, lse_grad: Any, q: Any, k: Any, v: Any, out: Any, lse: Any, alibi_slopes: Any, sinks: Any, *, wanted: list[bool], **_: Any
) -> Any:
    """Shapes and strides of the gradients."""
    per_head = zip((alibi_slopes, sinks), wanted[3:], strict=True)
    of_heads = (q.new_empty(x.shape if is_wanted else 0, dtype=torch.float32) for x, is_wanted in per_head)
    return *(x.new_empty(x.shape if is_wanted else 0) for x, is_wanted in zip((q, k, v), wanted, strict=False)), *of_heads


torch.library.register_fake("attune::attention_backward", fake_backward, lib=_library)


@dataclasses.dataclass(frozen=True)
class Recorder:
    """How PyTorch records calls of an operator with tensors and options, whose results are the output and the LSE."""

    operator: Any
    #: Of gradients: its tensors are those of the results, q, k and v, the results, slopes and sinks, and `read`.
    backward_operator: Any
    #: Kernels of both, for tensors that are memory.
    compute: Callable[..., Any]
    find_gradients: Callable[..., tuple[torch.Tensor | None, ...]]
    #: Which of the operator's tensors are q, k, v, slopes and sinks.
    learned: tuple[int, ...] = (0, 1, 2, 3, 4)
    #: Which others gradients read.
    read: tuple[int, ...] = ()
    #: Options that those of gradients do not have.
    left_out: tuple[str, ...] = ("return_lse",)
    #: Raises NotImplementedError for tensors and options that have no gradients.
    check: Callable[..., None] | None = None

    def save(self, ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        """What gradients need of a call."""
        if self.check is not None and any(ctx.needs_input_grad):
            self.check(inputs, keyword_only_inputs)
        ctx.save_for_backward(*inputs, *output)
        ctx.options = {name: value for name, value in keyword_only_inputs.items() if name not in self.left_out}
        ctx.set_materialize_grads(False)

    def differentiate(self, ctx: Any, out_grad: torch.Tensor | None, lse_grad: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        """The gradients of the tensors."""
        *inputs, out, lse = ctx.saved_tensors
        if not lse.numel():
            lse = self.operator(*inputs, return_lse=True, **ctx.options)[1]
        if lse_grad is not None and not lse_grad.numel():
            lse_grad = None
        if out_grad is None:
            out_grad = torch.zeros_like(out)
        # Tensors that were left out at the end want none.
        needed = ctx.needs_input_grad
        wanted = [place < len(needed) and needed[place] for place in self.learned]
        q, k, v, alibi_slopes, sinks = [inputs[place] for place in self.learned]
        tensors = (out_grad, lse_grad, q, k, v, out, lse, alibi_slopes, sinks, *[inputs[place] for place in self.read])
        options = {**ctx.options, "wanted": wanted}
        if not torch.is_grad_enabled() and is_plain(*tensors):
            found = self.find_gradients(*tensors, **options)
        elif is_transformed():
            found = _RecordedBackward.apply(*tensors, options, self)
        else:
            found = self.backward_operator(*tensors, **options)
        gradients: list[torch.Tensor | None] = [None] * len(inputs)
        for place, is_wanted, gradient in zip(self.learned, wanted, found, strict=True):
            gradients[place] = gradient if is_wanted else None
        return tuple(gradients)

    def run(self, tensors: tuple[Any, ...], options: dict[str, Any], *, is_here: bool, is_recorded: bool) -> Any:
        """Both results. `is_here` where nothing but autograd looks on, if that."""
        check_tensors(self.operator, tensors)
        if is_here:
            return _Recorded.apply(*tensors, options, self)
        if not (is_recorded and not torch.compiler.is_compiling() and is_transformed() and not is_autocast()):
            return self.operator(*tensors, **options)
        check_tangents(*tensors)
        return _Transformed.apply(*tensors, options, self)


_recorder = Recorder(_operator, _backward_operator, compute, find_gradients)
register_autograd(_library, "attention", _recorder.differentiate, _recorder.save)


def _keep_errors(kernel: Callable[..., tuple[torch.Tensor, torch.Tensor]]) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """A kernel that the extension calls, which raises what it raises."""

    def run(*arguments: Any, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
        try:
            return kernel(*arguments, **options)
        except BaseException as error:
            _native.keep_error(error)
            return torch.empty(0), torch.empty(0)

    return run


def _implement() -> None:
    """Gives the operator its kernels."""
    recording = {}
    if hasattr(torch.library, "get_kernel"):
        recording = {key: torch.library.get_kernel("attune::attention", key) for key in ("AutogradCPU", "AutogradCUDA")}
    computes, records = _native.register_operator() if recording else (False, False)
    for key in ("CPU", "CUDA"):
        _library.impl("attention_compute" if computes else "attention", _keep_errors(compute) if computes else compute, key)
    if records:
        for key, kernel in recording.items():
            _library.impl("attention_record", _keep_errors(kernel.call_boxed), key, with_keyset=True)


_implement()


def refuse_twice(ctx: Any, *gradients: Any) -> Any:
    raise NotImplementedError("expects first derivatives of attention alone, but got a second one, for which attune_mlir has no kernel")


register_autograd(_library, "attention_backward", refuse_twice)


def is_transformed() -> bool:
    """Whether this is in a transform of torch.func."""
    return torch._C._functorch.peek_interpreter_stack() is not None


class _Recorded(torch.autograd.Function):  # type: ignore[misc]
    """An operator where nothing looks on: it takes less time than by itself."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> Any:
        *tensors, options, ctx.recorder = arguments
        found = ctx.recorder.compute(*tensors, **options)
        ctx.recorder.save(ctx, tensors, options, found)
        return found

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return *ctx.recorder.differentiate(ctx, *gradients), None, None


class _Transformed(torch.autograd.Function):  # type: ignore[misc]
    """The same where transforms of torch.func look on."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*arguments: Any) -> Any:
        *tensors, options, recorder = arguments
        return recorder.operator(*tensors, **options)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        *tensors, options, ctx.recorder = inputs
        ctx.recorder.save(ctx, tensors, options, output)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return *ctx.recorder.differentiate(ctx, *gradients), None, None


class _RecordedBackward(torch.autograd.Function):  # type: ignore[misc]
    """The same for the operator of gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*arguments: Any) -> Any:
        *tensors, options, recorder = arguments
        return recorder.backward_operator(*tensors, **options)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        refuse_twice(ctx, *gradients)


def _fold(x: torch.Tensor, dim: int | None, size: int) -> torch.Tensor:
    """The mapped dimension as a part of the batch, the first one."""
    return (x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)).flatten(0, 1)


def _unfold(x: torch.Tensor, size: int) -> torch.Tensor:
    return x.reshape(size, x.shape[0] // size, *x.shape[1:])


def _map_one_by_one(operator: Any, info: Any, in_dims: tuple[int | None, ...], arguments: tuple[Any, ...], options: Any) -> Any:
    def select(index: int) -> list[Any]:
        return [x if dim is None else x.select(dim, index) for x, dim in zip(arguments, in_dims, strict=False)]

    results = [operator(*select(index), **options) for index in range(info.batch_size)]
    return tuple(torch.stack(result) for result in zip(*results, strict=True)), (0,) * len(results[0])


def _vmap(info: Any, in_dims: tuple[int | None, ...], *arguments: Any, **options: Any) -> Any:
    """Folds the mapped dimension of q, k and v into the batch, and goes one by one where slopes or sinks are mapped."""
    size = info.batch_size
    if any(dim is not None for dim in in_dims[3:]):
        return _map_one_by_one(_operator, info, in_dims, arguments, options)
    folded = (_fold(x, dim, size) for x, dim in zip(arguments[:3], in_dims, strict=False))
    out, lse = _operator(*folded, *arguments[3:], **options)
    return (_unfold(out, size), _unfold(lse, size) if options.get("return_lse") else lse.expand(size, 0)), (0, 0)


def _vmap_backward(info: Any, in_dims: tuple[int | None, ...], *arguments: Any, **options: Any) -> Any:
    """The same for the other operator."""
    size, numbers = info.batch_size, 7
    if any(dim is not None for dim in in_dims[numbers:]) or any(options["wanted"][3:]):  # of each example
        return _map_one_by_one(_backward_operator, info, in_dims, arguments, options)
    tensors = zip(arguments[:numbers], in_dims, strict=False)
    folded = (None if x is None else _fold(x, dim, size) for x, dim in tensors)
    found = _backward_operator(*folded, *arguments[numbers:], **options)
    return tuple(_unfold(x, size) if x.dim() > 1 else x.expand(size, 0) for x in found), (0,) * len(found)


torch.library.register_vmap("attune::attention", _vmap, lib=_library)
torch.library.register_vmap("attune::attention_backward", _vmap_backward, lib=_library)


def cast_for_autocast(device: str, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Tensors of the type that autocast has for a kind of device; float64 stays, as in all of autocast."""
    dtype = torch.get_autocast_dtype(device)
    return tuple(x.to(dtype) if x.is_floating_point() and x.dtype != torch.float64 else x for x in tensors)


def is_autocast() -> bool:
    """Whether autocast is on, for any kind of device."""
    return bool(torch._C._is_any_autocast_enabled())


def make_autocast(device: str, operator: Any) -> Any:
    """The kernel that an operator with q, k and v in front has where autocast looks on."""

    def run(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *arguments: Any, **options: Any) -> Any:
        q, k, v = cast_for_autocast(device, q, k, v)
        with torch.autocast(device, enabled=False):
            return operator(q, k, v, *arguments, **options)

    return run


for _device in ("cpu", "cuda"):
    _library.impl("attention", make_autocast(_device, _operator), f"Autocast{_device.upper()}")


def _has_function_modes() -> bool:
    """Whether a mode sees the functions of PyTorch that are called, besides those that give new tensors a default device."""
    count, get = torch._C._len_torch_function_stack(), torch._C._get_function_stack_at
    return count > 0 and any(type(get(place)) is not DeviceContext for place in range(count))


def _is_meta(array: Any) -> bool:
    """Whether this, where results will be, is a tensor of PyTorch's device "meta": a shape alone, as a fake tensor is."""
    return bool(getattr(array[0] if isinstance(array, (list, tuple)) and array else array, "is_meta", False))


def is_traced(*arrays: Any) -> bool:
    """Whether something traces, maps or differentiates a call, or its tensors are no memory. Other arrays may be among them."""
    return bool(
        torch.compiler.is_compiling()
        or torch._C._len_torch_dispatch_stack()
        or _has_function_modes()
        or is_transformed()
        or has_tangents(*arrays)
        or (
            not _PLAIN.issuperset(map(type, arrays))
            and any(type(x) not in _PLAIN and (isinstance(x, torch.Tensor) or type(x).__module__.startswith("torch.")) for x in arrays)
        )
        or _is_meta(arrays)
    )


def is_fake(*arrays: Any) -> bool:
    """Whether a call is to tell shapes alone, for its tensors have no memory, or what it makes would have none."""
    if _is_meta(arrays):
        return True
    is_watched = torch._C._len_torch_dispatch_stack() > 0 or not _PLAIN.issuperset(map(type, arrays))
    return is_watched and detect_fake_mode(arrays) is not None


def is_plain(*arrays: Any) -> bool:
    """Whether a call means what it says, for nothing casts, either."""
    if torch.compiler.is_compiling():
        return False
    if _native.is_undisturbed() and _PLAIN.issuperset(map(type, arrays)):
        return not _is_meta(arrays)
    return not is_traced(*arrays) and not is_autocast()


def records(*tensors: torch.Tensor | None) -> bool:
    """Whether PyTorch records a call for gradients."""
    return torch.is_grad_enabled() and any(isinstance(tensor, torch.Tensor) and tensor.requires_grad for tensor in tensors)


def check_gradients(what: str, *tensors: torch.Tensor | None) -> None:
    """NotImplementedError where PyTorch would record the call for gradients of these."""
    if records(*tensors):
        raise NotImplementedError(NO_GRADIENTS.format(what))


def call(recorder: Recorder, tensors: tuple[Any, ...], options: dict[str, Any], out: torch.Tensor | None, stream: int | None) -> Any:
    """Both results of an operator of attention, the LSE without elements if it is neither asked for nor recorded."""
    is_recorded, is_here = records(*tensors), is_plain(*tensors)
    places: dict[str, Any] = {name: place for name, place in (("out", out), ("stream", stream)) if place is not None}
    if is_here and not is_recorded:
        return recorder.compute(*tensors, **options, **places)
    if places:
        raise ValueError(NO_PLACES)
    if is_recorded and "return_lse" in options:
        options["return_lse"] = True
    window = options["window"]
    if not is_here:
        checked = _attention.check_options(window, options["softcap"], options["scale"], options["layout"])
        window, options["softcap"], options["scale"] = checked
    # Gradients are found later, when a list may have other sides.
    options["window"] = list(window) if isinstance(window, (tuple, list)) else window
    return recorder.run(tensors, options, is_here=is_here, is_recorded=is_recorded)


def attention(
    tensors: tuple[Any, ...], options: dict[str, Any], return_lse: bool, out: torch.Tensor | None, stream: int | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Result and LSE of q, k, v, slopes and sinks. `options` are those of `attune_mlir.attention`."""
    found: tuple[torch.Tensor, torch.Tensor] = call(_recorder, tensors, {**options, "return_lse": return_lse}, out, stream)
    return found
