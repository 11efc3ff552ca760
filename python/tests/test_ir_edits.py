# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random edits of modules, while what Python holds goes away in any order: each one is done, or is an error of Python."""

import gc
import random

import pytest

from attune_mlir.dialects import arith, func
from attune_mlir.ir import Context, F32Type, FloatAttr, FunctionType, InsertionPoint, Module, Operation


class Editor:
    """Modules of one context, and some of what is in them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.f32 = F32Type.get()
        modules = [Module.create() for _ in range(2)]
        self.values, self.operations, self.blocks = [], [], [module.body for module in modules]

    def edit(self):
        edits = (self.build, self.build, self.build, self.branch, self.erase, self.move, self.replace, self.look, self.forget, self.forget)
        self.random.choice(edits)()

    def choose_point(self):
        return False if self.random.random() < 0.3 else InsertionPoint(self.random.choice(self.blocks))

    def build(self):
        value = arith.constant(FloatAttr.get(self.f32, 1), ip=self.choose_point())
        total = arith.addf(value, self.random.choice([*self.values, value]), ip=self.choose_point())
        self.values += [value, total]
        self.operations += [value.owner, total.owner]

    def branch(self):
        function = func.FuncOp("f", FunctionType.get([self.f32], []), ip=self.choose_point())
        first, second = (function.body.blocks.append(self.f32) for _ in range(2))
        branch = Operation.create("cf.br", operands=[self.random.choice(self.values)], successors=[second], ip=InsertionPoint(first))
        self.operations += [function, branch]
        self.blocks += [first, second]
        self.values += [*first.arguments, *second.arguments]

    def erase(self):
        self.random.choice(self.operations).erase()

    def move(self):
        self.random.choice(self.blocks).append(self.random.choice(self.operations))

    def replace(self):
        self.random.choice(self.values).replace_all_uses_with(self.random.choice(self.values))
        self.random.choice(self.operations).operands[-1] = self.random.choice(self.values)

    def look(self):
        value, operation = self.random.choice(self.values), self.random.choice(self.operations)
        assert repr(value) and repr(operation)
        assert str(value.type) == "f32" and all(use.owner.operands[use.operand_number] == value for use in value.uses)
        assert str(operation) and operation in [*operation.block] and operation.verify()

    def forget(self):
        held = self.random.choice((self.values, self.operations, self.blocks))
        held.pop(self.random.randrange(len(held)))


@pytest.mark.parametrize("seed", range(20))
def test_edits(seed):
    done = 0
    with Context():
        editor = Editor(seed)
        for _ in range(300):
            try:
                editor.edit()
                done += 1
            except (ValueError, TypeError, IndexError):  # erased, used, elsewhere, within itself, nothing left
                pass
    assert done > 30
    del editor
    gc.collect()
