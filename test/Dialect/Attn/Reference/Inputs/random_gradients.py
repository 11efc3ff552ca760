# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random problems for the reference of gradients, checked by central differences
# of the formula of attn.attention in double precision.
#
#   random_gradients.py write <seed> <count> [lengths] [packed] [dropout]     a module whose @main prints all
#   random_gradients.py check <seed> <count> [lengths] [packed] [dropout]     compares what it printed (stdin)

import itertools
import math
import random
import re
import sys

import random_problems

TOLERANCE = 2e-5  # of sums of printed numbers, which have six digits
STEP = 1e-4

# Score regions: their text, where %x is the score, and what they compute.
SCORES = {
    "none": ("", lambda x, bias: x),
    "bias": ("%y = arith.addf %x, %r : f32", lambda x, bias: x + bias),
    "gate": ("%e = math.exp %r : f32\n%a = math.atan %x : f32\n%y = arith.mulf %a, %e : f32",
             lambda x, bias: math.atan(x) * math.exp(bias)),
    "quotient": ("%k = arith.constant 3.0 : f32\n%q = arith.mulf %x, %x : f32\n%w = arith.addf %q, %k : f32\n"
                 "%s2 = math.sqrt %w : f32\n%d = arith.divf %x, %s2 : f32\n%y = math.fma %d, %r, %x : f32",
                 lambda x, bias: x / math.sqrt(x * x + 3) * bias + x),
    "kinks": ("%k = arith.constant 0.3 : f32\n%a = math.absf %x : f32\n%m1 = arith.maximumf %a, %k : f32\n"
              "%c = arith.cmpf ogt, %r, %k : f32\n%t = math.tanh %m1 : f32\n%y = arith.select %c, %t, %x : f32",
              lambda x, bias: math.tanh(max(abs(x), 0.3)) if bias > 0.3 else x),
}


class Problem(random_problems.Problem):
    """Adds gradients of results, and score regions that read a bias."""

    def __init__(self, rng, **has):
        super().__init__(rng, **has)
        self.region = rng.choice(list(SCORES))
        self.with_lse = rng.random() < 0.5
        # Read at a head, a query or a key each, or at a place that many share.
        self.bias_dims = rng.choice(["h", "mn", "hmn", "n"])
        sizes = {"h": self.heads, "m": self.seq_q, "n": self.seq_k}
        self.bias_shape = [sizes[letter] for letter in self.bias_dims]
        self.directions = [rng.randrange(1 << 30) for _ in range(3)]
        self.values = {name: self.fill(seed, shape) for name, seed, shape in self.tensors()}
        self.values["bias"] = [((7 * i) % 13 - 6) / 8 for i in range(math.prod(self.bias_shape))]
        self.values["alibi"] = list(self.slopes or [])
        self.values["sinks"] = list(self.sinks or [])
        self.lse_grad = [((3 * i) % 7 - 3) / 4 for i in range(math.prod(self.lse_shape()))]

    def lse_shape(self):
        return 1 if self.query_starts else self.batch, self.heads, self.seq_q

    def tensors(self):
        return [("query", 1, self.query_shape(self.d_qk)), ("key", 2, self.key_shape(self.d_qk)),
                ("value", 3, self.key_shape(self.d_v)), ("output_grad", 4, self.query_shape(self.d_v))]

    @staticmethod
    def fill(seed, shape):
        return [random_problems.element(place, seed) for place in itertools.product(*map(range, shape))]

    def rows(self, name, shape, starts):
        """Of each batch, head and place in it the row; those behind a batch that is packed are another's or nobody's."""
        flat, found = iter(self.values[name]), {}
        for place in itertools.product(*map(range, shape)):
            at = dict(zip(self.order, place))
            found.setdefault((at["b"], at["h"], at["s"]), {})[at["d"]] = next(flat)
        if not starts:
            return found
        return {(b, h, s - starts[b]): row for b in range(self.batch) for (_, h, s), row in found.items() if s >= starts[b]}

    def forward(self):
        """The number whose gradients are asked for."""
        shapes = {name: shape for name, _, shape in self.tensors()}
        query, key, value, output_grad = (self.rows(name, shapes[name], starts) for name, starts in (
            ("query", self.query_starts), ("key", self.key_starts), ("value", self.key_starts), ("output_grad", self.query_starts)))
        dot = lambda left, right: sum(left[d] * right[d] for d in left)
        scale = self.scale if self.scale is not None else 1 / math.sqrt(self.d_qk)
        total = 0.0
        for row, (place, h, s) in enumerate(itertools.product(*map(range, self.lse_shape()))):
            b, m = self.locate(place, s)
            queries, keys = self.lengths(b)
            if m >= queries:
                continue
            g = h // (self.heads // self.kv_heads)
            scores = {}
            for n in filter(lambda n: self.visible(b, m, n), range(keys)):
                x = scale * dot(query[b, h, m], key[b, g, n])
                if self.softcap:
                    x = self.softcap * math.tanh(x / self.softcap)
                if self.slopes:
                    x -= self.values["alibi"][h] * abs(m + self.offset(b, "bottom_right") - n)
                index, place = {"h": h, "m": m, "n": n}, 0
                for letter, extent in zip(self.bias_dims, self.bias_shape):
                    place = place * extent + index[letter]
                scores[n] = SCORES[self.region][1](x, self.values["bias"][place])
            terms = list(scores.values()) + ([self.values["sinks"][h]] if self.sinks else [])
            weights = sum(map(math.exp, terms))
            if not weights:
                continue
            if self.with_lse:
                total += self.lse_grad[row] * math.log(weights)
            for n, score in scores.items():
                total += math.exp(score) / weights * self.kept(b, h, m, n) * dot(output_grad[b, h, m], value[b, g, n])
        return total

    def wanted(self):
        """The operands that have gradients, in the order of the results."""
        names = ["query", "key", "value"]
        names += ["alibi"] if self.slopes else []
        names += ["sinks"] if self.sinks else []
        return names + (["bias"] if self.region != "none" else [])

    def difference(self, name, direction):
        """What a step of the operand changes, by the step."""
        kept, ends = self.values[name], []
        for sign in (1, -1):
            self.values[name] = [x + sign * STEP * d for x, d in zip(kept, direction)]
            ends.append(self.forward())
        self.values[name] = kept
        return (ends[0] - ends[1]) / (2 * STEP)

    def function(self, name):
        lines = super().function(name)
        # What the op of the other class prints is in the way.
        lines = [line for line in lines if "print" not in line and "%out =" not in line and "%sums =" not in line]
        lines = lines[:-2]
        call = next(i for i, line in enumerate(lines) if "attn.attention" in line)
        clauses, types = lines[call].split("%t3 ")[1].split(" : tensor<", 1)[0], None
        head, types = lines[call].rsplit(" : tensor", 1)
        clauses = head.split("%t3 lse ")[1]
        types = "tensor" + types
        shape = self.query_shape(self.d_v)
        of_query, of_keys = "db" if self.query_starts else "d", "db" if self.key_starts else "d"
        before = [f"  %sizes4 = arith.constant dense<{shape}> : tensor<4xindex>",
                  "  %seed4 = arith.constant 4 : index",
                  "  %f4 = call @fill(%sizes4, %seed4) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>",
                  f"  %t4 = tensor.cast %f4 : tensor<?x?x?x?xf32> to {self.tensor(shape, of_query)}"]
        bias = "x".join(map(str, self.bias_shape)) + "xf32"
        region = ""
        if self.region != "none":
            # A splat of one number is printed without the brackets of a list.
            before += [f"  %bias = arith.constant dense<{self.nested(self.values['bias'], self.bias_shape)}> : "
                       f"tensor<{bias}>"]
            indices = ", ".join("%" + letter for letter in self.bias_dims)
            region = (" score (%x, %b, %h, %m, %n) {\n" + f"%r = tensor.extract %bias[{indices}] : tensor<{bias}>\n"
                      + SCORES[self.region][0] + "\nattn.yield %y : f32\n}")
        sizes = ["?"] * 3 if self.dynamic else [str(s) for s in self.lse_shape()]
        sizes[0] = "1" if self.query_starts else sizes[0]
        lse = "tensor<" + "x".join(sizes) + "xf32>"
        lse_grad = ""
        if self.with_lse:
            static = "x".join(map(str, self.lse_shape())) + "xf32"
            flat = self.nested(self.lse_grad, self.lse_shape())
            before += [f"  %lg = arith.constant dense<{flat}> : tensor<{static}>",
                       f"  %lsegrad = tensor.cast %lg : tensor<{static}> to {lse}"]
            lse_grad = f" lse_grad(%lsegrad : {lse})"
        tensors = {"alibi": f"tensor<{self.heads}xf32>", "sinks": f"tensor<{self.heads}xf32>",
                   "bias": f"tensor<{bias}>"}
        others = [w for w in self.wanted() if w in tensors]
        wrt = " wrt(query, key, value" + "".join(f", %{w}" for w in others)
        wrt += (" : " + ", ".join(tensors[w] for w in others) if others else "") + ")"
        out = self.tensor(shape, of_query)
        lines[call:] = before + [f"  %o, %lse = attn.attention %t1, %t2, %t3 lse {clauses}{region} : {types}"]
        results = self.wanted()
        lines.append("  " + ", ".join(f"%r{i}" for i in range(len(results)))
                     + f" = attn.attention_grad %t1, %t2, %t3, %o, %lse, %t4{lse_grad}{wrt} {clauses}{region}"
                     + f" : {types}, {out}, {lse}, {out}")
        operands = [self.tensor(self.query_shape(self.d_qk), of_query), self.tensor(self.key_shape(self.d_qk), of_keys),
                    self.tensor(self.key_shape(self.d_v), of_keys)]
        for i, result in enumerate(results):
            kind = operands[i] if i < 3 else tensors[result]
            lines += [f"  %p{i} = tensor.cast %r{i} : {kind} to tensor<*xf32>",
                      f"  call @printMemrefF32(%p{i}) : (tensor<*xf32>) -> ()"]
        return lines + ["  return", "}"]

    @staticmethod
    def nested(flat, shape):
        if len(shape) == 1:
            return list(flat)
        size = len(flat) // shape[0]
        return [Problem.nested(flat[i * size:(i + 1) * size], shape[1:]) for i in range(shape[0])]


def check(problems, text):
    printed = iter(re.split(r"Unranked Memref.*?data = ", text)[1:])
    wrong = compared = 0
    for index, problem in enumerate(problems):
        for name in problem.wanted():
            got = [float(x) for x in re.findall(r"-?inf|-?nan|-?\d[\d.]*(?:e[-+]?\d+)?", next(printed))]
            assert len(got) == len(problem.values[name]), f"problem {index} prints {len(got)} numbers of {name}"
            for seed in problem.directions:
                rng = random.Random(seed)
                # One element now and then, all of them otherwise.
                only = rng.randrange(len(got)) if rng.random() < 0.5 else None
                direction = [rng.gauss(0, 1) if only in (None, i) else 0.0 for i in range(len(got))]
                want = problem.difference(name, direction)
                have = sum(g * d for g, d in zip(got, direction))
                size = sum(abs(g * d) for g, d in zip(got, direction))
                compared += 1
                if not abs(want - have) <= TOLERANCE * max(1, size):
                    wrong += 1
                    print(f"problem {index} ({problem.region}), {name}: expects {want}, but got {have}")
    assert next(printed, None) is None, "expects no more tensors"
    print(f"{len(problems)} problems and {compared} directions compared, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    mode, seed, count, *has = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
    rng = random.Random(seed)
    chosen = [Problem(rng, with_lengths="lengths" in has, with_packed="packed" in has, with_dropout="dropout" in has) for _ in range(count)]
    sys.exit(random_problems.write(chosen) if mode == "write" else check(chosen, sys.stdin.read()))
