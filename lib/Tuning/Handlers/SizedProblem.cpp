// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of dynamic dimensions, as an attribute of the isolated problem: so they
// are part of its text, and with that of what results are stored under.

#include "attune/Tuning/SizedProblem.h"
#include "attune/Tuning/AttentionProblem.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

static constexpr llvm::StringLiteral kSizesAttrName = "attune.sizes";

namespace {
struct NamedSize {
  llvm::StringRef name;
  std::optional<int64_t> ProblemSizes::*member;
};
} // namespace

static const NamedSize kSizes[] = {{"batch", &ProblemSizes::batch},
                                   {"heads", &ProblemSizes::heads},
                                   {"kv-heads", &ProblemSizes::kvHeads},
                                   {"seq-q", &ProblemSizes::seqQ},
                                   {"seq-k", &ProblemSizes::seqK}};

llvm::SmallVector<llvm::StringRef> tuning::getSizeNames() {
  return llvm::map_to_vector(kSizes,
                             [](const NamedSize &size) { return size.name; });
}

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
  for (const NamedSize &size : kSizes)
    if (auto value = dictionary.getAs<IntegerAttr>(size.name))
      sizes.*size.member = value.getInt();
  return sizes;
}

double tuning::countFlops(ModuleOp isolated) {
  // That a size is not known is no error here: only the speed cannot be told.
  ScopedDiagnosticHandler quiet(isolated.getContext(),
                                [](Diagnostic &) { return success(); });
  auto function = *isolated.getOps<func::FuncOp>().begin();
  auto analyzed = analyzeProblem(function, getSizes(isolated));
  return succeeded(analyzed) ? analyzed->flops : 0;
}
