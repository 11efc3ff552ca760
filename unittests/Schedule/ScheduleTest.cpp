// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What C++ makes of a set of tunables: builders, attributes and views say the
// same of each.

#include "attune/Schedule/IR/Schedule.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;
using schedule::Overlap;

TEST(Schedule, IsBuiltByName) {
  MLIRContext context;
  context.loadDialect<schedule::ScheduleDialect>();
  AttentionAttr::Builder wanted;
  EXPECT_EQ(wanted.getAttr(&context), AttentionAttr::getDefault(&context));
  wanted.blockM = 64;
  wanted.overlap = Overlap::PingPong;
  AttentionAttr made = wanted.getAttr(&context);
  EXPECT_EQ(made.getBlockM(), 64);
  EXPECT_EQ(made.getOverlap(), Overlap::PingPong);
  EXPECT_EQ(made.getBlockN(), AttentionAttr::Builder().blockN);
  SmallVector<int64_t> values = AttentionAttr::getSet().getDefaults();
  values[AttentionAttr::blockM] = 64;
  values[AttentionAttr::overlap] = static_cast<int64_t>(Overlap::PingPong);
  EXPECT_EQ(made.getValues(), ArrayRef(values));
}

TEST(Schedule, ReadsWhatItIsAskedForAlone) {
  size_t reads = 0;
  AttentionAttr::View view([&](size_t place) {
    EXPECT_EQ(place, size_t(AttentionAttr::numWarps));
    return static_cast<int64_t>(++reads);
  });
  EXPECT_EQ(reads, 0u);
  EXPECT_EQ(view.getNumWarps(), 1);
  EXPECT_EQ(reads, 1u);
}
