// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defaults of the target interface.

#include "attune/Target/TargetModel.h"
#include "attune/Dialect/Tile/IR/Widening.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

using namespace mlir;
using namespace attune;

TargetModel::~TargetModel() = default;

Value TargetModel::emitNaturals(OpBuilder &b, Location loc, Value bytes,
                                bool upper, int64_t exponent, Type type) const {
  return tile::unpackNaturals(b, loc, bytes, upper, exponent, type);
}

Value TargetModel::emitSharedRead(OpBuilder &, Location,
                                  const SharedRead &) const {
  return {};
}

void TargetModel::emitBarrier(OpBuilder &b, Location loc) const {
  gpu::BarrierOp::create(b, loc);
}

int64_t TargetModel::getMaximumOperands() const { return 2; }

int64_t TargetModel::getSumsAtOnce() const { return 1; }

void TargetModel::emitBeforeSums(OpBuilder &, Location) const {}

std::pair<Value, Value> TargetModel::emitBothOfPair(OpBuilder &, Location,
                                                    Value, int64_t) const {
  return {};
}

Value TargetModel::emitSigns(OpBuilder &b, Location loc, Value low,
                             unsigned lowByte, Value high,
                             unsigned highByte) const {
  constexpr unsigned kWord = 32, kHalf = 16, kByte = 8;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
  };
  auto spread = [&](Value word, unsigned byte) -> Value {
    Value highest = arith::ShLIOp::create(b, loc, word,
                                          constant(kWord - kByte * (byte + 1)));
    return arith::ShRSIOp::create(b, loc, highest, constant(kWord - 1));
  };
  Value upper =
      arith::ShLIOp::create(b, loc, spread(high, highByte), constant(kHalf));
  Value lower =
      arith::ShRUIOp::create(b, loc, spread(low, lowByte), constant(kHalf));
  return arith::OrIOp::create(b, loc, upper, lower);
}

Value TargetModel::emitLoad(OpBuilder &, Location, const TileLoad &) const {
  return {};
}

SharedRound TargetModel::getSharedRound(unsigned lane, unsigned bytes,
                                        bool /*isWrite*/) const {
  constexpr unsigned kBanks = 32, kBankBytes = 4;
  return {lane / std::clamp(kBanks * kBankBytes / bytes, 1u, kBanks), kBanks};
}

/// A bank gives one word a round to all that ask for it.
SharedRounds
TargetModel::countSharedRounds(llvm::ArrayRef<uint64_t> addresses,
                               unsigned bytes, bool isWrite,
                               llvm::ArrayRef<uint32_t> lanes) const {
  constexpr uint64_t kBankBytes = 4;
  struct Round {
    llvm::DenseSet<uint64_t> words;
    llvm::SmallVector<int64_t, 64> perBank;
  };
  std::map<unsigned, Round> rounds;
  for (auto [i, address] : llvm::enumerate(addresses)) {
    SharedRound served = getSharedRound(
        lanes.empty() ? static_cast<unsigned>(i) : lanes[i], bytes, isWrite);
    Round &round = rounds[served.number];
    round.perBank.resize(served.banks);
    for (uint64_t word = address / kBankBytes;
         word * kBankBytes < address + bytes; ++word)
      if (round.words.insert(word).second)
        ++round.perBank[word % served.banks];
  }
  SharedRounds count;
  for (const auto &[number, round] : rounds)
    count.taken += *llvm::max_element(round.perBank);
  count.fewest = static_cast<int64_t>(rounds.size());
  return count;
}

void TargetModel::emitPriority(OpBuilder &, Location, bool) const {
  llvm_unreachable("a target that schedules MMAs overrides this");
}

void TargetModel::emitIssueGroups(OpBuilder &, Location, tile::MmaAtomAttr,
                                  int64_t) const {
  llvm_unreachable("a target that schedules MMAs overrides this");
}

bool TargetModel::narrowsIndices() const { return false; }

bool TargetModel::hasTanh() const { return false; }

bool TargetModel::startsEarly() const { return false; }

void TargetModel::emitWaitForPredecessor(OpBuilder &, Location) const {
  llvm_unreachable("a target that starts early overrides this");
}

void TargetModel::emitStartSuccessor(OpBuilder &, Location) const {
  llvm_unreachable("a target that starts early overrides this");
}

void TargetModel::emitAsyncCopy(OpBuilder &, Location,
                                const AsyncCopy &) const {
  llvm_unreachable("a target that lists copy_widths overrides emitAsyncCopy");
}

void TargetModel::emitAsyncCommit(OpBuilder &, Location) const {
  llvm_unreachable("a target that lists copy_widths overrides emitAsyncCommit");
}

void TargetModel::emitWarpCopy(OpBuilder &, Location, const WarpCopy &) const {
  llvm_unreachable("a target that counts copies overrides emitWarpCopy");
}

void TargetModel::emitAsyncWait(OpBuilder &, Location, int64_t) const {
  llvm_unreachable("a target that lists copy_widths overrides emitAsyncWait");
}

void TargetModel::configureParameter(LLVM::LLVMFuncOp, unsigned, Type) const {}

std::optional<LoopCost> TargetModel::predictLoop(const Binary &,
                                                 tile::TargetAttr, int64_t,
                                                 int64_t) const {
  return std::nullopt;
}

std::string TargetModel::getToolchain(const BinaryOptions &) const {
  return "";
}

Value TargetModel::emitFirstLane(OpBuilder &b, Location loc,
                                 tile::TargetAttr target, Value value) const {
  Value word = b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), value);
  Value first = gpu::ShuffleOp::create(b, loc, word, /*offset=*/0,
                                       target.getLanes(), gpu::ShuffleMode::IDX)
                    .getShuffleResult();
  return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), first);
}

Value TargetModel::emitUniform(OpBuilder &b, Location loc,
                               tile::TargetAttr target, Value value) const {
  return emitFirstLane(b, loc, target, value);
}

const MatrixUnit *TargetModel::getMatrixUnit() const { return nullptr; }
const CopyEngine *TargetModel::getCopyEngine() const { return nullptr; }
const Barriers *TargetModel::getBarriers() const { return nullptr; }
const WarpRoles *TargetModel::getWarpRoles() const { return nullptr; }
