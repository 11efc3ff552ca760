# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What flex_attention does not take, and what it says then."""

import attn_gym.masks as masks
import pytest
import torch
from test_flex import make_inputs, make_mask
from torch.nn.attention.flex_attention import AuxRequest, BlockMask

import attune_mlir as attune

FILE = r"test_flex_errors\.py:\d+"


def refuse(error, text, *arguments, inputs=None, **options):
    with pytest.raises(error, match=text):
        attune.flex_attention(*(inputs or make_inputs()), *arguments, **options)


def test_operations():
    refuse(NotImplementedError, rf"score_mod to have operations on numbers, but got aten\.rand\.default, at .*{FILE}: .*torch.rand",
           lambda s, b, h, q, kv: s + torch.rand(()))  # fmt: skip
    refuse(NotImplementedError, rf"got aten\.sort\.default, at .*{FILE}: ", lambda s, b, h, q, kv: s + torch.arange(4).sort()[0][0])
    refuse(NotImplementedError, rf"floats to 32 bits, but got torch.float64 of aten\._to_copy\.default, at .*{FILE}",
           lambda s, b, h, q, kv: s.double())  # fmt: skip
    refuse(NotImplementedError, rf"expects integers to the power of 1, 2 or 3, in aten\.pow\.Tensor_Scalar, at .*{FILE}",
           lambda s, b, h, q, kv: s + q**5)  # fmt: skip
    refuse(NotImplementedError, rf"expects at most 4096 elements to be read one by one, but got shape \(5000,\), in aten\.sum.*{FILE}",
           lambda s, b, h, q, kv: s + torch.ones(5000).sum())  # fmt: skip


def test_branches():
    for function in (
        lambda s, b, h, q, kv: s if q >= kv else -s,
        lambda s, b, h, q, kv: s + int(q),
        lambda s, b, h, q, kv: s + kv.item(),
    ):
        refuse(
            NotImplementedError, rf"expects score_mod to need no value of a tensor in Python, .* at .*{FILE}: .*use torch.where", function
        )


def test_results_of_functions():
    refuse(TypeError, "expects score_mod to return a tensor, but got str", lambda s, b, h, q, kv: "no")
    refuse(ValueError, r"expects score_mod to return one number, but got shape \(3,\)", lambda s, b, h, q, kv: s + torch.arange(3))
    with pytest.raises(ZeroDivisionError):
        attune.flex_attention(*make_inputs(), lambda s, b, h, q, kv: s * (1 // 0))
    refuse(TypeError, "expects score_mod to be a function, but got int", 3)


def test_tensors_of_functions():
    double, empty, short, far = torch.ones(64, dtype=torch.float64), torch.ones(0), torch.ones(10), torch.ones(64, device="meta")
    refuse(NotImplementedError, r"tensors that score_mod reads of .*, but got torch.float64", lambda s, b, h, q, kv: s + double[q])
    refuse(ValueError, r"tensors that score_mod reads to have elements, but got shape \(0,\)", lambda s, b, h, q, kv: s + empty.sum())
    refuse(IndexError, r"read at kv in dimension 0 to have 64 elements there, but got shape \(10,\)", lambda s, b, h, q, kv: s + short[kv])
    refuse(ValueError, "on the device of query, cpu, but got meta", lambda s, b, h, q, kv: s + far[q])


def test_block_masks():
    causal = masks.causal_mask
    refuse(ValueError, "expects block_mask for 64 queries and 64 keys, but got one for 32 and 64", block_mask=make_mask(causal, 32, 64))
    refuse(ValueError, r"expects kv_num_blocks of block_mask for a batch of 1 or 1, 1 or 2 heads and 1 blocks",
           block_mask=make_mask(causal, heads=3))  # fmt: skip
    refuse(TypeError, "expects block_mask to be a BlockMask, but got function", block_mask=causal)
    rows = torch.zeros(1, 1, 3, dtype=torch.int32)
    mask = BlockMask.from_kv_blocks(rows, torch.zeros(1, 1, 3, 2, dtype=torch.int32), BLOCK_SIZE=32, seq_lengths=(64, 64))
    refuse(ValueError, "and 2 blocks of queries, but got shape", block_mask=mask)
    # Of a call that was made before, too.
    mask = make_mask(causal)
    attune.flex_attention(*make_inputs(), block_mask=mask)
    refuse(ValueError, "expects kv_num_blocks of block_mask on the device of query, cpu, but got meta", block_mask=mask.to("meta"))


def test_options():
    q, k, v = make_inputs()
    refuse(TypeError, "expects query of float16 or bfloat16, but got float32", inputs=[x.float() for x in (q, k, v)])
    refuse(TypeError, "expects key to be a tensor of PyTorch, which traces functions, but got NoneType", inputs=[q, None, v])
    refuse(TypeError, "expects query to be a tensor of PyTorch, .* but got numpy.ndarray", inputs=[q.numpy(), k, v])
    refuse(TypeError, "expects key to be a tensor of PyTorch, .* but got numpy.ndarray", inputs=[q, k.numpy(), v.numpy()])
    refuse(ValueError, "expects enable_gqa for 2 heads of query and 1 of key, but got enable_gqa=False", inputs=[q, k[:, :1], v[:, :1]])
    refuse(ValueError, "expects scale to be a finite number, but got nan", scale=float("nan"))
    refuse(NotImplementedError, "expects return_aux to ask for lse alone", return_aux=AuxRequest(max_scores=True))


@pytest.mark.parametrize("transform", [torch.func.vmap, lambda function: torch.func.grad(lambda x: function(x).sum())])
def test_transforms(transform):
    q, k, v = make_inputs()
    with pytest.raises(NotImplementedError, match="expects no functions of scores and masks where torch.func maps or transforms"):
        transform(lambda q: attune.flex_attention(q, k, v, lambda s, b, h, m, n: s * 2))(q[None] if transform is torch.func.vmap else q)
