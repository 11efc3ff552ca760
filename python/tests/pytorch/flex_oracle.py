# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlexAttention by its definition, in float32 and dense: functions are mapped over all positions."""

import torch
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex


def map_positions(function, *, scores=None, shape):
    """What a function says of each batch, head, query and key."""
    positions = [torch.arange(size, dtype=torch.int32) for size in shape]
    mapped = function
    for pos in (3, 2, 1, 0):
        dims = [0 if other == pos else None for other in range(4)]
        mapped = torch.vmap(mapped, in_dims=(*([0] if scores is not None else []), *dims))
    with TransformGetItemToIndex():
        found = mapped(*([] if scores is None else [scores]), *positions)
    return found.expand(shape)


def list_blocks(counts, indices, block, shape):
    """The pairs that a BlockMask's table lists."""
    kept = torch.zeros(shape, dtype=torch.bool)
    for b, h, row in torch.cartesian_prod(*(torch.arange(size) for size in (shape[0], shape[1], counts.shape[-1]))).tolist():
        at = (b if counts.shape[0] > 1 else 0, h if counts.shape[1] > 1 else 0, row)
        for column in indices[at][: counts[at]].tolist():
            kept[b, h, row * block[0] : (row + 1) * block[0], column * block[1] : (column + 1) * block[1]] = True
    return kept


def attend(q, k, v, score_mod=None, block_mask=None, scale=None):
    """Result and LSE."""
    q, k, v = (x.float() for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    shape = scores.shape
    if score_mod is not None:
        scores = map_positions(score_mod, scores=scores, shape=shape)
    if block_mask is not None:
        kept = map_positions(block_mask.mask_mod, shape=shape)
        kept = kept & list_blocks(block_mask.kv_num_blocks, block_mask.kv_indices, block_mask.BLOCK_SIZE, shape)
        if block_mask.full_kv_num_blocks is not None:
            kept = kept | list_blocks(block_mask.full_kv_num_blocks, block_mask.full_kv_indices, block_mask.BLOCK_SIZE, shape)
        scores = scores.masked_fill(~kept, -torch.inf)
    lse = scores.logsumexp(dim=-1)
    return (scores - lse.where(lse.isfinite(), 0)[..., None]).exp() @ v, lse
