# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Array code that is recorded, beside what NumPy makes of it."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import find_chip

import attune_mlir as attune
import attune_mlir.numpy as anp
from attune_mlir import _recorded

DTYPES = [np.float16, np.float32, np.float64]


@pytest.fixture(autouse=True)
def unsaid(monkeypatch):
    monkeypatch.setattr(_recorded, "_said", set())


def make(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def check(function, *arrays, tolerance=None, chip=None):
    """The same function of arrays that record, and of those of NumPy."""
    expected = function(*arrays)
    recorded = function(*(anp.asarray(array) for array in arrays))
    assert isinstance(recorded, anp.Array)
    assert (recorded.shape, recorded.dtype) == (expected.shape, expected.dtype)
    found = anp.evaluate(recorded, chip=chip)
    assert isinstance(found, np.ndarray) and found.dtype == expected.dtype
    tolerance = tolerance or {"float16": 4e-3, "float32": 2e-6}.get(expected.dtype.name, 1e-13)
    np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance)


def softmax(scores, axis=-1):
    weights = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return weights / np.sum(weights, axis=axis, keepdims=True)


def attend(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) * 0.25
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf)) @ v


ELEMENTWISE = {
    "arithmetic": lambda a, b: (a + b) * 2 - b / 3 + (-a) - 1,
    "functions": lambda a, b: np.exp(a) + np.tanh(b) * np.sin(a) - np.cos(b) + np.floor(a) + np.ceil(b),
    "roots": lambda a, b: np.sqrt(np.abs(a)) + np.log1p(b * b) + np.log(np.abs(a) + 1) + np.log2(np.abs(b) + 2),
    "powers": lambda a, b: np.exp2(a) + np.expm1(b) + np.square(a) + np.abs(b) ** 1.5 + np.reciprocal(np.abs(a) + 1) + b**2,
    "extremes": lambda a, b: np.maximum(a, b) - np.minimum(a, 0.5),
    "comparisons": lambda a, b: ((a < b) & (a > -1)) | (b == a) | ~(a != b) ^ (a <= 0.1) | (b >= 2),
    "where": lambda a, b: np.where(a > b, a, b * 2) + np.where(a > 0, 1.0, -np.inf) * 0 + np.where(b > 0, 1.5, a),
    "casts": lambda a, b: (a > b).astype(a.dtype) + a.astype(np.float64).astype(a.dtype) + (a > 0),
    "reversed": lambda a, b: 1 - a + 2 / (np.abs(b) + 1) + 3 * a,
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name, dtype):
    if name == "where":
        check(lambda a, b: np.where(a > b, a, b * 2) + np.where(b > 0, 1.5, a), make(3, 5, dtype=dtype), make(5, dtype=dtype, seed=1))
    else:
        tolerance = 2e-2 if dtype == np.float16 else None
        check(ELEMENTWISE[name], make(3, 5, dtype=dtype), make(3, 5, dtype=dtype, seed=1), tolerance=tolerance)


SHAPES = {
    "broadcast": lambda a, b: a[:, None] * b + b[None],
    "transposed": lambda a, b: a.T + np.transpose(a, (1, 0)) + np.swapaxes(a, 0, 1) + a.transpose(1, 0) + a.swapaxes(0, -1),
    "reshaped": lambda a, b: a.reshape(-1) + np.reshape(a, (9,)) + a.reshape((3, 3)).reshape(9) + np.expand_dims(a, 0).reshape(9),
    "dimensions": lambda a, b: np.expand_dims(a, (0, -1)) + a[..., None] + a[None, ..., None] * 2,
    "all": lambda a, b: a.sum() + np.mean(a) + a.max() - a.min() + np.sum(b, axis=(0, 1)),
    "axes": lambda a, b: a.sum(axis=0) + a.max(1) + np.mean(a, axis=-1) + np.min(a, axis=(0,)) + b.sum(-1),
    "kept": lambda a, b: a - a.mean(axis=1, keepdims=True) + np.sum(a, axis=(0, 1), keepdims=True),
    "products": lambda a, b: a @ b + np.matmul(a, b.T) + a @ b.reshape(9, 1)[:, None].reshape(3, 3),
    "vectors": lambda a, b: a.sum(0) @ b + a @ b.sum(0),
    "batches": lambda a, b: (a[None] * np.ones((2, 1, 1), a.dtype)) @ b[None, None] @ a,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name, dtype):
    check(SHAPES[name], make(3, 3, dtype=dtype), make(3, 3, dtype=dtype, seed=1), tolerance=2e-2 if dtype == np.float16 else None)


@pytest.mark.parametrize("dtype", DTYPES)
def test_attention(dtype):
    check(attend, *(make(2, 20, 16, dtype=dtype, seed=n) for n in range(3)))
    check(attend, *(make(2, 20, 16, dtype=dtype, seed=n) for n in range(3)), np.tril(np.ones((20, 20), dtype=bool)))


@pytest.mark.parametrize("shape", [(20, 32), (3, 20, 32), (2, 3, 20, 32)])
def test_attention_is_a_kernel(shape, monkeypatch):
    """It is raised, and runs on the host executor where a chip is named."""
    chip = find_chip("Ampere")
    monkeypatch.setattr(_recorded, "_run_on_host", None)
    monkeypatch.setattr(_recorded, "_interpret", None)
    inputs = [make(*shape, dtype=np.float16, seed=n) for n in range(3)]
    check(attend, *inputs, chip=chip)
    check(attend, *inputs, np.tril(np.ones((20, 20), dtype=bool)), chip=chip)
    check(
        lambda q, k, v, bias: softmax(q @ k.swapaxes(-1, -2) + bias) @ v,
        *inputs,
        make(20, 20, dtype=np.float16, seed=5),
        chip=chip,
        tolerance=1e-2,
    )
    check(lambda q: attend(q, q, q), inputs[0], chip=chip)


def test_no_kernel_is_told():
    inputs = [make(20, 32, seed=n) for n in range(3)]
    with pytest.warns(anp.FallbackWarning, match="runs recorded code on the CPU, for there is no kernel of it: it is no attention"):
        check(lambda a, b, c: a + b * c, *inputs, chip=find_chip("Ampere"))


def test_integers_and_bools():
    rows, columns = np.arange(6)[:, None], np.arange(6, dtype=np.int32)[None, :]
    check(lambda m, n: (m >= n) & (n + 1 > m - 2), rows, columns)
    check(lambda m, n: m * n - n, rows, columns.astype(np.int64))
    check(lambda m, n: (m - n).astype(np.float32) * 0.5 + np.maximum(m, n), rows.astype(np.int32), columns)
    check(lambda a: a * 2, np.float32(3))
    check(lambda a: a + 1, np.arange(3, dtype=">i4"))
    with pytest.warns(anp.FallbackWarning, match="NumPy computes np.reciprocal, for there is no code for it on int64"):
        check(np.reciprocal, np.array([1, 2, -1]))


def test_transposes_that_change_nothing():
    check(lambda a: a.T + a.transpose() * 2, np.float32(3))
    check(lambda a: a.T + a.transpose(0) + np.transpose(a, 0) + a.transpose(-1), make(5))


def test_reductions_of_no_axes():
    """Fused into what reads them, they would add up once for each element of it."""
    check(lambda a, b: a.sum() + a.mean() * a.max(axis=()) + b.sum(axis=()) - a.sum(), np.float64(3), make(4, dtype=np.float64))
    check(lambda a: np.where(a > 0, a.sum().sum(), a), make(7))


def test_rounding_is_numpys():
    """float16 is rounded after each function, as in NumPy."""
    a, b = make(50, dtype=np.float16), make(50, dtype=np.float16, seed=1)
    np.testing.assert_array_equal(np.asarray(anp.asarray(a) * b + a), a * b + a)
    for number in (0.1, 1 / 3, 1e10, -1e10):
        with np.errstate(over="ignore"):
            expected = a * number
        np.testing.assert_array_equal(np.asarray(anp.asarray(a) * number), expected)
    assert np.asarray(anp.asarray(np.float16([0.1])) == 0.1).all()
    large = make(3, 3000, dtype=np.float16) + np.float16(100)
    np.testing.assert_allclose(np.asarray(anp.asarray(large).mean(axis=1)), large.mean(axis=1), rtol=1e-3)


@pytest.mark.filterwarnings("ignore::attune_mlir.numpy.FallbackWarning")
def test_arrays_are_frozen():
    a = make(4)
    recorded = anp.asarray(a)
    doubled, expected = recorded * 2, a * 2
    a[:] = 0
    np.testing.assert_array_equal(doubled, expected)
    found = np.asarray(recorded)
    found[:] = 0
    assert np.asarray(recorded).any()
    anp.evaluate(doubled)[:] = 0
    anp.evaluate(recorded)[:] = 0
    np.testing.assert_array_equal(doubled, expected)
    with pytest.raises(ValueError, match="read-only"):
        np.copyto(recorded, 0)
    np.testing.assert_array_equal(recorded * 2, expected)


@pytest.mark.filterwarnings("ignore::attune_mlir.numpy.FallbackWarning")
def test_in_place():
    """What was recorded of an array before it is written does not change."""
    a = make(4)
    recorded = same = anp.asarray(a)
    doubled, transposed = recorded * 2, recorded[None].T
    recorded += 1
    assert recorded is same
    np.testing.assert_array_equal(recorded, a + 1)
    np.testing.assert_array_equal(doubled, a * 2)
    np.testing.assert_array_equal(transposed, a[None].T)
    assert np.multiply(recorded, 3, out=doubled) is doubled
    np.testing.assert_array_equal(doubled, (a + 1) * 3)
    plain = np.zeros(4, np.float32)
    assert np.divmod(recorded, 2, out=(doubled, plain))[1] is plain
    np.testing.assert_array_equal(doubled * 2 + plain, a + 1)
    with pytest.raises(TypeError, match="Cannot cast"):
        recorded += 1j
    with pytest.raises(ValueError, match="broadcast"):
        recorded += np.ones((2, 4), np.float32)


def test_uses():
    a = anp.asarray([[1.5, 2.0]])
    assert anp.asarray(a) is a and a.astype(np.float64) is a
    assert float(a.sum()) == 3.5 and int(a.max()) == 2 and bool(a.min() > 1) and a.mean().item() == 1.75
    assert [0, 1, 2][anp.asarray(np.int64(2))] == 2
    assert len(a) == 1 and a.ndim == 2 and a.size == 2 and a.T.shape == (2, 1)
    assert repr(a) == "attune_mlir.numpy.asarray(array([[1.5, 2. ]]))"
    assert np.asarray(a, dtype=np.float32).dtype == np.float32
    with pytest.raises(TypeError, match="at least one dimension for len"):
        len(a.sum())


def test_code_is_compiled_once(monkeypatch):
    calls = []
    run = attune._compiler.run_pipeline
    monkeypatch.setattr(attune._compiler, "run_pipeline", lambda *arguments: calls.append(1) or run(*arguments))
    for seed in range(3):
        np.asarray(anp.asarray(make(7, 9, seed=seed)) * 1.25 + 7)
    assert len(calls) == 1


FALLBACKS = {
    "np.cumsum": lambda a: np.cumsum(a),
    "np.sum": lambda a: np.sum(a, where=np.ones((3, 4), dtype=bool)),
    "np.add": lambda a: np.add.reduce(a),
    "np.arctan": lambda a: np.arctan(a),
    "np.modf": lambda a: np.modf(a)[0],
    "np.exp": lambda a: np.exp(a, dtype=np.float64),
    "indexing": lambda a: a[1:],
    "np.max": lambda a: np.max((a * 4).astype(np.int32), axis=0),
    "np.concatenate": lambda a: np.concatenate([a, a * 2]),
    "np.multiply": lambda a: abs(a * 1j),
    "np.subtract": lambda a: a - np.uint8(3),
    "np.equal": lambda a: a == None,  # noqa: E711
}


@pytest.mark.parametrize("name", FALLBACKS)
def test_fallbacks(name):
    """NumPy computes what is not known, and what comes behind is recorded again."""
    a = make(3, 4)
    with pytest.warns(anp.FallbackWarning) as said:
        found, again = FALLBACKS[name](anp.asarray(a)), FALLBACKS[name](anp.asarray(a) + 0)
    texts = [str(one.message) for one in said]
    assert any(text.startswith(f"NumPy computes {name}") or name == "np.max" for text in texts)
    assert len(set(texts)) == len(texts)  # once
    np.testing.assert_allclose(found, FALLBACKS[name](a), rtol=1e-6)
    np.testing.assert_allclose(again + 1, FALLBACKS[name](a) + 1, rtol=1e-6)


def test_what_fails_to_compile_falls_back(monkeypatch):
    a = make(2, 3, 4, dtype=np.float32)

    def fail(*_):
        raise attune.CompileError(())

    monkeypatch.setattr(_recorded, "_run_on_host", fail)
    with pytest.warns(anp.FallbackWarning, match="NumPy computes recorded code, for it cannot be compiled for the CPU"):
        check(
            lambda a, b: np.where(a > 0, a.swapaxes(1, 2).reshape(2, 3, 4).astype(np.float64), 1.0) @ b + np.sum(a, axis=(0, 1)).max(),
            a,
            make(1, 4, 4, seed=1).reshape(1, 4, 4),
        )


def test_empty():
    check(lambda a: a * 2 + a.sum(), np.zeros((0, 3), np.float32))
    with pytest.raises(ValueError, match="expects at least one element for max"):
        anp.asarray(np.zeros((0, 3))).max(axis=0)


def test_errors():
    a = anp.asarray(make(3, 4))
    with pytest.raises(TypeError, match="expects an array of float16, float32, .*, but got complex128"):
        anp.asarray([1j])
    with pytest.raises(TypeError, match=r"expects an array of attune_mlir\.numpy, but got list"):
        anp.evaluate([1.0])
    with pytest.raises(ValueError, match=r"share a dimension, but got shapes \(3, 4\) and \(3, 4\)"):
        a @ a
    with pytest.raises(ValueError, match="broadcast"):
        a + anp.asarray(make(3, 3))
    with pytest.raises(ValueError, match="expects a shape of 12 elements, but got \\(5, -1\\)"):
        a.reshape(5, -1)
    with pytest.raises(ValueError, match="permutation of 2 dimensions"):
        a.transpose(0, 0)
    for axes in ((2, 0), (0, -3)):
        with pytest.raises(np.exceptions.AxisError, match="different axes of an array of 2 dimensions, but got"):
            a.transpose(axes)
    with pytest.raises(np.exceptions.AxisError, match="different axes of an array of 2 dimensions, but got 2"):
        a.sum(axis=2)
    with pytest.raises(ValueError, match="at least one dimension"):
        a @ np.float32(1)
    with pytest.raises(ValueError, match="expects chip to be one of"):
        anp.evaluate(a @ a.T, chip="moon")


def test_import_is_lazy():
    program = "import sys, attune_mlir; assert 'numpy' not in sys.modules; attune_mlir.numpy; assert 'numpy' in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_host_code_needs_llvm_dialect():
    from attune_mlir import _linalg

    node = (anp.asarray(make(3)) * 2)._node
    text, _ = _linalg.Writer().write(node)
    code, said = attune.parse(text)._native.compile_for_host("recorded")
    assert code is None and "expects a pipeline that ends in LLVM dialect" in said
