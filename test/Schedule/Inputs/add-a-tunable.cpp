// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses, prints and builds schedules with tunables that the project does not
// have. One translation unit: it is compiled by a test.

#include "lib/Schedule/IR/KnobSet.cpp"
#include "lib/Schedule/IR/Schedule.cpp"
#include "mlir/AsmParser/AsmParser.h"

int main() {
  MLIRContext context;
  context.loadDialect<schedule::ScheduleDialect>();
  for (const char *text :
       {"#schedule.attention<blockM = 64, depth = 3, shine = \"very-bright\">",
        "#schedule.toy<numWarps = 8>", "#schedule.toy<shine = dim>"}) {
    auto parsed = dyn_cast_if_present<ScheduleAttrInterface>(
        parseAttribute(text, &context));
    if (!parsed)
      continue;
    llvm::outs() << parsed << "\n"
                 << toOptions(parsed.getKnobSet(), parsed.getValues()) << "\n";
  }
  schedule::AttentionAttr::Builder wanted;
  wanted.depth = 2;
  wanted.shine = schedule::Shine::VeryBright;
  schedule::AttentionAttr made = wanted.getAttr(&context);
  llvm::outs() << made << "\n"
               << made.getDepth() << " " << stringifyShine(made.getShine())
               << "\n";
  for (const SizeInfo &size : getProblemSizes())
    llvm::outs() << "--" << size.name << "\n";
  return 0;
}
