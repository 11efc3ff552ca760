# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in jax.numpy, and how near results are to it."""

import jax
import jax.numpy as jnp
import numpy as np


def compute(q, k, v, *, causal=False, window=None, softcap=None, scale=None, alibi_slopes=None, sinks=None, layout="bshd"):
    """The definition in float32, which JAX differentiates."""
    q, k, v = (x.astype("float32").swapaxes(1, 2) if layout == "bshd" else x.astype("float32") for x in (q, k, v))
    k, v = (jnp.repeat(x, q.shape[1] // k.shape[1], axis=1) for x in (k, v))
    scores = jnp.einsum("bhmd,bhnd->bhmn", q, k, precision="highest") * (q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap is not None:
        scores = softcap * jnp.tanh(scores / softcap)
    distance = jnp.arange(q.shape[2])[:, None] + k.shape[2] - q.shape[2] - jnp.arange(k.shape[2])
    if alibi_slopes is not None:
        scores = scores - alibi_slopes[:, None, None] * jnp.abs(distance)
    left, right = window or (-1, -1)
    for is_out in ([distance < 0] * causal) + ([distance > left] * (left >= 0)) + ([distance < -right] * (right >= 0)):
        scores = jnp.where(is_out, -jnp.inf, scores)
    if sinks is not None:
        scores = jnp.concatenate([scores, jnp.broadcast_to(sinks[:, None, None], (*scores.shape[:3], 1))], -1)
    lse = jax.nn.logsumexp(scores, -1)
    out = jnp.einsum("bhmn,bhnd->bhmd", jnp.exp(scores - lse[..., None])[..., : k.shape[2]], v, precision="highest")
    return out.swapaxes(1, 2) if layout == "bshd" else out, lse


def check(found, expected, tolerance=3e-3):
    """That what is found is near, by the largest number of each."""
    found, expected = jax.tree.leaves(found), jax.tree.leaves(expected)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert isinstance(one, jax.Array) and one.shape == other.shape
        one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
        np.testing.assert_allclose(one, other, atol=tolerance * max(1.0, np.abs(other).max(initial=0)))
