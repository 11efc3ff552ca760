// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test-check-layer fails where a layer of the compiler speaks the dialects of
// another one. What each may speak, in kernels and on the host side, is written
// in listLayers and nowhere else.

#include "TestPasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <vector>

using namespace mlir;

using Dialects = std::vector<StringRef>;

namespace {
/// What may stand on one side of a layer.
struct Side {
  /// Dialects of ops, with their attributes and types.
  Dialects ops;
  /// Dialects of which only attributes and types may be there.
  Dialects marks = {};
};

struct Layer {
  /// The dialect that makes the layer: without it, nothing was checked.
  StringRef speaks;
  /// Inside of gpu.module, and outside of it.
  Side kernel, host;
};
} // namespace

/// DESIGN.md §2, layer by layer.
static std::map<StringRef, Layer> listLayers() {
  // The host side is the same from tiles to binaries: it computes sizes,
  // allocates, makes tensor maps and launches. The target stands on the module.
  Side host = {{"arith", "bufferization", "cf", "func", "gpu", "memref",
                "nvgpu", "scf", "tensor"},
               {"launch", "tile"}};
  Side linkedHost = host;
  llvm::append_range(linkedHost.marks, Dialects{"llvm", "nvvm", "rocdl"});
  // How a kernel is launched stands on it to the end; how many workgroups an SM
  // holds, until it is in LLVM dialect.
  return {
      {"tensors",
       {"attn",
        {},
        {{"arith", "attn", "cf", "func", "math", "scf", "tensor"},
         {"schedule"}}}},
      {"tile",
       {"tile",
        {{"arith", "gpu", "math", "memref", "scf", "tile"}, {"launch"}},
        host}},
      {"gpu-nvidia",
       {"gpu",
        {{"arith", "gpu", "llvm", "math", "memref", "nvgpu", "nvvm", "scf",
          "vector", "wgmma"},
         {"launch", "tile"}},
        host}},
      {"gpu-amd",
       {"gpu",
        {{"amdgpu", "arith", "gpu", "llvm", "math", "memref", "rocdl", "scf",
          "vector"},
         {"launch", "tile"}},
        host}},
      {"llvm-nvidia",
       {"llvm", {{"llvm", "nvvm", "wgmma"}, {"gpu", "launch"}}, host}},
      {"llvm-amd", {"llvm", {{"llvm", "rocdl"}, {"gpu", "launch"}}, host}},
      {"binary", {"gpu", {}, linkedHost}},
  };
}

namespace {
struct TestCheckLayer : PassWrapper<TestCheckLayer, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestCheckLayer)

  TestCheckLayer() = default;
  TestCheckLayer(const TestCheckLayer &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-check-layer"; }
  StringRef getDescription() const override {
    return "Fails where a layer speaks the dialects of another";
  }

  void runOnOperation() override {
    reported.clear();
    seen.clear();
    std::map<StringRef, Layer> layers = listLayers();
    auto found = layers.find(name);
    if (found == layers.end()) {
      emitError(getOperation().getLoc())
          << "expects the name of a layer, but got '" << name << "'";
      return signalPassFailure();
    }
    const Layer &layer = found->second;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // What the kernels were made from is kept as a module of its own.
      if (op->hasAttr("attune.source"))
        return WalkResult::skip();
      if (op->getParentOfType<gpu::GPUModuleOp>())
        check(op, "kernel", layer.kernel);
      else
        check(op, "host", layer.host);
      return WalkResult::advance();
    });
    StringRef side = layer.kernel.ops.empty() ? "host" : "kernel";
    if (!seen.contains((side + " op of " + layer.speaks).str()))
      fail(getOperation(), "expects ops of '" + layer.speaks + "' on the " +
                               side + " side of layer '" + name +
                               "', but got none");
  }

private:
  void fail(Operation *op, const Twine &message) {
    signalPassFailure();
    if (reported.insert(message.str()).second)
      op->emitError(message);
  }

  void check(Operation *op, StringRef side, const Side &legal) {
    auto expectLegal = [&](StringRef dialect, ArrayRef<StringRef> more,
                           const Twine &what) {
      seen.insert((side + dialect).str());
      if (dialect == "builtin" || llvm::is_contained(legal.ops, dialect) ||
          llvm::is_contained(more, dialect))
        return;
      fail(op, "expects only " + llvm::join(legal.ops, ", ") + " on the " +
                   side + " side of layer '" + name + "', but got " + what);
    };
    std::string opName = ("'" + op->getName().getStringRef() + "'").str();
    StringRef ownDialect = op->getName().getDialectNamespace();
    seen.insert((side + " op of " + ownDialect).str());
    expectLegal(ownDialect, {}, opName);

    const Dialects &marks = legal.marks;
    AttrTypeWalker walker;
    walker.addWalk([&](Attribute attr) {
      StringRef dialect = attr.getDialect().getNamespace();
      expectLegal(dialect, marks,
                  "an attribute of '" + dialect + "' on " + opName);
    });
    walker.addWalk([&](Type type) {
      StringRef dialect = type.getDialect().getNamespace();
      expectLegal(dialect, marks, "a type of '" + dialect + "' on " + opName);
    });
    walker.walk(op->getAttrDictionary());
    for (NamedAttribute attr : op->getDiscardableAttrs())
      if (Dialect *dialect = attr.getNameDialect())
        expectLegal(dialect->getNamespace(), marks,
                    "'" + attr.getName().strref() + "' on " + opName);
    for (Type type : op->getResultTypes())
      walker.walk(type);
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        walker.walk(type);
  }

  Option<std::string> name{*this, "name", llvm::cl::desc("Name of the layer.")};
  /// Messages, and sides with dialects on them.
  llvm::StringSet<> reported, seen;
};
} // namespace

void attune::test::registerTestCheckLayerPass() {
  PassRegistration<TestCheckLayer>();
}
