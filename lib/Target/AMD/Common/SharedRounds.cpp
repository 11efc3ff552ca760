// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the first warp's lanes access in shared memory, by what their addresses
// are computed from. What is not known here, as the number of an iteration, is
// the same for all of them and taken to be zero.

#include "LoopModel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;

namespace {
/// Values as one lane has them.
class Lane {
public:
  Lane(int64_t number, const DataLayout &layout)
      : number(number), layout(layout) {}
  int64_t get(Value value);

private:
  int64_t compute(Operation *op, unsigned result);
  int64_t getAddress(LLVM::GEPOp op);
  int64_t getElement(LLVM::ExtractValueOp op);

  int64_t number;
  const DataLayout &layout;
  llvm::DenseMap<Value, int64_t> known;
};
} // namespace

int64_t Lane::getAddress(LLVM::GEPOp op) {
  int64_t address = get(op.getBase());
  // Those of structures are not of shared memory.
  if (op.getIndices().size() != 1)
    return address;
  auto index = op.getIndices()[0];
  auto constant = dyn_cast<IntegerAttr>(index);
  int64_t element = constant ? constant.getInt() : get(cast<Value>(index));
  return address +
         element * static_cast<int64_t>(layout.getTypeSize(op.getElemType()));
}

/// Of the parts of a memref.
int64_t Lane::getElement(LLVM::ExtractValueOp op) {
  auto insert = op.getContainer().getDefiningOp<LLVM::InsertValueOp>();
  for (; insert;
       insert = insert.getContainer().getDefiningOp<LLVM::InsertValueOp>())
    if (insert.getPosition() == op.getPosition())
      return get(insert.getValue());
  return 0;
}

int64_t Lane::compute(Operation *op, unsigned result) {
  APInt constant;
  if (matchPattern(op->getResult(result), m_ConstantInt(&constant)))
    return constant.getSExtValue();
  auto in = [&](unsigned operand) { return get(op->getOperand(operand)); };
  constexpr int64_t kLow = 32, kMostShift = 63;
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([&](ROCDL::ThreadIdXOp) { return number; })
      .Case([&](ROCDL::MbcntLoOp) { return std::min(number, kLow) + in(1); })
      .Case([&](ROCDL::MbcntHiOp) {
        return std::max<int64_t>(number - kLow, 0) + in(1);
      })
      .Case([&](ROCDL::ReadfirstlaneOp) {
        return Lane(0, layout).get(op->getOperand(0));
      })
      .Case([&](LLVM::GEPOp gep) { return getAddress(gep); })
      .Case([&](LLVM::ExtractValueOp part) { return getElement(part); })
      .Case([&](LLVM::AddOp) { return in(0) + in(1); })
      .Case([&](LLVM::SubOp) { return in(0) - in(1); })
      .Case([&](LLVM::MulOp) { return in(0) * in(1); })
      .Case<LLVM::UDivOp, LLVM::SDivOp>(
          [&](auto) { return in(1) ? in(0) / in(1) : 0; })
      .Case<LLVM::URemOp, LLVM::SRemOp>(
          [&](auto) { return in(1) ? in(0) % in(1) : 0; })
      .Case([&](LLVM::AndOp) { return in(0) & in(1); })
      .Case([&](LLVM::OrOp) { return in(0) | in(1); })
      .Case([&](LLVM::XOrOp) { return in(0) ^ in(1); })
      .Case([&](LLVM::ShlOp) { return in(0) << (in(1) & kMostShift); })
      .Case<LLVM::LShrOp, LLVM::AShrOp>(
          [&](auto) { return in(0) >> (in(1) & kMostShift); })
      .Case<LLVM::TruncOp, LLVM::ZExtOp, LLVM::SExtOp>(
          [&](auto) { return in(0); })
      .Default(int64_t{0});
}

int64_t Lane::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  auto result = dyn_cast<OpResult>(value);
  int64_t number =
      result ? compute(result.getOwner(), result.getResultNumber()) : 0;
  known[value] = number;
  return number;
}

SharedConflicts amd::findConflicts(gpu::GPUModuleOp module,
                                   const TargetModel &model, int64_t lanes) {
  constexpr unsigned kSharedSpace = 3;
  DataLayout layout(module);
  std::vector<Lane> warp;
  for (int64_t lane = 0; lane < lanes; ++lane)
    warp.emplace_back(lane, layout);
  std::map<std::pair<bool, int64_t>, SharedRounds> found;
  auto add = [&](Value address, Type type, bool isWrite) {
    if (cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() !=
        kSharedSpace)
      return;
    llvm::SmallVector<uint64_t> addresses;
    for (Lane &lane : warp)
      addresses.push_back(static_cast<uint64_t>(lane.get(address)));
    auto bytes = static_cast<int64_t>(layout.getTypeSize(type));
    found[{isWrite, bytes}] += model.countSharedRounds(
        addresses, static_cast<unsigned>(bytes), isWrite);
  };
  module.walk([&](LLVM::LoadOp op) {
    add(op.getAddr(), op.getType(), /*isWrite=*/false);
  });
  module.walk([&](LLVM::StoreOp op) {
    add(op.getAddr(), op.getValue().getType(), /*isWrite=*/true);
  });
  SharedConflicts conflicts;
  for (auto [access, rounds] : found)
    conflicts[access] =
        static_cast<double>(rounds.taken) / static_cast<double>(rounds.fewest);
  return conflicts;
}
