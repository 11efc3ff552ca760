# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of transformers from their configurations, with random weights: logits beside those of the eager implementation."""

import pytest
import torch
import transformers
from torch import nn

import attune_mlir as attune
from attune_mlir import _store, _trace

SMALL = {"vocab_size": 100, "hidden_size": 128, "intermediate_size": 64, "num_hidden_layers": 2, "head_dim": 32}
GROUPED = {**SMALL, "num_attention_heads": 4, "num_key_value_heads": 2}

MODELS = {
    "llama": lambda: transformers.LlamaConfig(**GROUPED),
    "gpt2": lambda: transformers.GPT2Config(vocab_size=100, n_embd=128, n_layer=2, n_head=4, n_positions=64),
    "mistral": lambda: transformers.MistralConfig(**GROUPED, sliding_window=7),
    "gemma2": lambda: transformers.Gemma2Config(
        **GROUPED, sliding_window=7, query_pre_attn_scalar=32, attn_logit_softcapping=5.0, final_logit_softcapping=None
    ),
}


@pytest.fixture(scope="module", autouse=True)
def registered():
    attune.register_transformers()


def make_model(name, kind=transformers.AutoModelForCausalLM):
    torch.manual_seed(0)
    model = kind.from_config(MODELS[name](), dtype=torch.float16).eval()
    for parameter in model.parameters():  # so that attention is not flat
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.15)
    return model


def run(model, implementation, **inputs):
    model.set_attn_implementation(implementation)
    with torch.no_grad():
        return model(**inputs)


def check(model, kept=None, **inputs):
    """Both round to float16 in between: they are compared with the same model in float32."""
    exact = run(model.float(), "eager", **inputs).logits
    model.half()
    eager, ours = (run(model, name, **inputs).logits.float() for name in ("eager", "attune"))
    kept = torch.ones(exact.shape[:2], dtype=torch.bool) if kept is None else kept
    error = (ours - exact)[kept].abs().max()
    assert error <= 2 * (eager - exact)[kept].abs().max() + 1e-3 * exact.abs().max()
    assert error < 0.05 * exact.std()


@pytest.mark.parametrize("name", MODELS)
def test_logits(name):
    check(make_model(name), input_ids=torch.randint(100, (2, 23)))


@pytest.mark.parametrize("name", ["llama", "mistral", "gemma2"])
def test_gradients(name):
    """Of all weights, by the rule of logits."""
    model, tokens = make_model(name), torch.randint(100, (2, 23))

    def differentiate(implementation):
        model.set_attn_implementation(implementation)
        model.zero_grad()
        model(input_ids=tokens, labels=tokens).loss.backward()
        return [parameter.grad.float().clone() for parameter in model.parameters()]  # half() changes what is there

    model.float()
    exact = differentiate("eager")
    model.half()
    for expected, eager, ours in zip(exact, differentiate("eager"), differentiate("attune"), strict=True):
        assert (ours - expected).norm() <= 2 * (eager - expected).norm() + 1e-3 * expected.norm()


@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma2"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding(name, side):
    """Also of tokens that are padded away, whose logits nobody reads."""
    kept = torch.ones(2, 20, dtype=torch.bool)
    kept[0, :7] = side == "right"
    kept[1, 15:] = side == "left"
    check(make_model(name), kept, input_ids=torch.randint(100, (2, 20)), attention_mask=kept.long())


@pytest.mark.parametrize("name", ["llama", "mistral"])
@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_generation(name, cache):
    """Steps with a cache, with padding on the left, compile and trace nothing new."""
    model = make_model(name)
    ids, kept = torch.randint(100, (2, 9)), torch.ones(2, 9, dtype=torch.long)
    kept[0, :3] = 0
    options = {"max_new_tokens": 6, "do_sample": False, "cache_implementation": cache, "disable_compile": True, "pad_token_id": 0}
    found, compiled, traced = [], [], []
    for implementation in ("eager", "attune", "attune"):
        model.set_attn_implementation(implementation)
        found.append(model.generate(ids, attention_mask=kept, **options))
        compiled.append(_store.counts.misses)
        traced.append(len(_trace._kept))
    assert torch.equal(found[0], found[1]) and torch.equal(found[1], found[2])
    assert compiled[2] == compiled[1] <= compiled[0] + 4 and traced[2] == traced[1]


def test_encoder():
    """A mask of padding alone, and one tensor of a mask."""
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=100, hidden_size=128, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
    model = transformers.BertModel(config).bfloat16().eval()
    ids, kept = torch.randint(100, (2, 12)), torch.ones(2, 12, dtype=torch.long)
    kept[0, 8:] = 0
    for mask in (kept, None):
        eager, ours = (run(model, name, input_ids=ids, attention_mask=mask).last_hidden_state for name in ("eager", "attune"))
        rows = kept.bool()
        torch.testing.assert_close(ours[rows], eager[rows], rtol=0.05, atol=0.05)


class Layer(nn.Module):
    is_causal = False


@pytest.mark.parametrize("kind", ["bool", "added", "bias"])
def test_tensors_as_masks(kind):
    from attune_mlir import _transformers

    q, k, v = torch.randn(3, 2, 4, 10, 32).half().unbind(0)
    kept = torch.rand(2, 1, 10, 13) > 0.4
    kept[..., 0] = True
    added = torch.zeros(kept.shape).masked_fill(~kept, -torch.inf)[..., :10]
    bias = torch.randn(1, 4, 10, 10)
    mask = kept if kind == "bool" else added
    options = {"position_bias": bias} if kind == "bias" else {}
    out, weights = _transformers.forward(Layer(), q, k, v, mask, scaling=0.3, **options)
    scores = q.float() @ k.float().mT * 0.3 + added + (bias if kind == "bias" else 0)
    assert weights is None
    torch.testing.assert_close(out.float(), (scores.softmax(-1) @ v.float()).transpose(1, 2), atol=4e-3, rtol=4e-3)


def test_sinks():
    from attune_mlir import _transformers

    q, k, v = torch.randn(3, 1, 2, 10, 32).bfloat16().unbind(0)
    sinks = torch.tensor([1.0, -0.5]).requires_grad_()
    mask = _transformers.make_mask(1, 10, 10, attention_mask=torch.arange(10)[None] > 2)
    for kept, given in ((torch.ones(10, 10).tril().bool(), None), ((torch.ones(10, 10).tril() * (torch.arange(10) > 2)).bool(), mask)):
        module = Layer()
        module.is_causal = True
        out, _ = _transformers.forward(module, q, k, v, given, scaling=0.2, s_aux=sinks.bfloat16())
        scores = (q.float() @ k.float().mT * 0.2).masked_fill(~kept, -torch.inf)
        weights = torch.cat([scores, sinks.view(1, 2, 1, 1).expand(1, 2, 10, 1)], dim=-1).softmax(-1)[..., :-1]
        expected = (weights @ v.float()).transpose(1, 2)
        torch.testing.assert_close(out.float(), expected, atol=2e-2, rtol=2e-2)
        found, exact = (torch.autograd.grad(x.float().square().sum(), sinks)[0] for x in (out, expected))
        torch.testing.assert_close(found, exact, atol=2e-1, rtol=5e-2)


def test_what_is_not_there():
    from attune_mlir import _transformers

    q = torch.zeros(1, 1, 4, 32).half()
    with pytest.raises(NotImplementedError, match="expects keys and values of one tensor, but got a paged cache"):
        _transformers.forward(Layer(), q, q, q, None, cache=object())
