# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""New rows in pages on the CPU, beside their definition in float32."""

import ml_dtypes
import numpy as np
import pytest

import attune_mlir as attune

F32 = np.float32
PAGES, PAGE_SIZE = 5, 8


def make(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def make_slots(tokens, seed=9):
    """Distinct places, but for the second token, which has none."""
    slots = np.random.default_rng(seed).permutation(PAGES * PAGE_SIZE)[:tokens]
    slots[1] = -1
    return slots


def rotate(x, cos, sin, positions, interleaved):
    x, (cos, sin) = x.astype(F32), (table.astype(F32)[positions][:, None] for table in (cos, sin))
    pairs = cos.shape[-1]
    out = x.copy()
    low = slice(0, 2 * pairs, 2) if interleaved else slice(0, pairs)
    high = slice(1, 2 * pairs, 2) if interleaved else slice(pairs, 2 * pairs)
    out[..., low] = x[..., low] * cos - x[..., high] * sin
    out[..., high] = x[..., high] * cos + x[..., low] * sin
    return out


def put(pool, slots, rows):
    """A pool with rows where these belong."""
    pool = pool.copy()
    exists = slots >= 0
    pool.reshape(-1, *pool.shape[2:])[slots[exists]] = rows[exists]
    return pool


@pytest.mark.parametrize("integer", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, F32])
@pytest.mark.parametrize(("heads", "size"), [(2, 64), (5, 20), (1, 96)])
def test_rows(heads, size, kind, integer):
    rows, pool = make(1, 11, heads, size).astype(kind), make(2, PAGES, PAGE_SIZE, heads, size).astype(kind)
    slots = make_slots(11).astype(integer)
    expected = put(pool, slots, rows)
    assert attune.append(rows, pool, slots) is None
    np.testing.assert_array_equal(pool.view(np.uint8), expected.view(np.uint8))


def test_strides():
    """Rows and pools that are parts of others."""
    qkv, pools = make(1, 11, 6, 64).astype(np.float16), make(2, PAGES, 2, PAGE_SIZE, 2, 64).astype(np.float16)
    slots = make_slots(11)
    for part in range(2):
        rows, pool = qkv[:, 2 + 2 * part : 4 + 2 * part], pools[:, part]
        expected = put(pool, slots, rows)
        attune.append(rows, pool, slots)
        np.testing.assert_array_equal(pool, expected)
    # Pages that have heads first.
    pool = make(3, PAGES, 2, PAGE_SIZE, 64).astype(np.float16)
    expected = put(np.ascontiguousarray(pool.swapaxes(1, 2)), slots, qkv[:, :2])
    attune.append(qkv[:, :2], pool.swapaxes(1, 2), slots)
    np.testing.assert_array_equal(pool.swapaxes(1, 2), expected)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize(("size", "pairs"), [(64, 32), (64, 16), (20, 3)])
@pytest.mark.parametrize("table", [F32, np.float16])
def test_rotated(table, size, pairs, interleaved):
    rows, pool = make(1, 11, 3, size).astype(np.float16), make(2, PAGES, PAGE_SIZE, 3, size).astype(F32)
    angles = make(3, 40, pairs)
    cos, sin = np.cos(angles).astype(table), np.sin(angles).astype(table)
    positions = np.random.default_rng(4).integers(0, 40, 11).astype(np.int32)
    slots = make_slots(11)
    expected = put(pool, slots, rotate(rows, cos, sin, positions, interleaved))
    attune.append(rows, pool, slots, cos=cos, sin=sin, positions=positions, interleaved=interleaved)
    np.testing.assert_allclose(pool, expected, rtol=0, atol=1e-6)
    # What is beyond the tables reads their last row.
    positions[:] = [40, -1] + [1000] * 9
    expected = put(pool, slots, rotate(rows, cos, sin, np.full(11, 39), interleaved))
    attune.append(rows, pool, slots, cos=cos, sin=sin, positions=positions, interleaved=interleaved)
    np.testing.assert_allclose(pool, expected, rtol=0, atol=1e-6)


def get_largest(kind):
    """Integers of uint8 have 4 bits."""
    return F32({np.int8: 127, np.uint8: 7}.get(kind) or ml_dtypes.finfo(kind).max)


def find_scales(rows, kind):
    amounts = np.abs(rows)
    amounts = np.where(amounts < np.inf, amounts, F32(0)).max(axis=-1)
    return np.where(amounts == 0, F32(1), np.maximum(amounts / get_largest(kind), F32(2.0**-126)))


def narrow(rows, scales, kind):
    largest = get_largest(kind)
    with np.errstate(invalid="ignore", over="ignore"):
        quotients = np.clip(rows * (F32(1) / scales)[..., None], -largest, largest)
    if kind not in (np.int8, np.uint8):
        return quotients.astype(kind)
    numbers = np.nan_to_num(np.rint(quotients)).astype(np.int8)
    if kind == np.int8:
        return numbers
    low, high = np.split(numbers, 2, axis=-1)
    return ((low & 15) | (high << 4)).view(np.uint8)


def make_pool(kind, heads, size):
    if kind not in (np.int8, np.uint8):
        return make(2, PAGES, PAGE_SIZE, heads, size).astype(kind)
    size = size // 2 if kind == np.uint8 else size
    return np.random.default_rng(2).integers(0, 256, (PAGES, PAGE_SIZE, heads, size), np.uint8).view(kind)


@pytest.mark.parametrize("kind", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, np.int8, np.uint8])
@pytest.mark.parametrize(("heads", "size"), [(2, 64), (5, 20), (3, 96)])
def test_scales_of_rows(heads, size, kind):
    if kind == np.uint8 and size % 32:
        pytest.skip("bytes do not hold such rows")
    rows = make(1, 11, heads, size).astype(F32)
    rows[2], rows[3, 0, 1], rows[3, 0, 2], rows[4, 0, 3] = 0, np.inf, -np.inf, np.nan
    pool = make_pool(kind, heads, size)
    row_scales = make(3, PAGES, PAGE_SIZE, heads).astype(F32)
    slots = make_slots(11)
    scales = find_scales(rows, kind)
    expected, expected_scales = put(pool, slots, narrow(rows, scales, kind)), put(row_scales, slots, scales)
    attune.append(rows, pool, slots, row_scales=row_scales)
    np.testing.assert_array_equal(row_scales, expected_scales)
    np.testing.assert_array_equal(pool.astype(F32), expected.astype(F32))


@pytest.mark.parametrize("kind", [ml_dtypes.float8_e4m3fn, np.int8, np.uint8])
@pytest.mark.parametrize("given", [0.02, [0.02, 0.05], [[0.02, 0.05]]], ids=str)
def test_scales_that_are_given(given, kind):
    rows, pool = make(1, 11, 2, 64).astype(ml_dtypes.bfloat16), make_pool(kind, 2, 64)
    rows[0] *= 1000
    scales, slots = np.array(given, F32), make_slots(11)
    expected = put(pool, slots, narrow(rows.astype(F32), np.broadcast_to(scales.reshape(1, -1), (11, 2)), kind))
    attune.append(rows, pool, slots, scales=scales)
    np.testing.assert_array_equal(pool.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("pairs", [16, 32])
def test_rotated_in_bytes(pairs, interleaved):
    rows, pool, angles = make(1, 11, 3, 64).astype(np.float16), make_pool(np.uint8, 3, 64), make(3, 40, pairs).astype(F32)
    positions, slots = np.arange(11, dtype=np.int32), make_slots(11)
    row_scales = np.ones((PAGES, PAGE_SIZE, 3), F32)
    turned = rotate(rows, np.cos(angles), np.sin(angles), positions, interleaved)
    scales = find_scales(turned, np.uint8)
    expected = put(pool, slots, narrow(turned, scales, np.uint8))
    options = {"cos": np.cos(angles), "sin": np.sin(angles), "positions": positions, "interleaved": interleaved}
    attune.append(rows, pool, slots, **options, row_scales=row_scales)
    np.testing.assert_allclose(row_scales, put(np.ones_like(row_scales), slots, scales), rtol=1e-6)
    # Sums of two products are rounded once or twice.
    assert (pool != expected).mean() < 0.01


def make_zeros(rows, kind):
    """Scales and zero points of rows, by what is finite of them."""
    least, most = (F32(-8), F32(7)) if kind == np.uint8 else (F32(-128), F32(127))
    finite = np.isfinite(rows)
    low, high = np.where(finite, rows, np.inf).min(axis=-1), np.where(finite, rows, -np.inf).max(axis=-1)
    with np.errstate(invalid="ignore"):
        scales = np.where(high > low, np.maximum(high / (most - least) - low / (most - least), F32(2.0**-126)), F32(1)).astype(F32)
    return scales, (least - np.where(high < low, F32(0), low) * (F32(1) / scales)).astype(F32)


def narrow_with(rows, scales, zeros, kind):
    least, most = (-8, 7) if kind == np.uint8 else (-128, 127)
    with np.errstate(invalid="ignore", over="ignore"):
        numbers = np.clip(rows * (F32(1) / scales)[..., None] + zeros[..., None], least, most)
    numbers = np.nan_to_num(np.rint(numbers)).astype(np.int8)
    if kind == np.int8:
        return numbers
    low, high = np.split(numbers, 2, axis=-1)
    return ((low & 15) | (high << 4)).view(np.uint8)


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
@pytest.mark.parametrize(("heads", "size"), [(2, 64), (5, 20), (3, 96)])
def test_zero_points_of_rows(heads, size, kind):
    if kind == np.uint8 and size % 32:
        pytest.skip("bytes do not hold such rows")
    rows = (make(1, 11, heads, size) + 5 * make(4, 11, heads, 1)).astype(F32)
    rows[2], rows[3, 0, 1], rows[3, 0, 2], rows[4, 0, 3], rows[5] = 0, np.inf, -np.inf, np.nan, np.nan
    pool, slots = make_pool(kind, heads, size), make_slots(11)
    numbers = [make(seed, PAGES, PAGE_SIZE, heads).astype(F32) for seed in (3, 5)]
    made = make_zeros(rows, kind)
    expected = put(pool, slots, narrow_with(rows, *made, kind))
    wanted = [put(before, slots, own) for before, own in zip(numbers, made, strict=True)]
    attune.append(rows, pool, slots, row_scales=numbers[0], row_zeros=numbers[1])
    for found, own in zip(numbers, wanted, strict=True):
        np.testing.assert_allclose(found, own, rtol=1e-6, atol=1e-5)
    # Products and sums are rounded once or twice.
    assert (pool != expected).mean() < 0.003


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
@pytest.mark.parametrize("given", [(0.05, 2.5), ([0.05, 0.1], [2.5, -3.0])], ids=str)
def test_zero_points_that_are_given(given, kind):
    rows, pool, slots = make(1, 11, 2, 64).astype(np.float16), make_pool(kind, 2, 64), make_slots(11)
    rows[0] *= 1000
    scales, zeros = (np.array(numbers, F32) for numbers in given)
    of_rows = (np.broadcast_to(numbers.reshape(1, -1), (11, 2)) for numbers in (scales, zeros))
    expected = put(pool, slots, narrow_with(rows.astype(F32), *of_rows, kind))
    attune.append(rows, pool, slots, scales=scales, zeros=zeros)
    assert (pool != expected).mean() < 0.003


@pytest.mark.parametrize("interleaved", [None, False, True])
@pytest.mark.parametrize("kinds", [(F32, F32), (np.float16, np.int8), (np.uint8, ml_dtypes.float8_e4m3fn), (np.int8, np.uint8)], ids=str)
def test_keys_and_values(kinds, interleaved):
    """Those of one call are those of a call for each."""
    k, v, slots = make(1, 11, 3, 64).astype(np.float16), make(6, 11, 3, 96).astype(np.float16), make_slots(11)
    found, expected = ([make_pool(kind, 3, size) for kind, size in zip(kinds, (64, 96), strict=True)] for _ in range(2))
    own = {}
    if interleaved is not None:
        angles = make(3, 40, 16).astype(F32)
        own = {"cos": np.cos(angles), "sin": np.sin(angles), "positions": np.arange(11, dtype=np.int32), "interleaved": interleaved}
    numbers = [{}, {}], [{}, {}]
    for one in numbers:
        for given, kind in zip(one, kinds, strict=True):
            if np.dtype(kind).itemsize == 1:
                given["row_scales"] = np.ones((PAGES, PAGE_SIZE, 3), F32)
            if kind == np.uint8:
                given["row_zeros"] = np.ones((PAGES, PAGE_SIZE, 3), F32)
    attune.append(k, expected[0], slots, **own, **numbers[0][0])
    attune.append(v, expected[1], slots, **numbers[0][1])
    of_values = {f"value_{name}": array for name, array in numbers[1][1].items()}
    attune.append(k, found[0], slots, **own, **numbers[1][0], values=v, value_pool=found[1], **of_values)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.view(np.uint8), other.view(np.uint8))
    for one, other in zip(*numbers, strict=True):
        for name, array in one.items():
            np.testing.assert_array_equal(array, other[name])


def test_nothing():
    pool = make(2, PAGES, PAGE_SIZE, 2, 64).astype(np.float16)
    before = pool.copy()
    attune.append(np.zeros((0, 2, 64), np.float16), pool, np.zeros(0, np.int64))
    np.testing.assert_array_equal(pool, before)


ROWS, POOL, SLOTS = np.zeros((3, 2, 8), np.float16), np.zeros((2, 4, 2, 8), np.float16), np.zeros(3, np.int64)
TABLE, PLACES = np.zeros((4, 4), F32), np.zeros(3, np.int32)
NARROW, SCALES = np.zeros((2, 4, 2, 8), ml_dtypes.float8_e4m3fn), np.zeros((2, 4, 2), F32)


@pytest.mark.parametrize(
    ("error", "text", "arguments"),
    [
        (TypeError, "expects rows of float16, bfloat16 or float32, but got int64", {"rows": np.zeros((3, 2, 8), np.int64)}),
        (ValueError, r"expects rows to have 3 dimensions, but got shape \(3, 16\)", {"rows": ROWS.reshape(3, 16)}),
        (TypeError, "expects a pool of float16, .*, but got int16", {"pool": np.zeros((2, 4, 2, 8), np.int16)}),
        (ValueError, "expects scales or row_scales for a pool of int8, but got neither", {"pool": np.zeros((2, 4, 2, 8), np.int8)}),
        (
            ValueError,
            "expects rows to have a multiple of 32 columns where bytes hold two, but got 8",
            {"pool": np.zeros((2, 4, 2, 4), np.uint8), "scales": np.ones(1, F32)},
        ),
        (
            ValueError,
            r"expects rows and pool to have equal heads .* but got shapes \(3, 2, 8\) and \(2, 4, 1, 8\)",
            {"pool": POOL[:, :, :1]},
        ),
        (ValueError, "expects values and value_pool, but got no value_pool", {"values": ROWS}),
        (ValueError, "expects values and value_pool, but got no values", {"value_pool": POOL}),
        (
            ValueError,
            r"expects rows and values to have equal tokens and heads, but got shapes \(3, 2, 8\) and \(3, 1, 8\)",
            {"values": ROWS[:, :1], "value_pool": POOL[:, :, :1]},
        ),
        (
            ValueError,
            "expects value_scales or value_row_scales for a pool of int8, but got neither",
            {"values": ROWS, "value_pool": NARROW.view(np.int8)},
        ),
        (TypeError, "expects slots of int32 or int64, but got float32", {"slots": np.zeros(3, F32)}),
        (ValueError, r"expects slots of shape \(3,\) without gaps, but got shape \(2,\)", {"slots": SLOTS[:2]}),
        (ValueError, "expects cos, sin and positions, but got no sin and no positions", {"cos": TABLE}),
        (
            TypeError,
            "expects cos and sin of float32, or of float16 as rows",
            {"cos": TABLE, "sin": TABLE.astype(float), "positions": PLACES},
        ),
        (ValueError, "from 1 to 4 columns, but got", {"cos": np.zeros((4, 5), F32), "sin": np.zeros((4, 5), F32), "positions": PLACES}),
        (ValueError, "expects cos in row-major order without gaps", {"cos": TABLE.T, "sin": TABLE, "positions": PLACES}),
        (ValueError, "expects interleaved with cos, sin and positions alone", {"interleaved": True}),
        (ValueError, "expects scales for a pool of 8 bits alone, but got some for float16", {"scales": np.ones(1, F32)}),
        (ValueError, "expects scales or row_scales for a pool of float8_e4m3fn, but got neither", {"pool": NARROW}),
        (ValueError, "but got both", {"pool": NARROW, "scales": np.ones(1, F32), "row_scales": SCALES}),
        (TypeError, "expects scales of float32, but got float64", {"pool": NARROW, "scales": np.ones(1)}),
        (ValueError, r"expects scales of shape \(2,\), or one, but got shape \(3,\)", {"pool": NARROW, "scales": np.ones(3, F32)}),
        (
            ValueError,
            "expects zeros for a pool of int8 or uint8 alone, but got some for float8_e4m3fn",
            {"pool": NARROW, "scales": np.ones(1, F32), "zeros": np.ones(1, F32)},
        ),
        (
            ValueError,
            "expects row_scales beside row_zeros, but got none",
            {"pool": NARROW.view(np.int8), "scales": np.ones(1, F32), "row_zeros": SCALES},
        ),
        (
            ValueError,
            r"expects zeros of the shape of scales, but got shape \(2,\)",
            {"pool": NARROW.view(np.int8), "scales": np.ones(1, F32), "zeros": np.ones(2, F32)},
        ),
        (
            TypeError,
            "expects row_zeros of float32, but got float64",
            {"pool": NARROW.view(np.int8), "row_scales": SCALES, "row_zeros": np.zeros((2, 4, 2))},
        ),
        (
            ValueError,
            r"expects row_scales of shape \(2, 4, 2\), but got shape \(2, 4, 1\)",
            {"pool": NARROW, "row_scales": SCALES[:, :, :1]},
        ),
    ],
)
def test_errors(error, text, arguments):
    given = {"rows": ROWS, "pool": POOL, "slots": SLOTS, **arguments}
    with pytest.raises(error, match=text):
        attune.append(given.pop("rows"), given.pop("pool"), given.pop("slots"), **given)


def test_pools_are_written():
    pool = POOL.copy()
    pool.flags.writeable = False
    with pytest.raises(TypeError, match="expects pool to be a writable array"):
        attune.append(ROWS, pool, SLOTS)
