// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #attn.schedule as Knobs.td makes it, whatever knobs there are.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune::attn;

namespace {
class ScheduleAttrTest : public testing::Test {
protected:
  ScheduleAttrTest() { context.loadDialect<AttnDialect>(); }

  /// The schedule of these values; what is said about bad ones goes to
  /// `message`.
  ScheduleAttr make(ArrayRef<int64_t> values) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    return ScheduleAttr::fromValues(
        [&] { return emitError(UnknownLoc::get(&context)); }, &context, values);
  }

  MLIRContext context;
  std::string message;
};
} // namespace

TEST_F(ScheduleAttrTest, DefaultsAreInTheirDomains) {
  SmallVector<int64_t> defaults;
  for (const ScheduleAttr::Knob &knob : ScheduleAttr::getKnobs()) {
    EXPECT_TRUE(llvm::is_contained(knob.domain, knob.init)) << knob.name.str();
    EXPECT_FALSE(knob.doc.empty()) << knob.name.str();
    defaults.push_back(knob.init);
  }
  EXPECT_EQ(make(defaults), ScheduleAttr::getDefault(&context));
}

TEST_F(ScheduleAttrTest, EveryValueOfADomainIsKept) {
  SmallVector<int64_t> defaults =
      ScheduleAttr::getDefault(&context).getValues();
  for (auto [index, knob] : llvm::enumerate(ScheduleAttr::getKnobs()))
    for (int64_t value : knob.domain) {
      SmallVector<int64_t> values = defaults;
      values[index] = value;
      ScheduleAttr schedule = make(values);
      ASSERT_TRUE(schedule) << knob.name.str() << " = " << value;
      EXPECT_EQ(schedule.getValues(), values);
    }
}

TEST_F(ScheduleAttrTest, AValueOutsideItsDomainIsRefusedByName) {
  SmallVector<int64_t> values = ScheduleAttr::getDefault(&context).getValues();
  for (auto [index, knob] : llvm::enumerate(ScheduleAttr::getKnobs())) {
    SmallVector<int64_t> wrong = values;
    wrong[index] = -7;
    EXPECT_FALSE(make(wrong));
    EXPECT_NE(message.find("'" + knob.name.str() + "'"), std::string::npos)
        << message;
    EXPECT_NE(message.find("but got -7"), std::string::npos) << message;
  }
}
