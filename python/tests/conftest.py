# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests share: a cache of their own, chips by what they are, and attention in float64."""

import ctypes
import os
import pathlib
import re
import tempfile

import numpy as np
import pytest

# Before anything is compiled: results of other tests save time, those of other runs hide faults.
_FOLDER = tempfile.TemporaryDirectory(prefix="attune-test-")
os.environ["ATTUNE_CACHE_DIR"] = _FOLDER.name

import attune_mlir as attune  # noqa: E402


@pytest.fixture
def cache_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """An empty cache, not there yet."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ATTUNE_CACHE_DIR", str(folder))
    return folder


def find_chip(family: str) -> str:
    return next(chip.name for chip in attune.chips() if chip.family == family)


@pytest.fixture
def nvidia() -> str:
    """A chip whose assembly is PTX."""
    return find_chip("Ampere")


@pytest.fixture
def amd() -> str:
    """A chip whose objects are made without other programs."""
    return find_chip("CDNA")


@pytest.fixture
def module_text() -> str:
    return """
func.func @attention(%q: tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16> {
  %o = attn.attention %q, %q, %q causal(top_left) : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
}
"""


def reference(q, k, v, *, causal=False, window=None, softcap=None, scale=None, alibi_slopes=None, sinks=None, layout="bshd"):
    """Result and LSE in float64, by the definition."""
    q, k, v = (np.asarray(x, dtype=np.float64) for x in (q, k, v))
    if layout == "bshd":
        q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x, group, axis=1) for x in (k, v))
    scores = np.einsum("bhmd,bhnd->bhmn", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    distance = np.arange(q.shape[2])[:, None] + k.shape[2] - q.shape[2] - np.arange(k.shape[2])[None, :]
    if alibi_slopes is not None:
        scores = scores - np.asarray(alibi_slopes, dtype=np.float64)[None, :, None, None] * np.abs(distance)
    left, right = window or (-1, -1)
    kept = np.ones_like(distance, dtype=bool)
    if causal:
        kept &= distance >= 0
    if left >= 0:
        kept &= distance <= left
    if right >= 0:
        kept &= distance >= -right
    scores = np.where(kept, scores, -np.inf)
    if sinks is not None:
        sink = np.broadcast_to(np.asarray(sinks, dtype=np.float64)[None, :, None, None], (*scores.shape[:3], 1))
        scores = np.concatenate([scores, sink], axis=-1)
        v = np.concatenate([v, np.zeros((*v.shape[:2], 1, v.shape[3]))], axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        top = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
        weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
        total = weights.sum(axis=-1, keepdims=True)
        lse = (np.log(total) + top)[..., 0]
        out = np.einsum("bhmn,bhnd->bhmd", np.where(total > 0, weights / total, 0), v)
    return (out.transpose(0, 2, 1, 3) if layout == "bshd" else out), lse


def make_inputs(
    batch=1, heads=2, kv_heads=None, seq_q=40, seq_k=None, head_dim=64, head_dim_v=None, dtype=np.float16, layout="bshd", seed=0
):
    """q, k and v of a normal distribution."""
    random = np.random.default_rng(seed)
    kv_heads, seq_k, head_dim_v = kv_heads or heads, seq_q if seq_k is None else seq_k, head_dim_v or head_dim
    shapes = [(batch, seq_q, heads, head_dim), (batch, seq_k, kv_heads, head_dim), (batch, seq_k, kv_heads, head_dim_v)]
    if layout == "bhsd":
        shapes = [(b, h, s, d) for b, s, h, d in shapes]
    return [random.standard_normal(shape, dtype=np.float32).astype(dtype) for shape in shapes]


def find_programs(page: str) -> list[tuple[str, bool]]:
    """The programs that a page of the repository prints, and whether they are marked as needing PyTorch or JAX."""
    text = (pathlib.Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    found = re.findall(r"^(<!-- (?:torch|jax) -->\n)?```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return [(program, bool(mark)) for mark, program in found]


def run_programs(programs: list[str], page: str) -> None:
    """Runs programs one after the other, with what the ones before have defined."""
    scope: dict[str, object] = {}
    for program in programs:
        exec(compile(program, page, "exec"), scope)


@pytest.fixture
def device(monkeypatch):
    """A GPU, as the package sees it, for tensors of PyTorch. That of the tensors is not asked for."""
    torch = pytest.importorskip("torch")
    from attune_mlir import _devices, _native

    folder = os.environ.get("ATTUNE_FAKE_DRIVER")
    assert folder, "expects the folder of the tests' driver in ATTUNE_FAKE_DRIVER"
    torch.cuda.is_available()  # PyTorch remembers that there is none, and so leaves the tests' driver alone
    ctypes.CDLL(os.path.join(folder, "libcuda.so.1"))  # found by its name from now on
    attune.register_operators()
    _native.forget_known()
    device = _devices.Device("cuda", 0, None)
    monkeypatch.setattr(_devices, "get_device", lambda *_: device)
    return device
