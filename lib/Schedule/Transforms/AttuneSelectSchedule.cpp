// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picks a legal schedule where none is given.

#include "attune/Schedule/ForEachTunable.h"
#include "attune/Schedule/Transforms/Passes.h"

namespace attune {
#define GEN_PASS_DEF_ATTUNESELECTSCHEDULEPASS
#include "attune/Schedule/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

static LogicalResult selectSchedule(TunableOpInterface op,
                                    tile::TargetAttr target,
                                    const SizeMap &sizes) {
  if (op.getSchedule())
    return success();
  if (ScheduleAttrInterface schedule = op.selectSchedule(target, sizes)) {
    op.setSchedule(schedule);
    return success();
  }
  SmallVector<int64_t> defaults = op.getKnobSet().getDefaults();
  std::optional<Refusal> refusal =
      op.getRules(target).checkLegal(readFrom(defaults));
  assert(refusal && "expects no legal schedule where none can be selected");
  return op->emitOpError() << refusal->id << ": " << refusal->getMessage();
}

namespace {
struct AttuneSelectSchedule
    : attune::impl::AttuneSelectSchedulePassBase<AttuneSelectSchedule> {
  using AttuneSelectSchedulePassBase::AttuneSelectSchedulePassBase;

  void runOnOperation() override {
    llvm::Expected<SizeMap> likely = parseSizes(sizes, "sizes");
    if (!likely) {
      emitError(getOperation().getLoc()) << llvm::toString(likely.takeError());
      return signalPassFailure();
    }
    if (failed(forEachTunable(getOperation(), [&](TunableOpInterface op,
                                                  tile::TargetAttr target) {
          return selectSchedule(op, target, *likely);
        })))
      signalPassFailure();
  }
};
} // namespace
