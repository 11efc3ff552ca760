// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares ops by their kinds, and then by how far they are from each other.

#include "attune/Schedule/TuningSpec.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace attune;

LogicalResult TuningSpecs::read(StringRef path, Location reader) {
  MLIRContext *context = reader.getContext();
  OwningOpRef<ModuleOp> spec =
      parseSourceFile<ModuleOp>(path, ParserConfig(context));
  if (!spec)
    return emitError(reader) << "cannot read the tuning spec '" << path << "'";
  auto chip = (*spec)->getAttrOfType<StringAttr>(kTunedForAttrName);
  if (!chip)
    return emitError(spec->getLoc())
           << "expects a tuning spec to name its chip in '" << kTunedForAttrName
           << "'";
  spec->walk([&](TunableOpInterface op) {
    if (ScheduleAttrInterface schedule = op.getSchedule())
      add(op, schedule, chip.getValue());
  });
  modules.push_back(std::move(spec));
  return success();
}

void TuningSpecs::add(TunableOpInterface op, ScheduleAttrInterface schedule,
                      StringRef chip) {
  entries.push_back({op, schedule, chip.str(), op.describeKind()});
}

SmallVector<ScheduleAttrInterface>
TuningSpecs::findClosest(TunableOpInterface op, StringRef chip,
                         size_t count) const {
  std::string kind = op.describeKind();
  SmallVector<std::pair<SmallVector<double>, size_t>> found;
  for (auto [i, entry] : llvm::enumerate(entries))
    if (entry.chip == chip && entry.kind == kind)
      found.emplace_back(op.getDistance(entry.op), i);
  llvm::sort(found);
  SetVector<ScheduleAttrInterface> schedules;
  for (const auto &[distance, i] : found)
    if (schedules.size() < count)
      schedules.insert(entries[i].schedule);
  return schedules.takeVector();
}
