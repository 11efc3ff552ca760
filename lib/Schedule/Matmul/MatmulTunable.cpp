// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contractions of linalg as ops that can be tuned. Of those that become one
// kernel the first has the schedule, and is the one that is tunable.

#include "MatmulTunable.h"
#include "attune/Matmul/Passes.h"
#include "attune/Matmul/Problem.h"
#include "attune/Schedule/Matmul/Legality.h"
#include "attune/Schedule/Matmul/Register.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace attune;
using matmul::ContractionGroup;
using matmul::Dim;
using schedule::MatmulAttr;

std::optional<ContractionGroup> attune::findMatmul(Operation *op) {
  // Cheaper than all groups of a block, which has many ops that are none.
  if (!op->getBlock() || failed(matmul::matchContraction(op)))
    return std::nullopt;
  for (ContractionGroup &group : matmul::findContractionGroups(*op->getBlock()))
    if (group.contractions.front().op == op)
      return std::move(group);
  return std::nullopt;
}

/// The group of an op that is known to be the first of one.
static ContractionGroup getMatmul(Operation *op) {
  std::optional<ContractionGroup> group = findMatmul(op);
  assert(group && "expects the first contraction of a group");
  return std::move(*group);
}

/// `sizes` are those of dynamic dimensions.
static MatmulProblem getProblem(Operation *op, const SizeMap &sizes = {}) {
  MatmulProblem problem = MatmulProblem::get(getMatmul(op));
  for (auto [size, info] :
       llvm::zip_equal(problem.sizes.sizes, MatmulAttr::getSet().sizes))
    if (auto given = sizes.find(info.name.str());
        ShapedType::isDynamic(size) && given != sizes.end())
      size = given->second;
  return problem;
}

LogicalResult attune::checkMatmulSchedule(Operation *op) {
  Attribute schedule = op->getAttr(kMatmulScheduleName);
  if (!schedule)
    return success();
  matmul::Mismatch why;
  if (failed(matmul::matchContraction(op, &why)))
    return op->emitOpError()
           << "has '" << kMatmulScheduleName << "' and " << why.reason;
  if (!findMatmul(op))
    return op->emitOpError() << "expects '" << kMatmulScheduleName
                             << "' on the first contraction of a kernel alone";
  if (!isa<MatmulAttr>(schedule))
    return op->emitOpError()
           << "expects '" << kMatmulScheduleName
           << "' to be a '#schedule.matmul', but got " << schedule;
  return success();
}

void attune::describeMatmulInputs(const ContractionGroup &group,
                                  InputNotes &notes) {
  auto note = [&](const matmul::TensorAccess &access) {
    for (const matmul::Run &run : access.runs)
      if (std::optional<Dim> dim = run.getDim(); dim && run.count == 1)
        notes.noteSize(access.tensor, run.first, static_cast<size_t>(*dim));
    // Whose sums any order of additions gets right.
    InputTransform integers;
    integers.isInteger = true;
    notes.noteClass(access.tensor, "integers", integers);
  };
  for (const matmul::Contraction &contraction : group.contractions) {
    note(contraction.lhs);
    note(contraction.rhs);
  }
  for (const matmul::EpilogueOperand &operand : group.operands)
    note(operand.access);
}

namespace {
class Model : public CostModel {
public:
  Model(MatmulProblem problem, tile::TargetAttr target)
      : problem(std::move(problem)), target(target) {}

  double predict(const std::function<int64_t(size_t)> &read,
                 const ReportedUsage *reported) const override {
    return predictTime(problem, MatmulKnobs(read), target, reported);
  }

private:
  MatmulProblem problem;
  tile::TargetAttr target;
};

template <typename OpT>
struct MatmulTunable
    : TunableOpInterface::ExternalModel<MatmulTunable<OpT>, OpT> {
  bool isTunable(Operation *op) const { return findMatmul(op).has_value(); }
  LogicalResult verifySchedule(Operation *op) const {
    return checkMatmulSchedule(op);
  }
  const KnobSet &getKnobSet(Operation *) const { return MatmulAttr::getSet(); }
  ScheduleAttrInterface getSchedule(Operation *op) const {
    return op->getAttrOfType<MatmulAttr>(kMatmulScheduleName);
  }
  void setSchedule(Operation *op, ScheduleAttrInterface schedule) const {
    if (schedule)
      op->setAttr(kMatmulScheduleName, cast<MatmulAttr>(schedule));
    else
      op->removeAttr(kMatmulScheduleName);
  }

  ScheduleRules getRules(Operation *op, tile::TargetAttr target) const {
    auto problem = std::make_shared<MatmulProblem>(getProblem(op));
    return {[=](const KnobReader &read) {
              return checkLegal(*problem, MatmulKnobs(read), target);
            },
            [=](const KnobReader &read) {
              return checkWorthTrying(*problem, MatmulKnobs(read), target);
            }};
  }
  ScheduleAttrInterface selectSchedule(Operation *op, tile::TargetAttr target,
                                       const SizeMap &sizes) const {
    return attune::selectSchedule(getProblem(op, sizes), target);
  }
  std::unique_ptr<CostModel> createCostModel(Operation *op,
                                             tile::TargetAttr target,
                                             const SizeMap &sizes) const {
    return std::make_unique<Model>(getProblem(op, sizes), target);
  }

  OwningOpRef<ModuleOp> isolate(Operation *op) const {
    return matmul::isolate(getMatmul(op));
  }
  std::string describeKind(Operation *op) const {
    return describeMatmulKind(getMatmul(op));
  }
  /// By the ratios of sizes and, among equals, of the batch.
  SmallVector<double> getDistance(Operation *op,
                                  TunableOpInterface other) const {
    SmallVector<int64_t> left = getSizes(op), right = other.getSizes();
    SmallVector<double> distances;
    for (auto [a, b] : llvm::zip_equal(left, right))
      distances.push_back(compareSizes(a, b));
    double batch = distances.front();
    return {distances[1] + distances[2] + distances[3], batch};
  }
  SmallVector<int64_t> getSizes(Operation *op) const {
    return llvm::to_vector(
        ArrayRef<int64_t>(matmul::getSizes(getMatmul(op)).sizes));
  }
  ProblemSizes shrink(Operation *op, const ProblemSizes &sizes) const {
    return shrinkMatmul(getMatmul(op), cast<MatmulAttr>(getSchedule(op)),
                        sizes);
  }

  Work getWork(Operation *op, ArrayRef<int64_t> given) const {
    matmul::Sizes sizes;
    llvm::copy(given, sizes.sizes.begin());
    ContractionGroup group = getMatmul(op);
    Work work;
    work.flops = matmul::countFlops(group, sizes).value_or(0);
    work.bytes = matmul::countBytes(group, sizes).value_or(0);
    return work;
  }
  void describeInputs(Operation *op, InputNotes &notes) const {
    describeMatmulInputs(getMatmul(op), notes);
  }
  ArrayRef<InputClass> getInputClasses(Operation *) const {
    static constexpr InputClass classes[] = {
        {"normal", "numbers of mean 0 and variance 1"},
        // Not a bit may be lost, however small.
        {"integers", "integers from -2 to 2, whose sums are exact"}};
    return classes;
  }
  void buildReference(Operation *, OpPassManager &pm, ReferenceRun run) const {
    matmul::ConvertMatmulToLoopsPassOptions loops;
    loops.output = run == ReferenceRun::Exact ? matmul::ReferenceOutput::Values
                                              : matmul::ReferenceOutput::Bounds;
    pm.addNestedPass<func::FuncOp>(
        matmul::createConvertMatmulToLoopsPass(loops));
  }
  std::optional<ResultCheckRule> getCheckRule(Operation *op,
                                              Value value) const {
    if (value.getDefiningOp() != getMatmul(op).getRoot())
      return std::nullopt;
    return ResultCheckRule{
        "", [](std::vector<float> exact, ArrayRef<float> bound) {
          return makeBoundedReference(std::move(exact), bound.vec());
        }};
  }
};
} // namespace

void attune::registerMatmulTunable(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    // Of the attributes that the models make.
    context->loadDialect<schedule::ScheduleDialect>();
    linalg::BatchMatmulOp::attachInterface<
        MatmulTunable<linalg::BatchMatmulOp>>(*context);
    linalg::BatchReduceMatmulOp::attachInterface<
        MatmulTunable<linalg::BatchReduceMatmulOp>>(*context);
    linalg::ContractOp::attachInterface<MatmulTunable<linalg::ContractOp>>(
        *context);
    linalg::GenericOp::attachInterface<MatmulTunable<linalg::GenericOp>>(
        *context);
    linalg::MatmulOp::attachInterface<MatmulTunable<linalg::MatmulOp>>(
        *context);
    linalg::MatvecOp::attachInterface<MatmulTunable<linalg::MatvecOp>>(
        *context);
    linalg::VecmatOp::attachInterface<MatmulTunable<linalg::VecmatOp>>(
        *context);
  });
}
