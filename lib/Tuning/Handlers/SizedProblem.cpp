// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of dynamic dimensions, as an attribute of the isolated problem: so they
// are part of its text, and with that of what results are stored under.

#include "attune/Execution/Problem.h"
#include "attune/Tuning/TunableTask.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

static constexpr llvm::StringLiteral kSizesAttrName = "attune.sizes";

void tuning::setSizes(ModuleOp isolated, const SizeMap &sizes) {
  if (sizes.empty())
    return;
  Builder builder(isolated.getContext());
  NamedAttrList list;
  for (const auto &[name, size] : sizes)
    list.set(name, builder.getI64IntegerAttr(size));
  isolated->setAttr(kSizesAttrName, list.getDictionary(isolated.getContext()));
}

ProblemSizes tuning::getSizes(ModuleOp isolated) {
  ProblemSizes sizes;
  auto dictionary = isolated->getAttrOfType<DictionaryAttr>(kSizesAttrName);
  if (!dictionary)
    return sizes;
  for (NamedAttribute size : dictionary)
    if (auto value = dyn_cast<IntegerAttr>(size.getValue()))
      sizes.named[size.getName().str()] = value.getInt();
  return sizes;
}

Work tuning::getWork(ModuleOp isolated) {
  // That a size is not known is no error here: only the speed cannot be told.
  ScopedDiagnosticHandler quiet(isolated.getContext(),
                                [](Diagnostic &) { return success(); });
  auto function = *isolated.getOps<func::FuncOp>().begin();
  auto analyzed = analyzeProblem(function, getSizes(isolated));
  return succeeded(analyzed) ? analyzed->work : Work();
}
