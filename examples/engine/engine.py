# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Continuous batching over a cache in pages.

Each step feeds tokens of many requests at once: the last one of those that are being answered, and as much of waiting
prompts as fits. Requests come, end and are cancelled between any two steps. Where pages run out, the youngest request
gives its own back, and is fed again from its start later.

    python examples/engine/engine.py --device=cuda --seconds=600 --requests=64

runs it under load, with random requests of which some are cancelled, and compares each answer to the model's own
without a cache.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import deque
from dataclasses import dataclass, field

import torch
from model import Config, Llama, compute_logits

import attune_mlir as attune


@dataclass(eq=False)
class Request:
    """`limit` tokens that follow `prompt`, each the likeliest."""

    prompt: list[int]
    limit: int
    tokens: list[int] = field(default_factory=list)
    is_cancelled: bool = False
    #: Which sequence of the caches it is, and how many of its tokens these have.
    slot: int | None = None
    fed: int = 0

    @property
    def is_done(self) -> bool:
        return self.is_cancelled or len(self.tokens) == self.limit

    @property
    def unfed(self) -> list[int]:
        """Prompt and answer, of which the caches have the first tokens."""
        return (self.prompt + self.tokens)[self.fed :]


class Engine:
    """A model with requests, which `step` brings on."""

    def __init__(
        self, model: Llama, *, pages: int, page_size: int, sequences: int, longest: int, budget: int, chip: str | None = None
    ) -> None:
        """With a cache of `pages` for each layer, for `sequences` at a time of at most `longest` tokens; a step feeds at most `budget`."""
        if budget < sequences:
            raise ValueError(f"expects a budget of at least {sequences} tokens, one of each sequence, but got {budget}")
        config = model.config
        self.model, self.longest, self.budget, self.chip = model, longest, budget, chip
        self.device = model.head.weight.device
        sizes = {"kv_heads": config.kv_heads, "head_dim": config.head_dim, "sequences": sequences, "longest": longest}
        self.caches = [attune.PagedCache(pages, page_size, **sizes, dtype=config.dtype, device=self.device) for _ in range(config.layers)]
        self.pages = pages
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []
        self._slots = list(range(sequences))[::-1]

    def submit(self, prompt: list[int], limit: int) -> Request:
        """A request, which waits for its turn."""
        length = len(prompt) + limit - 1
        if not prompt or limit < 1 or length > self.longest or self._count_pages(length) > self.pages:
            most = f"{self.longest} tokens at most that {self.pages} pages hold"
            raise ValueError(f"expects a prompt and an answer of {most}, but got {length}")
        self.waiting.append(request := Request(prompt, limit))
        return request

    def step(self) -> int:
        """Feeds tokens; how many."""
        for request in [request for request in self.running if request.is_done]:
            self._release(request)
        self.waiting = deque(request for request in self.waiting if not request.is_done)
        plan = self._plan()
        if not plan:
            return 0
        tokens = [token for request, count in plan for token in request.unfed[:count]]
        positions = [request.fed + i for request, count in plan for i in range(count)]
        ends = torch.tensor([count for _, count in plan]).cumsum(0)
        logits = self.model(self._move(tokens), self._move(positions), self._attend(plan, ends), (ends - 1).to(self.device))
        for (request, count), token in zip(plan, logits.argmax(dim=-1).tolist(), strict=True):
            is_last = count == len(request.unfed)
            request.fed += count
            if is_last:
                request.tokens.append(token)
        return len(tokens)

    def _plan(self) -> list[tuple[Request, int]]:
        """Which requests get how many tokens: those that run first, then others in their order."""
        plan: list[tuple[Request, int]] = []
        pages, budget = self.caches[0].free_pages, self.budget
        # The last ones give their pages to those before them.
        for request in list(self.running):
            if request.slot is None:
                continue
            # One at least for each that comes behind.
            count = min(len(request.unfed), budget - (len(self.running) - len(plan) - 1))
            while (wanted := self._count_new_pages(request, count)) > pages:
                youngest = self.running[-1]
                pages += self._count_pages(youngest.fed)
                self._release(youngest)
                self.waiting.appendleft(youngest)
                if youngest is request:
                    break
            else:
                plan.append((request, count))
                pages, budget = pages - wanted, budget - count
        while self.waiting and self._slots and budget:
            request = self.waiting[0]
            count = min(len(request.unfed), budget)
            wanted = self._count_pages(count)
            if wanted > pages:
                break
            self.waiting.popleft()
            request.slot = self._slots.pop()
            self.running.append(request)
            plan.append((request, count))
            pages, budget = pages - wanted, budget - count
        return plan

    def _attend(self, plan, ends):
        """What the model calls in each layer: keys and values go to the cache, and queries attend to what is there."""
        slots, counts = [request.slot for request, _ in plan], [count for _, count in plan]
        rows = self._move(slots)
        starts = torch.cat((torch.zeros(1, dtype=torch.int32), ends.int())).to(self.device)
        longest = max(request.fed + count for request, count in plan)

        def attend(layer, q, k, v):
            cache = self.caches[layer]
            cache.append(slots, k, v, counts)
            table, lengths = cache.block_table[rows], cache.lengths[rows]
            if max(counts) == 1:
                return attune.decode(q[:, None], cache.keys, cache.values, lengths, block_table=table, chip=self.chip)[:, 0]
            keys = {"block_table": table, "seqused_k": lengths, "max_seqlen_k": longest}
            return attune.varlen(q, cache.keys, cache.values, starts, max_seqlen_q=max(counts), **keys, causal=True, chip=self.chip)

        return attend

    def _release(self, request: Request) -> None:
        self.running.remove(request)
        for cache in self.caches:
            cache.release(request.slot)
        self._slots.append(request.slot)
        request.slot, request.fed = None, 0

    def _count_pages(self, tokens: int) -> int:
        return -(-tokens // self.caches[0].page_size)

    def _count_new_pages(self, request: Request, count: int) -> int:
        return self._count_pages(request.fed + count) - self._count_pages(request.fed)

    def _move(self, numbers: list[int]) -> torch.Tensor:
        return torch.tensor(numbers).to(self.device, non_blocking=True)


def find_difference(model: Llama, request: Request) -> str | None:
    """Where the answer is not that of the model without a cache, unless both tokens are as likely to within rounding."""
    tokens = request.prompt + request.tokens
    logits = compute_logits(model, tokens[:-1])[len(request.prompt) - 1 :]
    chosen = logits.gather(1, torch.tensor(request.tokens, device=logits.device)[:, None])[:, 0]
    lost = (logits.amax(dim=-1) - chosen) / logits.std(dim=-1)
    place = int(lost.argmax())
    # Weights of attention are rounded to 16 bits.
    if lost[place] < 5e-3:
        return None
    return f"token {place} of {len(request.tokens)} is {float(lost[place]):.4f} deviations below the likeliest"


def run(engine: Engine, args: argparse.Namespace) -> int:
    """Under load, for so many seconds; 1 if an answer was wrong."""
    draw = random.Random(args.seed)
    requests: list[Request] = []
    done = cancelled = wrong = tokens = 0
    begin, said = time.monotonic(), 0.0
    while (elapsed := time.monotonic() - begin) < args.seconds or requests:
        while elapsed < args.seconds and len(requests) < args.requests:
            length = min(int(draw.lognormvariate(4, 1)) + 1, engine.longest // 2)
            prompt = [draw.randrange(engine.model.config.vocabulary) for _ in range(length)]
            requests.append(engine.submit(prompt, draw.randint(1, engine.longest // 4)))
        tokens += engine.step()
        if requests and draw.random() < args.cancel:
            draw.choice(requests).is_cancelled = True
        for request in [request for request in requests if request.is_done]:
            requests.remove(request)
            cancelled += request.is_cancelled
            done += not request.is_cancelled
            if not request.is_cancelled and (difference := find_difference(engine.model, request)):
                wrong += 1
                print(f"\nwrong: prompt of {len(request.prompt)}: {difference}", file=sys.stderr)
        if elapsed - said > 1 or not requests:
            said = elapsed
            answers = f"{done} answered, {cancelled} cancelled, {wrong} wrong; {tokens} tokens"
            state = f"{len(engine.running)} run, {len(engine.waiting)} wait, {engine.caches[0].free_pages} pages free"
            print(f"\r{elapsed:5.0f} s  {answers}; {state}   ", end="", flush=True)
    print()
    engine.step()
    if engine.caches[0].free_pages != engine.pages:
        print(f"expects all {engine.pages} pages to be free, but got {engine.caches[0].free_pages}", file=sys.stderr)
        return 1
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=device, help="of PyTorch; on a CPU kernels are executed slowly")
    parser.add_argument("--seconds", type=float, default=10, help="how long requests keep coming")
    parser.add_argument("--requests", type=int, default=32, help="how many there are at a time")
    parser.add_argument("--pages", type=int, default=256, help="of a layer's cache")
    parser.add_argument("--page-size", type=int, default=16, help="tokens of a page")
    parser.add_argument("--longest", type=int, default=512, help="tokens of a prompt and its answer")
    parser.add_argument("--budget", type=int, default=256, help="tokens of a step")
    parser.add_argument("--cancel", type=float, default=0.02, help="how often a step is followed by a cancellation")
    parser.add_argument("--seed", type=int, default=0, help="of requests and cancellations")
    args = parser.parse_args()
    model = Llama(Config()).to(args.device)
    sizes = {"pages": args.pages, "page_size": args.page_size, "longest": args.longest, "budget": args.budget}
    return run(Engine(model, sequences=args.requests, **sizes), args)


if __name__ == "__main__":
    sys.exit(main())
