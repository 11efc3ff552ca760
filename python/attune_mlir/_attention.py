# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention on arrays: checks, the class of the problem, its kernel, the launch.

A kernel serves all batch sizes and lengths of its class, and is compiled anew only where these are so different that
another schedule is faster, and for lengths that are powers of two, which most programs have: tiles then need not know where
rows end.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _compiler, _devices, _frameworks, _gradients, _known, _native, _operands, _schedules

if TYPE_CHECKING:
    from . import _flex, _serving


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a kernel is compiled for; the batch size is not a part of it."""

    dtype: str
    heads: int
    kv_heads: int
    head_dim: int
    head_dim_v: int
    layout: str
    causal: bool
    window: tuple[int, int] | None
    softcap: float | None
    scale: float | None
    has_alibi: bool
    has_sinks: bool
    return_lse: bool
    #: Whether operands are other than row-major without gaps.
    strided: bool
    #: Numbers of queries and keys; None for any.
    lengths: tuple[int, int] | None
    #: The probability of dropout; None for no dropout.
    dropout: float | None = None

    def make_module(self) -> _compiler.Module:
        """The problem in the attn dialect. CompileError where the dialect has no such problem."""
        native, said = _native.attention_module(
            sizes=(-1, self.heads, self.kv_heads, *(self.lengths or (-1, -1)), self.head_dim, self.head_dim_v),
            is_bf16=self.dtype == "bfloat16",
            order=self.layout,
            causal=self.causal,
            top_left=False,
            window=self.window,
            softcap=self.softcap,
            scale=self.scale,
            alibi=self.has_alibi,
            sinks=self.has_sinks,
            lse=self.return_lse,
            strided=self.strided,
            dropout=self.dropout,
        )
        if native is None:
            raise _compiler.CompileError(_compiler.parse_diagnostics(said))
        return _compiler.Module(native)


def check_options(
    window: tuple[int, int] | None, softcap: float | None, scale: float | None, layout: str
) -> tuple[tuple[int, int] | None, float | None, float | None]:
    """Options as the dialect has them."""
    if layout not in _operands.LAYOUTS:
        raise ValueError(f"expects layout to be one of {', '.join(_operands.LAYOUTS)}, but got {layout!r}")
    if window is not None:
        if not isinstance(window, (tuple, list)) or len(window) != 2 or not all(isinstance(side, numbers.Integral) for side in window):
            raise TypeError(f"expects window to be two numbers of keys, left and right of the diagonal, but got {window!r}")
        if min(window) < -1:
            raise ValueError(f"expects sides of window to be at least 0, or -1 for unbounded, but got {tuple(window)}")
        if max(window) >= 2**31:
            raise ValueError(f"expects sides of window to be less than 2^31, or -1 for unbounded, but got {tuple(window)}")
        window = None if tuple(window) == (-1, -1) else (int(window[0]), int(window[1]))
    for name, number in (("softcap", softcap), ("scale", scale)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, numbers.Real)):
            raise TypeError(f"expects {name} to be a number, but got {_frameworks.describe_type(number)}")
        # PyTorch's compiler, for which they may be unknown numbers, cannot read math.isfinite. NaN is refused, too.
        if number is not None and not abs(number) < math.inf:
            raise ValueError(f"expects {name} to be finite, but got {number}")
    if softcap is not None and softcap <= 0:
        raise ValueError(f"expects softcap to be above 0, or None for no bound, but got {softcap}")
    return window, None if softcap is None else float(softcap), None if scale is None else float(scale)


def check_dropout(dropout_p: Any) -> float:
    """A probability that weights may be dropped with."""
    if type(dropout_p) not in (int, float) and (isinstance(dropout_p, bool) or not isinstance(dropout_p, numbers.Real)):
        raise TypeError(f"expects dropout_p to be a number, but got {_frameworks.describe_type(dropout_p)}")
    probability = float(dropout_p)
    if not 0 <= probability < 1:
        raise ValueError(f"expects dropout_p to be at least 0 and less than 1, but got {probability}")
    return probability


def read_dropout(dropout_p: Any, arrays: tuple[Any, Any, Any], has_scales: bool) -> float:
    """The probability, 0 for no dropout, where q, k and v may have it."""
    probability = check_dropout(dropout_p)
    if probability and (has_scales or any(map(_frameworks.is_narrow, arrays))):
        raise NotImplementedError("expects no scales or operands of 8 bits beside dropout_p, but got some")
    if probability and not _frameworks.is_torch(arrays[0]):
        raise TypeError(
            "expects tensors of PyTorch with dropout_p, whose generator gives random numbers, "
            f"but got q of type {_frameworks.describe_type(arrays[0])}"
        )
    return probability


def attention(
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
    # An integer, since torch.compile makes an input of a float, and traces again without.
    dropout_p: float = 0,
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
    out: Any = None,
    stream: int | None = None,
    chip: str | None = None,
) -> Any:
    """softmax(mask(scale * q kᵀ)) v, for arrays of NumPy, PyTorch, CuPy and JAX, where they are.

    q             [batch, seq_q, heads, head_dim], float16 or bfloat16 (of ml_dtypes in NumPy)
    k, v          [batch, seq_k, kv_heads, head_dim]; heads is a multiple of kv_heads; v may have another head_dim
    causal        the last query attends to all keys, each one before it to one less (as in FlashAttention)
    window        keys attended to before and after the diagonal, which ends at the last query and key; -1 is unbounded
    softcap       scores become softcap * tanh(score / softcap)
    scale         1/sqrt(head_dim) if not given
    alibi_slopes  [heads], float32: -slope * distance from the diagonal is added to scores
    sinks         [heads], float32: the logit of a further key, whose value is 0
    dropout_p     probability with which weights are dropped, which is rounded to a multiple of 1/256; the others are divided by 1 minus it.
                  For tensors of PyTorch, whose generator of random numbers decides which: the same in the gradients, on any device and chip
    score_mod     (score, b, h, q_idx, kv_idx) -> score: a function of what scores are by all of the above, in float32
    mask_mod      (b, h, q_idx, kv_idx) -> bool: which keys are attended to, of those that `causal` and `window` leave
    block_mask    a BlockMask of PyTorch in place of `mask_mod`, `causal` and `window`, of whose full blocks these know nothing
    k_descale     float32: what elements of k and v are to be multiplied by, for these may have 8 bits (int8, float8_e4m3fn and the like)
    v_descale     as in `decode`: one element, [batch, kv_heads] or [batch, seq_k, kv_heads]; for the layout "bshd"
    q_descale     the same of q, which may have 8 bits if k has, as in `decode`; the result is bfloat16 then, or as `out`
    k_zero        float32: which numbers of k and v of int8 or uint8 stand for 0, one for each of k_descale or v_descale, as `quantize`
    v_zero        gives them
    weights       of v of 8 bits: the type of as many that weights are rounded to where they are multiplied by it, as in `varlen`
    out_dtype     a float of 8 bits for the result, and what its elements are to be multiplied by, one or [heads], as in `varlen`; for the
    out_descale   layout "bshd"
    return_lse    returns the natural logarithm of the sum of exponentials, too: [batch, heads, seq_q], float32
    layout        order of dimensions: "bshd", or "bhsd" for [batch, heads, seq, head_dim]; also of the result
    out           array for the result: row-major without gaps, on the same device
    stream        handle of the stream of a GPU to queue on; by default the framework's current one
    chip          to compile for; by default what the device is, and for the CPU $ATTUNE_HOST_CHIP or one of `chips()`

    Any strides do, as long as that of the head dimension is 1 and the others keep 16-byte reads aligned; nothing is
    copied. A query that attends to no key has the result 0 and the LSE -inf. On the CPU the kernel of a chip is
    executed thread by thread and every access is checked: slow, and for small arrays.

    Functions are traced by PyTorch as those of `flex_attention` are, which says what they may do, and are for its tensors
    alone. Positions count from the first query and key.

    TypeError for types and ValueError for sizes, strides, devices and options that cannot be; NotImplementedError for
    what cannot be traced or has no gradient; CompileError where there is no kernel for the problem; RuntimeError where
    there is no driver, or a kernel fails.
    """
    # PyTorch's compiler does not compare functions with each other.
    has_functions = score_mod is not None or mask_mod is not None or block_mask is not None
    has_scales = not (q_descale is k_descale is v_descale is k_zero is v_zero is weights is out_dtype is out_descale is None)
    has_scales = has_scales or (out is not None and _frameworks.is_narrow(out))
    if not has_functions and not has_scales and out is None and stream is None and _known.may_repeat():
        # Of dropout, what says which weights are dropped is not there yet: such a call is not known here.
        found = _native.repeat(
            0, causal, window, softcap, scale, return_lse, layout, chip, dropout_p, None, None, q, k, v, alibi_slopes, sinks, None
        )
        if found is not None:
            return found
    probability = read_dropout(dropout_p, (q, k, v), has_scales)
    if is_scaled((q, k, v), has_scales, has_functions, layout):
        from . import _serving

        scales = {"q_descale": q_descale, "k_descale": k_descale, "v_descale": v_descale, "alibi_slopes": alibi_slopes, "sinks": sinks}
        scales |= {"k_zero": k_zero, "v_zero": v_zero, "out_dtype": out_dtype, "out_descale": out_descale}
        options: dict[str, Any] = {**scales, "weights": weights, "causal": causal, "window": window, "softcap": softcap, "scale": scale}
        return _serving.decode(q, k, v, **options, return_lse=return_lse, out=out, stream=stream, chip=chip)
    if has_functions:
        functions = (score_mod, mask_mod, block_mask)
        masks: dict[str, Any] = {"causal": causal, "window": window}
        form = make_form(q, functions, **masks, softcap=softcap, scale=scale, alibi_slopes=alibi_slopes, layout=layout)
        from . import _dropout, _flex

        form = form._replace(dropout=_dropout.make(probability, q.device))
        arrays = {"q": q, "k": k, "v": v}
        found, lse = _flex.compute(arrays, form, sinks=sinks, return_lse=bool(return_lse), chip=chip, out=out, stream=stream)
        return (found, lse) if return_lse else found
    if _frameworks.is_jax(q):
        from . import _jax

        options = {"causal": bool(causal), "window": window, "softcap": softcap, "scale": scale, "return_lse": bool(return_lse)}
        operands = {"q": q, "k": k, "v": v, "alibi_slopes": alibi_slopes, "sinks": sinks}
        return _jax.call("attention", operands, {**options, "layout": layout, "chip": chip}, out=out, stream=stream)
    if _frameworks.is_torch(q):
        from . import _torch

        options = {"causal": causal, "window": window, "softcap": softcap, "scale": scale, "layout": layout, "chip": chip}
        tensors = (q, k, v, alibi_slopes, sinks)
        if probability:
            from . import _dropout

            found, lse = _dropout.attention(tensors, probability, options, out, stream)
        else:
            found, lse = _torch.attention(tensors, options, return_lse, out, stream)
        return (found, lse) if return_lse else found
    found, lse = compute(
        q,
        k,
        v,
        alibi_slopes,
        sinks,
        causal=causal,
        window=window,
        softcap=softcap,
        scale=scale,
        return_lse=return_lse,
        layout=layout,
        out=out,
        stream=stream,
        chip=chip,
    )
    return (found, lse) if return_lse else found


def is_scaled(arrays: tuple[Any, Any, Any], has_scales: bool, has_functions: bool, layout: str) -> bool:
    """Whether operands have 8 bits or scales, beside which not all else can be."""
    if not has_scales and not any(map(_frameworks.is_narrow, arrays)):
        return False
    if has_functions:
        raise NotImplementedError("expects no score_mod, mask_mod or block_mask beside operands of 8 bits or with scales, but got some")
    if layout != "bshd":
        raise ValueError(f"expects layout bshd for operands of 8 bits or with scales, but got {layout!r}")
    return True


def make_form(
    q: Any,
    functions: tuple[Any, Any, Any],
    *,
    causal: bool,
    window: tuple[int, int] | None,
    softcap: float | None,
    scale: float | None,
    alibi_slopes: Any,
    layout: str,
) -> _flex.Form:
    """What an attention with `score_mod`, `mask_mod` or `block_mask` is besides its operands."""
    score_mod, mask_mod, block_mask = functions
    if not _frameworks.is_torch(q):
        raise TypeError(
            "expects tensors of PyTorch with score_mod, mask_mod or block_mask, which PyTorch traces, "
            f"but got q of type {_frameworks.describe_type(q)}"
        )
    window, softcap, scale = check_options(window, softcap, scale, layout)
    from . import _flex

    _flex.check_functions(score_mod, mask_mod, block_mask)
    if block_mask is not None:
        for name, is_given in (("mask_mod", mask_mod is not None), ("causal", causal), ("window", window is not None)):
            if is_given:
                raise ValueError(
                    f"expects {name} or block_mask, but got both: the lists of a BlockMask say which keys there are, "
                    f"so create it from a function that does what {name} does as well"
                )
        mask_mod = block_mask.mask_mod
    return _flex.Form(score_mod, mask_mod, block_mask, scale, bool(causal), window, softcap, alibi_slopes, layout)


@dataclasses.dataclass(frozen=True)
class Call:
    """A call whose arguments were checked."""

    problem: _devices.Problem
    sizes: _operands.Sizes
    dtype: str
    #: By what kernels call them.
    inputs: dict[str, _native.Tensor]
    place: tuple[str, int]
    #: Shapes of the results.
    results: list[tuple[int, ...]]
    #: Whether the problem is for these lengths alone.
    has_lengths: bool

    @property
    def bucket(self) -> _schedules.Bucket:
        """What the schedule is for."""
        return _schedules.Bucket.get(self.sizes.seq_q, self.sizes.seq_k, self.sizes.batch)

    @property
    def named_sizes(self) -> list[tuple[str, int]]:
        """What is dynamic in the module, as the compiler calls it."""
        lengths = [] if self.has_lengths else [("seq-q", self.sizes.seq_q), ("seq-k", self.sizes.seq_k)]
        return [("batch", self.sizes.batch), *lengths]

    def make_searched_module(self) -> _compiler.Module:
        """The module in which a search for schedules knows all sizes, when it is told those that have names."""
        return self.problem.make_module()


def read_call(
    q: Any,
    k: Any,
    v: Any,
    alibi_slopes: Any,
    sinks: Any,
    *,
    causal: bool,
    window: tuple[int, int] | None,
    softcap: float | None,
    scale: float | None,
    return_lse: bool,
    layout: str,
    dropout: tuple[float, Any] | None = None,
) -> Call:
    """Checks what `attention` is given, but for its results. `dropout` is a probability, and a seed and an offset of int64."""
    window, softcap, scale = check_options(window, softcap, scale, layout)
    tensors = {name: _frameworks.make_tensor(array, name) for name, array in zip("qkv", (q, k, v), strict=True)}
    dtype, place = _operands.check_operands(tensors)
    sizes = _operands.read_sizes(tensors, layout)
    dense = [_operands.normalize_strides(tensor, name) for name, tensor in tensors.items()]
    inputs = dict(zip(_gradients.PARTS, tensors.values(), strict=True))
    inputs |= _operands.read_per_head(alibi_slopes, sinks, sizes.heads, place)
    if dropout is not None:
        inputs["dropout"] = _frameworks.make_tensor(dropout[1], "dropout")
    bucket, lengths = _schedules.Bucket.get(sizes.seq_q, sizes.seq_k, sizes.batch), (sizes.seq_q, sizes.seq_k)
    problem = Problem(
        dtype=dtype,
        heads=sizes.heads,
        kv_heads=sizes.kv_heads,
        head_dim=sizes.head_dim,
        head_dim_v=sizes.head_dim_v,
        layout=layout,
        causal=bool(causal),
        window=window,
        softcap=softcap,
        scale=scale,
        has_alibi=alibi_slopes is not None,
        has_sinks=sinks is not None,
        return_lse=bool(return_lse),
        strided=not all(dense),
        lengths=lengths if lengths == (bucket.seq_q, bucket.seq_k) else None,
        dropout=None if dropout is None else dropout[0],
    )
    results = _operands.get_results(sizes, layout, problem.return_lse)
    return Call(problem, sizes, dtype, inputs, place, results, problem.lengths is not None)


def compute(
    q: Any,
    k: Any,
    v: Any,
    alibi_slopes: Any = None,
    sinks: Any = None,
    *,
    causal: bool,
    window: tuple[int, int] | None,
    softcap: float | None,
    scale: float | None,
    return_lse: bool,
    layout: str,
    out: Any = None,
    stream: int | None = None,
    chip: str | None = None,
    known: Callable[..., bool] | None = None,
    dropout: tuple[float, Any] | None = None,
) -> tuple[Any, Any]:
    """Checks, compiles and launches what `attention` is given. The second result is None without `return_lse`.

    `known` learns the call, if it is one for a GPU.
    """
    call = read_call(
        q,
        k,
        v,
        alibi_slopes,
        sinks,
        causal=causal,
        window=window,
        softcap=softcap,
        scale=scale,
        return_lse=return_lse,
        layout=layout,
        dropout=dropout,
    )
    sizes, dtype, place = call.sizes, call.dtype, call.place
    framework = _frameworks.find_framework(q)
    shape, *rest = call.results
    is_given = out is not None
    if out is None:
        out = framework.empty(q, shape, dtype)
    outputs = [_operands.make_output(out, "out", shape, dtype, place)]
    lse = None
    for of_lse in rest:
        lse = framework.empty(q, of_lse, "float32")
        outputs.append(_operands.make_output(lse, "lse", of_lse, "float32", place))
    if sizes.batch and sizes.seq_q:
        device, kernel = _devices.get_kernel(place, chip, call.problem, call.bucket)
        places = _devices.find_places(kernel)
        inputs = [call.inputs[name] for name in places if name in call.inputs]
        arguments, queue = _devices.run(device, kernel, [*inputs, *outputs], q, stream)
        if known is not None and not device.is_host:
            results = [pos for name, pos in places.items() if name not in call.inputs]
            given = [q, k, v, alibi_slopes, sinks, None if dropout is None else dropout[1]]
            known(given, [places[name] for name in call.inputs], results, arguments, kernel, queue)
    return out if is_given else framework.finish(q, out), None if lse is None else framework.finish(q, lse)


def compute_gradients(
    arrays: tuple[Any, Any, Any, Any, Any],
    saved: _gradients.Saved,
    wanted: tuple[bool, bool, bool, bool, bool],
    *,
    deterministic: bool,
    chip: str | None,
    known: Callable[..., bool] | None = None,
    packed: _serving.Packed | None = None,
    **options: Any,
) -> list[Any]:
    """The gradients of q, k, v, slopes and sinks that are wanted, and None of others.

    `arrays` are the first arguments of `compute`, `options` those of it that are no places. `known` learns the call, with q, k, v,
    what is saved, what dropout draws from, the integers of `packed` sequences, and sinks that have a gradient, as inputs.
    """
    read = read_call if packed is None else packed.read_call
    call = read(*arrays, return_lse=saved.lse_grad is not None, **options)
    *of_parts, of_slopes, of_sinks = wanted
    slopes, sinks = arrays[3:]
    number = _operands.SLOPES_NUMBER
    others = (number,) * of_slopes + (number + (slopes is not None),) * of_sinks
    problem = _gradients.Gradients(call.problem, (of_parts[0], of_parts[1], of_parts[2]), deterministic, others)
    _, random = options.get("dropout") or (0, None)
    behind = {"dropout": random, **({} if packed is None else packed.integers), **({"sinks": sinks} if of_sinks else {})}
    found = _gradients.run(call.place, chip, problem, call.bucket, call.inputs, saved, list(arrays[:3]), known, behind)
    rest = iter(found[3:])
    return [*found[:3], *(next(rest) if is_wanted else None for is_wanted in (of_slopes, of_sinks))]
