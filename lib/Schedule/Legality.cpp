// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of legality. A new rule needs a test on both sides of its limit.

#include "attune/Schedule/Legality.h"
#include "attune/Dialect/Tile/IR/SharedMemoryLayout.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using attn::ScheduleAttr;
using tile::MmaAtomAttr;
using tile::TargetAttr;

/// Values of the knob o-in-shared.
static constexpr int64_t kOutputInQuerySlot = 1, kOutputInBuffer = 2;
/// What the strides of all dimensions but the innermost are multiples of.
static int64_t getRowDivisor(RankedTensorType type, int64_t headDim) {
  auto strided = dyn_cast_or_null<attn::StridedAttr>(type.getEncoding());
  if (!strided) {
    int64_t last = type.getShape().back();
    bool contiguous = headDim == type.getRank() - 1;
    return !contiguous ? 0 : ShapedType::isDynamic(last) ? 1 : last;
  }
  int64_t divisor = 0;
  for (auto [dim, stride] : llvm::enumerate(strided.getStrides())) {
    if (static_cast<int64_t>(dim) != headDim)
      divisor =
          std::gcd(divisor, ShapedType::isDynamic(stride) ? strided.getDivisor()
                                                          : stride);
    else if (stride != 1)
      return 0;
  }
  return divisor;
}

ScheduleProblem ScheduleProblem::get(attn::AttentionOp op) {
  int64_t headDim = op.getOrder().find('d'), divisor = 0;
  for (Value input :
       {Value(op.getQuery()), Value(op.getKey()), Value(op.getValue())}) {
    int64_t known =
        getRowDivisor(cast<RankedTensorType>(input.getType()), headDim);
    if (known == 0) {
      divisor = 0;
      break;
    }
    divisor = std::gcd(divisor, known);
  }
  bool isMasked = op.getCausal() || op.getWindow() || op.hasMask();
  auto output = cast<RankedTensorType>(op.getResult().getType());
  return {op.getQuery().getType().getElementType(),
          op.getHeadDimQK(),
          op.getHeadDimV(),
          divisor,
          isMasked,
          getRowDivisor(output, headDim)};
}

PaddedHeadDims attune::getPaddedHeadDims(const ScheduleProblem &problem,
                                         MmaAtomAttr atom) {
  return {static_cast<int64_t>(llvm::alignTo(problem.headDimQK, atom.getK())),
          static_cast<int64_t>(llvm::alignTo(problem.headDimV, atom.getN()))};
}

MmaAtomAttr attune::findAtom(const ScheduleProblem &problem,
                             const Schedule &schedule, TargetAttr target) {
  return target.findAtom(problem.elementType, problem.elementType,
                         Float32Type::get(target.getContext()),
                         schedule.getMmaWarps() > 1 ? tile::MmaScope::Warpgroup
                                                    : tile::MmaScope::Warp);
}

static int64_t getComputingThreads(const Schedule &schedule,
                                   TargetAttr target) {
  return schedule.getNumWarps() * target.getLanes();
}

int64_t attune::getThreads(const Schedule &schedule, TargetAttr target) {
  return (schedule.getNumWarps() + schedule.getProducerWarps()) *
         target.getLanes();
}

/// Registers are given to warpgroups in steps of 8 a lane, at most 256; a
/// producer that issues copies needs few, and a few more where it goes from
/// tile to tile (PTX ISA, setmaxnreg; spills seen with less).
static constexpr int64_t kRegisterStep = 8, kMostRoleRegisters = 256,
                         kProducerRegisters = 24,
                         kPersistentProducerRegisters = 32;

/// A core is four schedulers, each with a quarter of the registers, and warps
/// are dealt to them one by one: one with more warps than the others has fewer
/// registers for each, and ptxas gives all lanes what fits there.
int64_t attune::getRegistersAtEntry(const Schedule &schedule,
                                    TargetAttr target) {
  constexpr int64_t kSchedulers = 4;
  int64_t warps = schedule.getMinBlocksPerCore() *
                  (schedule.getNumWarps() + schedule.getProducerWarps());
  int64_t threads = llvm::alignTo(warps, kSchedulers) * target.getLanes();
  return std::min(target.getRegisters(),
                  static_cast<int64_t>(llvm::alignDown(
                      target.getRegistersPerCore() / threads, kRegisterStep)));
}

std::optional<RoleRegisters> attune::getRoleRegisters(const Schedule &schedule,
                                                      TargetAttr target) {
  if (!schedule.getProducerWarps() ||
      schedule.getProducerWarps() % schedule.getMmaWarps() != 0)
    return std::nullopt;
  // Roles deal what the workgroup started with. A warpgroup that asks for more
  // waits for ever, though the core may have it.
  int64_t all =
      getRegistersAtEntry(schedule, target) * getThreads(schedule, target);
  int64_t consumers = getComputingThreads(schedule, target);
  int64_t producers = schedule.getProducerWarps() * target.getLanes();
  auto share = [](int64_t registers, int64_t threads) {
    return std::min(static_cast<int64_t>(
                        llvm::alignDown(registers / threads, kRegisterStep)),
                    kMostRoleRegisters);
  };
  int64_t least = schedule.getPersistent() ? kPersistentProducerRegisters
                                           : kProducerRegisters;
  int64_t consumer = share(all - producers * least, consumers);
  // What is too little for another step of the consumers is the producer's.
  return RoleRegisters{share(all - consumers * consumer, producers), consumer};
}

int64_t attune::getRegisterLimit(const Schedule &schedule, TargetAttr target) {
  if (std::optional<RoleRegisters> roles = getRoleRegisters(schedule, target))
    return std::min(target.getRegisters(), roles->consumer);
  return getRegistersAtEntry(schedule, target);
}

int64_t attune::getSharedBytes(const ScheduleProblem &problem,
                               const Schedule &schedule, TargetAttr target) {
  auto [dQK, dV] =
      getPaddedHeadDims(problem, findAtom(problem, schedule, target));
  Type type = problem.elementType;
  int64_t elementBytes = type.getIntOrFloatBitWidth() / 8, barriers = 0;
  bool byWarpgroups = schedule.getMmaWarps() > 1;
  tile::SharedMemoryLayout layout;
  // As tile-promote-to-shared makes them.
  auto add = [&](int64_t stages, int64_t rows, int64_t columns) {
    int64_t panel = byWarpgroups ? target.getPanel(columns, type) : 0;
    layout.addTiles(stages * rows * columns * elementBytes);
    barriers += tile::SharedMemoryLayout::countBarriers(stages, panel);
  };
  add(schedule.getQStages(), schedule.getBlockM(), dQK);
  add(schedule.getKStages(), schedule.getBlockN(), dQK);
  add(schedule.getVStages(), schedule.getBlockN(), dV);
  int64_t rowBytes = elementBytes * schedule.getBlockM();
  if (!schedule.getPInRegisters())
    layout.addTiles(rowBytes * schedule.getBlockN());
  if (schedule.getOInShared() == kOutputInBuffer)
    layout.addTiles(rowBytes * dV);
  layout.addWords(barriers);
  if (schedule.getPersistent() == 2)
    layout.addWords(tile::DealerType::kWords);
  return layout.getBytes();
}

int64_t attune::getAccumulatorRegisters(const ScheduleProblem &problem,
                                        const Schedule &schedule,
                                        TargetAttr target) {
  int64_t dV =
      getPaddedHeadDims(problem, findAtom(problem, schedule, target)).v;
  return llvm::divideCeil(schedule.getBlockM() * (dV + schedule.getBlockN()),
                          getComputingThreads(schedule, target));
}

template <typename... Parts>
static Refusal refuse(StringRef id, const char *format, Parts... parts) {
  return Refusal{id, [=] { return llvm::formatv(format, parts...).str(); }};
}

/// The rules of workgroups that share keys and values.
static std::optional<Refusal> checkCluster(const ScheduleProblem &problem,
                                           const Schedule &schedule) {
  int64_t cluster = schedule.getCluster();
  if (cluster == 1)
    return std::nullopt;
  if (problem.isMasked)
    return refuse("cluster-of-masked",
                  "expects cluster to be 1 where a mask may show query tiles "
                  "different keys, but got {0}",
                  cluster);
  if (!schedule.getProducerWarps())
    return refuse("cluster-without-producer",
                  "expects producer-warps where cluster is {0}, but got {1}",
                  cluster, schedule.getProducerWarps());
  if (schedule.getPersistent() == 2)
    return refuse("cluster-of-dealt-tiles",
                  "expects persistent to be 0 or 1 where cluster is {0}, but "
                  "got {1}",
                  cluster, schedule.getPersistent());
  return std::nullopt;
}

/// What the chip's copy engine moves at a time, and starts at.
static constexpr int64_t kCopyBytes = 16;

static int64_t getBytes(const ScheduleProblem &problem, int64_t elements) {
  return elements * problem.elementType.getIntOrFloatBitWidth() / 8;
}

/// The rules of an output that leaves through shared memory.
static std::optional<Refusal> checkOutput(const ScheduleProblem &problem,
                                          const Schedule &schedule,
                                          TargetAttr target) {
  int64_t place = schedule.getOInShared();
  if (!place)
    return std::nullopt;
  if (problem.outputDivisor == 0)
    return refuse("output-row-not-contiguous",
                  "expects the elements of a row of the output to be "
                  "neighbours where o-in-shared is {0}",
                  place);
  int64_t rowBytes = getBytes(problem, problem.outputDivisor);
  if (rowBytes % kCopyBytes != 0)
    return refuse("output-row-alignment",
                  "expects rows of the output to start at multiples of {0} "
                  "bytes where o-in-shared is {1}, but got {2}",
                  kCopyBytes, place, rowBytes);
  auto [dQK, dV] =
      getPaddedHeadDims(problem, findAtom(problem, schedule, target));
  if (place == kOutputInQuerySlot && dQK != dV)
    return refuse("output-in-query-slot",
                  "expects rows of the output to be as long as the {0} "
                  "elements of a query's where o-in-shared is {1}, but got {2}",
                  dQK, place, dV);
  return std::nullopt;
}

/// The rules of multiplies by several warps, and of what comes with them:
/// copies of boxes, producers, overlap.
static std::optional<Refusal> checkRoles(const ScheduleProblem &problem,
                                         const Schedule &schedule,
                                         TargetAttr target) {
  int64_t warps = schedule.getNumWarps(), together = schedule.getMmaWarps();
  if (together == 1) {
    for (auto [knob, value] :
         {std::pair<StringRef, int64_t>{"producer-warps",
                                        schedule.getProducerWarps()},
          {"overlap", schedule.getOverlap()},
          {"exp-on-fma", schedule.getExpOnFma()},
          {"persistent", schedule.getPersistent()},
          {"q-stages", schedule.getQStages() - 1},
          {"p-in-registers", schedule.getPInRegisters() - 1},
          {"o-in-shared", schedule.getOInShared()},
          {"rescale-late", schedule.getRescaleLate()},
          {"unroll", schedule.getUnroll() - 1},
          {"cluster", schedule.getCluster() - 1}})
      if (value != 0)
        return refuse("one-warp-multiply",
                      "expects {0} to have its default where mma-warps is 1",
                      knob);
    return std::nullopt;
  }
  if (warps % together != 0)
    return refuse("warps-per-multiply",
                  "expects num-warps to be a multiple of {0}, the warps of a "
                  "multiply, but got {1}",
                  together, warps);
  int64_t rowBytes = getBytes(problem, problem.rowDivisor);
  if (problem.rowDivisor == 0)
    return refuse("row-not-contiguous",
                  "expects the elements of a row to be neighbours for a "
                  "multiply by {0} warps",
                  together);
  if (rowBytes % kCopyBytes != 0)
    return refuse("row-alignment",
                  "expects rows of query, key and value to start at multiples "
                  "of {0} bytes for a multiply by {1} warps, but got {2}",
                  kCopyBytes, together, rowBytes);
  if (schedule.getQInRegisters())
    return refuse("query-in-registers",
                  "expects q-in-registers to be 0 where mma-warps is {0}, but "
                  "got {1}",
                  together, schedule.getQInRegisters());
  if (schedule.getRescaleLate() && !schedule.getOverlap())
    return refuse("rescale-without-overlap",
                  "expects overlap where rescale-late is {0}, but got {1}",
                  schedule.getRescaleLate(), schedule.getOverlap());
  if (schedule.getQStages() > 1 && !schedule.getPersistent())
    return refuse("query-stages",
                  "expects q-stages to be 1 where persistent is 0, but got {0}",
                  schedule.getQStages());
  if (schedule.getPersistent() && !schedule.getProducerWarps())
    return refuse("persistent-without-producer",
                  "expects producer-warps where persistent is {0}, but got {1}",
                  schedule.getPersistent(), schedule.getProducerWarps());
  if (std::optional<Refusal> refusal = checkCluster(problem, schedule))
    return refusal;
  if (schedule.getOverlap() == 2 && warps / together < 2)
    return refuse("turns-of-one",
                  "expects at least {0} warps where overlap is 2, but got {1}",
                  2 * together, warps);
  return checkOutput(problem, schedule, target);
}

/// Registers are dealt to roles while a kernel runs, but the assembler wants
/// each multiply to fit those that all threads start with: its accumulators,
/// and some more for its operands and what lives across it. The former are
/// those of the widest instruction. How many more was seen in what ptxas
/// refuses (C7602); with fewer registers than some it gives up (C7600).
static constexpr int64_t kMostColumns = 256, kBesideMultiply = 32,
                         kFewestRegisters = 80;

std::optional<Refusal> attune::checkSchedule(const ScheduleProblem &problem,
                                             const Schedule &schedule,
                                             TargetAttr target) {
  if (ShapedType::isDynamic(problem.headDimQK) ||
      ShapedType::isDynamic(problem.headDimV))
    return refuse("dynamic-head-size",
                  "expects static head sizes, but got a dynamic one");
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  if (!atom && schedule.getMmaWarps() == 1)
    return refuse("no-matrix-instruction",
                  "expects an element type that '{0}' has a matrix instruction "
                  "for, but got {1}",
                  target.getChip(), problem.elementType);
  if (!atom)
    return refuse("no-matrix-instruction",
                  "expects an element type that '{0}' has a matrix instruction "
                  "of {1} warps for, but got {2}",
                  target.getChip(), schedule.getMmaWarps(),
                  problem.elementType);
  if (std::optional<Refusal> refusal = checkRoles(problem, schedule, target))
    return refusal;
  int64_t groups = schedule.getNumWarps() / atom.getWarps();
  int64_t rows = groups * atom.getM();
  if (schedule.getBlockM() % rows != 0)
    return refuse("rows-per-warp",
                  "expects block-m to be a multiple of {0} rows ({1} {4} of "
                  "{2}), but got {3}",
                  rows, groups, atom.getM(), schedule.getBlockM(),
                  atom.getWarps() == 1 ? "warps" : "groups of warps");
  for (auto [what, multiple] :
       {std::pair<StringRef, int64_t>{"columns", atom.getN()},
        {"depth", atom.getK()}})
    if (schedule.getBlockN() % multiple != 0)
      return refuse(
          "block-n-multiple",
          "expects block-n to be a multiple of {0} ({1} of '{2}'), but got {3}",
          multiple, what, atom.getName(), schedule.getBlockN());
  int64_t threads = getThreads(schedule, target);
  if (threads > target.getMaxThreads())
    return refuse(
        "threads-overflow",
        "expects at most {0} threads in a workgroup on '{1}', but got {2}",
        target.getMaxThreads(), target.getChip(), threads);
  int64_t blocks = schedule.getMinBlocksPerCore();
  if (blocks * threads > target.getMaxThreadsPerCore())
    return refuse("threads-per-core",
                  "expects at most {0} threads on a core of '{1}', but got {2} "
                  "({3} workgroups of {4})",
                  target.getMaxThreadsPerCore(), target.getChip(),
                  blocks * threads, blocks, threads);
  int64_t shared = getSharedBytes(problem, schedule, target);
  if (shared > target.getShared())
    return refuse(
        "shared-overflow",
        "expects at most {0} bytes of shared memory on '{1}', but got {2}",
        target.getShared(), target.getChip(), shared);
  if (blocks * shared > target.getSharedPerCore())
    return refuse("shared-per-core",
                  "expects at most {0} bytes of shared memory on a core of "
                  "'{1}', but got {2} ({3} workgroups of {4})",
                  target.getSharedPerCore(), target.getChip(), blocks * shared,
                  blocks, shared);
  int64_t registers = getAccumulatorRegisters(problem, schedule, target);
  int64_t limit = getRegisterLimit(schedule, target);
  if (registers > limit)
    return refuse("register-overflow",
                  "expects accumulators of at most {0} registers a lane on "
                  "'{1}', but got {2}",
                  limit, target.getChip(), registers);
  if (atom.getWarps() == 1)
    return std::nullopt;
  if (limit < kFewestRegisters)
    return refuse("registers-per-lane",
                  "expects at least {0} registers a lane for a multiply by {1} "
                  "warps on '{2}', but got {3}",
                  kFewestRegisters, atom.getWarps(), target.getChip(), limit);
  int64_t atEntry = getRegistersAtEntry(schedule, target);
  int64_t widest =
      std::min(kMostColumns, std::max(schedule.getBlockN(),
                                      getPaddedHeadDims(problem, atom).v));
  int64_t needed =
      atom.getM() * widest / (atom.getWarps() * target.getLanes()) +
      kBesideMultiply;
  if (needed > atEntry)
    return refuse("registers-at-entry",
                  "expects a multiply of at most {0} registers a lane, what "
                  "{1} threads start with on '{2}', but got {3}",
                  atEntry, blocks * threads, target.getChip(), needed);
  return std::nullopt;
}

/// What a lane needs beside tiles: row statistics, loop state, addresses. Rows
/// whose length is no power of two cost more of these, for their places in
/// shared memory are not a few bits apart; so does a ring of one slot, where a
/// step's copies cannot be spread over it. Seen in compiled kernels.
static constexpr int64_t kOtherRegisters = 60, kOddRowRegisters = 48,
                         kOneSlotRegisters = 20;
/// The same for multiplies by several warps, which read shared memory
/// themselves.
static constexpr int64_t kOtherGroupRegisters = 24;

/// Counts the tiles that live at the time when scores have become weights.
int64_t attune::estimateRegisters(const ScheduleProblem &problem,
                                  const Schedule &schedule, TargetAttr target) {
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  constexpr int64_t kWordBits = 32;
  int64_t bits = problem.elementType.getIntOrFloatBitWidth();
  int64_t blockN = schedule.getBlockN();
  if (atom.getWarps() > 1) {
    // Operands stay in shared memory. Weights stand beside the next scores only
    // where a block's softmax overlaps with the next block's multiply.
    int64_t weights = schedule.getBlockM() * blockN * bits / kWordBits /
                      getComputingThreads(schedule, target);
    return getAccumulatorRegisters(problem, schedule, target) +
           (schedule.getOverlap() && schedule.getPInRegisters() ? weights : 0) +
           kOtherGroupRegisters;
  }
  auto [dQK, dV] = getPaddedHeadDims(problem, atom);
  int64_t mSteps =
      schedule.getBlockM() / (schedule.getNumWarps() * atom.getM());
  // An operand of several lanes counts in each of them.
  auto lhsRegisters = [&](int64_t depth) {
    return mSteps * (depth / atom.getK()) * atom.getLhs().getNumRegisters() *
           bits / kWordBits;
  };
  // Without asynchronous copies the next blocks pass through registers, and
  // compilers gather plain loads, so that a query read at each step takes as
  // many registers as one that stays.
  bool plainLoads = target.getCopyWidths().empty();
  int64_t query =
      schedule.getQInRegisters() || plainLoads ? lhsRegisters(dQK) : 0;
  int64_t weights = lhsRegisters(blockN);
  int64_t keys =
      blockN / atom.getN() * atom.getRhs().getNumRegisters() * bits / kWordBits;
  int64_t copied = plainLoads ? blockN * (dQK + dV) * bits / kWordBits /
                                    getThreads(schedule, target)
                              : 0;
  bool oddRows = !llvm::isPowerOf2_64(dQK) || !llvm::isPowerOf2_64(dV);
  bool oneSlot = schedule.getKStages() == 1 || schedule.getVStages() == 1;
  return getAccumulatorRegisters(problem, schedule, target) + query + weights +
         keys + copied + kOtherRegisters + (oddRows ? kOddRowRegisters : 0) +
         (oneSlot ? kOneSlotRegisters : 0);
}

/// A schedule with a producer, for chips that multiply by groups of warps.
/// Tiles that differ in length are dealt to persistent workgroups, the longest
/// ones first, where a second query tile fits.
static std::optional<ScheduleAttr>
selectGroupSchedule(const ScheduleProblem &problem, TargetAttr target) {
  MLIRContext *context = target.getContext();
  ScheduleAttr base = ScheduleAttr::getDefault(context);
  constexpr int64_t kTogether = 4, kProducers = 4, kLongestFirst = 2,
                    kDealt = 2;
  auto select = [&](bool isDealt) -> std::optional<ScheduleAttr> {
    for (int64_t overlap : {2, 1, 0})
      for (int64_t groups : {3, 2, 1})
        for (int64_t blockN : {128, 112, 96, 80, 64, 48, 32, 16}) {
          auto schedule = ScheduleAttr::get(
              context, 64 * groups, blockN, kTogether * groups, kTogether,
              kProducers, /*qStages=*/isDealt ? 2 : 1, /*kStages=*/2,
              /*vStages=*/2, /*qInRegisters=*/0, base.getPInRegisters(),
              base.getOInShared(), overlap, base.getRescale(),
              base.getRescaleLate(), base.getExpOnFma(), base.getSplitMasked(),
              base.getUnroll(), isDealt ? kLongestFirst : base.getTileOrder(),
              /*persistent=*/isDealt ? kDealt : 0, base.getMinBlocksPerCore(),
              base.getCluster());
          // Three groups have few registers each and pay where blocks are
          // large.
          if (groups == 3 && blockN < 128)
            break;
          if (!checkSchedule(problem, schedule, target) &&
              estimateRegisters(problem, schedule, target) <=
                  getRegisterLimit(schedule, target))
            return schedule;
        }
    return std::nullopt;
  };
  std::optional<ScheduleAttr> inOneGrid = select(/*isDealt=*/false);
  if (!problem.isMasked || !inOneGrid)
    return inOneGrid;
  // Smaller blocks would cost more than dealing gains.
  std::optional<ScheduleAttr> dealt = select(/*isDealt=*/true);
  return dealt && dealt->getBlockM() == inOneGrid->getBlockM() &&
                 dealt->getBlockN() == inOneGrid->getBlockN()
             ? dealt
             : inOneGrid;
}

std::optional<ScheduleAttr>
attune::selectSchedule(const ScheduleProblem &problem, TargetAttr target) {
  MLIRContext *context = target.getContext();
  ScheduleAttr base = ScheduleAttr::getDefault(context);
  if (std::optional<ScheduleAttr> schedule =
          selectGroupSchedule(problem, target))
    return schedule;
  std::optional<ScheduleAttr> best;
  int64_t bestExcess = std::numeric_limits<int64_t>::max();
  for (int64_t blockM : {64, 128, 32, 16, 256})
    for (int64_t blockN : {64, 32, 16})
      for (int64_t warps : {4, 8, 2, 1})
        for (int64_t stages : {2, 1})
          for (int64_t inRegisters : {1, 0}) {
            auto schedule = ScheduleAttr::get(
                context, blockM, blockN, warps, /*mmaWarps=*/1,
                /*producerWarps=*/0, /*qStages=*/1, stages, stages, inRegisters,
                base.getPInRegisters(), base.getOInShared(), /*overlap=*/0,
                base.getRescale(), base.getRescaleLate(), base.getExpOnFma(),
                base.getSplitMasked(), base.getUnroll(), base.getTileOrder(),
                /*persistent=*/0, base.getMinBlocksPerCore(),
                base.getCluster());
            if (checkSchedule(problem, schedule, target))
              continue;
            int64_t excess = estimateRegisters(problem, schedule, target) -
                             getRegisterLimit(schedule, target);
            if (excess <= 0)
              return schedule;
            if (excess < bestExcess) {
              bestExcess = excess;
              best = schedule;
            }
          }
  return best;
}
