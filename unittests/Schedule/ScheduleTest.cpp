// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule says the same of each knob as the attribute with its values.

#include "attune/Schedule/Schedule.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using attn::ScheduleAttr;

TEST(Schedule, ReadsEachKnobByItsName) {
  MLIRContext context;
  context.loadDialect<attn::AttnDialect>();
  for (auto [changed, knob] : llvm::enumerate(ScheduleAttr::getKnobs()))
    for (int64_t value : knob.domain) {
      SmallVector<int64_t> values =
          ScheduleAttr::getDefault(&context).getValues();
      values[changed] = value;
      auto attr = ScheduleAttr::fromValues(
          [&] { return emitError(UnknownLoc::get(&context)); }, &context,
          values);
      Schedule kept(attr);
      Schedule read([&](size_t place) { return values[place]; });
#define EXPECT_SAME(accessor, field)                                           \
  EXPECT_EQ(kept.accessor(), attr.accessor()) << #accessor;                    \
  EXPECT_EQ(read.accessor(), attr.accessor()) << #accessor;
      ATTUNE_FOR_EACH_KNOB(EXPECT_SAME)
#undef EXPECT_SAME
    }
}

TEST(Schedule, ReadsWhatItIsAskedForAlone) {
  size_t reads = 0;
  Schedule schedule([&](size_t) { return static_cast<int64_t>(++reads); });
  EXPECT_EQ(reads, 0u);
  EXPECT_EQ(schedule.getNumWarps(), 1);
  EXPECT_EQ(reads, 1u);
}
