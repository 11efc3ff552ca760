# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packed sequences, caches, pages, operands of 8 bits and merges of JAX's arrays: the bits of NumPy's, eagerly and within jit."""

import numpy as np
import pytest
from conftest import find_chip

import attune_mlir as attune

jax = pytest.importorskip("jax")
from jax_oracle import check as check_near  # noqa: E402
from jax_oracle import compute  # noqa: E402

ml_dtypes = pytest.importorskip("ml_dtypes")
jnp = jax.numpy

_STARTS, _KEYS = np.int32([0, 30, 31, 70]), np.int32([0, 40, 60, 90])
_TABLE, _LENGTHS = np.int32([[7, 2, 4], [0, 9, 0]]), np.int32([40, 17])


def make(*shape, dtype=np.float16, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32).astype(dtype)


def check(function, *arrays):
    """That arrays of JAX have the results of NumPy's."""
    expected = jax.tree.leaves(function(*arrays))
    given = [jnp.asarray(array) for array in arrays]
    for call in (function, jax.jit(function)):
        found = jax.tree.leaves(call(*given))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert isinstance(one, jax.Array) and one.dtype == other.dtype and one.shape == other.shape
            np.testing.assert_array_equal(np.asarray(one).view(np.uint8), other.view(np.uint8))


_PACKED = make(70, 4, 64), make(90, 2, 64, seed=1), make(90, 2, 64, seed=2), _STARTS, _KEYS
_PAGES = make(2, 1, 4, 64), make(10, 16, 2, 64, seed=1), make(10, 16, 2, 64, seed=2), _LENGTHS, _TABLE


@pytest.mark.parametrize(
    "options", [{}, {"causal": True, "return_lse": True}, {"window": (9, 3), "softcap": np.float32(5), "batch_invariant": True}]
)
def test_varlen(options):
    check(lambda *x: attune.varlen(*x, 39, np.int64(40), **options), *_PACKED)


@pytest.mark.parametrize("has_learned", [False, True])
def test_varlen_gradients(has_learned):
    """Those of each sequence, also through the LSE; sequences use less keys than there are, and rows behind the last one have none."""
    q, k, v = (jnp.asarray(np.concatenate([array, array[:5]])) for array in _PACKED[:3])
    used, begins, ends = [35, 20, 29], _STARTS, _KEYS
    options = {"causal": has_learned, "softcap": None if has_learned else 8.0}
    learned = {"alibi_slopes": jnp.asarray([0.5, 0.25, 0.125, 1.0]), "sinks": jnp.asarray([0.5, -1.0, 0.0, 2.0])} if has_learned else {}

    def sum_up(out, lse):
        return (out.astype("float32") ** 2).sum() + jnp.sin(lse).sum()

    def loss(q, k, v, learned):
        out, lse = attune.varlen(q, k, v, begins_, ends_, 39, 40, seqused_k=used_, **learned, **options, return_lse=True)
        return sum_up(out[:70], lse[:, :70])

    def loss_of_each(q, k, v, learned):
        total = 0.0
        for number, count in enumerate(used):
            queries, keys = slice(begins[number], begins[number + 1]), slice(ends[number], ends[number] + count)
            total += sum_up(*compute(q[None, queries], k[None, keys], v[None, keys], **learned, **options))
        return total

    begins_, ends_, used_ = jnp.asarray(begins), jnp.asarray(ends), jnp.asarray(used, "int32")
    found = jax.jit(jax.grad(loss, (0, 1, 2, 3)))(q, k, v, learned)
    check_near(found, jax.grad(loss_of_each, (0, 1, 2, 3))(q, k, v, learned), 5e-3)
    assert not found[0][70:].any()
    alone = jax.grad(lambda v: attune.varlen(q, k, v, begins_, ends_).astype("float32").sum())(v)
    assert alone.shape == v.shape and alone.any()


def test_varlen_in_pages():
    """Without numbers of keys, the starts of keys tell them."""
    q, k, v, lengths, table = _PAGES
    check(lambda *x: attune.varlen(*x[:5], 1, 40, block_table=x[5]), q[:, 0], k, v, np.int32([0, 1, 2]), np.int32([0, 40, 57]), table)
    check(
        lambda *x: attune.varlen(*x[:4], seqused_k=x[4], block_table=x[5], return_lse=True),
        q[:, 0],
        k,
        v,
        np.int32([0, 1, 2]),
        lengths,
        table,
    )


@pytest.mark.parametrize("options", [{}, {"causal": True, "return_lse": True, "scale": 0.2}])
def test_decode(options):
    check(lambda q, k, v, lengths, table: attune.decode(q, k, v, lengths, block_table=table, **options), *_PAGES)


def test_latent():
    q, k, _, lengths, table = _PAGES
    check(lambda q, k, lengths, table: attune.decode(q, k, None, lengths, block_table=table, latent=32), q, k, lengths, table)


def test_operands_of_8_bits():
    q, k, v, lengths, table = _PAGES
    k8, v8, scales = k.astype(ml_dtypes.float8_e4m3fn), v.astype(ml_dtypes.float8_e5m2), np.abs(make(10, 2, dtype=np.float32))

    def decode(q, k, v, lengths, table, one, scales):
        return attune.decode(q, k, v, lengths, block_table=table, k_descale=one, v_descale=scales)

    check(decode, q, k8, v8, lengths, table, np.float32([0.5]), scales)
    ints = [np.rint(array[:2] * 20).astype(np.int8) for array in (k, v)]
    check(
        lambda q, k, v, a, b: attune.attention(q, k, v, k_descale=a, v_descale=b),
        q,
        *ints,
        np.float32([[0.1, 0.2], [0.1, 0.3]]),
        np.float32([0.1]),
    )
    narrow = {"out_dtype": jnp.float8_e4m3fn, "return_lse": True}
    check(lambda q, k, v, scale: attune.attention(q, k, v, out_descale=scale, **narrow), q, k[:2], v[:2], np.float32([0.1]))


def test_merge():
    logs = [make(2, 4, 5, dtype=np.float32, seed=seed) for seed in range(2)]
    parts = [make(2, 5, 4, 64, seed=seed) for seed in range(2)]
    check(lambda a, b, c, d: attune.merge([a, b], [c, d], return_lse=True), *parts, *logs)
    check(lambda a, b, c, d: attune.merge([a, b], [c, d]), *(x[0] for x in (*parts, *logs)))


@pytest.mark.parametrize("layout", ["bshd", "bhsd"])
def test_merge_gradients(layout):
    """Those of attention over parts of the keys are those over all, also through the LSE; a part without keys has none."""
    q, k, v = (jnp.asarray(make(2, length, 4, 64, seed=length)) for length in (12, 31, 32))
    k = jnp.concatenate([k, k[:, :1]], axis=1)
    if layout == "bhsd":
        q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
    axis = layout.index("s")

    def loss(out, lse):
        return (out.astype("float32") ** 2).sum() + jnp.sin(lse).sum()

    def merged(q, k, v):
        parts = [jnp.split(x, [20, 20], axis=axis) for x in (k, v)]
        found = [attune.attention(q, *part, layout=layout, return_lse=True) for part in zip(*parts, strict=True)]
        return loss(*attune.merge(*zip(*found, strict=True), layout=layout, return_lse=True))

    found = jax.jit(jax.grad(merged, (0, 1, 2)))(q, k, v)
    check_near(found, jax.grad(lambda *x: loss(*compute(*x, layout=layout)), (0, 1, 2))(q, k, v), 5e-3)
    if layout == "bshd":
        rows = [q[0], q[0] * 2, *(jnp.zeros((4, 12)) for _ in range(2))]
        packed = jax.grad(lambda *x: attune.merge(x[:2], x[2:]).astype("float32").sum(), (0, 1, 2, 3))(*rows)
        check_near(packed[:2], (jnp.full((12, 4, 64), 0.5),) * 2)
        check_near(packed[2:], tuple(s * 0.25 * q[0].astype("float32").sum(-1).T for s in (-1, 1)), 5e-3)


@pytest.mark.parametrize("options", [{}, {"dtype": "uint8", "zeros": True, "scale_rows": 8}, {"dtype": "int8", "scale_rows": None}])
@pytest.mark.parametrize("shape", [(2, 20, 4, 64), (20, 4, 64)])
def test_quantize(options, shape):
    check(lambda x: attune.quantize(x, smooth=True, rotate=True, **options), make(*shape))


def test_vmap():
    """One by one."""
    q, k, v, lengths, table = _PAGES
    many = np.stack([lengths, lengths - 3])
    found = jax.vmap(lambda lengths: attune.decode(*map(jnp.asarray, (q, k, v)), lengths, block_table=jnp.asarray(table)))(many)
    for one, each in zip(found, many, strict=True):
        np.testing.assert_array_equal(one, attune.decode(q, k, v, each, block_table=table))


def test_errors():
    q, k, v, lengths, table = map(jnp.asarray, _PAGES)
    for call in (attune.decode, jax.jit(attune.decode)):
        with pytest.raises(TypeError, match="expects cache_seqlens of int32, but got float32"):
            call(q, k, v, lengths.astype("float32"), block_table=table)
        with pytest.raises(ValueError, match="expects k and v to have one number of pages"):
            call(q, k, v[:5], lengths, block_table=table)
    with pytest.raises(TypeError, match="expects out to be a writable array, but arrays of JAX are not"):
        attune.decode(q, k, v, lengths, block_table=table, out=q)
    with pytest.raises(TypeError, match=r"expects lses\[1\] to be an array of JAX, as outputs\[0\] is, or NumPy, but got int"):
        attune.merge([q, q], [jnp.zeros((2, 4, 1)), 3])
    with pytest.raises(NotImplementedError, match="expects decode of arrays of JAX without gradients"):
        jax.grad(lambda q: attune.decode(q, k, v, lengths, block_table=table).sum())(q)
    with pytest.raises(TypeError, match="expects max_seqlen_q to be an integer or None"):
        attune.varlen(*map(jnp.asarray, _PACKED), max_seqlen_q=1.5)


def test_no_kernel():
    q, k, v = (jnp.ones((1, 16, 2, 64), "float8_e4m3fn") for _ in range(3))
    without, has = find_chip("CDNA"), find_chip("Hopper")
    with pytest.raises(
        attune.CompileError, match=f"expects an element type that '{without}' has a matrix instruction for, but got f8E4M3FN"
    ):
        jax.eval_shape(lambda *x: attune.decode(*x, chip=without), q, k, v)
    jax.eval_shape(lambda *x: attune.decode(*x, chip=has), q, k, v)


def test_check():
    """Integers are looked at where there are some."""
    q, k, v, lengths, table = map(jnp.asarray, _PAGES)
    found = attune.decode(q, k, v, lengths, block_table=table, check=True)
    np.testing.assert_array_equal(found, attune.decode(q, k, v, lengths, block_table=table))
    with pytest.raises(ValueError, match="expects cache_seqlens from 0 to 48 for sequence 0, but got 4000"):
        attune.decode(q, k, v, lengths * 100, block_table=table, check=True)
    with pytest.raises(TypeError, match="expects check for arrays that are there, but got what a function of JAX is traced with"):
        jax.jit(lambda lengths: attune.decode(q, k, v, lengths, block_table=table, check=True))(lengths)
