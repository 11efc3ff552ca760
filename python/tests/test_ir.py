# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that are built op by op: what they mean, what is refused, and how long they live."""

import gc
import importlib
import pathlib
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import make_inputs, reference

import attune_mlir as attune
from attune_mlir import _devices, _frameworks, ir
from attune_mlir.dialects import arith, attn, func, linalg, math, scf, tensor, tile, wgmma
from attune_mlir.ir import (
    ArrayAttr,
    Attribute,
    Context,
    DenseElementsAttr,
    DictAttr,
    F16Type,
    F32Type,
    FloatAttr,
    FunctionType,
    IndexType,
    InsertionPoint,
    IntegerAttr,
    IntegerType,
    Location,
    Module,
    Operation,
    RankedTensorType,
    StringAttr,
    Type,
    TypeAttr,
    UnitAttr,
)

DOCS = pathlib.Path(__file__).parents[2] / "docs" / "generated"
#: One with warpgroups, which a score region is compiled for in several ways.
CHIP = next(chip.name for chip in attune.chips() if chip.family == "Hopper")
ERASED = "expects an operation of a module, but got one that was erased"
TWO_CONTEXTS = "expects operations, types, attributes and locations of one context, but got those of two"


@pytest.fixture
def context():
    with Context() as context:
        yield context


@pytest.fixture
def module(context):
    module = Module.create()
    with InsertionPoint(module.body):
        yield module


def build_attention(heads, causal="#attn.causal<bottom_right>"):
    """A function of attention, without regions, and the op."""
    function = func.FuncOp("attention", FunctionType.get([heads] * 3, [heads]))
    with InsertionPoint(function.body.blocks.append(heads, heads, heads)) as here:
        op = attn.AttentionOp(None, None, *here.block.arguments, causal=causal)
        func.return_([op.result])
    return op


def build_constant(value=1.0):
    return arith.constant(FloatAttr.get(F32Type.get(), value))


def run(module, q, k, v):
    """The result of a module's function, of attention of b x h x s x d, by the executor of the chip's kernel."""
    device = _devices.get_device("cpu", 0, CHIP)
    out = np.zeros((*q.shape[:3], v.shape[3]), dtype=q.dtype)
    tensors = [_frameworks.make_tensor(array, "array", writable=array is out) for array in (q, k, v, out)]
    _devices.run(device, device.get_module_kernel(module), tensors, out, None)
    return out


def test_attention(module):
    """A score region, and a causal mask as an attribute: against NumPy."""
    op = build_attention(RankedTensorType.get([1, 2, None, 64], F16Type.get()))
    f32, index = F32Type.get(), IndexType.get()
    with InsertionPoint(op.score.blocks.append(f32, index, index, index, index)) as here:
        score, _, _, _, key = here.block.arguments
        is_first = arith.cmpi(arith.CmpIPredicate.ult, key, arith.constant(IntegerAttr.get(index, 16)))
        half = arith.mulf(score, arith.constant(FloatAttr.get(f32, 0.5)))
        attn.yield_(arith.select(is_first, half, score))
    assert module.operation.verify()
    q, k, v = make_inputs(seq_q=40, seq_k=50, layout="bhsd")
    changed = k.copy()
    changed[:, :, :16] *= np.float16(0.5)  # exact, and linear in the key
    expected, _ = reference(q, changed, v, causal=True, layout="bhsd")
    np.testing.assert_allclose(run(module, q, k, v), expected, atol=3e-3)
    # The same as of the text.
    text = str(module)
    assert "score (%s, %b, %h, %m, %n)" in text and str(attune.parse(text)) == text
    np.testing.assert_array_equal(run(module, q, k, v), run(attune.parse(text), q, k, v))


def test_mask_region(module):
    op = build_attention(RankedTensorType.get([1, 2, 40, 64], F16Type.get()), causal=None)
    with InsertionPoint(op.mask.blocks.append(*[IndexType.get()] * 4)) as here:
        attn.yield_(arith.cmpi(arith.CmpIPredicate.sle, here.block.arguments[3], here.block.arguments[2]))
    q, k, v = make_inputs(layout="bhsd")
    expected, _ = reference(q, k, v, causal=True, layout="bhsd")
    np.testing.assert_allclose(run(module, q, k, v), expected, atol=3e-3)


def test_walk(module):
    """What was built has its classes, and each op the line that built it."""
    op = build_attention(RankedTensorType.get([1, 2, 40, 64], F16Type.get()))
    assert [type(found) for found in module.walk()] == [Operation, func.FuncOp, attn.AttentionOp, func.ReturnOp]
    (found,) = module.walk("attn.attention")
    assert found == op and found.operation == op.operation.opview and hash(found) == hash(op) and found != module.operation
    assert found.query == found.operands[0] and found.lse is None and str(found.causal) == "#attn.causal<bottom_right>"
    assert found.order.value == "bhsd" and found.context == module.context
    assert found.location.filename == __file__ and found.location.start_line == build_attention.__code__.co_firstlineno + 4
    assert list(found.regions[0]) == [] and len(found.regions) == 2 and found.regions[0].owner == found
    assert isinstance(op.operation.results, ir.OpResultList) and op.result.result_number == 0 and op.query.arg_number == 0
    erased = []
    for operation in module.walk():
        if operation.name == "func.func":
            operation.erase()
        erased.append(operation)
    assert len(erased) == 2 and [found.name for found in module.walk()] == ["builtin.module"]


def test_every_operation_has_a_builder():
    for page, dialect in (("AttnDialect", attn), ("TileDialect", tile), ("WGMMADialect", wgmma)):
        listed = set(re.findall(r"^### `([a-z]+\.[a-z_0-9]+)` \(", (DOCS / f"{page}.md").read_text(encoding="utf-8"), flags=re.MULTILINE))
        built = {view.OPERATION_NAME: view for view in vars(dialect).values() if hasattr(view, "OPERATION_NAME")}
        assert listed and built.keys() == listed, page
    assert "heads" in attn.AttentionOp.__doc__ and "**Errors**" in attn.MergeOp.__doc__


def test_upstream_dialects(module):
    """Operations of each upstream dialect, inferred and given types, variadic operands and regions."""
    f32, index = F32Type.get(), IndexType.get()
    kind = RankedTensorType.get([4, None], f32)
    function = func.FuncOp("f", FunctionType.get([kind, index], [kind]))
    with InsertionPoint(function.body.blocks.append(kind, index)) as here:
        x, n = here.block.arguments
        zero, one = (arith.constant(IntegerAttr.get(index, number)) for number in (0, 1))
        first = math.exp(tensor.extract(x, [zero, zero]))
        loop = scf.ForOp([kind], zero, n, one, [x])
        with InsertionPoint(loop.region.blocks.append(index, kind)) as inner:
            column, carried = inner.block.arguments
            scf.yield_([tensor.insert(first, carried, [zero, column])])
        empty = tensor.empty(kind, [tensor.dim(x, one)])
        identity = "affine_map<(d0, d1) -> (d0, d1)>"
        parallel = "#linalg.iterator_type<parallel>"
        generic = linalg.GenericOp([kind], loop.results_, [empty], f"[{identity}, {identity}]", f"[{parallel}, {parallel}]")
        with InsertionPoint(generic.regions[0].blocks.append(f32, f32)) as inner:
            linalg.yield_([arith.mulf(*[inner.block.arguments[0]] * 2)])
        func.return_(generic)
    square = RankedTensorType.get([8, 8], f32)
    function = func.FuncOp("g", FunctionType.get([square] * 3, [square]))
    with InsertionPoint(function.body.blocks.append(*[square] * 3)) as here:
        a, b, c = here.block.arguments
        product = linalg.MatmulOp([square], [a, b], [c])
        with InsertionPoint(product.regions[0].blocks.append(f32, f32, f32)) as inner:
            x, y, total = inner.block.arguments
            linalg.yield_([arith.addf(total, arith.mulf(x, y))])
        func.return_([product.results[0]])
    assert module.operation.verify()
    assert str(attune.parse(str(module))) == str(module)
    assert "linalg.matmul ins(%arg0, %arg1 :" in str(module)


def test_attributes(context):
    i32, f32 = IntegerType.get_signless(32), F32Type.get()
    assert IntegerAttr.get(i32, -3).value == int(IntegerAttr.get(i32, -3)) == -3 and IntegerAttr.get(i32, 3).type == i32
    assert [FloatAttr.get_f64(number).value for number in (1e-5, -0.0, float("inf"))] == [1e-5, 0, float("inf")]
    assert np.isnan(float(FloatAttr.get(F16Type.get(), float("nan")))) and FloatAttr.get(f32, -float("inf")).value == -float("inf")
    assert StringAttr.get('a"b\\c\nü\0').value == 'a"b\\c\nü\0' and ir.FlatSymbolRefAttr.get("f").value == "f"
    assert TypeAttr.get(f32).value == f32 and UnitAttr.get().value is True and not ir.BoolAttr.get(False)
    assert IntegerAttr.get(IntegerType.get_signless(1), 1) == ir.BoolAttr.get(True)
    array = ArrayAttr.get([UnitAttr.get(), TypeAttr.get(f32)])
    assert len(array) == 2 and array[1] == TypeAttr.get(f32) and next(iter(array)) == UnitAttr.get()
    named = DictAttr.get({"a b": StringAttr.get("x"), "c": array})
    assert list(named) == ["a b", "c"] and named["c"] == array and len(named) == 2
    sizes = ir.DenseI64ArrayAttr.get([1, 2])
    assert list(sizes) == [1, 2] and sizes[1] == 2 and len(ir.DenseI32ArrayAttr.get([])) == 0
    dense = DenseElementsAttr.get(np.arange(6, dtype=np.int32).reshape(2, 3).T)
    assert str(dense) == "dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi32>" and type(dense) is ir.DenseIntElementsAttr
    bits = DenseElementsAttr.get(np.array([0x3F80], dtype=np.uint16), RankedTensorType.get([1], ir.BF16Type.get()))
    assert str(bits) == "dense<1.000000e+00> : tensor<1xbf16>"
    assert Attribute.isinstance(dense) and not UnitAttr.isinstance(dense) and repr(sizes) == "DenseI64ArrayAttr(array<i64: 1, 2>)"
    with pytest.raises(ValueError, match="expects UnitAttr, but got TypeAttr"):
        UnitAttr(TypeAttr.get(f32))
    with pytest.raises(attune.CompileError, match="integer constant out of range"):
        IntegerAttr.get(IntegerType.get_signless(8), 300)
    with pytest.raises(ValueError, match="expects a type of floats, but got IntegerType"):
        FloatAttr.get(i32, 1)
    with pytest.raises(ValueError, match="expects a finite number of type f8E5M2, but got inf"):
        FloatAttr.get(ir.Float8E5M2Type.get(), float("inf"))
    with pytest.raises(ValueError, match=r"expects elements of 8 to 64 bits, floats or integers, but got the format '\?'"):
        DenseElementsAttr.get(np.zeros(3, dtype=bool))
    with pytest.raises(attune.CompileError, match="elements hex data size is invalid"):
        DenseElementsAttr.get(np.zeros(3, dtype=np.float16), RankedTensorType.get([2], f32))
    with pytest.raises(RuntimeError, match="a kind of attributes without a builder, but got 'F32Attr'"):
        ir.register_attribute_builder("F32Attr")(FloatAttr.get_f32)


def test_types(context):
    kind = RankedTensorType.get([2, None, ir.ShapedType.get_dynamic_size()], F16Type.get(), Attribute.parse("#attn.strided<[?, 64, 1]>"))
    assert str(kind) == "tensor<2x?x?xf16, #attn.strided<[?, 64, 1]>>" and kind.rank == 3 and kind.element_type == F16Type.get()
    assert kind.shape[0] == 2 and kind.is_dynamic_dim(1) and str(kind.encoding) == "#attn.strided<[?, 64, 1]>"
    assert RankedTensorType.get([], F16Type.get()).encoding is None and F16Type.get().width == 16
    assert [str(get(8)) for get in (IntegerType.get_signless, IntegerType.get_signed, IntegerType.get_unsigned)] == ["i8", "si8", "ui8"]
    signature = FunctionType.get([kind], [F16Type.get(), IntegerType.get_signless(1)])
    assert signature.inputs == [kind] and [str(result) for result in signature.results] == ["f16", "i1"]
    assert IntegerType.get_signless(7).width == 7 and str(FunctionType.get([], [])) == "() -> ()" and str(ir.NoneType.get()) == "none"
    assert str(ir.VectorType.get([4], F32Type.get())) == "vector<4xf32>"
    assert str(ir.MemRefType.get([None], F32Type.get(), memory_space=Attribute.parse("3 : i64"))) == "memref<?xf32, 3>"
    with pytest.raises(attune.CompileError, match="expected non-function type") as raised:
        Type.parse("tensor<")
    assert raised.value.diagnostics[0].column == 7
    with pytest.raises(attune.CompileError, match="invalid tensor element type"):
        RankedTensorType.get([1], signature)


def test_places(module):
    """Where operations are put, and where they come from."""
    one = build_constant(1).owner
    with Location.name("two", Location.file("mine.py", 3, 4)):
        two = build_constant(2).owner
    three = arith.ConstantOp(FloatAttr.get_f32(3), ip=InsertionPoint(two))
    four = arith.ConstantOp(FloatAttr.get_f32(4), ip=InsertionPoint.at_block_begin(module.body), loc=Location.unknown())
    five = arith.ConstantOp(FloatAttr.get_f32(5), ip=InsertionPoint.at_block_terminator(module.body))
    six = arith.ConstantOp(FloatAttr.get_f32(6), ip=False)
    assert six.block is None and six.parent is None and InsertionPoint(two).ref_operation == two
    module.body.append(six)
    assert list(module.body) == [four, one, three, five, two, six]
    assert str(two.location) == 'loc("two"("mine.py":3:4))' and str(four.location) == "loc(unknown)" and two.location.attr == two.location
    block = ir.Block.create_at_start(func.FuncOp("f", FunctionType.get([], [])).body, [F32Type.get()], [Location.unknown()])
    assert str(block.add_argument(IndexType.get(), Location.file("a", 1, 2)).type) == "index" and len(block.arguments) == 2
    assert 'loc("a":1:2)' in block.owner.print(locations=True) and '"func.func"' in block.owner.print(generic=True)
    second = block.region.blocks.append()
    first = ir.Block.create_at_start(block.region)
    assert list(block.region.blocks[0:]) == list(block.region) == [first, block, second] and block.region[1] == block
    branch = Operation.create("cf.br", successors=[second], ip=InsertionPoint(first))
    assert branch.successors == [second]


def test_changes(module):
    one, two = build_constant(1), build_constant(2)
    total = arith.AddFOp(one, two.owner)
    total.operands[1] = one
    assert list(total.operands) == [one, one] and total.operands != [one, two] and total.operands[-1] == one
    one.replace_all_uses_with(two)
    two.replace_all_uses_with(two)
    assert list(total.operands) == [two, two] and one.uses == [] and sorted(use.operand_number for use in two.uses) == [0, 1]
    total.attributes["test.it"] = UnitAttr.get()
    total.fastmath = "#arith.fastmath<fast>"
    assert (
        str(total.fastmath) == "#arith.fastmath<fast>" and set(total.attributes) == {"fastmath", "test.it"} and len(total.attributes) == 2
    )
    del total.attributes["test.it"], total.attributes["fastmath"]
    assert str(total.fastmath) == "#arith.fastmath<none>"  # the default, without which there is no such operation
    with pytest.raises(KeyError):
        del total.attributes["test.it"]
    with pytest.raises(IndexError):
        total.operands[2] = one


def test_no_context():
    expected = "expects a context, as `with Context\\(\\):` gives one, but got none"
    for make in (
        F32Type.get,
        UnitAttr.get,
        Module.create,
        lambda: ir.DenseI64ArrayAttr.get([1]),
        lambda: Operation.create("builtin.module"),
    ):
        with pytest.raises(ValueError, match=expected):
            make()
    assert Context.current is Location.current is InsertionPoint.current is None
    context = Context()
    assert Type.parse("f32", context).context == context != Context() and Location.unknown(context).context == context


def test_contexts(module):
    """Nothing of another context goes together with a module."""
    other = Module.parse("module {}", Context())
    one, foreign = build_constant(), F32Type.get(other.context)
    function = func.FuncOp("f", FunctionType.get([], []))
    with InsertionPoint(other.body):
        assert Context.current == other.context and Location.current is None
        with Context.current:
            assert InsertionPoint.current.block == other.body
    for make in (
        lambda: arith.addf(one, one, ip=InsertionPoint(other.body)),
        lambda: arith.addf(one, one, loc=Location.unknown(other.context)),
        lambda: module.body.add_argument(foreign),
        lambda: module.body.add_argument(F32Type.get(), Location.unknown(other.context)),
        lambda: Operation.create("arith.constant", [foreign], attributes={"value": FloatAttr.get_f32(1)}),
        lambda: module.operation.attributes.update({"test.x": UnitAttr.get(other.context)}),
        lambda: ArrayAttr.get([UnitAttr.get(), UnitAttr.get(other.context)]),
        lambda: FunctionType.get([F32Type.get(), foreign], []),
    ):
        with pytest.raises(ValueError, match=TWO_CONTEXTS):
            make()
    with other.context, InsertionPoint(other.body):
        theirs = build_constant()
    with pytest.raises(ValueError, match=TWO_CONTEXTS):
        one.replace_all_uses_with(theirs)
    with pytest.raises(ValueError, match="expects types of the operation's context, but got one of another context"):
        function.body.blocks.append(foreign)
    with pytest.raises(RuntimeError, match="expects to leave what was entered last"):
        other.context.__exit__(None, None, None)


def test_operations_that_cannot_be(module):
    """The builder's or the verifier's text, at the line that builds the operation."""
    one, index = build_constant(), arith.constant(IntegerAttr.get(IndexType.get(), 0))
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'type'"):
        arith.addf(None, one)
    with pytest.raises(attune.CompileError, match="'tensor.extract' op operand #0 must be ranked tensor") as raised:
        tensor.extract(one, [index])
    assert raised.value.diagnostics[0].file == __file__
    with pytest.raises(attune.CompileError, match=r"'attn.attention' op operand #0 must be 4D tensor"), Location.file("mine.py", 5, 1):
        attn.attention(None, None, one, one, one)
    tensors = build_attention(RankedTensorType.get([1, 2, 40, 64], F16Type.get())).query
    here = InsertionPoint(tensors.owner)
    with pytest.raises(attune.CompileError, match="expects order to be a permutation of the letters b, h, s and d, but got 'xxxx'"):
        attn.attention(None, None, tensors, tensors, tensors, order="xxxx", ip=here)
    with pytest.raises(TypeError, match="expects all operands and results of 'attn.attention' that are not optional, but got None"):
        attn.attention(None, None, None, tensors, tensors, ip=here)
    with pytest.raises(ValueError, match="expects 'causal' of 'attn.attention' to be an attribute of another kind, but got '1 : i32'"):
        attn.attention(None, None, tensors, tensors, tensors, causal="1 : i32", ip=here)
    with pytest.raises(TypeError, match="expects an attribute, or its text, but got int"):
        attn.attention(None, None, tensors, tensors, tensors, causal=3, ip=here)
    with pytest.raises(TypeError, match="expects a value, or an operation with one result, but got str"):
        math.ExpOp("x", results=[F32Type.get()])
    with pytest.raises(
        ValueError, match="expects 4 results of 'attn.attention_grad', of which those that are not there are \\(\\), but got 1"
    ):
        attn.AttentionGradOp(None, None, None, [], *[tensors] * 6, [], ip=here)
    lse = attn.AttentionOp(None, RankedTensorType.get([1, 2, 40], F32Type.get()), *[tensors] * 3, returnLse=True, ip=here).lse
    with pytest.raises(attune.CompileError, match="op operand #4 must be 3D tensor of 32-bit float values"):
        attn.AttentionGradOp((), tensors.type, (), [], *[tensors] * 6, [], ip=here)
    assert len(attn.AttentionGradOp((), tensors.type, (), [], *[tensors] * 4, lse, tensors, [], ip=here).results) == 1
    for name in ("arith.nothing", "nothing.at_all", "nothing", ""):
        with pytest.raises(ValueError, match=f"expects the name of an operation, but got '{name}'"):
            Operation.create(name)
    with pytest.raises(TypeError, match="expects Type, but got str"):
        Operation.create("arith.constant", ["f32"])
    with pytest.raises(ValueError, match="expects an operation with one result, but got func.return, which has 0"):
        math.exp(next(module.walk("func.return")).operation.result)
    with pytest.raises(attune.CompileError, match="requires attribute 'value'"):
        Operation.create("arith.constant", [F32Type.get()])
    with pytest.raises(attune.CompileError, match="op result #0 must be floating-point-like, but got 'index'"):
        math.ExpOp(one, results=[IndexType.get()])


def test_modules_that_cannot_be(module):
    """What was built is verified before it is written or compiled, but can be printed."""
    op = build_attention(RankedTensorType.get([1, 2, 40, 64], F16Type.get()))
    op.score.blocks.append(F32Type.get())
    for use in (module.operation.verify, module.bytecode, lambda: attune.compile(module, chip=CHIP, cached=False)):
        with pytest.raises(attune.CompileError) as raised:
            use()
        assert raised.value.diagnostics[0].file == __file__
    assert '"attn.attention"' in str(module)
    with pytest.raises(attune.CompileError, match="does not match with the total size"):
        op.attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([100] + [1] * 20)
    with pytest.raises(attune.CompileError, match="requires attribute 'sym_name'"):
        del op.parent.attributes["sym_name"]
    with pytest.raises(ValueError, match="expects 'order' of 'attn.attention' to be an attribute of another kind, but got '1 : i32'"):
        op.order = IntegerAttr.get(IntegerType.get_signless(32), 1)
    assert op.order.value == "bhsd" and '"attn.attention"' in str(op)


def test_erased(module):
    """What Python holds of an erased operation says so."""
    op = build_attention(RankedTensorType.get([1, 2, 40, 64], F16Type.get()))
    function, block, argument, result = op.parent, op.block, op.query, op.result
    with pytest.raises(ValueError, match="expects an operation whose values nobody else uses, but got one with uses"):
        op.erase()
    function.erase()
    assert repr(op) == "<erased operation>" and repr(result) == "<value of an erased operation>" and list(module.body) == []
    one = build_constant()
    for use in (
        *(lambda name=name: getattr(op, name) for name in ("name", "operands", "attributes", "regions", "block", "location", "query")),
        *(lambda name=name: getattr(argument, name) for name in ("type", "owner", "uses")),
        *(lambda name=name: getattr(block, name) for name in ("arguments", "operations", "region", "owner")),
        lambda: op.attributes.update({"test.x": UnitAttr.get()}),
        lambda: math.exp(argument),
        lambda: arith.addf(one, result),
        lambda: build_constant() and arith.addf(one, one, ip=InsertionPoint(block)),
        lambda: one.replace_all_uses_with(result),
        lambda: str(op),
        op.verify,
        op.erase,
        lambda: list(op.walk()),
        lambda: block.add_argument(F32Type.get()),
    ):
        with pytest.raises(ValueError, match=ERASED):
            [*use()] if isinstance(value := use(), (ir.OpOperandList, ir.OpAttributeMap)) else value
    module.operation.erase()
    for use in (
        module.print,
        module.bytecode,
        lambda: list(module.walk()),
        lambda: module.body,
        lambda: attune.compile(module, chip=CHIP),
    ):
        with pytest.raises(ValueError, match=ERASED):
            use()


def test_places_that_cannot_be(module):
    function = func.FuncOp("f", FunctionType.get([], []), ip=False)
    block = function.body.blocks.append(F32Type.get())
    with pytest.raises(ValueError, match="expects a block outside of the operation, but got one within"):
        block.append(function)
    module.body.append(function)
    with pytest.raises(ValueError, match="expects an operation that is in no block, but got one that is"):
        module.body.append(function)
    inner = math.exp(block.arguments[0])
    with pytest.raises(ValueError, match="expects an operation whose values nobody else uses"):
        function.erase()
    with pytest.raises(ValueError, match="expects an operation of the block to insert before, but got one that is elsewhere"):
        where = InsertionPoint(inner.owner)
        where.block = block
        arith.addf(inner, inner, ip=where)
    for ip in (None, False):
        with pytest.raises(ValueError, match="expects successors in the region into which the operation is inserted, but got others"):
            Operation.create("cf.br", successors=[block], ip=ip)
    with pytest.raises(ValueError, match="expects an operation that is in a block to insert before"):
        InsertionPoint(module.operation)
    with pytest.raises(ValueError, match="expects a block with a terminator, but got an empty one"):
        InsertionPoint.at_block_terminator(block)
    with pytest.raises(TypeError, match="expects Block, but got str"):
        InsertionPoint("here")
    with pytest.raises(ValueError, match="expects a location for each of 1 arguments, but got 0"):
        function.body.blocks.append(F32Type.get(), arg_locs=[])
    with pytest.raises(ValueError, match="expects a 'builtin.module', but got another operation"):
        attune._native.Module(function._native)


def test_lifetime():
    """Who holds a value holds the module, and who holds an operation those whose values it takes."""
    with Context(), InsertionPoint(Module.create().body):
        value = build_constant()
        loose = arith.ConstantOp(FloatAttr.get_f32(2), ip=False)
        total = arith.AddFOp(loose, loose, ip=False)
        unused = arith.ConstantOp(FloatAttr.get_f32(3), ip=False)
        del loose
        gc.collect()
        assert total.operands[0].owner.value.value == 2
        attribute, kind = total.fastmath, total.result.type
    del total, unused
    gc.collect()
    assert value.owner.parent.name == "builtin.module" and str(kind) == "f32" and str(attribute) == "#arith.fastmath<none>"


def test_threads(module_text):
    """Each thread has defaults of its own, and one context serves many, one after the other: here some build and one compiles."""
    module, errors = attune.parse(module_text), []

    def build():
        assert Context.current is None
        with module.context:
            for number in range(100):
                module.operation.attributes["test.x"] = IntegerAttr.get(IntegerType.get_signless(32), number)
                with InsertionPoint(Module.create().body):
                    total = arith.addf(*[build_constant(number)] * 2)
                assert list(module.walk())[1].name == "func.func" and total.owner.verify() and module.bytecode()

    def compile():
        for _ in range(5):
            assert attune.compile(module, chip=CHIP, format="llvm", cached=False).kernels

    def work(run):
        try:
            run()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(run,)) for run in (build, build, compile, build)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_passes_ask_that_nothing_is_held(module_text):
    """Passes erase operations, so that they run on copies alone."""
    module = attune.parse(module_text)
    held = list(module.walk())
    with pytest.raises(ValueError, match="expects a module of whose operations none is held"):
        module._native.run("builtin.module(canonicalize)")
    assert attune.run_pipeline(module, "builtin.module(canonicalize)") is not module and held[1].name == "func.func"


def test_beside_upstream(tmp_path):
    """A package of upstream's names is another one, and text goes from one to the other."""
    (tmp_path / "mlir").mkdir()
    (tmp_path / "mlir" / "__init__.py").write_text("")
    (tmp_path / "mlir" / "ir.py").write_text("class Module:\n    def __str__(self): return 'module { func.func private @theirs() }'\n")
    program = "import mlir.ir, attune_mlir.ir as ir; from attune_mlir.dialects import func\n" + (
        "module = ir.Module.parse(str(mlir.ir.Module()), ir.Context())\n"
        "print([op.sym_name.value for op in module.walk('func.func')], not isinstance(module, mlir.ir.Module))"
    )
    environment = {"PYTHONPATH": f"{tmp_path}:{pathlib.Path(attune.__file__).parent.parent}"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == "['theirs'] True\n"


def test_names():
    assert all(getattr(ir, name).__doc__ for name in ir.__all__) and ir.__all__ == sorted(ir.__all__)
    assert importlib.import_module("attune_mlir.dialects.attn") is attn and attune.Operation is ir.Operation
