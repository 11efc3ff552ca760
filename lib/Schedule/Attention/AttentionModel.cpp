// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model. An SM is a closed network of a few stations (matrix unit,
// exponentials, vector issue, the way to the cache), through which the
// warpgroups on it go round, a step of the main loop each time. One group alone
// takes the sum C of its demands and of what it waits for; however many there
// are, a step takes no less than the demand D on the busiest station; k groups
// take D + (C - D) / k each, the bound of a balanced network (Zahorjan et al.,
// 1982). The same bound holds for the workgroups of an SM, of which one
// computes while another starts or ends its tile. As in Grover and Liu
// (arXiv 2506.11209) what is hidden is so by others that have work.

#include "attune/Schedule/Attention/AttentionModel.h"
#include "AttentionTunable.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace attune;
using schedule::Overlap;
using schedule::Persistent;
using schedule::TileOrder;

// The constants were fitted, those with an F all together, to 3298 measurements
// on one H200 (head sizes 64 and 128, full and causal, 512 to 16384 long);
// docs/measurements/Model.md has the errors, also on problems that were left
// out. The rates of the chip are those of #tile.rates.

/// Vector instructions for each score: scaling, maximum, exponent, sum,
/// conversion, and moves (F).
static constexpr double kScoreInstructions = 8.4;
/// Those of an exponential that is a polynomial, beyond one that is not (F).
static constexpr double kPolynomialInstructions = 10.4;
/// More of them where each block is tested for its mask, and where a mask cuts
/// a block (F).
static constexpr double kTestInstructions = 0.6, kMaskInstructions = 6.5;
/// Vector instructions in each step for each element of the output: rescaling.
/// With MMAs by warpgroups (F) also what it costs to hand
/// accumulators to and fro.
static constexpr double kOutputInstructions = 2, kGroupOutputInstructions = 5.0;
/// How many of these a kernel is spared that rescales seldom (F). With a mask
/// no gain was seen.
static constexpr double kRescaleInstructions = 0.79;
/// Clocks of a tile beside its steps: start, first loads and last stores (F). A
/// workgroup that stays (F) has its barriers and fetches ahead, but where it
/// has one place for queries it waits for the next (F).
static constexpr double kTileClocks = 3630, kPersistentTileClocks = 2510,
                        kQueryClocks = 1180;
/// Groups that wait for the same query keep in step, and do not hide this share
/// of what they otherwise would of each other (F).
static constexpr double kInStep = 0.11;
/// Clocks from the request of a block to its arrival; and those of a slot that
/// is handed over and back while nobody can use another (F).
static constexpr double kLoadClocks = 800, kOneSlotClocks = 180;
/// Clocks in each step of a ring whose slots are no power of two, for its
/// places and phases have to be compared and chosen (F).
static constexpr double kOddSlotsClocks = 60;
/// Clocks that a step waits for copies which the computing warps issue.
static constexpr double kOwnCopyClocks = 530;
/// The share of the shorter of MMAs and softmax that overlap hides, and
/// that warpgroups in ping-pong hide as well (both F).
static constexpr double kHidden = 0.25, kPingPongHidden = 0.36;
/// How often a spilled byte moves in a step; and bytes that persistent kernels
/// spill outside of the loop.
static constexpr double kSpillMoves = 1, kSpilledOutside = 200;
/// The share of the memory's rate that is left when all ask at once (F).
static constexpr double kBurstRate = 0.78;
/// Where tiles are assigned in advance, all wait for the SM that is slowest:
/// the median of pairs of schedules that differ in that alone.
static constexpr double kAssignedInAdvance = 1.02;
/// Clocks of an empty kernel.
static constexpr double kLaunchClocks = 4000;
/// Until a workgroup has counted, and has loaded what others have left.
static constexpr double kJoinClocks = 1500;

/// Registers beyond the estimate that were seen where roles exchange registers,
/// and where producers take from those of all; bytes of spills for each
/// register that is missing (stores and loads).
static constexpr double kRoleRegisters = 8, kSharedRoleRegisters = 12;
static constexpr double kSpillBytes = 4, kGroupSpillBytes = 40;
/// An SM issues from this many parts, and a warp stays on one of them.
static constexpr int64_t kParts = 4;

//===----------------------------------------------------------------------===//
// What is computed
//===----------------------------------------------------------------------===//

SeenPairs SeenPairs::get(attn::AttentionOpInterface op, int64_t seqQ,
                         int64_t seqK) {
  SeenPairs pairs{seqQ, seqK, std::nullopt, std::nullopt, std::nullopt};
  if (op.hasMask())
    pairs.region.emplace(op, seqQ, seqK);
  auto getOffset = [&](attn::Alignment alignment) {
    return alignment == attn::Alignment::BottomRight ? seqK - seqQ : 0;
  };
  auto limit = [](std::optional<int64_t> &bound, int64_t other, auto choose) {
    bound = bound ? choose(*bound, other) : other;
  };
  auto least = [](int64_t a, int64_t b) { return std::min(a, b); };
  auto most = [](int64_t a, int64_t b) { return std::max(a, b); };
  if (attn::CausalAttr causal = op.getCausalAttr())
    limit(pairs.last, getOffset(causal.getAlignment()), least);
  if (attn::WindowAttr window = op.getWindowAttr()) {
    int64_t offset = getOffset(window.getAlignment());
    if (window.getRight() >= 0)
      limit(pairs.last, offset + window.getRight(), least);
    if (window.getLeft() >= 0)
      limit(pairs.first, offset - window.getLeft(), most);
  }
  return pairs;
}

AttentionWork AttentionWork::get(attn::AttentionOp op, const SizeMap &sizes) {
  auto choose = [&](int64_t known, const char *name, int64_t common) {
    if (!ShapedType::isDynamic(known))
      return known;
    auto it = sizes.find(name);
    return it == sizes.end() ? common : it->second;
  };
  int64_t batch = choose(op.getBatch(), "batch", 4);
  int64_t headsQ = choose(op.getHeadsQ(), "heads", 16);
  return {
      SeenPairs::get(op,
                     getMeanLength(op.getQueryStarts(),
                                   choose(op.getSeqQ(), "seq-q", 4096), batch),
                     getMeanLength(op.getKeyStarts(),
                                   choose(op.getSeqK(), "seq-k", 4096), batch)),
      AttentionProblem::get(op), batch * headsQ,
      batch * choose(op.getHeadsKV(), "kv-heads", headsQ)};
}

int64_t AttentionWork::countTiles(int64_t blockM) const {
  return std::max<int64_t>(1, llvm::divideCeil(seqQ, blockM));
}

SeenKeys SeenPairs::getSeen(int64_t begin, int64_t end) const {
  SeenKeys seen{{0, seqK}, {0, seqK}, {0, 0}};
  if (region)
    seen = region->get(begin, end - 1);
  if (first) {
    seen.visible.begin = std::max(seen.visible.begin, begin + *first);
    seen.full.begin = std::max(seen.full.begin, end - 1 + *first);
  }
  if (last) {
    seen.visible.end = std::min(seen.visible.end, end + *last);
    seen.full.end = std::min(seen.full.end, begin + 1 + *last);
  }
  return seen;
}

double SeenPairs::getShare() const {
  if (!hasMask() || seqQ <= 0 || seqK <= 0)
    return 1;
  // So many queries speak for the others.
  constexpr int64_t kSamples = 1024;
  int64_t samples = std::min(seqQ, kSamples);
  double seen = 0;
  for (int64_t i = 0; i < samples; ++i) {
    int64_t query = (2 * i + 1) * seqQ / (2 * samples);
    seen += static_cast<double>(getSeen(query, query + 1).countKeys());
  }
  return seen / static_cast<double>(samples) / static_cast<double>(seqK);
}

const std::vector<SeenKeys> &
AttentionModel::getTilesSeen(int64_t blockM) const {
  auto [it, isNew] = seenOf.try_emplace(blockM);
  if (isNew)
    for (int64_t tile = 0; tile < work.countTiles(blockM); ++tile)
      it->second.push_back(work.getSeen(
          tile * blockM, std::min(work.seqQ, (tile + 1) * blockM)));
  return it->second;
}

const AttentionModel::Steps &AttentionModel::getSteps(int64_t blockM,
                                                      int64_t blockN) const {
  auto [it, isNew] = stepsOf.try_emplace({blockM, blockN});
  Steps &steps = it->second;
  if (!isNew)
    return steps;
  steps.tiles = work.countTiles(blockM);
  for (const SeenKeys &seen : getTilesSeen(blockM)) {
    auto [visited, unmasked] = seen.countBlocks(blockN);
    steps.all += visited;
    steps.longest = std::max<double>(steps.longest, visited);
    steps.cut += visited - unmasked;
  }
  return steps;
}

//===----------------------------------------------------------------------===//
// An SM
//===----------------------------------------------------------------------===//

AttentionModel::Usage
AttentionModel::estimate(const AttentionKnobs &schedule) const {
  bool byGroups = schedule.getMmaWarps() > 1;
  bool hasRoles = getRoleRegisters(schedule, target).has_value();
  double limit = getRegisterLimit(schedule, target);
  double needed = estimateRegisters(work.problem, schedule, target);
  if (byGroups)
    needed += hasRoles ? kRoleRegisters : kSharedRoleRegisters;
  double spilled = std::max(0.0, needed - limit) *
                   (byGroups ? kGroupSpillBytes : kSpillBytes);
  // What roles exchange, the workgroup starts with.
  double atEntry = getRegistersAtEntry(schedule, target);
  return {hasRoles ? atEntry : std::min(needed, limit), spilled};
}

int64_t AttentionModel::getResident(const AttentionKnobs &schedule,
                                    const Usage &used) const {
  int64_t threads = getThreads(schedule, target);
  // Each workgroup takes some shared memory for the system: what the largest
  // ones leave of an SM's.
  int64_t shared =
      std::max<int64_t>(1, getSharedBytes(work.problem, schedule, target)) +
      target.getSharedPerSm() % target.getShared();
  // Registers are given out eight at a time.
  int64_t registers = llvm::alignTo(
      std::max<int64_t>(1, static_cast<int64_t>(used.registers)), 8);
  int64_t resident = std::min(
      {target.getMaxThreadsPerSm() / threads,
       target.getRegistersPerSm() / (kParts * registers * target.getLanes()) *
           kParts * target.getLanes() / threads,
       target.getSharedPerSm() / shared,
       static_cast<int64_t>(llvm::divideCeil(
           getTiledHeads(schedule) * getParts(schedule) *
               llvm::divideCeil(work.seqQ, schedule.getBlockM()),
           target.getSms()))});
  return std::max<int64_t>(1, resident);
}

/// What a step waits for copies, where work that takes `behindKeys` and
/// `behindValues` clocks stands between the last use of a block and the next.
static double getCopyWait(const AttentionKnobs &schedule, double behindKeys,
                          double behindValues) {
  double wait = schedule.getProducerWarps() ? 0 : kOwnCopyClocks;
  // A ring of one slot is filled only after the last use of the block before;
  // the scores of a step that overlaps are wanted before that has ended.
  if (schedule.getKStages() == 1)
    wait += kOneSlotClocks + std::max(0.0, kLoadClocks - behindKeys);
  if (schedule.getVStages() == 1)
    wait += kOneSlotClocks + std::max(0.0, kLoadClocks - behindValues);
  for (int64_t slots : {schedule.getKStages(), schedule.getVStages()})
    if (schedule.getMmaWarps() > 1 && !llvm::isPowerOf2_64(slots))
      wait += kOddSlotsClocks;
  return wait;
}

/// What of a step runs under its MMAs. Products that run on keep their
/// registers, and spilling waits for them.
static double getHidden(Overlap overlap, double multiply, double softmax,
                        double spills) {
  constexpr double kLittleSpilling = 100;
  if (overlap == Overlap::None)
    return 0;
  double share = overlap == Overlap::PingPong ? kPingPongHidden : kHidden;
  return share * std::min(multiply, softmax) / (1 + spills / kLittleSpilling);
}

/// What a row of a step issues besides MMAs and exponentials, with so many
/// scores and columns of the output.
static double countInstructions(const AttentionKnobs &schedule, bool isMasked,
                                double scores, double outputs) {
  double polynomials = static_cast<double>(schedule.getExpOnFma()) / 16;
  double perScore =
      kScoreInstructions + polynomials * kPolynomialInstructions +
      (isMasked && !schedule.getSplitMasked() ? kTestInstructions : 0);
  double perOutput =
      (schedule.getMmaWarps() > 1 ? kGroupOutputInstructions
                                  : kOutputInstructions) -
      (schedule.getRescale() && !isMasked ? kRescaleInstructions : 0);
  return scores * perScore + outputs * perOutput;
}

/// Of MMAs with operands of a type, in a clock.
static double getFlops(tile::RatesAttr rates, bool byGroups, Type type) {
  // Rates are those of 16 bits.
  return byGroups ? rates.getGroupMma() * 16.0 / type.getIntOrFloatBitWidth()
                  : static_cast<double>(rates.getMma());
}

AttentionModel::TileTime
AttentionModel::getTileTime(const AttentionKnobs &schedule, const Usage &used,
                            const Steps &steps, int64_t resident) const {
  tile::RatesAttr rates = target.getRates();
  bool byGroups = schedule.getMmaWarps() > 1;
  bool isPersistent = schedule.getPersistent() != Persistent::None;
  tile::MmaAtomAttr atom = findAtom(work.problem, schedule, target);
  auto [dQK, dV] = getPaddedHeadDims(work.problem, atom);
  double bytes = work.problem.elementType.getIntOrFloatBitWidth() / 8.0;
  double groups = static_cast<double>(schedule.getNumWarps()) /
                  static_cast<double>(schedule.getMmaWarps());
  // Of a group that shares columns with others, rows are more and the output's
  // are shorter.
  auto sharers = static_cast<double>(countRowSharers(schedule));
  double rows = static_cast<double>(schedule.getBlockM()) / groups * sharers;
  double columns = schedule.getBlockN();
  double ofOutput =
      static_cast<double>(dV) / static_cast<double>(schedule.getWarpsN());

  // Demands of a step of one group, in clocks. An MMA reads its right
  // operand from shared memory for each of its rows of instructions, or once
  // where registers hold it, and the query where they do not.
  double reads = byGroups ? rows / static_cast<double>(atom.getM()) : 1;
  double shared = rates.getShared();
  double query = schedule.getQInRegisters() ? 0 : rows * dQK * bytes;
  double scores =
      std::max(2 * rows * columns * dQK /
                   getFlops(rates, byGroups, work.problem.elementType),
               (reads * columns * dQK * bytes + query) / shared);
  double output =
      std::max(2 * rows * columns * ofOutput /
                   getFlops(rates, byGroups, work.problem.getWeightType()),
               reads * columns * ofOutput * bytes / shared);
  double multiply = scores + output;
  double polynomials = static_cast<double>(schedule.getExpOnFma()) / 16;
  double exps = rows * columns * (1 - polynomials) / rates.getExp();
  double spills =
      std::max(0.0, used.spilledBytes - (isPersistent ? kSpilledOutside : 0)) *
      kSpillMoves * schedule.getMmaWarps() * target.getLanes() / shared;
  // What is transposed is read once more and written again.
  double transposing = 2 * columns * static_cast<double>(dV) * bytes / groups /
                       shared *
                       computingWarpsTranspose(work.problem, schedule, target);
  double vector =
      rows * countInstructions(schedule, work.isMasked(), columns, ofOutput) /
          rates.getIssue() +
      transposing + spills;
  // Workgroups of a cluster fetch a block once for all of them.
  double fetch = columns * (work.problem.isLatent ? dQK : dQK + dV) * bytes /
                 groups / static_cast<double>(schedule.getCluster()) /
                 rates.getCache();

  // What a group waits for. A warp has but its part of the SM, so that it
  // takes as many times longer over its share as there are other parts.
  double slowness = static_cast<double>(kParts) /
                    std::min<double>(kParts, schedule.getMmaWarps());
  double softmax = exps + vector;
  bool overlaps = schedule.getOverlap() != Overlap::None;
  double covered = softmax - spills;
  double wait =
      getCopyWait(schedule, slowness * (covered + (overlaps ? 0 : output)),
                  slowness * (covered + scores));
  double hidden = getHidden(schedule.getOverlap(), multiply, softmax, spills);
  double busiest = std::max({multiply, exps, vector, fetch});
  double alone =
      std::max(busiest, multiply + softmax - hidden + wait / slowness);

  double parallel = groups / slowness;
  double step =
      groups * (alone + std::max(0.0, parallel - 1) * busiest) / parallel;
  double bound = groups * busiest;
  bool waitsForQuery = isPersistent && schedule.getQStages() == 1;
  if (waitsForQuery)
    step += kInStep * (groups - 1) * (alone - busiest);
  double perTile = isPersistent ? kPersistentTileClocks : kTileClocks;
  if (waitsForQuery)
    perTile += kQueryClocks;
  perTile += steps.cut / static_cast<double>(steps.tiles) * kMaskInstructions *
             static_cast<double>(schedule.getBlockM()) * columns /
             rates.getIssue();
  double others = static_cast<double>(resident);
  return {perTile / others, bound + (step - bound) / others};
}

//===----------------------------------------------------------------------===//
// All SMs
//===----------------------------------------------------------------------===//

double AttentionModel::assign(int64_t heads, int64_t blockM, TileOrder order,
                              int64_t workers, double fixedKeys) const {
  int64_t sms = target.getSms();
  int64_t tiles = work.countTiles(blockM);
  int64_t total = tiles * heads;
  std::vector<double> times;
  for (const SeenKeys &seen : getTilesSeen(blockM))
    times.push_back(static_cast<double>(seen.countKeys()) + fixedKeys);
  double mean =
      std::accumulate(times.begin(), times.end(), 0.0) / tiles * total / sms;
  // As convert-attn-to-tile orders them.
  int64_t headBytes = work.seqK *
                      (work.problem.getStoredK(work.problem.headDimQK) +
                       work.problem.getStoredV(work.problem.headDimV)) *
                      work.problem.getKeyType().getIntOrFloatBitWidth() / 8;
  int64_t ofPart = std::max<int64_t>(1, target.getCache() / target.getCaches() /
                                            std::max<int64_t>(1, headBytes));
  int64_t section =
      std::min<int64_t>(heads, ofPart * target.getCaches() *
                                   std::max<int64_t>(1, heads / work.keyHeads));
  auto getTime = [&](int64_t number) {
    if (order != TileOrder::AcrossHeads)
      return times[order == TileOrder::Descending ? tiles - 1 - number % tiles
                                                  : number % tiles];
    int64_t first = number / (section * tiles) * section;
    int64_t size = std::min(section, heads - first);
    return times[tiles - 1 - (number - first * tiles) / size];
  };
  std::vector<double> loads(sms);
  if (workers) {
    for (int64_t number = 0; number < total; ++number) {
      int64_t round = number / workers;
      int64_t place = number % workers;
      bool isWhole = (round + 1) * workers <= total;
      if (order == TileOrder::AcrossHeads && round % 2 && isWhole)
        place = workers - 1 - place;
      loads[place % sms] += getTime(number);
    }
    return *llvm::max_element(loads) / mean;
  }
  // Each goes to the SM that is free first, whoever assigns it.
  std::make_heap(loads.begin(), loads.end(), std::greater<>());
  for (int64_t number = 0; number < total; ++number) {
    std::pop_heap(loads.begin(), loads.end(), std::greater<>());
    loads.back() += getTime(number);
    std::push_heap(loads.begin(), loads.end(), std::greater<>());
  }
  return *llvm::max_element(loads) / mean;
}

int64_t AttentionModel::getTiles(const AttentionKnobs &schedule) const {
  return llvm::alignTo(work.countTiles(schedule.getBlockM()),
                       schedule.getCluster());
}

int64_t AttentionModel::getParts(const AttentionKnobs &schedule) const {
  if (int64_t parts = schedule.getSplitK())
    return parts;
  // Of equal shares, as many as fill the chip.
  int64_t tiles =
      std::max<int64_t>(1, getTiledHeads(schedule) * getTiles(schedule));
  return llvm::divideCeil(target.getSms() * schedule.getWorkgroupsPerSm(),
                          tiles);
}

double AttentionModel::getImbalance(const AttentionKnobs &schedule,
                                    int64_t resident, double fixedKeys) const {
  int64_t sms = target.getSms();
  int64_t heads = getTiledHeads(schedule);
  int64_t total = heads * getTiles(schedule) * getParts(schedule);
  // So many even out.
  constexpr int64_t kManyTiles = 64;
  if (total <= 0 || total > kManyTiles * sms)
    return 1;
  // Parts of the keys of one tile are of one length.
  if (!work.isMasked() || schedule.getSplitK() != 1)
    return static_cast<double>(llvm::divideCeil(total, sms) * sms) /
           static_cast<double>(total);
  // Fixed parts are told apart by factors of two.
  constexpr double kFewKeys = 8;
  int scale = static_cast<int>(std::lround(std::log2(fixedKeys + kFewKeys)));
  int64_t workers = schedule.getPersistent() == Persistent::Static
                        ? std::min(total, sms * resident)
                        : 0;
  auto [it, isNew] = imbalanceOf.try_emplace(
      {heads, schedule.getBlockM(), schedule.getTileOrder(), workers, scale},
      1);
  if (isNew)
    it->second =
        assign(heads, schedule.getBlockM(), schedule.getTileOrder(), workers,
               std::max(1.0, std::ldexp(1.0, scale) - kFewKeys));
  return it->second;
}

double AttentionModel::getMergeClocks(const AttentionKnobs &schedule) const {
  if (schedule.getSplitK() == 1)
    return 0;
  // Written once by all SMs, and by a kernel read so as well.
  double elements = static_cast<double>(getParts(schedule)) *
                    static_cast<double>(work.heads * work.seqQ) *
                    static_cast<double>(work.problem.headDimV);
  double bytes = sizeof(float) * elements,
         rate = static_cast<double>(target.getRates().getCache()),
         written = bytes / rate / static_cast<double>(target.getSms());
  if (schedule.getMerge() == schedule::MergeParts::Kernel)
    return kLaunchClocks + 2 * written;
  // The last workgroups read those of their tiles, each by itself.
  auto tiles = static_cast<double>(getTiledHeads(schedule)) *
               static_cast<double>(getTiles(schedule));
  return kJoinClocks + written +
         std::max(written, bytes / std::max(tiles, 1.0) / rate);
}

double AttentionModel::predict(const AttentionKnobs &schedule,
                               const ReportedUsage *reported) const {
  Usage used = estimate(schedule);
  if (reported && reported->registers)
    used = {static_cast<double>(*reported->registers),
            static_cast<double>(reported->spillBytes.value_or(0))};
  int64_t resident = getResident(schedule, used);
  const Steps &steps = getSteps(schedule.getBlockM(), schedule.getBlockN());
  TileTime time = getTileTime(schedule, used, steps, resident);
  // What its machine code says of a step is worth more than an estimate.
  if (reported && reported->loopFlopsPerClock.value_or(0) > 0) {
    auto [dQK, dV] = getPaddedHeadDims(
        work.problem, findAtom(work.problem, schedule, target));
    time.step = 2.0 * static_cast<double>(schedule.getBlockM()) *
                static_cast<double>(schedule.getBlockN()) *
                static_cast<double>(dQK + dV) /
                static_cast<double>(*reported->loopFlopsPerClock);
  }
  double sms = target.getSms();
  double clocks =
      static_cast<double>(getTiledHeads(schedule)) / sms *
      (static_cast<double>(steps.tiles * getParts(schedule)) * time.fixed +
       steps.all * time.step);
  clocks *= static_cast<double>(getTiles(schedule)) /
            static_cast<double>(steps.tiles);
  clocks *= getImbalance(schedule, resident,
                         time.fixed / time.step *
                             static_cast<double>(schedule.getBlockN()));
  if (schedule.getPersistent() == Persistent::Static)
    clocks *= kAssignedInAdvance;
  // Inputs are read and the output is written at least once. Where tiles of all
  // heads come before the next ones of any, the first of them read all keys.
  auto getClocks = [&](Type type, int64_t rows, int64_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns) *
           type.getIntOrFloatBitWidth() / 8.0 /
           static_cast<double>(target.getRates().getMemory());
  };
  double queries = getClocks(work.problem.elementType, work.heads * work.seqQ,
                             work.problem.headDimQK + work.problem.headDimV);
  double keys = getClocks(work.problem.getKeyType(), work.keyHeads * work.seqK,
                          work.problem.getKeyColumns());
  if (schedule.getTileOrder() == TileOrder::AcrossHeads && steps.tiles > 1 &&
      steps.all > 0) {
    double first = clocks * steps.longest / steps.all;
    double moved = keys + queries / static_cast<double>(steps.tiles);
    clocks += std::max(0.0, moved / kBurstRate - first);
  }
  clocks = kLaunchClocks + std::max(clocks, queries + keys) +
           getMergeClocks(schedule);
  constexpr double kNanosecondsPerMicrosecond = 1000;
  return clocks / static_cast<double>(target.getRates().getClock()) *
         kNanosecondsPerMicrosecond;
}
