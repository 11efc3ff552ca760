# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes attention in linalg as frontends spell it: one function for each case, each a choice on every axis.
#   spellings.py <seed> <count>   every choice of every axis at least once, and then random ones
import random
import sys

B, H, M, N, D, E = 2, 4, 5, 7, 8, 4

AXES = {
    # How contractions are written.
    "contraction": ["generic", "batch_matmul", "batch_matmul_maps", "contract", "direct"],
    # named: linalg.softmax; torch: keepdims and an argmax; reduce: linalg.reduce, linalg.broadcast, linalg.map;
    # tosa: a reciprocal; elementwise: named elementwise ops; arith: ops on tensors; unshifted: no maximum;
    # fused: exponentials and their sum by one op.
    "softmax": ["named", "torch", "reduce", "tosa", "elementwise", "arith", "unshifted", "fused"],
    "mask": ["none", "causal-iota", "causal-int", "causal-constant", "causal-additive-constant", "window", "bool", "not-bool",
             "additive", "padding", "float-padding", "two", "finite", "bottom-right",
             "by-score", "before-scale"],
    "scale": ["none", "mul", "div", "query", "both", "tensor", "named", "scalar", "key"],
    "softcap": ["no", "yes"],
    "layout": ["bhsd", "bshd", "sbhd", "bhsd-flat"],
    "heads": ["all", "broadcast", "generic-broadcast", "grouped", "one"],
    # acc: 16-bit operands, f32 sums; up: operands are extended first; low: sums in 16 bits; f32: no cast at all.
    "types": ["f32", "f16-acc", "bf16-up", "f16-low"],
    "bias": ["none", "head", "alibi"],
}


class Writer:
    def __init__(self):
        self.lines, self.count = [], 0

    def new(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text, shape, element):
        name = self.new()
        self.lines.append(f"  {name} = {text}")
        return Value(name, shape, element)

    def scalar(self, value, element="f32"):
        name = self.new()
        self.lines.append(f"  {name} = arith.constant {value} : {element}")
        return name

    def empty(self, shape, element):
        return self.emit(f"tensor.empty() : {tensor(shape, element)}", shape, element)

    def fill(self, shape, element, value="0.0"):
        zero, empty = self.scalar(value, element), self.empty(shape, element)
        return self.emit(f"linalg.fill ins({zero} : {element}) outs({empty.name} : {empty.type}) -> {empty.type}",
                         shape, element)

    def generic(self, inputs, shape, element, body, init=None, loops=None, out=None, reduced=()):
        """inputs: (value, indices). body: lines with {0}, {1} for the inputs' elements, then {acc}; the last gives %y."""
        loops = loops or [f"d{i}" for i in range(len(shape))]
        out = out or loops
        dims = ", ".join(loops)
        maps = [f"affine_map<({dims}) -> ({', '.join(at)})>" for _, at in inputs] + [
            f"affine_map<({dims}) -> ({', '.join(out)})>"]
        kinds = ", ".join('"reduction"' if loop in reduced else '"parallel"' for loop in loops)
        init = init or self.empty(shape, element)
        values = ", ".join(value.name for value, _ in inputs)
        types = ", ".join(value.type for value, _ in inputs)
        arguments = ", ".join(f"%x{i}: {value.element}" for i, (value, _) in enumerate(inputs))
        arguments += (", " if inputs else "") + f"%acc: {element}"
        name = self.new()
        ins = f"ins({values} : {types}) " if inputs else ""
        self.lines.append(f"  {name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} "
                          f"{ins}outs({init.name} : {init.type}) {{\n  ^bb0({arguments}):")
        self.lines += ["    " + line for line in body]
        self.lines.append(f"    linalg.yield %y : {element}\n  }} -> {init.type}")
        return Value(name, shape, element)

    def map(self, op, value, element=None):
        """An op of one operand."""
        element = element or value.element
        cast = f" to {element}" if element != value.element else ""
        at = [f"d{i}" for i in range(len(value.shape))]
        return self.generic([(value, at)], value.shape, element, [f"%y = {op} %x0 : {value.element}{cast}"])

    def cast(self, value, element):
        if value.element == element:
            return value
        return self.map("arith.truncf" if value.element == "f32" else "arith.extf", value, element)

    def transpose(self, value, permutation):
        if permutation == sorted(permutation):
            return value
        shape = [value.shape[i] for i in permutation]
        empty = self.empty(shape, value.element)
        name = self.new()
        self.lines.append(f"  {name} = linalg.transpose ins({value.name} : {value.type}) outs({empty.name} : {empty.type}) "
                          f"permutation = {permutation}")
        return Value(name, shape, value.element)

    def reshape(self, value, shape, groups):
        result = tensor(shape, value.element)
        if len(shape) > len(value.shape):
            return self.emit(f"tensor.expand_shape {value.name} {groups} output_shape {shape} : {value.type} into {result}",
                             shape, value.element)
        return self.emit(f"tensor.collapse_shape {value.name} {groups} : {value.type} into {result}", shape, value.element)


def tensor(shape, element):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


class Value:
    def __init__(self, name, shape, element):
        self.name, self.shape, self.element = name, list(shape), element

    @property
    def type(self):
        return tensor(self.shape, self.element)


class Case(Writer):
    """Scores are [b, h, m, n], but [b, k, g, m, n] with grouped heads."""

    def __init__(self, choice, number):
        super().__init__()
        self.choice, self.number = choice, number
        self.arguments = []
        self.dtype = choice["types"].split("-")[0]
        self.sums = self.dtype if choice["types"].endswith("low") else "f32"
        self.groups = {"all": 1, "one": H}.get(choice["heads"], 2)
        self.lead = [B, H // self.groups, self.groups] if choice["heads"] == "grouped" else [B, H]
        self.keys = 5 if choice["mask"] == "two" else N

    def argument(self, name, shape, element):
        value = Value("%" + name, shape, element)
        self.arguments.append(value)
        return value

    def operand(self, name, heads, length, size):
        order = self.choice["layout"].split("-")[0]
        sizes = {"b": B, "h": heads, "s": length, "d": size}
        value = self.argument(name, [sizes[letter] for letter in order], self.dtype)
        self.order = order
        if self.choice["types"].endswith("up"):
            value = self.cast(value, "f32")
        if self.choice["contraction"] == "direct":
            return value
        return self.transpose(value, [order.index(letter) for letter in "bhsd"])

    def repeat(self, value):
        if self.groups == 1 or self.choice["heads"] == "grouped" or self.choice["contraction"] == "direct":
            return value
        b, heads, length, size = value.shape
        shape = [b, heads, self.groups, length, size]
        if self.choice["heads"] == "generic-broadcast":
            wide = self.generic([(value, ["d0", "d1", "d3", "d4"])], shape, value.element,
                                [f"%none = arith.constant 0 : index", "%y = arith.select %true, %x0, %x0 : " + value.element]
                                if False else ["%t = arith.constant true", f"%y = arith.select %t, %x0, %x0 : {value.element}"])
        else:
            empty = self.empty(shape, value.element)
            name = self.new()
            self.lines.append(f"  {name} = linalg.broadcast ins({value.name} : {value.type}) outs({empty.name} : {empty.type}) "
                              "dimensions = [2]")
            wide = Value(name, shape, value.element)
        return self.reshape(wide, [b, heads * self.groups, length, size], "[[0], [1, 2], [3], [4]]")

    def multiply(self, lhs, rhs, is_second):
        """lhs [.., m, x], rhs [.., n, x], or [.., x, n] if it is the second: [.., m, n]."""
        kind = self.choice["contraction"]
        loops = ["b", "h", "m", "n", "x"]
        if self.choice["heads"] == "grouped":
            loops.insert(2, "g")
        if kind == "direct" or self.choice["heads"] == "grouped" or kind in ("generic", "contract"):
            lead = loops[:-3]
            keyed = [loop for loop in lead if loop != "g"]
            left, right = lead + ["m", "x"], keyed + (["x", "n"] if is_second else ["n", "x"])
            if kind == "direct" and self.choice["heads"] != "grouped":
                names = {"b": "b", "h": "h floordiv 2" if self.groups == 2 else "h", "s": "x" if is_second else "n",
                         "d": "n" if is_second else "x"}
                if self.groups == H:
                    names["h"] = "0"
                right = [names[letter] for letter in self.order]
                if not is_second:
                    left = [{"b": "b", "h": "h", "s": "m", "d": "x"}[letter] for letter in self.order]
            size = self.lead + [M, rhs.shape[right.index("n")]]
            init = self.fill(size, self.sums)
            if kind == "contract":
                dims = ", ".join(loops)
                maps = ", ".join(f"affine_map<({dims}) -> ({', '.join(at)})>" for at in (left, right, loops[:-1]))
                return self.emit(f"linalg.contract indexing_maps = [{maps}] ins({lhs.name}, {rhs.name} : {lhs.type}, {rhs.type}) "
                                 f"outs({init.name} : {init.type}) -> {init.type}", size, self.sums)
            body, factors = [], []
            for i, value in enumerate((lhs, rhs)):
                factor = f"%x{i}"
                if value.element != self.sums:
                    body.append(f"%e{i} = arith.extf %x{i} : {value.element} to {self.sums}")
                    factor = f"%e{i}"
                factors.append(factor)
            body += [f"%p = arith.mulf {factors[0]}, {factors[1]} : {self.sums}", f"%y = arith.addf %acc, %p : {self.sums}"]
            return self.generic([(lhs, left), (rhs, right)], size, self.sums, body, init=init, loops=loops, out=loops[:-1],
                                reduced=("x",))
        flat_left = self.reshape(lhs, [B * H] + lhs.shape[2:], "[[0, 1], [2], [3]]")
        flat_right = self.reshape(rhs, [B * H] + rhs.shape[2:], "[[0, 1], [2], [3]]")
        maps = ""
        if not is_second:
            if kind == "batch_matmul":
                flat_right = self.transpose(flat_right, [0, 2, 1])
            else:
                maps = ("indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, "
                        "affine_map<(b, m, n, k) -> (b, m, n)>] ")
        columns = rhs.shape[3] if is_second else rhs.shape[2]
        init = self.fill([B * H, M, columns], self.sums)
        product = self.emit(f"linalg.batch_matmul {maps}ins({flat_left.name}, {flat_right.name} : {flat_left.type}, "
                            f"{flat_right.type}) outs({init.name} : {init.type}) -> {init.type}", init.shape, self.sums)
        return self.reshape(product, [B, H, M, columns], f"[[0, 1], [2], [3]]")

    def identity(self):
        return [f"d{i}" for i in range(len(self.lead) + 2)]

    def each(self, scores, body, others=()):
        return self.generic([(scores, self.identity()), *others], scores.shape, scores.element, body)

    def scaled(self, scores):
        kind, element = self.choice["scale"], scores.element
        if kind == "mul":
            return self.each(scores, [f"%c = arith.constant 0.34375 : {element}", f"%y = arith.mulf %x0, %c : {element}"])
        if kind == "div":
            root = self.scalar("8.0", element)
            return self.each(scores, [f"%r = math.sqrt {root} : {element}", f"%y = arith.divf %x0, %r : {element}"])
        if kind == "named":
            factor = self.fill(scores.shape, element, "0.375")
            empty = self.empty(scores.shape, element)
            return self.emit(f"linalg.mul ins({scores.name}, {factor.name} : {scores.type}, {scores.type}) "
                             f"outs({empty.name} : {empty.type}) -> {empty.type}", scores.shape, element)
        if kind == "scalar":
            factor = self.argument("scale", None or [], element)
            factor.is_scalar = True
            return self.each(scores, [f"%y = arith.mulf %x0, %scale : {element}"])
        if kind == "tensor":
            factor = self.emit(f"arith.constant dense<0.3125> : tensor<{element}>", [], element)
            return self.each(scores, [f"%y = arith.mulf %x0, %x1 : {element}"], [(factor, [])])
        return scores

    def scaled_operand(self, value, factor):
        at = [f"d{i}" for i in range(4)]
        return self.generic([(value, at)], value.shape, value.element,
                            [f"%c = arith.constant {factor} : {value.element}", f"%y = arith.mulf %x0, %c : {value.element}"])

    def biased(self, scores):
        last = len(self.lead)
        head = ["d1 * 2 + d2"] if len(self.lead) == 3 else ["d1"]
        if self.choice["bias"] == "head" and len(self.lead) == 2:
            bias = self.argument("bias", [1, H, M, self.keys], scores.element)
            return self.each(scores, [f"%y = arith.addf %x0, %x1 : {scores.element}"],
                             [(bias, ["0", "d1", f"d{last}", f"d{last + 1}"])])
        if self.choice["bias"] == "alibi":
            slopes = self.argument("slopes", [H], "f32")
            body = [f"%m = linalg.index {last} : index", f"%n = linalg.index {last + 1} : index", "%i = arith.subi %n, %m : index",
                    "%j = arith.index_cast %i : index to i32", "%f = arith.sitofp %j : i32 to f32",
                    "%p = arith.mulf %x1, %f : f32"]
            if scores.element == "f32":
                body.append("%y = arith.addf %x0, %p : f32")
            else:
                body += [f"%h = arith.truncf %p : f32 to {scores.element}", f"%y = arith.addf %x0, %h : {scores.element}"]
            if len(self.lead) == 3:
                wide = self.reshape(slopes, [self.lead[1], self.lead[2]], "[[0, 1]]")
                return self.each(scores, body, [(wide, ["d1", "d2"])])
            return self.each(scores, body, [(slopes, head)])
        return scores

    def capped(self, scores):
        if self.choice["softcap"] == "no":
            return scores
        e = scores.element
        return self.each(scores, [f"%c = arith.constant 2.0 : {e}", f"%a = arith.divf %x0, %c : {e}", f"%t = math.tanh %a : {e}",
                                  f"%y = arith.mulf %t, %c : {e}"])

    def causal(self, kind):
        """A tensor of truth values [m, n]."""
        m, n = 0, 1
        offset = self.keys - M if kind == "bottom-right" else 0
        integer = "i32" if kind == "causal-int" else "i64"
        body = [f"%m = linalg.index {m} : index", f"%n = linalg.index {n} : index",
                f"%mi = arith.index_cast %m : index to {integer}", f"%ni = arith.index_cast %n : index to {integer}",
                f"%o = arith.constant {offset} : {integer}", f"%mo = arith.addi %mi, %o : {integer}"]
        if kind == "causal-int":
            # Stays an integer between two ops, as a bool of torch does in some versions.
            body += [f"%c = arith.cmpi sgt, %ni, %mo : {integer}", "%y = arith.extui %c : i1 to i8"]
            hidden = self.generic([], [M, self.keys], "i8", body)
            return self.generic([(hidden, ["d0", "d1"])], [M, self.keys], "i1",
                                ["%z = arith.constant 0 : i8", "%y = arith.cmpi eq, %x0, %z : i8"])
        if kind == "window":
            body += ["%w = arith.constant 2 : i64", "%a = arith.cmpi sge, %mo, %ni : i64", "%d = arith.subi %mo, %ni : i64",
                     "%b = arith.cmpi sle, %d, %w : i64", "%y = arith.andi %a, %b : i1"]
        else:
            body += [f"%y = arith.cmpi sge, %mo, %ni : {integer}"]
        return self.generic([], [M, self.keys], "i1", body)

    def hidden(self, scores, visible, at, value="0xFF800000", negate=False):
        if scores.element != "f32":
            value = {"f16": {"0xFF800000": "0xFC00", "-1.0e9": "-65504.0"}, "bf16": {"0xFF800000": "0xFF80"}}[
                scores.element].get(value, value)
        chosen = "%x1, %low, %x0" if negate else "%x1, %x0, %low"
        return self.each(scores, [f"%low = arith.constant {value} : {scores.element}",
                                  f"%y = arith.select {chosen} : {scores.element}"], [(visible, at)])

    def masked(self, scores):
        kind, last = self.choice["mask"], len(self.lead)
        mn = [f"d{last}", f"d{last + 1}"]
        e = scores.element
        if kind in ("causal-iota", "causal-int", "window", "bottom-right"):
            return self.hidden(scores, self.causal(kind), mn)
        if kind == "finite":
            return self.hidden(scores, self.causal(kind), mn, "-1.0e9")
        if kind == "causal-constant":
            rows = ", ".join("[" + ", ".join("true" if n <= m else "false" for n in range(self.keys)) + "]" for m in range(M))
            mask = self.emit(f"arith.constant dense<[{rows}]> : {tensor([M, self.keys], 'i1')}", [M, self.keys], "i1")
            return self.hidden(scores, mask, mn)
        if kind == "causal-additive-constant":
            low = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}[e]
            rows = ", ".join("[" + ", ".join("0.0" if n <= m else low for n in range(self.keys)) + "]" for m in range(M))
            mask = self.emit(f"arith.constant dense<[{rows}]> : {tensor([M, self.keys], e)}", [M, self.keys], e)
            return self.each(scores, [f"%y = arith.addf %x0, %x1 : {e}"], [(mask, mn)])
        if kind in ("bool", "not-bool"):
            if kind == "bool":
                mask = self.argument("mask", [B, 1, M, self.keys], "i1")
                return self.hidden(scores, mask, ["d0", "0"] + mn)
            mask = self.argument("mask", [B, M, self.keys], "i1")
            inverse = self.generic([(mask, ["d0", "d1", "d2"])], mask.shape, "i1",
                                   ["%t = arith.constant true", "%y = arith.xori %x0, %t : i1"])
            return self.hidden(scores, inverse, ["d0"] + mn, negate=True)
        if kind == "additive":
            mask = self.argument("mask", [B, 1, M, self.keys], e)
            return self.each(scores, [f"%y = arith.addf %x0, %x1 : {e}"], [(mask, ["d0", "0"] + mn)])
        if kind == "padding":
            mask = self.argument("mask", [B, self.keys], "i1")
            return self.hidden(scores, mask, ["d0", mn[1]])
        if kind == "float-padding":
            # (1 - mask) * -10000, as BERT has it, of a mask of truth values.
            mask = self.argument("mask", [B, self.keys], "i1")
            added = self.generic([(mask, ["d0", "d1"])], mask.shape, e,
                                 [f"%f = arith.uitofp %x0 : i1 to {e}", f"%one = arith.constant 1.0 : {e}",
                                  f"%o = arith.subf %one, %f : {e}", f"%low = arith.constant -10000.0 : {e}",
                                  f"%y = arith.mulf %o, %low : {e}"])
            return self.each(scores, [f"%y = arith.addf %x0, %x1 : {e}"], [(added, ["d0", mn[1]])])
        if kind == "by-score":
            # What is hidden depends on the score itself.
            low = "-65504.0" if e == "f16" else "-1.0e9"
            return self.each(scores, [f"%c = arith.constant -0.5 : {e}", f"%low = arith.constant {low} : {e}",
                                      f"%is = arith.cmpf ogt, %x0, %c : {e}", f"%y = arith.select %is, %x0, %low : {e}"])
        if kind == "before-scale":
            hidden = self.hidden(scores, self.causal(kind), mn)
            return self.each(hidden, [f"%c = arith.constant 0.5 : {e}", f"%y = arith.mulf %x0, %c : {e}"])
        if kind == "two":
            mask = self.argument("mask", [B, self.keys], "i1")
            return self.hidden(self.hidden(scores, self.causal("causal"), mn), mask, ["d0", mn[1]])
        return scores

    def reduced(self, scores, start, op, keep):
        at = self.identity()
        out = at[:-1] + (["0"] if keep else [])
        shape = scores.shape[:-1] + ([1] if keep else [])
        init = self.fill(shape, scores.element, start)
        return self.generic([(scores, at)], shape, scores.element, [f"%y = {op} %x0, %acc : {scores.element}"], init=init,
                            loops=at, out=out, reduced=(at[-1],))

    def binary(self, op, scores, other, keep):
        at = self.identity()
        return self.each(scores, [f"%y = {op} %x0, %x1 : {scores.element}"], [(other, at[:-1] + (["0"] if keep else []))])

    def softmaxed(self, scores):
        kind, e, at = self.choice["softmax"], scores.element, self.identity()
        shape, rows = scores.shape, scores.shape[:-1]
        low = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}[e]
        if kind == "named":
            empty = self.empty(shape, e)
            return self.emit(f"linalg.softmax dimension({len(shape) - 1}) ins({scores.name} : {scores.type}) "
                             f"outs({empty.name} : {empty.type}) -> {empty.type}", shape, e)
        if kind == "torch":
            return self.torch_softmax(scores)
        if kind in ("reduce", "elementwise", "arith"):
            return self.broadcast_softmax(scores)
        if kind == "unshifted":
            powers = self.map("math.exp", scores)
            return self.binary("arith.divf", powers, self.reduced(powers, "0.0", "arith.addf", False), False)
        largest = self.reduced(scores, low, "arith.maximumf", kind == "tosa")
        if kind == "tosa":
            powers = self.map("math.exp", self.binary("arith.subf", scores, largest, True))
            total = self.reduced(powers, "0.0", "arith.addf", True)
            inverse = self.generic([(total, at)], total.shape, e,
                                   [f"%one = arith.constant 1.0 : {e}", f"%y = arith.divf %one, %x0 : {e}"])
            return self.binary("arith.mulf", powers, inverse, True)
        # fused: the sum takes exponentials itself.
        total = self.generic([(scores, at), (largest, at[:-1])], rows, e,
                             [f"%d = arith.subf %x0, %x1 : {e}", f"%p = math.exp %d : {e}", f"%y = arith.addf %p, %acc : {e}"],
                             init=self.fill(rows, e), loops=at, out=at[:-1], reduced=(at[-1],))
        return self.each(scores, [f"%d = arith.subf %x0, %x1 : {e}", f"%p = math.exp %d : {e}", f"%y = arith.divf %p, %x2 : {e}"],
                         [(largest, at[:-1]), (total, at[:-1])])

    def torch_softmax(self, scores):
        e, at, rows = scores.element, self.identity(), scores.shape[:-1] + [1]
        low = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}[e]
        values, places = self.fill(rows, e, low), self.fill(rows, "i64", "0")
        dims, out = ", ".join(at), ", ".join(at[:-1] + ["0"])
        maps = f"affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ({out})>, affine_map<({dims}) -> ({out})>"
        kinds = ", ".join(['"parallel"'] * (len(at) - 1) + ['"reduction"'])
        name = self.new()
        self.lines.append(f"""  {name}:2 = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins({scores.name} : {scores.type}) outs({values.name}, {places.name} : {values.type}, {places.type}) {{
  ^bb0(%in: {e}, %out: {e}, %place: i64):
    %i = linalg.index {len(at) - 1} : index
    %j = arith.index_cast %i : index to i64
    %larger = arith.maximumf %in, %out : {e}
    %is = arith.cmpf ogt, %in, %out : {e}
    %k = arith.select %is, %j, %place : i64
    linalg.yield %larger, %k : {e}, i64
  }} -> ({values.type}, {places.type})""")
        powers = self.map("math.exp", self.binary("arith.subf", scores, Value(name + "#0", rows, e), True))
        return self.binary("arith.divf", powers, self.reduced(powers, "0.0", "arith.addf", True), True)

    def broadcast_softmax(self, scores):
        kind, e, shape, rows = self.choice["softmax"], scores.element, scores.shape, scores.shape[:-1]
        low = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}[e]
        dim = len(shape) - 1

        def reduce(value, start, op):
            init = self.fill(rows, e, start)
            name = self.new()
            self.lines.append(f"  {name} = linalg.reduce ins({value.name} : {value.type}) outs({init.name} : {init.type}) "
                              f"dimensions = [{dim}]\n    (%in: {e}, %acc: {e}) {{\n      %y = {op} %in, %acc : {e}\n"
                              f"      linalg.yield %y : {e}\n    }}")
            result, empty = Value(name, rows, e), self.empty(shape, e)
            wide = self.new()
            self.lines.append(f"  {wide} = linalg.broadcast ins({result.name} : {result.type}) "
                              f"outs({empty.name} : {empty.type}) dimensions = [{dim}]")
            return Value(wide, shape, e)

        def apply(name, *operands):
            values, types = ", ".join(value.name for value in operands), ", ".join(value.type for value in operands)
            if kind == "arith":
                op = {"sub": "arith.subf", "exp": "math.exp", "div": "arith.divf"}[name]
                return self.emit(f"{op} {values} : {operands[0].type}", shape, e)
            empty = self.empty(shape, e)
            if kind == "elementwise":
                return self.emit(f"linalg.{name} ins({values} : {types}) outs({empty.name} : {empty.type}) -> {empty.type}",
                                 shape, e)
            op = {"sub": "arith.subf", "exp": "math.exp", "div": "arith.divf"}[name]
            arguments = ", ".join(f"%in{i}: {e}" for i in range(len(operands)))
            inputs = ", ".join(f"%in{i}" for i in range(len(operands)))
            result = self.new()
            self.lines.append(f"  {result} = linalg.map ins({values} : {types}) outs({empty.name} : {empty.type})\n"
                              f"    ({arguments}, %init: {e}) {{\n      %y = {op} {inputs} : {e}\n      linalg.yield %y : {e}\n    }}")
            return Value(result, shape, e)

        powers = apply("exp", apply("sub", scores, reduce(scores, low, "arith.maximumf")))
        return apply("div", powers, reduce(powers, "0.0", "arith.addf"))

    def write(self):
        choice = self.choice
        value_size = E if self.number % 2 else D
        q = self.operand("query", H, M, D)
        k = self.repeat(self.operand("key", H // self.groups, self.keys, D))
        v = self.repeat(self.operand("value", H // self.groups, self.keys, value_size))
        if choice["scale"] in ("query", "both"):
            q = self.scaled_operand(q, "0.5")
        if choice["scale"] in ("key", "both"):
            k = self.scaled_operand(k, "0.75")
        if choice["heads"] == "grouped":
            if choice["contraction"] == "direct":
                q = self.transpose(q, [self.order.index(letter) for letter in "bhsd"])
                k = self.transpose(k, [self.order.index(letter) for letter in "bhsd"])
                v = self.transpose(v, [self.order.index(letter) for letter in "bhsd"])
            q = self.reshape(q, self.lead + [M, D], "[[0], [1, 2], [3], [4]]")
        scores = self.multiply(q, k, False)
        if scores.element != "f32" and self.number % 2:
            scores = self.cast(scores, "f32")
        weights = self.softmaxed(self.masked(self.biased(self.capped(self.scaled(scores)))))
        weights = self.cast(weights, v.element)
        result = self.cast(self.multiply(weights, v, True), self.dtype)
        if choice["heads"] == "grouped":
            result = self.reshape(result, [B, H, M, value_size], "[[0], [1, 2], [3], [4]]")
        if choice["layout"].endswith("flat"):
            result = self.reshape(self.transpose(result, [0, 2, 1, 3]), [B, M, H * value_size], "[[0], [1], [2, 3]]")
        else:
            result = self.transpose(result, ["bhsd".index(letter) for letter in self.order])
        arguments = ", ".join(f"{value.name}: {value.element if getattr(value, 'is_scalar', False) else value.type}"
                              for value in self.arguments)
        print("// " + " ".join(f"{axis}={value}" for axis, value in choice.items()))
        print(f"func.func @case_{self.number}({arguments}) -> {result.type} {{")
        print("\n".join(self.lines))
        print(f"  return {result.name} : {result.type}\n}}")


def main(seed, count):
    generator = random.Random(seed)
    choices = []
    for axis, values in AXES.items():
        for value in values:
            choices.append({other: value if other == axis else generator.choice(options) for other, options in AXES.items()})
    while len(choices) < count:
        choices.append({axis: generator.choice(options) for axis, options in AXES.items()})
    for number, choice in enumerate(choices[:count] if count else choices):
        Case(choice, number).write()


main(int(sys.argv[1]), int(sys.argv[2]))
