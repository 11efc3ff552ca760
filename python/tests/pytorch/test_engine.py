# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example of an engine, beside its model without a cache."""

import random
import sys
from pathlib import Path

import pytest

import attune_mlir as attune

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "engine"))

import engine as example
import model as models

MODEL = models.Llama(models.Config(vocabulary=48, hidden=32, inner=32, layers=2, heads=2, kv_heads=1, head_dim=32))


def make_engine(chip, pages):
    return example.Engine(MODEL, pages=pages, page_size=8, sequences=3, longest=40, budget=12, chip=chip)


def make_prompt(draw, length):
    return [draw.randrange(MODEL.config.vocabulary) for _ in range(length)]


def test_answers_are_those_without_a_cache(nvidia):
    draw = random.Random(0)
    engine = make_engine(nvidia, pages=5)
    requests = [engine.submit(make_prompt(draw, length), limit) for length, limit in ((14, 6), (9, 9), (1, 4), (20, 3), (3, 2))]
    steps, most, given_back = 0, 0, False
    while not all(request.is_done for request in requests):
        before = [request.fed for request in requests]
        assert engine.step() <= 12
        steps, most = steps + 1, max(most, len(engine.running))
        given_back |= any(request.fed < fed and not request.is_done for request, fed in zip(requests, before, strict=True))
        if steps == 4:
            requests[3].is_cancelled = True
    assert most == 3 and given_back
    engine.step()
    assert engine.step() == 0 and engine.caches[0].free_pages == 5
    for request in requests:
        assert request.is_cancelled or (len(request.tokens) == request.limit and example.find_difference(MODEL, request) is None)


def test_wrong_results_are_found(nvidia, monkeypatch):
    engine = make_engine(nvidia, pages=7)
    request = engine.submit(make_prompt(random.Random(1), 5), 8)
    engine.step()
    monkeypatch.setattr(attune, "decode", lambda q, *_, **__: -q)
    while not request.is_done:
        engine.step()
    assert "below the likeliest" in example.find_difference(MODEL, request)


def test_errors(nvidia):
    engine = make_engine(nvidia, pages=4)
    with pytest.raises(ValueError, match="40 tokens at most that 4 pages hold, but got 33"):
        engine.submit([1] * 30, 4)
    with pytest.raises(ValueError, match="but got 3"):
        engine.submit([], 4)
    with pytest.raises(ValueError, match="expects a budget of at least 3 tokens, one of each sequence, but got 2"):
        example.Engine(MODEL, pages=4, page_size=8, sequences=3, longest=40, budget=2)
