# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the installed wheel has to do: the target check-wheel runs this where nothing else is installed."""

import pathlib
import re
import subprocess
import time

import numpy as np

import attune_mlir as attune
from attune_mlir import _native, ir
from attune_mlir.dialects import attn, func

folder = pathlib.Path(_native.__file__).parent
assert "site-packages" in folder.parts, f"expects the installed package, but got {folder}"
loaded = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
assert str(folder / "libattune.so") in loaded, "expects the package's own library to be loaded"
assert "libLLVM" not in loaded, "expects no other LLVM"
assert "libMLIR" not in loaded, "expects no other MLIR"

# Nothing but the C API is visible.
symbols = subprocess.run(
    ["readelf", "--wide", "--dyn-syms", str(folder / "libattune.so")], check=True, capture_output=True, text=True
).stdout
defined = [
    line.split()[7] for line in symbols.splitlines() if re.match(r"\s*\d+:", line) and len(line.split()) > 7 and line.split()[6] != "UND"
]
foreign = [name for name in defined if not name.startswith(("attune", "mlir"))]
assert defined, "expects symbols"
assert not foreign, f"expects no other symbols, but got {foreign[:5]}"

q, k, v = np.random.default_rng(0).standard_normal((3, 1, 50, 2, 64)).astype(np.float16)
start = time.perf_counter()
out = attune.attention(q, k, v, causal=True)
seconds = time.perf_counter() - start
scores = np.einsum("bmhd,bnhd->bhmn", q.astype(np.float64), k.astype(np.float64)) / 8
scores = np.where(np.tril(np.ones((50, 50), dtype=bool)), scores, -np.inf)
weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
expected = np.einsum("bhmn,bnhd->bmhd", weights / weights.sum(axis=-1, keepdims=True), v.astype(np.float64))
np.testing.assert_allclose(out, expected, atol=3e-3)
found = attune.tune(q, k, v, causal=True, budget="60s,2", quiet=True)
assert found.explanation.source == "search", found
np.testing.assert_allclose(attune.attention(q, k, v, causal=True), expected, atol=3e-3)
recorded = attune.numpy.asarray(q.astype(np.float32))
np.testing.assert_allclose(np.exp(recorded) * 2, np.exp(q.astype(np.float32)) * 2, rtol=1e-6)
with ir.Context(), ir.InsertionPoint(ir.Module.create().body) as here:
    heads = ir.RankedTensorType.get([1, 2, 64, 64], ir.F16Type.get())
    function = func.FuncOp("f", ir.FunctionType.get([heads] * 3, [heads]))
    with ir.InsertionPoint(function.body.blocks.append(heads, heads, heads)) as inner:
        func.return_([attn.attention(None, None, *inner.block.arguments)])
    assert here.block.owner.verify()
for chip in attune.chips():
    text = attune.compile("func.func private @f()", chip=chip.name, cached=False)
    assert text.kernels == ()
print(f"{attune.version()}: right, first call {seconds:.2f} s, {len(defined)} symbols")
