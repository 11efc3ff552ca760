// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of tunables as Knobs.td makes them, whatever tunables there are.

#include "attune/Schedule/IR/Schedule.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

namespace {
class KnobSetTest : public testing::TestWithParam<const KnobSet *> {
protected:
  KnobSetTest() { context.loadDialect<schedule::ScheduleDialect>(); }

  /// The schedule of these values; what is said about bad ones goes to
  /// `message`.
  ScheduleAttrInterface make(ArrayRef<int64_t> values) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    return set.getAttr([&] { return emitError(UnknownLoc::get(&context)); },
                       &context, values);
  }

  const KnobSet &set = *GetParam();
  MLIRContext context;
  std::string message;
};
} // namespace

TEST_P(KnobSetTest, DefaultsAreInTheirDomains) {
  for (const KnobInfo &knob : set.knobs) {
    EXPECT_TRUE(llvm::is_contained(knob.domain, knob.init)) << knob.name.str();
    EXPECT_FALSE(knob.doc.empty()) << knob.name.str();
    EXPECT_FALSE(knob.searched.empty()) << knob.name.str();
  }
  EXPECT_TRUE(make(set.getDefaults()));
}

TEST_P(KnobSetTest, NamesAreDifferent) {
  std::set<StringRef> names, fields;
  for (const KnobInfo &knob : set.knobs) {
    EXPECT_TRUE(names.insert(knob.name).second) << knob.name.str();
    EXPECT_TRUE(fields.insert(knob.field).second) << knob.field.str();
  }
}

TEST_P(KnobSetTest, EveryValueOfADomainIsKeptAndSpelled) {
  for (auto [index, knob] : llvm::enumerate(set.knobs))
    for (int64_t value : knob.domain) {
      SmallVector<int64_t> values = set.getDefaults();
      values[index] = value;
      ScheduleAttrInterface schedule = make(values);
      ASSERT_TRUE(schedule) << knob.name.str() << " = " << value;
      EXPECT_EQ(schedule.getValues(), ArrayRef(values));
      EXPECT_EQ(&schedule.getKnobSet(), &set);
      EXPECT_EQ(knob.parse(knob.spell(value)), value);
      EXPECT_NE(toOptions(set, values)
                    .find(knob.name.str() + "=" + knob.spell(value)),
                std::string::npos);
    }
}

TEST_P(KnobSetTest, AValueOutsideItsDomainIsRefusedByName) {
  for (auto [index, knob] : llvm::enumerate(set.knobs)) {
    SmallVector<int64_t> wrong = set.getDefaults();
    wrong[index] = -7;
    EXPECT_FALSE(make(wrong));
    EXPECT_NE(message.find("'" + knob.name.str() + "'"), std::string::npos)
        << message;
    EXPECT_NE(message.find("but got -7"), std::string::npos) << message;
    EXPECT_EQ(knob.parse("-7"), std::nullopt);
  }
}

INSTANTIATE_TEST_SUITE_P(AllSets, KnobSetTest,
                         testing::ValuesIn(getKnobSets().begin(),
                                           getKnobSets().end()),
                         [](const auto &info) {
                           return info.param->name.str();
                         });
