// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tools ask of an op that can be tuned.

#ifndef ATTUNE_SCHEDULE_TUNABLEOPINTERFACE_H
#define ATTUNE_SCHEDULE_TUNABLEOPINTERFACE_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Runtime/Verify.h"
#include "attune/Schedule/CostModel.h"
#include "attune/Schedule/IR/Schedule.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <memory>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace attune {

class TunableOpInterface;

/// Sizes of dynamic dimensions by name (KnobSet::sizes).
using SizeMap = std::map<std::string, int64_t>;

/// Sizes that were asked for. Each name binds every dynamic dimension that
/// means it.
struct ProblemSizes {
  SizeMap named;
  /// Sizes of whole arguments, for dimensions that have no name.
  llvm::DenseMap<unsigned, llvm::SmallVector<int64_t>> shapes;

  std::optional<int64_t> get(llvm::StringRef name) const;
};

/// Reads sizes as options spell them, `seq-q=4096`. `option` is what errors
/// call the option.
llvm::Expected<SizeMap> parseSizes(llvm::ArrayRef<std::string> texts,
                                   llvm::StringRef option);

/// What one run of an op does.
struct Work {
  double flops = 0;
  /// To and from memory, if each operand is read and each result written once.
  double bytes = 0;
};

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Why a schedule is refused. `id` is stable and names the rule; `getMessage`
/// says what was expected and what came, with units. The search is refused
/// often and wants few of the messages.
struct Refusal {
  llvm::StringRef id;
  std::function<std::string()> getMessage;
};

/// Gives the value of a tunable by its place in the set.
using KnobReader = std::function<int64_t(size_t)>;

/// The first rule that a schedule breaks; nothing if it breaks none. The answer
/// depends on the tunables that were read and on no others, by which the search
/// skips schedules. It skips the more, the fewer a rule reads and the earlier
/// it stands.
using ScheduleRule = std::function<std::optional<Refusal>(const KnobReader &)>;

struct ScheduleRules {
  /// Exact: what is legal compiles and runs right, though it may be slow.
  ScheduleRule checkLegal;
  /// What is not worth a search's time, by experience, though it may be legal.
  /// Asked before checkLegal, for it reads fewer tunables: of any schedule.
  ScheduleRule checkWorthTrying;
};

/// A reader of values in the order of the set.
KnobReader readFrom(llvm::ArrayRef<int64_t> values);

//===----------------------------------------------------------------------===//
// Inputs and results
//===----------------------------------------------------------------------===//

/// What integers mean, by the way an op uses them.
struct IntegerUse {
  enum class Kind {
    /// Compared with a position, or a length: 0 to the size inclusive.
    Position,
    /// An index: 0 to the size exclusive.
    Index,
    /// Compared with each other: numbers of segments.
    Segment,
    /// Anything else: small numbers.
    Number,
    /// What stands for a number of any size, as an element of i8.
    Element,
    /// Two such numbers of 4 bits in an i8.
    Packed,
    /// A truth value.
    Flag,
    /// How many blocks of a list there are: from 0 to all that it may name.
    BlockCount,
    /// The numbers of blocks in a list, each row of which has none twice.
    BlockIndex,
    /// An index, of which none is there twice as far as there are enough.
    DistinctIndex,
    /// The number of a place along two dimensions of a tensor. None is there
    /// twice as far as there are enough, and some are -1, which is no place.
    Slot,
    /// Where parts of a size begin: rising from 0, and last the size itself.
    PartStart,
  } kind = Kind::Number;
  /// The size in which a Position lies, or that has the parts of a PartStart,
  /// by its place in the set.
  size_t size = 0;
  /// For an Index or DistinctIndex, the tensor and the dimension that it
  /// selects from; for a Slot, the first one of these.
  mlir::Value tensor;
  unsigned tensorDim = 0;
  /// For a BlockCount or BlockIndex, the blocks that the list may name: those
  /// that the size has, from `firstBlock` on and in steps of `blockStep`. A
  /// BlockCount is not more than `tensor` has of dimension `tensorDim`.
  int64_t blockSize = 1;
  int64_t firstBlock = 0;
  int64_t blockStep = 1;
};

/// A kind of inputs. A kernel may be right for one and wrong for another.
struct InputClass {
  /// As options spell it.
  llvm::StringRef name;
  llvm::StringRef doc;
};

/// What is made of numbers of mean 0 and variance 1 for an input class.
struct InputTransform {
  double factor = 1;
  /// Of the magnitude of the number.
  bool magnitude = false;
  /// The nearest integer of an amount of at most 2, before all else.
  bool isInteger = false;
};

/// Takes in what an op says of its inputs. Values that are no arguments of the
/// function are ignored; of what contradicts itself, the first counts, but for
/// classes, where the last does.
class InputNotes {
public:
  virtual ~InputNotes();
  /// A dimension of a tensor is a size of the set, by its place there, or has
  /// an element for each `unit` of it, and `more` beside them.
  virtual void noteSize(mlir::Value tensor, int64_t position, size_t size,
                        int64_t unit = 1, int64_t more = 0) = 0;
  /// The integers in an argument.
  virtual void noteIntegers(mlir::Value argument, const IntegerUse &use) = 0;
  /// How a tensor is filled for an input class that is not `normal`.
  virtual void noteClass(mlir::Value tensor, llvm::StringRef inputClass,
                         const InputTransform &transform) = 0;
};

/// What the reference is computed for.
enum class ReferenceRun {
  /// Results as they should be, all in f32.
  Exact,
  /// What the rule of tolerance needs beside them.
  Bound
};

/// How a result is compared with the reference.
struct ResultCheckRule {
  /// What it is called beside its number; empty where that says all.
  llvm::StringRef label;
  /// Derives what is right from the two runs of the reference.
  std::function<Reference(std::vector<float> exact,
                          llvm::ArrayRef<float> bound)>
      makeReference;
  /// Where each i8 of the result holds two integers of 4 bits, which the
  /// reference tells apart: the dimension along which it has twice as many.
  std::optional<int64_t> packedDim;
};

/// The rule for results of which nothing else is known: `bound` is the same
/// computation with every intermediate value rounded to `type`.
ResultCheckRule getRoundingRule(mlir::Type type);

/// A tunable op alone in a function of the name of its set, with all it uses as
/// arguments, each operand one of its own, and the constants of its regions;
/// without a schedule. Of operands whose numbers are a pair of `same`, of which
/// the op wants one value, the second is the first, which has a lower number.
mlir::OwningOpRef<mlir::ModuleOp>
isolateOp(mlir::Operation *op,
          llvm::ArrayRef<std::pair<unsigned, unsigned>> same = {});

/// The ratio of two sizes, as the amount of its logarithm; 0 where one of them
/// is not known.
double compareSizes(int64_t left, int64_t right);

/// Refuses, with a diagnostic, a schedule on an op that cannot have it, where a
/// model is attached to its class.
mlir::LogicalResult verifySchedule(mlir::Operation *op);

/// Whether an op that can be tuned is inside.
bool hasTunableOp(mlir::Operation *op);

/// The op of an isolated problem.
TunableOpInterface getIsolatedOp(mlir::ModuleOp isolated);

} // namespace attune

#include "attune/Schedule/TunableOpInterface.h.inc"

#endif // ATTUNE_SCHEDULE_TUNABLEOPINTERFACE_H
