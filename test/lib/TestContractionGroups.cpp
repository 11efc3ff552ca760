// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test-print-contraction-groups says what is made of the matmuls of a module.

#include "TestPasses.h"
#include "attune/Matmul/ContractionGroup.h"
#include "attune/Matmul/Problem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace attune::matmul;

namespace {
struct TestPrintContractionGroups
    : PassWrapper<TestPrintContractionGroups, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPrintContractionGroups)

  TestPrintContractionGroups() = default;
  TestPrintContractionGroups(const TestPrintContractionGroups &other)
      : PassWrapper(other) {}

  StringRef getArgument() const override {
    return "test-print-contraction-groups";
  }
  StringRef getDescription() const override {
    return "Prints each group of contractions and what it computes";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect>();
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      llvm::outs() << "@" << function.getSymName() << "\n";
      function.walk([&](linalg::LinalgOp op) {
        Mismatch why;
        if (op.getNumReductionLoops() > 0 &&
            failed(matchContraction(op, &why)) && !why.isRefusal)
          op.emitRemark("is left alone: ") << why.reason;
      });
      for (const ContractionGroup &group : findContractionGroups(function))
        printGroup(group);
    }
    warnOfContractionTypes(getOperation());
  }

private:
  void printSize(int64_t size) {
    if (ShapedType::isDynamic(size))
      llvm::outs() << "?";
    else
      llvm::outs() << size;
  }

  void printAccess(StringRef name, const TensorAccess &access) {
    llvm::outs() << "  " << name << " " << access.tensor.getType() << " at (";
    llvm::interleaveComma(access.runs, llvm::outs(), [](const Run &run) {
      if (std::optional<Dim> dim = run.getDim())
        llvm::outs() << attune::matmul::toString(*dim);
      else
        llvm::outs() << run.index;
      if (run.count > 1)
        llvm::outs() << " of " << run.count;
    });
    llvm::outs() << ")";
  }

  void printGroup(const ContractionGroup &group) {
    llvm::outs() << "group";
    for (Dim dim : {Dim::Batch, Dim::M, Dim::N, Dim::K}) {
      llvm::outs() << " " << attune::matmul::toString(dim) << "=";
      printSize(group.getSize(dim));
    }
    if (group.partnerStride)
      llvm::outs() << " partners=" << *group.partnerStride;
    llvm::outs() << "\n";
    printAccess("lhs", group.contractions[0].lhs);
    llvm::outs() << "\n";
    for (const Contraction &contraction : group.contractions) {
      printAccess("rhs", contraction.rhs);
      llvm::outs() << "\n";
    }
    for (const EpilogueOperand &operand : group.operands) {
      printAccess("operand", operand.access);
      llvm::outs() << (operand.ofPartner ? " of partner\n" : "\n");
    }
    for (const TensorAccess &result : group.results) {
      printAccess("result", result);
      llvm::outs() << "\n";
    }
    llvm::outs() << "  ops ";
    llvm::interleaveComma(group.ops, llvm::outs(),
                          [](Operation *op) { llvm::outs() << op->getName(); });
    llvm::outs() << "\n";
    if (!group.stop.empty())
      llvm::outs() << "  stop " << group.stop << "\n";
    printEpilogue(group);
    OwningOpRef<ModuleOp> isolated = isolate(group);
    if (failed(verify(*isolated)) || !isStable(*isolated))
      return signalPassFailure();
    if (isolation)
      llvm::outs() << *isolated << "\n";
    if (!sizes.empty())
      printResized(group);
  }

  void printResized(const ContractionGroup &group) {
    Sizes wanted = getSizes(group);
    for (auto [size, given] : llvm::zip(wanted.sizes, sizes))
      size = given;
    std::string why;
    FailureOr<OwningOpRef<ModuleOp>> resized = resize(group, wanted, why);
    if (failed(resized)) {
      group.getRoot()->emitError() << why;
      return signalPassFailure();
    }
    if (failed(verify(**resized)))
      return signalPassFailure();
    std::vector<ContractionGroup> groups = findContractionGroups(**resized);
    llvm::outs() << llvm::formatv("work {0} FLOP {1} bytes\n",
                                  countFlops(groups[0], wanted).value_or(0),
                                  countBytes(groups[0], wanted).value_or(0))
                 << **resized << "\n";
  }

  /// The epilogue as a function of sums and elements.
  void printEpilogue(const ContractionGroup &group) {
    Location loc = UnknownLoc::get(&getContext());
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    ValueRange arguments = group.getEpilogue().getArguments();
    auto function = func::FuncOp::create(
        builder, loc, "epilogue",
        builder.getFunctionType(
            arguments.getTypes(),
            group.getEpilogue().getTerminator()->getOperandTypes()));
    builder.setInsertionPointToStart(function.addEntryBlock());
    ValueRange values = function.getArguments();
    func::ReturnOp::create(
        builder, loc,
        group.inlineEpilogue(builder, values.take_front(3),
                             values.slice(3, group.accumulators.size()),
                             values.drop_front(3 + group.accumulators.size())));
    if (failed(verify(*module)))
      return signalPassFailure();
    llvm::outs() << function << "\n";
  }

  /// Whether isolating what is isolated changes nothing.
  bool isStable(ModuleOp isolated) {
    auto print = [](ModuleOp module) {
      std::string text;
      llvm::raw_string_ostream(text) << module;
      return text;
    };
    std::vector<ContractionGroup> groups = findContractionGroups(isolated);
    if (groups.size() == 1 && print(*isolate(groups[0])) == print(isolated))
      return true;
    getOperation().emitError("isolating a group twice gives another module:\n")
        << print(isolated);
    return false;
  }

  Option<bool> isolation{*this, "isolate",
                         llvm::cl::desc("Print the isolated module, too."),
                         llvm::cl::init(false)};
  ListOption<int64_t> sizes{
      *this, "sizes",
      llvm::cl::desc("Print it with this batch, m, n and k, too.")};
};

} // namespace

void attune::test::registerTestContractionGroupsPasses() {
  PassRegistration<TestPrintContractionGroups>();
}
