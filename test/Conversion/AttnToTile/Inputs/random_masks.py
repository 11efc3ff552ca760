# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random mask regions, and the truth about them by looking at every element.
#
#   random_masks.py write <seed> <count>              a module with one attention per mask
#   random_masks.py check <seed> <count> <captured>   holds its kernels (stdin) against the truth

import collections
import random
import sys

import key_ranges

BLOCK_M, BLOCK_N, SEQ_Q, SEQ_K = 16, 16, 48, 72
EXTREMES = [-(1 << 63), -(1 << 62), -(1 << 31), (1 << 31) - 1, 1 << 31, (1 << 62) + 1, (1 << 63) - 16, (1 << 63) - 1]


class Mask:
    """A random expression, as lines of MLIR and as a function of (m, n)."""

    def __init__(self, rng, captured):
        self.rng, self.lines, self.captured = rng, [], captured
        self.name, self.truth = self.condition(3)

    def emit(self, text):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        return name

    def constant(self, value, kind):
        return self.emit(f"arith.constant {value} : {kind}")

    def number(self, depth, kind):
        """An integer of type `kind`: (name, function)."""
        wrap = lambda f: lambda m, n: key_ranges.wrapped(f(m, n), key_ranges.bits_of(kind))
        choice = self.rng.randrange(13 if depth else 3)
        if choice == 0:
            fitting = [value for value in EXTREMES if key_ranges.wrapped(value, key_ranges.bits_of(kind)) == value]
            value = self.rng.choice([-40, -16, -1, 0, 1, 15, 16, 33, 64] + fitting)
            return self.constant(value, kind), lambda m, n: value
        if choice <= 2:
            at = self.rng.choice(["%m", "%n", "%captured"])
            pick = {"%m": lambda m, n: m, "%n": lambda m, n: n, "%captured": lambda m, n: self.captured}[at]
            return (at if kind == "index" else self.emit(f"arith.index_cast {at} : index to {kind}")), wrap(pick)
        if choice == 3:
            name, truth = self.number(depth - 1, kind)
            factor = self.rng.choice([-1, 2, 3, -2])
            scaled = self.emit(f"arith.muli {name}, {self.constant(factor, kind)} : {kind}")
            return scaled, wrap(lambda m, n: truth(m, n) * factor)
        if choice == 4 and kind != "index":
            return self.resized(depth, kind, wrap)
        if choice in (8, 9):
            return self.divided(depth, kind)
        if choice == 10:
            name, truth = self.number(depth - 1, kind)
            return self.emit(f"math.absi {name} : {kind}"), wrap(lambda m, n: abs(truth(m, n)))
        if choice == 11:
            (a, left), (b, right) = self.number(depth - 1, kind), self.number(depth - 1, kind)
            op = self.rng.choice(["maxsi", "minsi", "maxui", "minui"])
            return (self.emit(f"arith.{op} {a}, {b} : {kind}"),
                    lambda m, n: key_ranges.compute(op, left(m, n), right(m, n), key_ranges.bits_of(kind)))
        if choice == 12:
            c, test = self.condition(depth - 1)
            (a, left), (b, right) = self.number(depth - 1, kind), self.number(depth - 1, kind)
            return (self.emit(f"arith.select {c}, {a}, {b} : {kind}"),
                    lambda m, n: left(m, n) if test(m, n) else right(m, n))
        (a, left), (b, right) = self.number(depth - 1, kind), self.number(depth - 1, kind)
        op, combine = self.rng.choice([("addi", lambda x, y: x + y), ("subi", lambda x, y: x - y)])
        return self.emit(f"arith.{op} {a}, {b} : {kind}"), wrap(lambda m, n: combine(left(m, n), right(m, n)))

    def divided(self, depth, kind):
        """A quotient or remainder by a constant."""
        bits = key_ranges.bits_of(kind)
        name, truth = self.number(depth - 1, kind)
        by = self.rng.choice([1, 3, 8, 16, 24, 32])
        shift = by.bit_length() - 1
        op = self.rng.choice(["divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remui", "remsi",
                              "shrsi", "shrui", "shli", "andi"])
        amount = shift if op.startswith("sh") else (1 << shift) - 1 if op == "andi" else by
        return (self.emit(f"arith.{op} {name}, {self.constant(amount, kind)} : {kind}"),
                lambda m, n: key_ranges.compute(op, truth(m, n), amount, bits))

    def resized(self, depth, kind, wrap):
        """A number that comes from a narrower or a wider type."""
        kinds = ["i8", "i16", "i32", "i64"]
        other = self.rng.choice([k for k in kinds if k != kind])
        name, truth = self.number(depth - 1, other)
        bits = key_ranges.bits_of(other)
        if bits > key_ranges.bits_of(kind):
            return self.emit(f"arith.trunci {name} : {other} to {kind}"), wrap(truth)
        if self.rng.random() < 0.5:
            return self.emit(f"arith.extsi {name} : {other} to {kind}"), wrap(truth)
        return (self.emit(f"arith.extui {name} : {other} to {kind}"),
                wrap(lambda m, n: truth(m, n) & ((1 << bits) - 1)))

    def condition(self, depth):
        choice = self.rng.randrange(10 if depth else 5)
        if choice < 5:
            kind = self.rng.choice(["index", "index", "i32", "i64", "i8"])
            (a, left), (b, right) = self.number(2, kind), self.number(2, kind)
            predicate = self.rng.choice([*key_ranges.PREDICATES, *key_ranges.UNSIGNED])
            return (self.emit(f"arith.cmpi {predicate}, {a}, {b} : {kind}"),
                    lambda m, n: key_ranges.compare(predicate, left(m, n), right(m, n), key_ranges.bits_of(kind)))
        if choice == 5:
            value = self.rng.random() < 0.5
            return self.emit(f"arith.constant {str(value).lower()}"), lambda m, n: value
        if choice == 6:
            name, truth = self.condition(depth - 1)
            return self.emit(f"arith.xori {name}, {self.emit('arith.constant true')} : i1"), lambda m, n: not truth(m, n)
        (a, left), (b, right) = self.condition(depth - 1), self.condition(depth - 1)
        if choice == 7:
            c, test = self.condition(depth - 1)
            return (self.emit(f"arith.select {c}, {a}, {b} : i1"),
                    lambda m, n: left(m, n) if test(m, n) else right(m, n))
        op, combine = self.rng.choice([("andi", lambda x, y: x and y), ("ori", lambda x, y: x or y)])
        return self.emit(f"arith.{op} {a}, {b} : i1"), lambda m, n: combine(left(m, n), right(m, n))

    def function(self, name):
        q, k = f"tensor<1x1x{SEQ_Q}x16xf16>", f"tensor<1x1x{SEQ_K}x16xf16>"
        return "\n".join([f"func.func @{name}(%q: {q}, %k: {k}, %captured: index) -> {q} {{",
                          "  %o = attn.attention %q, %k, %k mask (%b, %h, %m, %n) {", *self.lines,
                          f"    attn.yield {self.name} : i1", f"  }} : {q}, {k}, {k}", f"  return %o : {q}", "}"])


def mistakes(mask, kernel, counts):
    for tile in range(-(-SEQ_Q // BLOCK_M)):
        visited_blocks, full = kernel.evaluate(tile)
        rows = range(tile * BLOCK_M, min((tile + 1) * BLOCK_M, SEQ_Q))
        for block in range(-(-SEQ_K // BLOCK_N)):
            keys = range(block * BLOCK_N, min((block + 1) * BLOCK_N, SEQ_K))
            seen = [mask.truth(m, n) for m in rows for n in keys]
            visited = block in visited_blocks
            counts["skipped"] += not visited
            counts["empty"] += not any(seen)
            if any(seen) and not visited:
                yield f"tile {tile} skips block {block}, which has visible keys"
            unmasked = full is not None and block in full
            counts["unmasked"] += visited and unmasked
            counts["full"] += all(seen) and len(keys) == BLOCK_N
            if visited and unmasked and not (all(seen) and len(keys) == BLOCK_N):
                yield f"tile {tile} does not mask block {block}, which has hidden keys"
        if any(not 0 <= block < -(-SEQ_K // BLOCK_N) for block in visited_blocks):
            yield f"tile {tile} visits {key_ranges.runs(visited_blocks)}, outside of the keys"
        if len(set(visited_blocks)) < len(visited_blocks):
            yield f"tile {tile} visits a block twice"


def check(masks, kernels):
    assert len(masks) == len(kernels), f"expects {len(masks)} kernels, but got {len(kernels)}"
    wrong, counts = 0, collections.Counter()
    for index, (mask, kernel) in enumerate(zip(masks, kernels)):
        for mistake in list(mistakes(mask, kernel, counts))[:1]:
            wrong += 1
            print(f"{mistake}:\n{mask.function(f'mask{index}')}")
    # What is never wrong because it never says anything is not right either.
    skipped, unmasked = (100 * counts[part] // counts[whole] for part, whole in (("skipped", "empty"), ("unmasked", "full")))
    print(f"{len(masks)} masks compared, {wrong} wrong, {skipped} % of the empty blocks skipped, "
          f"{unmasked} % of the full ones not masked")


if __name__ == "__main__":
    mode, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    captured = int(sys.argv[4]) if mode == "check" else 0
    source = random.Random(seed)
    chosen = [Mask(source, captured) for _ in range(count)]
    if mode == "write":
        print("\n".join(mask.function(f"mask{index}") for index, mask in enumerate(chosen)))
    else:
        check(chosen, key_ranges.parse(sys.stdin.read(), captured))
