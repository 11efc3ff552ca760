# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares functions before and after a pass by numbers.
#   driver.py main <file>            the module with a main that runs each function and prints its results;
#                                    the sizes of `?` are in the comments of the file: // sizes: 2 3 ...
#   driver.py compare <a> <b> <tol>  what two such programs have printed
import re
import sys

SIGNATURE = re.compile(r"func\.func @(\w+)\((.*?)\)\s*->\s*\(?((?:tensor<[^>]*>(?:,\s*)?)+)", re.S)
RESULT = re.compile(r"tensor<[^>]*>")
ARGUMENT = re.compile(r"%\w+\s*:\s*([^,%]*(?:<[^>]*>)?)")


def parse(tensor):
    *sizes, element = re.fullmatch(r"tensor<(.*)>", tensor).group(1).split("x")
    return sizes, element


def fill(number, tensor, unknown):
    """Text that makes %a<number> of small numbers that look random."""
    sizes, element = parse(tensor)
    known = [unknown if size == "?" else int(size) for size in sizes]
    static = "tensor<" + "".join(f"{size}x" for size in known) + element + ">"
    lines, terms = [], []
    body = []
    for dim in range(len(known)):
        body.append(f"      %f{dim} = arith.constant {[7, 13, 5, 11, 3, 17][dim]} : index")
        body.append(f"      %t{dim} = arith.muli %i{dim}, %f{dim} : index")
        terms.append(f"%t{dim}")
    body.append(f"      %seed = arith.constant {number * 5 + 1} : index")
    total = "%seed"
    for dim, term in enumerate(terms):
        body.append(f"      %s{dim} = arith.addi {total}, {term} : index")
        total = f"%s{dim}"
    body.append("      %square = arith.muli {0}, {0} : index".format(total))
    body.append("      %modulus = arith.constant 23 : index")
    body.append("      %rest = arith.remui %square, %modulus : index")
    if element == "i1":
        # The first key is visible, so that no row is empty.
        last = f"%i{len(known) - 1}"
        body.append("      %limit = arith.constant 12 : index")
        body.append("      %zero = arith.constant 0 : index")
        body.append(f"      %first = arith.cmpi eq, {last}, %zero : index")
        body.append("      %low = arith.cmpi ult, %rest, %limit : index")
        body.append("      %x = arith.ori %first, %low : i1")
    elif element.startswith("i"):
        body.append("      %two = arith.constant 2 : index")
        body.append("      %bit = arith.remui %rest, %two : index")
        cast = f"arith.index_cast %bit : index to {element}"
        body.append(f"      %x = {cast}")
    else:
        body.append("      %middle = arith.constant 11 : index")
        body.append("      %centred = arith.subi %rest, %middle : index")
        body.append("      %int = arith.index_cast %centred : index to i32")
        body.append("      %float = arith.sitofp %int : i32 to f32")
        body.append("      %eighth = arith.constant 0.125 : f32")
        body.append("      %y = arith.mulf %float, %eighth : f32")
        body.append("      %x = arith.truncf %y : f32 to " + element if element != "f32" else
                    "      %none = arith.constant 0.0 : f32\n      %x = arith.addf %y, %none : f32")
    indices = ", ".join(f"%i{dim}: index" for dim in range(len(known)))
    lines.append(f"    %g{number} = tensor.generate {{\n    ^bb0({indices}):")
    lines += body
    lines.append(f"      tensor.yield %x : {element}\n    }} : {static}")
    if static == tensor:
        return "\n".join(lines).replace(f"%g{number} =", f"%a{number} ="), f"%a{number}"
    lines.append(f"    %a{number} = tensor.cast %g{number} : {static} to {tensor}")
    return "\n".join(lines), f"%a{number}"


def print_result(number, result):
    sizes, element = parse(result)
    wide = result
    lines = []
    if element != "f32":
        wide = "tensor<" + "".join(f"{size}x" for size in sizes) + "f32>"
        lines.append(f"    %w{number} = arith.extf %r#{number} : {result} to {wide}")
    value = f"%r#{number}" if element == "f32" else f"%w{number}"
    lines.append(f"    %u{number} = tensor.cast {value} : {wide} to tensor<*xf32>")
    lines.append(f"    call @printMemrefF32(%u{number}) : (tensor<*xf32>) -> ()")
    return "\n".join(lines)


def write_main(path):
    text = open(path, encoding="utf-8").read()
    # What follows belongs into the module that a tool has printed.
    text = re.sub(r"^module \{\n(.*)^\}\n", r"\1", text, flags=re.S | re.M)
    unknown = int((re.search(r"// unknown sizes: (\d+)", text) or [0, 6])[1])
    print(text)
    print("func.func private @printMemrefF32(tensor<*xf32>)")
    calls = []
    for name, arguments, result in SIGNATURE.findall(text):
        types = [match.strip() for match in ARGUMENT.findall(arguments)]
        print(f"func.func @run_{name}() {{")
        names = []
        for number, kind in enumerate(types):
            if kind.startswith("tensor"):
                filled, value = fill(number, kind, unknown)
                print(filled)
            else:
                value = f"%a{number}"
                print(f"    {value} = arith.constant 0.3125 : {kind}")
            names.append(value)
        results = RESULT.findall(result)
        print(f"    %r:{len(results)} = call @{name}({', '.join(names)}) : ({', '.join(types)}) -> ({', '.join(results)})")
        for number, kind in enumerate(results):
            print(print_result(number, kind))
        print("    return\n}")
        calls.append(name)
    print("func.func @main() {")
    for name in calls:
        print(f"  call @run_{name}() : () -> ()")
    print("  return\n}")


def read(path):
    tensors = []
    for part in open(path, encoding="utf-8").read().split("Unranked Memref")[1:]:
        tensors.append([float(number) for number in re.findall(r"-?(?:\d[\d.e+-]*|nan|inf)", part.split("data =")[1])])
    return tensors


def compare(first, second, tolerance):
    a, b = read(first), read(second)
    if len(a) != len(b) or not a:
        sys.exit(f"{len(a)} and {len(b)} results")
    wrong = 0
    for number, (x, y) in enumerate(zip(a, b)):
        # A number that is none is equal to nothing.
        far = max((abs(p - q) if p == p and q == q else 1e9) for p, q in zip(x, y)) if len(x) == len(y) and x else 1e9
        if not far <= tolerance or max(map(abs, x)) == 0:
            wrong += 1
            print(f"result {number} is off by {far}")
    print(f"{len(a)} results compared, {wrong} differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1] == "main":
        write_main(sys.argv[2])
    else:
        compare(sys.argv[2], sys.argv[3], float(sys.argv[4]))
