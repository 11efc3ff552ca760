# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random problems for the reference, and their results by the formula in the
# description of attn.attention, in double precision.
#
#   random_problems.py write <seed> <count> [lengths] [pages] [packed] [scales] [dropout]     a module whose @main prints all
#   random_problems.py check <seed> <count> [lengths] [pages] [packed] [scales] [dropout]     compares what it printed (stdin)
#
# With lengths, some have batches of different lengths; with pages, some have keys and values in pages; with packed, most have packed queries, or
# keys and values, or both; with scales, most have scales of some operands; with dropout, all have dropout.

import itertools
import math
import random
import re
import sys

import dropout

TOLERANCE = 1e-5  # of printed numbers, which have six digits


def element(indices, seed):
    """What @fill computes."""
    a, b, c, d = indices
    return ((5 * a + 3 * b + 7 * c + 2 * d + seed) % 11 - 5) / 4


class Problem:
    def __init__(self, rng, with_lengths=False, with_pages=False, with_packed=False, with_scales=False, with_dropout=False):
        self.kv_heads = rng.choice([1, 2, 3])
        self.heads = self.kv_heads * rng.choice([1, 2, 3])
        self.batch, self.seq_q, self.seq_k = rng.choice([1, 2]), rng.choice([1, 2, 3, 5]), rng.choice([1, 2, 4, 7])
        self.dropout = None
        if with_dropout:
            # Keys and queries of more than one word and byte.
            self.seq_q, self.seq_k = rng.choice([2, 5, 11]), rng.choice([4, 9, 19])
            seed, offset = rng.randrange(-2**63, 2**63), rng.randrange(2**40)
            self.dropout = dropout.Dropout(seed, offset, rng.choice([0.0, 0.1, 0.5, 0.875, 0.999]))
        self.d_qk, self.d_v = rng.choice([1, 3, 4, 8]), rng.choice([1, 2, 5])
        self.order = "".join(rng.sample("bhsd", 4))
        self.dynamic = rng.random() < 0.5
        alignment = lambda: rng.choice(["top_left", "bottom_right"])
        maybe = lambda make: make() if rng.random() < 0.4 else None
        self.causal = maybe(alignment)
        self.window = maybe(lambda: (rng.choice([-1, 0, 1, 3]), rng.choice([-1, 0, 2]), alignment()))
        self.softcap = maybe(lambda: 2.5)
        self.scale = maybe(lambda: 0.5)
        self.slopes = maybe(lambda: [rng.choice([0.5, 0.25, 1.0, -0.125]) for _ in range(self.heads)])
        self.sinks = maybe(lambda: [rng.choice([0.5, -1.25, 2.0]) for _ in range(self.heads)])
        # Lengths of batches, some of them beyond what there is.
        lengths = lambda most: [rng.randint(-1, most + 1) for _ in range(self.batch)]
        self.query_lengths = maybe(lambda: lengths(self.seq_q)) if with_lengths else None
        self.key_lengths = maybe(lambda: lengths(self.seq_k)) if with_lengths else None
        self.pages = self.query_starts = self.key_starts = None
        if with_packed and rng.random() < 0.8:
            self.query_starts = self.pack(rng, self.seq_q)
        if with_pages and rng.random() < 0.7:
            self.take_pages(rng)
        elif with_packed and rng.random() < 0.8:
            self.key_starts = self.pack(rng, self.seq_k)
        shapes = [self.query_shape(self.d_qk), self.key_shape(self.d_qk), self.key_shape(self.d_v)]
        self.scales = {seed: self.take_scales(rng, shape) for seed, shape in enumerate(shapes, 1) if with_scales and rng.random() < 0.6}

    @staticmethod
    def take_scales(rng, shape):
        """For each dimension how many neighbours share a scale, 0 for all, and the scales by their places."""
        blocks = [rng.choice([0, 1, 1, 2, 3]) for _ in shape]
        counts = [-(-size // block) if block else 1 for size, block in zip(shape, blocks)]
        return blocks, counts, {place: rng.choice([0.5, 1.5, 2.0, -0.75]) for place in itertools.product(*map(range, counts))}

    def pack(self, rng, total):
        """Where batches begin, some of them empty, and the last one ends, some of them before the tensor does."""
        return [0] + sorted(rng.randint(0, total) for _ in range(self.batch))

    def take_pages(self, rng):
        """Pages of any order, some of them shared. Where they are not looked at, their numbers are those of none."""
        self.page = rng.choice([1, 2, 3])
        most = -(-self.seq_k // self.page)
        self.seq_k, self.pool = most * self.page, most * self.batch
        self.pages = [[rng.choice([*range(self.pool), -1]) for _ in range(most)] for _ in range(self.batch)]
        for b, row in enumerate(self.pages):
            used = -(-self.lengths(b)[1] // self.page)
            row[used:] = [rng.choice([-1, 2**31 - 1]) for _ in row[used:]]

    def shape(self, heads, length, size, packed=False):
        sizes = {"b": 1 if packed else self.batch, "h": heads, "s": length, "d": size}
        return [sizes[letter] for letter in self.order]

    def query_shape(self, size):
        return self.shape(self.heads, self.seq_q, size, self.query_starts)

    def key_shape(self, size):
        if not self.pages:
            return self.shape(self.kv_heads, self.seq_k, size, self.key_starts)
        sizes = {"b": self.pool, "h": self.kv_heads, "s": self.page, "d": size}
        return [sizes[letter] for letter in self.order]

    def at_query(self, b, h, m, d):
        return self.at(1, 0, h, self.query_starts[b] + m, d) if self.query_starts else self.at(1, b, h, m, d)

    def at_key(self, seed, b, group, n, d):
        if self.key_starts:
            return self.at(seed, 0, group, self.key_starts[b] + n, d)
        if not self.pages:
            return self.at(seed, b, group, n, d)
        page = self.pages[b][n // self.page]
        return self.at(seed, page, group, n % self.page, d) if page >= 0 else 0

    def at(self, seed, b, h, s, d):
        named = {"b": b, "h": h, "s": s, "d": d}
        index = [named[letter] for letter in self.order]
        if seed not in self.scales:
            return element(index, seed)
        blocks, _, values = self.scales[seed]
        return element(index, seed) * values[tuple(i // block if block else 0 for i, block in zip(index, blocks))]

    def lengths(self, b):
        """How many queries and keys the batch has."""
        room = lambda starts, most: most if starts is None else starts[b + 1] - starts[b]
        clamp = lambda lengths, most: most if lengths is None else min(max(lengths[b], 0), most)
        return (clamp(self.query_lengths, room(self.query_starts, self.seq_q)),
                clamp(self.key_lengths, room(self.key_starts, self.seq_k)))

    def locate(self, b, place):
        """The batch of a query at this place, and which one it is there; it may be none of the batch."""
        if self.query_starts is None:
            return b, place
        found = [b for b in range(self.batch) if self.query_starts[b] <= place < self.query_starts[b + 1]]
        return (found[0], place - self.query_starts[found[0]]) if found else (0, math.inf)

    def offset(self, b, alignment):
        queries, keys = self.lengths(b)
        return keys - queries if alignment == "bottom_right" else 0

    def visible(self, b, m, n):
        if self.causal and n > m + self.offset(b, self.causal):
            return False
        if self.window:
            left, right, alignment = self.window
            diagonal = m + self.offset(b, alignment)
            return (left < 0 or n >= diagonal - left) and (right < 0 or n <= diagonal + right)
        return True

    def score(self, b, h, m, n):
        group = h // (self.heads // self.kv_heads)
        dot = sum(self.at_query(b, h, m, d) * self.at_key(2, b, group, n, d) for d in range(self.d_qk))
        score = dot * (self.scale if self.scale is not None else 1 / math.sqrt(self.d_qk))
        if self.softcap:
            score = self.softcap * math.tanh(score / self.softcap)
        if self.slopes:
            score -= self.slopes[h] * abs(m + self.offset(b, "bottom_right") - n)
        return score

    def kept(self, b, h, m, n):
        """What dropout multiplies a weight by."""
        return self.dropout.factor(b * self.heads + h, m, n) if self.dropout else 1

    def results(self):
        """The result in the order of its dimensions, then the lse."""
        out, lse = {}, []
        batches = 1 if self.query_starts else self.batch
        for place in itertools.product(range(batches), range(self.heads), range(self.seq_q)):
            h = place[1]
            b, m = self.locate(place[0], place[2])
            queries, keys = self.lengths(b)
            exists = m < queries
            scores = {n: self.score(b, h, m, n) for n in range(keys) if exists and self.visible(b, m, n)}
            terms = list(scores.values()) + ([self.sinks[h]] if self.sinks and exists else [])
            total = sum(math.exp(term) for term in terms)
            lse.append(math.log(total) if total else -math.inf)
            group = h // (self.heads // self.kv_heads)
            weights = {n: math.exp(s) / total * self.kept(b, h, m, n) for n, s in scores.items()}
            for e in range(self.d_v):
                out[*place, e] = sum(w * self.at_key(3, b, group, n, e) for n, w in weights.items())
        places = itertools.product(*(range(size) for size in self.query_shape(self.d_v)))
        named = (dict(zip(self.order, place)) for place in places)
        return [out[i["b"], i["h"], i["s"], i["d"]] for i in named], lse

    def tensor(self, shape, known="d"):
        names = ["?" if self.dynamic and letter not in known else str(size) for letter, size in zip(self.order, shape)]
        return "tensor<" + "x".join(names) + "xf32>"

    def function(self, name):
        shapes = [self.query_shape(self.d_qk), self.key_shape(self.d_qk), self.key_shape(self.d_v)]
        # A page has a number of keys that is known, and what is packed one batch.
        of_query = "db" if self.query_starts else "d"
        of_keys = "ds" if self.pages else "db" if self.key_starts else "d"
        kinds = [self.tensor(shapes[0], of_query)] + [self.tensor(shape, of_keys) for shape in shapes[1:]]
        types = ", ".join(kinds)
        lines = [f"func.func @{name}() {{"]
        for seed, shape in enumerate(shapes, 1):
            lines += [f"  %sizes{seed} = arith.constant dense<{shape}> : tensor<4xindex>",
                      f"  %seed{seed} = arith.constant {seed} : index",
                      f"  %f{seed} = call @fill(%sizes{seed}, %seed{seed}) : (tensor<4xindex>, index) "
                      "-> tensor<?x?x?x?xf32>",
                      f"  %t{seed} = tensor.cast %f{seed} : tensor<?x?x?x?xf32> to {kinds[seed - 1]}"]
        clauses = f"lse order({self.order})"
        for clause, values in (("alibi", self.slopes), ("sinks", self.sinks)):
            if values:
                lines.append(f"  %{clause} = arith.constant dense<{values}> : tensor<{self.heads}xf32>")
                clauses += f" {clause}(%{clause} : tensor<{self.heads}xf32>)"
        for clause, values in (("query_lengths", self.query_lengths), ("key_lengths", self.key_lengths)):
            if values:
                lines.append(f"  %{clause} = arith.constant dense<{values}> : tensor<{self.batch}xi32>")
                clauses += f" {clause}(%{clause} : tensor<{self.batch}xi32>)"
        for clause, values in (("query_starts", self.query_starts), ("key_starts", self.key_starts)):
            if values:
                type = f"tensor<{self.batch + 1}xi32>"
                shown = "tensor<?xi32>" if self.dynamic else type
                lines += [f"  %{clause}_all = arith.constant dense<{values}> : {type}",
                          f"  %{clause} = tensor.cast %{clause}_all : {type} to {shown}"]
                clauses += f" {clause}(%{clause} : {shown})"
        if self.pages:
            type = f"tensor<{self.batch}x{len(self.pages[0])}xi32>"
            lines.append(f"  %table = arith.constant dense<{self.pages}> : {type}")
            shown = "tensor<?x?xi32>" if self.dynamic else type
            lines.append(f"  %pages = tensor.cast %table : {type} to {shown}")
            clauses += f" pages(%pages : {shown})"
        for seed, (blocks, counts, values) in self.scales.items():
            clause = f"{('query', 'key', 'value')[seed - 1]}_scales"
            nested = lambda place: values[place] if len(place) == 4 else [nested((*place, i)) for i in range(counts[len(place)])]
            type = "tensor<" + "x".join(map(str, counts)) + "xf32>"
            shown = "tensor<" + "x".join("?" if self.dynamic and block else str(count) for count, block in zip(counts, blocks)) + "xf32>"
            lines += [f"  %{clause}_all = arith.constant dense<{nested(())}> : {type}",
                      f"  %{clause} = tensor.cast %{clause}_all : {type} to {shown}"]
            shared = f", {[max(block, 1) for block in blocks]}" if max(blocks) > 1 else ""
            clauses += f" {clause}(%{clause}{shared} : {shown})"
        if self.dropout:
            lines.append(f"  %dropout = arith.constant dense<[{self.dropout.seed}, {self.dropout.offset}]> : tensor<2xi64>")
            clauses += f" dropout(%dropout, {self.dropout.probability} : tensor<2xi64>)"
        if self.causal:
            clauses += f" causal({self.causal})"
        if self.window:
            sides = ["?" if side < 0 else str(side) for side in self.window[:2]]
            clauses += f" window({sides[0]}, {sides[1]}, {self.window[2]})"
        clauses += f" softcap({self.softcap})" if self.softcap else ""
        clauses += f" scale({self.scale})" if self.scale is not None else ""
        out = self.tensor(self.query_shape(self.d_v), of_query)
        sizes = ["?"] * 3 if self.dynamic else [str(s) for s in (self.batch, self.heads, self.seq_q)]
        if self.query_starts:
            sizes[0] = "1"
        lse = "tensor<" + "x".join(sizes) + "xf32>"
        return lines + [f"  %o, %lse = attn.attention %t1, %t2, %t3 {clauses} : {types}",
                        f"  %out = tensor.cast %o : {out} to tensor<*xf32>",
                        "  call @printMemrefF32(%out) : (tensor<*xf32>) -> ()",
                        f"  %sums = tensor.cast %lse : {lse} to tensor<*xf32>",
                        "  call @printMemrefF32(%sums) : (tensor<*xf32>) -> ()", "  return", "}"]


FILL = """func.func private @printMemrefF32(tensor<*xf32>)
func.func @fill(%sizes: tensor<4xindex>, %seed: index) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c11 = arith.constant 11 : index
  %quarter = arith.constant 0.25 : f32
  %d0 = tensor.extract %sizes[%c0] : tensor<4xindex>
  %d1 = tensor.extract %sizes[%c1] : tensor<4xindex>
  %d2 = tensor.extract %sizes[%c2] : tensor<4xindex>
  %d3 = tensor.extract %sizes[%c3] : tensor<4xindex>
  %filled = tensor.generate %d0, %d1, %d2, %d3 {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    %a = arith.muli %i0, %c5 : index
    %b = arith.muli %i1, %c3 : index
    %c = arith.muli %i2, %c7 : index
    %d = arith.muli %i3, %c2 : index
    %ab = arith.addi %a, %b : index
    %cd = arith.addi %c, %d : index
    %abcd = arith.addi %ab, %cd : index
    %sum = arith.addi %abcd, %seed : index
    %mod = arith.remui %sum, %c11 : index
    %centred = arith.subi %mod, %c5 : index
    %int = arith.index_cast %centred : index to i32
    %float = arith.sitofp %int : i32 to f32
    %x = arith.mulf %float, %quarter : f32
    tensor.yield %x : f32
  } : tensor<?x?x?x?xf32>
  return %filled : tensor<?x?x?x?xf32>
}"""


def write(problems):
    print(FILL)
    for index, problem in enumerate(problems):
        print("\n".join(problem.function(f"problem{index}")))
    print("func.func @main() {")
    for index in range(len(problems)):
        print(f"  call @problem{index}() : () -> ()")
    print("  return\n}")


def check(problems, text):
    printed = re.split(r"Unranked Memref.*?data = ", text)[1:]
    expected = [numbers for problem in problems for numbers in problem.results()]
    assert len(printed) == len(expected), f"expects {len(expected)} tensors, but got {len(printed)}"
    wrong = 0
    for index, (want, chunk) in enumerate(zip(expected, printed)):
        got = [float(number) for number in re.findall(r"-?inf|-?nan|-?\d[\d.]*(?:e[-+]?\d+)?", chunk)]
        assert len(want) == len(got), f"expects {len(want)} numbers, but got {len(got)}"
        for place, (w, g) in enumerate(zip(want, got)):
            if w != g and not abs(w - g) <= TOLERANCE * max(1, abs(w)):
                wrong += 1
                print(f"problem {index // 2}, {'lse' if index % 2 else 'result'}[{place}]: expects {w}, but got {g}")
    print(f"{len(problems)} problems compared, {wrong} wrong numbers")
    return 1 if wrong else 0


if __name__ == "__main__":
    mode, seed, count, *has = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
    rng = random.Random(seed)
    chosen = [Problem(rng, with_lengths="lengths" in has, with_pages="pages" in has, with_packed="packed" in has, with_scales="scales" in has, with_dropout="dropout" in has) for _ in range(count)]
    sys.exit(write(chosen) if mode == "write" else check(chosen, sys.stdin.read()))
