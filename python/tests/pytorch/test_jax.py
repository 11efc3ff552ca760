# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of JAX's arrays, eagerly and traced, with gradients, on XLA's CPU."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest
from conftest import find_chip, make_inputs, reference

import attune_mlir as attune
from attune_mlir import _frameworks

jax = pytest.importorskip("jax")
from jax_oracle import check, compute  # noqa: E402

jnp = jax.numpy


def make(seed=0, dtype="float16", **sizes):
    return [jnp.asarray(x, dtype=dtype) for x in make_inputs(**{"batch": 2, "heads": 4, "seq_q": 30, "seq_k": 40, **sizes}, seed=seed)]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_attention(dtype):
    inputs = make(dtype=dtype)
    slopes = jnp.asarray([0.5, 0.25, 0.125, 1.0])
    out, lse = attune.attention(*inputs, causal=True, alibi_slopes=slopes, return_lse=True)
    assert isinstance(out, jax.Array) and isinstance(lse, jax.Array)
    assert out.dtype == dtype and out.devices() == inputs[0].devices()
    expected = reference(*(np.asarray(x, np.float64) for x in inputs), causal=True, alibi_slopes=slopes)
    check((out, lse), tuple(map(jnp.asarray, expected)), 2e-2 if dtype == "bfloat16" else 3e-3)
    np.testing.assert_array_equal(attune.attention(inputs[0], *map(np.asarray, inputs[1:])), attune.attention(*inputs))
    # Results are arrays like any other.
    assert float((out * 2).sum()) == pytest.approx(2 * float(out.sum()), rel=1e-2)
    assert attune.explain(*inputs).device == "cpu"


_OPTIONS = [
    {},
    {"causal": True, "softcap": 5.0},
    {"window": (7, 3), "scale": 0.25},
    {"causal": True, "window": [9, 0], "alibi_slopes": [0.5, 0.25, 0.125, 1.0]},
    {"sinks": [0.5, -1.0, 0.0, 2.0], "alibi_slopes": [0.5, 0.25, 0.125, 1.0]},
]


@pytest.mark.parametrize("options", _OPTIONS)
def test_gradients(options):
    """Those of all operands, of both results, within jit."""
    inputs = make(seq_q=37, seq_k=53)
    options = dict(options)
    learned = {name: jnp.asarray(options.pop(name), dtype="float32") for name in ("alibi_slopes", "sinks") if name in options}
    weights = jnp.asarray(np.random.default_rng(1).standard_normal((2, 37, 4, 64)), "float32")

    def loss(function, arrays, learned):
        out, lse = function(*arrays, **learned, **options)
        return (out.astype("float32") * weights).sum() + (jnp.sin(lse)).sum()

    ours = jax.jit(jax.value_and_grad(lambda *x: loss(lambda *y, **z: attune.attention(*y, **z, return_lse=True), *x), (0, 1)))
    expected = jax.value_and_grad(lambda *x: loss(compute, *x), (0, 1))(inputs, learned)
    found = ours(inputs, learned)
    check(found, expected, 5e-3)
    assert all(x.dtype == y.dtype for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True))


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (0, 2), (3,), (4,)])
def test_some_gradients(wanted):
    """Kernels of those that are wanted alone, of the output alone."""
    inputs = [*make(seq_q=20, seq_k=20), jnp.asarray([0.5, 0.25, 0.125, 1.0]), jnp.asarray([0.5, -1.0, 0.0, 2.0])]

    def differentiate(function):
        def loss(q, k, v, slopes, sinks):
            return (function(q, k, v, causal=True, alibi_slopes=slopes, sinks=sinks).astype("float32") ** 2).sum()

        return jax.grad(loss, wanted)

    program = jax.make_jaxpr(differentiate(attune.attention))(*inputs)
    assert str(program).count("attention_gradients") == (wanted != (4,))
    check(differentiate(attune.attention)(*inputs), differentiate(lambda *x, **y: compute(*x, **y)[0])(*inputs), 5e-3)


def test_layout():
    inputs = [x.swapaxes(1, 2) for x in make()]

    def differentiate(function):
        return jax.grad(lambda *x: (function(*x).astype("float32") ** 2).sum(), (0, 1, 2))(*inputs)

    check(attune.attention(*inputs, layout="bhsd"), compute(*inputs, layout="bhsd")[0])
    check(differentiate(lambda *x: attune.attention(*x, layout="bhsd")), differentiate(lambda *x: compute(*x, layout="bhsd")[0]), 5e-3)


def test_random_shapes():
    random = np.random.default_rng(3)
    for _ in range(6):
        batch, seq_q, seq_k, kv_heads, group = (int(random.integers(1, most)) for most in (4, 90, 90, 3, 4))
        inputs = make(batch=batch, heads=kv_heads * group, kv_heads=kv_heads, seq_q=seq_q, seq_k=seq_k)
        causal = bool(random.integers(2)) and seq_q <= seq_k
        check(jax.jit(lambda *x, causal=causal: attune.attention(*x, causal=causal))(*inputs), compute(*inputs, causal=causal)[0])


def test_vmap():
    """What is mapped becomes a part of the batch; where slopes are, calls are made one by one."""
    q, k, v = make(seq_q=12, seq_k=20)
    many, late = jnp.stack([q, q * 2, -q]), jnp.stack([v, v + 1, v * 2], axis=2)
    slopes = jnp.asarray(np.random.default_rng(2).random((3, 4)), "float32")

    def mapped(function):
        return jax.vmap(lambda q, v: function(q, k, v, causal=True), in_axes=(0, 2))

    def differentiated(function):
        return jax.jit(jax.grad(lambda *x: (mapped(function)(*x).astype("float32") ** 2).sum(), (0, 1)))

    def plain(*arrays, **options):
        return compute(*arrays, **options)[0]

    check(mapped(attune.attention)(many, late), mapped(plain)(many, late))
    assert "scan" not in str(jax.make_jaxpr(mapped(attune.attention))(many, late))
    check(differentiated(attune.attention)(many, late), differentiated(plain)(many, late), 5e-3)
    twice = jax.vmap(jax.vmap(lambda q: attune.attention(q, k, v)))(jnp.stack([many, many + 1]))
    check(twice, jax.vmap(jax.vmap(lambda q: plain(q, k, v)))(jnp.stack([many, many + 1])))
    with_slopes = jax.vmap(lambda slopes: attune.attention(q, k, v, alibi_slopes=slopes))
    check(with_slopes(slopes), jax.vmap(lambda slopes: plain(q, k, v, alibi_slopes=slopes))(slopes))

    # The gradient of slopes is one for each example, though these are not mapped.
    def of_slopes(function):
        each = jax.grad(lambda q, slopes: (function(q, k, v, alibi_slopes=slopes).astype("float32") ** 2).sum(), (0, 1))
        return jax.vmap(each, in_axes=(0, None))(many, slopes[0])

    check(of_slopes(attune.attention), of_slopes(plain), 5e-3)


def test_within_scan():
    """Steps that follow each other, whose results are computed anew for gradients."""
    q, k, v = make(heads=2, kv_heads=2, seq_q=20, seq_k=20)

    def differentiate(function):
        step = jax.checkpoint(lambda x, scale: (function(x * scale, k, v, causal=True).astype(x.dtype), None))
        return jax.grad(lambda q: (jax.lax.scan(step, q, jnp.asarray([1.0, 0.5, 2.0], q.dtype))[0].astype("float32") ** 2).sum())(q)

    check(differentiate(attune.attention), differentiate(lambda *x, **y: compute(*x, **y)[0]), 1e-2)


def test_zero_size():
    q, k, v = make()
    assert attune.attention(q[:, :0], k, v).shape == (2, 0, 4, 64)
    assert jax.vmap(lambda q: attune.attention(q, k, v))(jnp.zeros((3, 2, 0, 4, 64), "float16")).shape == (3, 2, 0, 4, 64)
    assert jax.vmap(lambda q: attune.attention(q, k[:0], v[:0]))(jnp.zeros((3, 0, 5, 4, 64), "float16")).shape == (3, 0, 5, 4, 64)
    out, lse = attune.attention(q, k[:, :0], v[:, :0], return_lse=True)
    assert not out.any() and (lse == -jnp.inf).all()
    for gradient in jax.grad(lambda *x: attune.attention(*x).sum(), (0, 1, 2))(q, k[:, :0], v[:, :0]):
        assert not gradient.any()


def test_program():
    """A program that was compiled before is called twice; it holds two calls, and names nothing of this process."""
    q, k, v = make()
    lowered = jax.jit(lambda q, k, v: attune.attention(attune.attention(q, k, v), k, v, causal=True)).lower(q, k, v)
    assert lowered.as_text().count("stablehlo.custom_call @attune_mlir") == 2
    compiled = lowered.compile()
    expected = compute(compute(q, k, v)[0], k, v, causal=True)[0]
    for _ in range(2):
        check(compiled(q, k, v), expected, 5e-3)


_CHILD = """
import sys
import jax, numpy
import attune_mlir as attune
inputs = [jax.numpy.asarray(x) for x in numpy.load(sys.argv[1])]
numpy.save(sys.argv[2], jax.jit(lambda *x: attune.attention(*x, causal=True) * 2)(*inputs))
"""


def test_other_process(tmp_path):
    """A program that JAX keeps on disk runs in another process."""
    folder = tmp_path / "programs"
    environment = {"JAX_COMPILATION_CACHE_DIR": str(folder), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    environment["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    inputs = make(batch=1, heads=2, kv_heads=2, seq_q=20, seq_k=20)
    np.save(tmp_path / "inputs.npy", np.stack(inputs))
    kept = []
    for _ in range(2):
        arguments = [str(tmp_path / name) for name in ("inputs.npy", "out.npy")]
        subprocess.run([sys.executable, "-c", _CHILD, *arguments], check=True, timeout=300, env={**os.environ, **environment})
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.asarray(attune.attention(*inputs, causal=True)) * 2)
        kept.append(sorted(path.name for path in folder.iterdir() if not path.name.endswith("-atime")))
    assert kept[0] == kept[1] and any("lambda" in name for name in kept[0])


def test_threads():
    programs = [jax.jit(lambda *x, softcap=softcap: attune.attention(*x, softcap=softcap)) for softcap in (None, 3.0)]
    many = [make(seed=seed, seq_q=seed + 9) for seed in range(4)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        tasks = [
            (pool.submit(program, *inputs), inputs, cap) for inputs in many for program, cap in zip(programs, (None, 3.0), strict=True)
        ]
        for task, inputs, softcap in tasks:
            check(task.result(), compute(*inputs, softcap=softcap)[0])


_DEVICES = """
import sys
sys.path.insert(0, sys.argv[1])
import jax, jax.numpy as jnp
from jax_oracle import check, compute
import attune_mlir as attune

Spec = jax.sharding.PartitionSpec
batch, heads, queries = Spec("all"), Spec(None, None, "all"), Spec(None, "all")
mesh = jax.make_mesh((2,), ("all",), axis_types=(jax.sharding.AxisType.Auto,))
attend = lambda *x, **y: attune.attention(*x, causal=True, **y)
sharded = jax.shard_map(attend, mesh=mesh, in_specs=(heads,) * 3, out_specs=heads)
slopes = {"alibi_slopes": jnp.asarray([0.5, 0.25, 0.125, 1.0])}
cases = [(sharded, 4, heads, {}), (attend, 4, heads, {}), (attend, 2, heads, slopes), (attend, 4, batch, {})]
# Gradients of slopes are of all batches; a query has all keys.
for function, kv_heads, spec, learned in [*cases, (attend, 4, batch, slopes), (attend, 4, queries, {})]:
    random = [jax.random.normal(jax.random.key(seed), (2, 30, count, 64), "float16") for seed, count in enumerate((4, kv_heads, kv_heads))]
    spread = [jax.device_put(x, jax.NamedSharding(mesh, spec)) for x in random]
    def loss(q, k, v, learned):
        out = function(q, k, v, **learned)
        return (out.astype("float32") ** 2).sum(), out
    def expect(q, k, v, learned):
        out = compute(q, k, v, causal=True, **learned)[0]
        return (out ** 2).sum(), out
    program = jax.jit(jax.grad(loss, (0, 1, 2, 3), has_aux=True)).lower(*spread, learned).compile()
    found = program(*spread, learned)
    check(found, jax.grad(expect, (0, 1, 2, 3), has_aux=True)(*random, learned), 5e-3)
    is_divided = (function, kv_heads, spec, learned) in cases
    assert ("all-gather(" not in program.as_text()) == is_divided, (spec, kv_heads)
    assert not is_divided or all(x.sharding.spec == spec for x in (*found[0][:3], found[1]))
second = [jax.device_put(x, jax.devices()[1]) for x in random]
assert attune.attention(*second).devices() == {jax.devices()[1]}
"""


def test_two_devices():
    """Each computes its heads or batches, within jax.shard_map and without; other parts are gathered."""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    command = [sys.executable, "-c", _DEVICES, str(pathlib.Path(__file__).parent)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_errors():
    """They are those of other arrays, and raised while JAX traces."""
    q, k, v = make()
    for call in (attune.attention, jax.jit(attune.attention)):
        with pytest.raises(ValueError, match="expects k and v to have one number of heads and one length"):
            call(q, k, v[:, :3])
        with pytest.raises(TypeError, match="expects q of float16 or bfloat16, but got float32"):
            call(q.astype("float32"), k, v)
        with pytest.raises(TypeError, match="expects q of float16 or bfloat16, but got int4"):
            call(q.astype("int4"), k, v)
    with pytest.raises(ValueError, match=r"expects sinks to have one element per head of q, 4 without gaps, but got shape \(3,\)"):
        attune.attention(q, k, v, sinks=jnp.zeros(3))
    with pytest.raises(ValueError, match=r"expects q to have 4 dimensions, but got shape \(30, 4, 64\)"):
        attune.attention(q[0], k, v)
    with pytest.raises(ValueError, match="expects at least one head and one element in each"):
        attune.attention(q, k[:, :, :0], v[:, :, :0])
    with pytest.raises(ValueError, match="expects softcap to be above 0"):
        jax.jit(lambda *x: attune.attention(*x, softcap=0))(q, k, v)
    with pytest.raises(ValueError, match="expects chip to be one of"):
        attune.attention(q, k, v, chip="mill")


def test_no_kernel(monkeypatch):
    """It is said while JAX traces, as for other arrays, for the chip that is named or that of the device that programs are for."""
    wide = make(heads=1, head_dim=2000)

    def describe(*arrays, **options):
        with pytest.raises(attune.CompileError) as caught:
            attune.attention(*arrays, **options)
        return str(caught.value)

    assert "shared-overflow" in describe(*map(np.asarray, wide))
    assert describe(*wide) == describe(*map(np.asarray, wide))
    narrower = make(heads=1, head_dim=512)
    jax.eval_shape(attune.attention, *narrower)
    with pytest.raises(attune.CompileError, match=f"at most 65536 bytes of shared memory on '{find_chip('CDNA')}', but got"):
        jax.eval_shape(lambda *x: attune.attention(*x, chip=find_chip("CDNA")), *narrower)
    for chip in map(find_chip, ("RDNA3", "Ampere", "Hopper")):
        digits = "".join(filter(str.isdigit, chip))
        kind = chip if chip.startswith("gfx") else f"{digits[:-1]}.{digits[-1]}"
        gpu = types.SimpleNamespace(platform="gpu", compute_capability=kind)
        monkeypatch.setattr(jax, "local_devices", lambda backend=None, gpu=gpu: [gpu])
        with pytest.raises(attune.CompileError, match=f"on '{chip}'"):
            jax.eval_shape(attune.attention, *wide)
    # Of a chip that is not known nothing is.
    gpu.compute_capability = "1.0"
    jax.eval_shape(attune.attention, *wide)
    monkeypatch.undo()
    with jax.default_device("cpu"), pytest.raises(attune.CompileError, match="shared-overflow"):
        jax.eval_shape(attune.attention, *wide)


def test_no_kernel_of_gradients():
    q, k, v = make(heads=1, head_dim=512)
    chip = find_chip("Ampere")
    jax.eval_shape(lambda q: attune.attention(q, k, v, chip=chip), q)
    with pytest.raises(attune.CompileError, match=f"on '{chip}'"):
        jax.eval_shape(jax.grad(lambda q: attune.attention(q, k, v, chip=chip).astype("float32").sum()), q)


def test_what_cannot_be():
    q, k, v = make()
    with pytest.raises(TypeError, match="expects out to be a writable array, but arrays of JAX are not: leave it out"):
        attune.attention(q, k, v, out=jnp.zeros_like(q))
    with pytest.raises(TypeError, match="expects no stream with arrays of JAX"):
        attune.attention(q, k, v, stream=1)
    with pytest.raises(TypeError, match="expects k to be an array of JAX, as q is, or NumPy, but got list"):
        attune.attention(q, [1.0], v)
    with pytest.raises(TypeError, match="expects tensors of PyTorch with score_mod"):
        attune.attention(q, k, v, score_mod=lambda s, b, h, m, n: s)
    with pytest.raises(TypeError, match="expects tensors of PyTorch with dropout_p"):
        attune.attention(q, k, v, dropout_p=0.5)
    with pytest.raises(NotImplementedError, match="expects first derivatives of attention alone"):
        jax.grad(lambda q: jax.grad(lambda q: attune.attention(q, k, v).astype("float32").sum())(q).astype("float32").sum())(q)
    with pytest.raises(TypeError, match="can't apply forward-mode"):
        jax.jvp(lambda q: attune.attention(q, k, v), (q,), (q,))
    # What has no custom call takes arrays on the CPU that are there.
    with pytest.raises(TypeError, match=r"expects q to be an array, but got what a function of JAX is traced with: .*pure_callback"):
        jax.jit(lambda q: attune.explain(q, k, v))(q)

    class Device:
        platform = "gpu"

        def __str__(self):
            return "cuda:0"

    with pytest.raises(TypeError, match=r"expects arrays of JAX on the CPU, but got one on cuda:0: .*torch.from_dlpack\(array\)"):
        _frameworks.FRAMEWORKS["jax"].empty(types.SimpleNamespace(devices=lambda: {Device()}), (2,), "float32")
