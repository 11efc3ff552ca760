// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A SIMD is taken to be as fast as its busiest part, for all of its waves
// together, and no faster than one wave alone, which waits for what it reads.
// Conflicts of banks are those that the addresses in the kernel have, on
// average of all accesses of a width.

#include "LoopModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using llvm::StringRef;

/// Of the peak of shared memory, what reads reach
/// (ROCm/composable_kernel:docs/conceptual/ck_tile/hardware).
static constexpr double kSharedShare = 0.8;
/// Of what the busiest part could do, what the best kernels reach whose waves
/// meet at barriers: ROCm/aiter's keep matrix units 70 to 75 percent busy.
static constexpr double kReached = 0.75;

//===----------------------------------------------------------------------===//
// What a loop issues
//===----------------------------------------------------------------------===//

/// `v_mfma_f32_32x32x8_bf16_1k` and `v_mfma_f32_32x32x8bf16_1k` are 2 * 32 * 32
/// * 8.
int64_t amd::getMatrixFlops(StringRef name) {
  if (!name.starts_with("v_mfma_") && !name.starts_with("v_smfmac_") &&
      !name.starts_with("v_wmma_") && !name.starts_with("v_swmmac_"))
    return 0;
  SmallVector<StringRef> words;
  name.split(words, '_');
  for (StringRef word : words) {
    int64_t m = 0, n = 0, k = 0;
    if (!word.consumeInteger(10, m) && word.consume_front("x") &&
        !word.consumeInteger(10, n) && word.consume_front("x") &&
        !word.consumeInteger(10, k))
      return 2 * m * n * k;
  }
  return 0;
}

bool amd::isTranscendental(StringRef name) {
  if (!name.consume_front("v_"))
    return false;
  // A scalar in a vector register, on RDNA4.
  name.consume_front("s_");
  return llvm::any_of(ArrayRef<StringRef>{"exp_", "log_", "rcp_", "rsq_",
                                          "sqrt_", "sin_", "cos_"},
                      [&](StringRef start) { return name.starts_with(start); });
}

/// The number at the end of one of the name's words that start with `start`.
static std::optional<int64_t> getNumber(StringRef name, StringRef start) {
  SmallVector<StringRef> words;
  name.split(words, '_');
  for (StringRef word : words) {
    int64_t number = 0;
    if (word.consume_front(start) && !word.getAsInteger(10, number))
      return number;
  }
  return std::nullopt;
}

/// Whether one instruction accesses two places.
static bool isPairOfAccesses(StringRef name) {
  return name.contains("2addr") || name.contains("read2") ||
         name.contains("write2");
}

/// Bytes that a lane moves: `ds_read_b128`, `ds_store_2addr_b64`,
/// `ds_read_u16`.
static int64_t getSharedWidth(StringRef name) {
  constexpr int64_t kByteBits = 8, kWordBits = 32;
  int64_t bits = kWordBits;
  for (StringRef start : {"b", "u", "i"})
    if (auto found = getNumber(name, start)) {
      bits = *found;
      break;
    }
  return (isPairOfAccesses(name) ? 2 : 1) * bits / kByteBits;
}

/// Bytes that a lane loads: `global_load_dwordx4`, `buffer_load_b128`.
static int64_t getLoadWidth(StringRef name) {
  constexpr int64_t kByteBits = 8, kWordBytes = 4;
  if (auto words = getNumber(name, "dwordx"))
    return kWordBytes * *words;
  return getNumber(name, "b").value_or(kWordBytes * kByteBits) / kByteBits;
}

static void count(StringRef line, int64_t lanes,
                  const SharedConflicts &conflicts, amd::Loop &loop) {
  StringRef name =
      line.take_until([](char c) { return c == ' ' || c == '\t'; });
  loop.lines.push_back(line);
  if (int64_t flops = amd::getMatrixFlops(name)) {
    ++loop.matrix;
    loop.matrixFlops += flops;
  } else if (name.starts_with("v_")) {
    ++loop.vector;
    loop.transcendental += amd::isTranscendental(name);
  } else if (name.starts_with("ds_")) {
    int64_t bytes = getSharedWidth(name);
    loop.sharedBytes += lanes * bytes;
    bool isWrite = name.contains("write") || name.contains("store");
    auto known =
        conflicts.find({isWrite, isPairOfAccesses(name) ? bytes / 2 : bytes});
    if (known != conflicts.end() && !name.contains("permute"))
      loop.conflictBytes +=
          static_cast<double>(lanes * bytes) * (known->second - 1);
  } else if (name.starts_with("global_load_") ||
             name.starts_with("buffer_load_") ||
             name.starts_with("flat_load_") ||
             // Registers that are spilled, which pass through the same cache.
             name.starts_with("scratch_")) {
    loop.loadedBytes += lanes * getLoadWidth(name);
    // Past registers.
    if (line.ends_with(" lds"))
      loop.sharedBytes += lanes * getLoadWidth(name);
  }
}

std::optional<amd::Loop> amd::readMainLoop(StringRef assembly, int64_t lanes,
                                           const SharedConflicts &conflicts) {
  SmallVector<StringRef> lines;
  llvm::StringMap<size_t> labels;
  std::optional<Loop> found;
  // Where the last loop that multiplies began: one that ends behind it and
  // began before it has that loop in it.
  size_t last = 0;
  while (!assembly.empty()) {
    auto [line, rest] = assembly.split('\n');
    assembly = rest;
    line = line.split(';').first.trim();
    if (line.consume_back(":")) {
      labels[line] = lines.size();
      continue;
    }
    if (line.empty() || line.starts_with("."))
      continue;
    lines.push_back(line);
    if (!line.starts_with("s_branch") && !line.starts_with("s_cbranch"))
      continue;
    auto target = labels.find(line.rsplit(' ').second.trim());
    if (target == labels.end() || target->second < last)
      continue;
    Loop loop;
    for (StringRef each : ArrayRef(lines).drop_front(target->second))
      count(each, lanes, conflicts, loop);
    if (!loop.matrix)
      continue;
    last = lines.size();
    if (!found || loop.matrixFlops > found->matrixFlops ||
        (loop.matrixFlops == found->matrixFlops &&
         loop.lines.size() < found->lines.size()))
      found = std::move(loop);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// How long it takes
//===----------------------------------------------------------------------===//

int64_t amd::countWaves(tile::TargetAttr target, const LoopFacts &facts,
                        int64_t registers, int64_t threads,
                        int64_t sharedBytes) {
  int64_t lanes = target.getLanes(), simds = target.getSchedulers();
  int64_t taken = llvm::alignTo(std::max<int64_t>(registers, 1),
                                static_cast<uint64_t>(facts.registerStep));
  int64_t ofSIMD = std::min(target.getMaxThreadsPerSm() / lanes / simds,
                            target.getRegistersPerSm() / simds / lanes / taken);
  int64_t own = llvm::divideCeil(threads, lanes);
  int64_t groups = ofSIMD * simds / own;
  if (sharedBytes)
    groups = std::min(groups, target.getSharedPerSm() / sharedBytes);
  return std::max<int64_t>(1, groups) * own;
}

amd::IssueClocks::IssueClocks(tile::TargetAttr target) {
  tile::RatesAttr rates = target.getRates();
  auto simds = static_cast<double>(target.getSchedulers()),
       lanes = static_cast<double>(target.getLanes()) * simds;
  issue = lanes / static_cast<double>(rates.getIssue());
  exponential = lanes / static_cast<double>(rates.getExp());
  flopsPerClock = static_cast<double>(rates.getMma()) / simds;
}

LoopCost amd::predictLoop(const Loop &loop, tile::TargetAttr target,
                          const LoopFacts &facts, int64_t waves) {
  tile::RatesAttr rates = target.getRates();
  IssueClocks clocks(target);
  auto all = static_cast<double>(waves),
       perSIMD = all / static_cast<double>(target.getSchedulers());
  // Of a SIMD, for one wave.
  double multiply = clocks.getMultiply(loop.matrixFlops);
  double exponentials =
      static_cast<double>(loop.transcendental) * clocks.exponential;
  double vector =
      static_cast<double>(loop.vector - loop.transcendental) * clocks.issue +
      exponentials;
  double ofMatrix = facts.multipliesOnVectorUnit
                        ? multiply
                        : static_cast<double>(loop.matrix) * clocks.issue;
  LoopCost cost;
  cost.warps = waves;
  cost.matrix = perSIMD * multiply;
  cost.vector = perSIMD * (vector + ofMatrix);
  cost.exponentials = perSIMD * exponentials;
  double sharedRate = kSharedShare * static_cast<double>(rates.getShared());
  cost.conflicts = all * loop.conflictBytes / sharedRate;
  cost.shared =
      all * static_cast<double>(loop.sharedBytes) / sharedRate + cost.conflicts;
  cost.cache = all * static_cast<double>(loop.loadedBytes) /
               static_cast<double>(rates.getCache());
  WaveTime wave = replayLoop(loop, clocks, facts);
  cost.alone = wave.clocks;
  cost.waits = wave.waits;
  double busy = kReached * cost.matrix / cost.getClocks();
  cost.flopsPerClock = busy * static_cast<double>(rates.getMma());
  cost.teraflops = cost.flopsPerClock * static_cast<double>(target.getSms()) *
                   static_cast<double>(rates.getClock()) * 1e-6;
  return cost;
}
