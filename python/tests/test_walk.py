# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is in a module, from Python."""

import gc
import threading

import pytest

import attune_mlir as attune
from attune_mlir import ir


def test_attention(module_text):
    module = attune.parse(module_text, filename="mine.mlir")
    assert [op.name for op in module.walk()] == ["builtin.module", "func.func", "attn.attention", "func.return"]
    (function,) = module.walk("func.func")
    assert function.attributes["sym_name"].value == "attention"
    assert str(function.attributes["function_type"].value) == "(tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16>"
    ((block,),) = (region.blocks for region in function.regions)
    (q,) = block.arguments
    assert str(q.type) == "tensor<1x2x64x64xf16>" and q.owner == block and block.region.owner == block.owner == function
    attention, end = block.operations
    assert list(attention.operands) == [q, q, q] and sorted(q.uses, key=lambda use: use.operand_number) == [
        (attention, number) for number in range(3)
    ]
    assert attention.results == tuple(end.operands) and attention.results[0].owner == attention
    assert "causal" in attention.attributes and "window" not in attention.attributes
    assert (attention.location.filename, attention.location.start_line, attention.location.start_col) == ("mine.mlir", 3, 8)
    assert str(attention.location) == 'loc("mine.mlir":3:8)'
    assert attention.block == block and attention.parent == function and module.operation.parent is module.operation.block is None
    # It outlives the module.
    del module
    gc.collect()
    assert repr(attention) == '<attn.attention at loc("mine.mlir":3:8)>'
    assert repr(q) == "<argument 0 of type tensor<1x2x64x64xf16>>"
    assert repr(attention.results[0]) == "<result 0 of type tensor<1x2x64x64xf16>>"
    assert repr(block) == "<block of 2 operations>" and repr(block.region) == "<region of 1 blocks>"


def test_attributes():
    module = attune.parse("""
module attributes {test.a = 3 : i32, test.b = -1 : si8, test.c = 255 : ui8, test.d = true, test.e = 0.5 : f32, test.f = "text",
                   test.g = [1, "x"], test.h = {k = 2 : index}, test.i = array<i64: 1, 2>, test.j = i32, test.k, test.l = @name,
                   test.m = 1267650600228229401496703205376 : i128} {
} loc("somewhere")
""")
    found = {name.removeprefix("test."): attribute.value for name, attribute in module.operation.attributes.items()}
    expected = {
        "a": 3,
        "b": -1,
        "c": 255,
        "d": True,
        "e": 0.5,
        "f": "text",
        "g": (1, "x"),
        "h": {"k": 2},
        "i": (1, 2),
        "j": ir.Type.parse("i32", module.context),
        "k": True,
    }
    assert found == {**expected, "l": "name", "m": "1267650600228229401496703205376 : i128"}
    location = module.operation.location
    assert str(location) == 'loc("somewhere")' and location.filename is None


def test_blocks():
    """Values and blocks that are used before they are defined."""
    module = attune.parse("""
func.func @f(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^late(%x : i32), ^early
^late(%y: i32):
  return %y : i32
^early:
  cf.br ^late(%x : i32)
}
""")
    (function,) = module.walk("func.func")
    first, late, early = function.regions[0].blocks
    assert first.operations[-1].successors == [late, early] and early.operations[-1].successors == [late]
    c, x = first.arguments
    assert {use.owner.name for use in x.uses} == {"cf.cond_br", "cf.br"} and first.operations[0].operands == [c, x]


def test_what_passes_made(module_text, nvidia):
    """Attributes of our dialects are text."""
    module = attune.run_pipeline(module_text, f"builtin.module(attune-attach-target{{chip={nvidia}}},attune-select-schedule)")
    (attention,) = module.walk("attn.attention")
    assert attention.attributes["schedule"].value.startswith("#schedule.attention<")
    assert module.operation == module.operation


def test_threads(module_text):
    """Modules are walked and written at the same time."""
    module, errors = attune.parse(module_text), []

    def work():
        try:
            for _ in range(20):
                assert [str(op.location) for op in module.walk()]
                module.bytecode()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_invalid():
    with pytest.raises(attune.CompileError):
        attune.parse("func.func @f( {").walk()
