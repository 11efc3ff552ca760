// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What models of tunable ops share.

#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include <cmath>

using namespace mlir;
using namespace attune;

#include "attune/Schedule/TunableOpInterface.cpp.inc"

InputNotes::~InputNotes() = default;

std::optional<int64_t> ProblemSizes::get(StringRef name) const {
  auto it = named.find(name.str());
  return it == named.end() ? std::nullopt : std::optional(it->second);
}

llvm::Expected<SizeMap> attune::parseSizes(ArrayRef<std::string> texts,
                                           StringRef option) {
  auto names = llvm::map_range(getProblemSizes(),
                               [](const SizeInfo &size) { return size.name; });
  SizeMap sizes;
  for (StringRef text : texts) {
    auto [name, value] = text.split('=');
    int64_t size;
    if (!llvm::is_contained(names, name) || value.getAsInteger(10, size) ||
        size < 0 || size > std::numeric_limits<int32_t>::max())
      return llvm::createStringError(
          "expects " + option + "=<name>=<number> with a name of " +
          llvm::join(names, ", ") + ", but got '" + text + "'");
    sizes[name.str()] = size;
  }
  return sizes;
}

KnobReader attune::readFrom(ArrayRef<int64_t> values) {
  return [values](size_t place) { return values[place]; };
}

double attune::compareSizes(int64_t left, int64_t right) {
  if (left <= 0 || right <= 0) // not known
    return 0;
  return std::abs(std::log2(static_cast<double>(left)) -
                  std::log2(static_cast<double>(right)));
}

LogicalResult attune::verifySchedule(Operation *op) {
  // Not by a cast, which asks isTunable().
  if (auto *model = op->getName().getInterface<TunableOpInterface>())
    return model->verifySchedule(model, op);
  return success();
}

bool attune::hasTunableOp(Operation *op) {
  return op->walk([](TunableOpInterface) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

TunableOpInterface attune::getIsolatedOp(ModuleOp isolated) {
  TunableOpInterface found;
  isolated->walk([&](TunableOpInterface op) {
    found = op;
    return WalkResult::interrupt();
  });
  assert(found && "expects the op of an isolated problem");
  return found;
}

ResultCheckRule attune::getRoundingRule(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(type);
  DataType dataType = parseDataType(name).value_or(DataType::F32);
  return {"", [dataType](std::vector<float> exact, ArrayRef<float> bound) {
            return makeReference(std::move(exact), bound, dataType);
          }};
}

OwningOpRef<ModuleOp>
attune::isolateOp(Operation *op, ArrayRef<std::pair<unsigned, unsigned>> same) {
  Location loc = UnknownLoc::get(op->getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());

  // Each operand is an argument of its own: whether a caller has one tensor for
  // several of them makes no other problem, unless the op wants it so.
  SmallVector<Value> used;
  SmallVector<size_t> places; // of the operands, in `used`
  for (OpOperand &operand : op->getOpOperands()) {
    const auto *pair = llvm::find_if(same, [&](auto numbers) {
      return numbers.second == operand.getOperandNumber();
    });
    places.push_back(pair == same.end() ? used.size() : places[pair->first]);
    if (pair == same.end())
      used.push_back(operand.get());
  }
  size_t operands = used.size();
  SetVector<Value> inRegions;
  getUsedValuesDefinedAbove(op->getRegions(), inRegions);
  SetVector<Operation *> constants;
  for (Value value : inRegions) {
    Operation *definition = value.getDefiningOp();
    if (definition && definition->hasTrait<OpTrait::ConstantLike>())
      constants.insert(definition);
    else
      used.push_back(value);
  }

  auto function = func::FuncOp::create(
      builder, loc, cast<TunableOpInterface>(op).getKnobSet().name,
      builder.getFunctionType(TypeRange(used), op->getResultTypes()));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(ArrayRef(used).drop_front(operands),
              body->getArguments().drop_front(operands));
  for (Operation *constant : constants)
    builder.clone(*constant, mapping);
  Operation *copy = builder.clone(*op, mapping);
  for (auto [number, place] : llvm::enumerate(places))
    copy->setOperand(number, body->getArgument(place));
  cast<TunableOpInterface>(copy).setSchedule({});
  func::ReturnOp::create(builder, loc, copy->getResults());
  return module;
}
