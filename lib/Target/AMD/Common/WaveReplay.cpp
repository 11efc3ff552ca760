// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One wave that has a SIMD for itself, instruction by instruction: each is
// issued in its order, once the matrix instructions are done whose results it
// takes, and a counted wait takes until what it waits for is there.

#include "LoopModel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include <deque>

using namespace mlir;
using namespace attune;
using llvm::StringRef;

/// Clocks until a load and a read of shared memory are there. No document has
/// them: these are assumed.
static constexpr double kLoadClocks = 700, kSharedClocks = 64;

/// Calls `use` for each vector register of `operand`: `v7`, `a[0:15]`,
/// `-|v1|`. Accumulation registers have numbers of their own.
static void forEachRegister(StringRef operand,
                            llvm::function_ref<void(unsigned)> use) {
  constexpr unsigned kAccumulators = 1024;
  operand = operand.trim(" -|");
  unsigned base = operand.starts_with("a") ? kAccumulators : 0;
  if (!operand.consume_front("v") && !operand.consume_front("a"))
    return;
  unsigned first = 0, last = 0;
  bool isRange = operand.consume_front("[");
  if (operand.consumeInteger(10, first))
    return;
  last = first;
  if (isRange && operand.consume_front(":") && operand.consumeInteger(10, last))
    return;
  for (unsigned number = first; number <= last; ++number)
    use(base + number);
}

/// The number in parentheses behind `counter`, as in `vmcnt(3)`.
static std::optional<size_t> getCount(StringRef line, StringRef counter) {
  size_t at = line.find(counter), count = 0;
  if (at == StringRef::npos)
    return std::nullopt;
  StringRef rest = line.drop_front(at + counter.size());
  if (!rest.consume_front("(") || rest.consumeInteger(10, count))
    return std::nullopt;
  return count;
}

namespace {
class Wave {
public:
  Wave(const amd::IssueClocks &clocks, const amd::LoopFacts &facts)
      : clocks(clocks), facts(facts) {}
  void run(StringRef line);
  amd::WaveTime time;

private:
  void multiply(StringRef operands, int64_t flops);
  void wait(StringRef name, StringRef line);
  void waitUntil(std::deque<double> &underWay, std::optional<size_t> most);

  const amd::IssueClocks &clocks;
  const amd::LoopFacts &facts;
  /// When the matrix unit can take the next instruction, and when registers
  /// have what it writes.
  double free = 0;
  llvm::DenseMap<unsigned, double> ready;
  /// When loads and accesses of shared memory are done, in their order.
  std::deque<double> loads, shared;
};
} // namespace

void Wave::multiply(StringRef operands, int64_t flops) {
  double needs = clocks.getMultiply(flops);
  double start = std::max(time.clocks, free);
  free = start + needs;
  forEachRegister(operands.split(',').first,
                  [&](unsigned number) { ready[number] = free; });
  time.clocks = start + (facts.multipliesOnVectorUnit ? needs : clocks.issue);
}

void Wave::waitUntil(std::deque<double> &underWay, std::optional<size_t> most) {
  while (most && underWay.size() > *most) {
    double stall = std::max(0.0, underWay.front() - time.clocks);
    time.clocks += stall;
    time.waits += stall;
    underWay.pop_front();
  }
}

void Wave::wait(StringRef name, StringRef line) {
  // Six bits each where one instruction waits for both.
  constexpr uint64_t kMask = 63, kLoadShift = 8;
  uint64_t number = 0;
  StringRef text = line.rsplit(' ').second;
  if (!text.consume_front("0x") || text.getAsInteger(16, number)) {
    waitUntil(loads, getCount(line, "vmcnt"));
    waitUntil(shared, getCount(line, "lgkmcnt"));
    return;
  }
  if (name == "s_wait_loadcnt_dscnt") {
    waitUntil(loads, number >> kLoadShift & kMask);
    waitUntil(shared, number & kMask);
  } else if (name == "s_wait_loadcnt") {
    waitUntil(loads, number);
  } else if (name == "s_wait_dscnt") {
    waitUntil(shared, number);
  }
}

void Wave::run(StringRef line) {
  StringRef name =
      line.take_until([](char c) { return c == ' ' || c == '\t'; });
  if (name.starts_with("s_wait"))
    return wait(name, line);
  StringRef operands = line.drop_front(name.size());
  llvm::SmallVector<StringRef> parts;
  operands.split(parts, ',');
  for (StringRef part : parts)
    forEachRegister(part, [&](unsigned number) {
      time.clocks = std::max(time.clocks, ready.lookup(number));
    });
  if (int64_t flops = amd::getMatrixFlops(name))
    return multiply(operands, flops);
  time.clocks +=
      amd::isTranscendental(name) ? clocks.exponential : clocks.issue;
  if (name.starts_with("ds_"))
    shared.push_back(time.clocks + kSharedClocks);
  else if (name.contains("_load_") && !name.starts_with("s_"))
    loads.push_back(time.clocks + kLoadClocks);
}

amd::WaveTime amd::replayLoop(const Loop &loop, const IssueClocks &clocks,
                              const LoopFacts &facts) {
  // What is under way in front of an iteration is what those before it left.
  constexpr int kFirst = 4, kMeasured = 4;
  Wave wave(clocks, facts);
  WaveTime before;
  for (int i = 0; i < kFirst + kMeasured; ++i) {
    if (i == kFirst)
      before = wave.time;
    for (StringRef line : loop.lines)
      wave.run(line);
  }
  return {(wave.time.clocks - before.clocks) / kMeasured,
          (wave.time.waits - before.waits) / kMeasured};
}
