// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One diagnostic for each kind of fault at each op: the first is the one to
// read, and thousands of threads do the same.

#include "Reports.h"

using namespace mlir;
using namespace attune;

std::string attune::formatIndex(const uint32_t (&index)[3]) {
  return ("(" + Twine(index[0]) + ", " + Twine(index[1]) + ", " +
          Twine(index[2]) + ")")
      .str();
}

std::optional<InFlightDiagnostic> Reports::add(HostCheck check, uint32_t site,
                                               const HostThread &thread,
                                               const Twine &what,
                                               bool isError) {
  if (!isOn(check))
    return std::nullopt;
  errors += isError;
  if (!said.insert({static_cast<unsigned>(check), site}).second ||
      numSaid >= options.maxReports) {
    ++suppressed;
    return std::nullopt;
  }
  ++numSaid;
  Operation *op = sites[site];
  InFlightDiagnostic diagnostic =
      isError ? op->emitOpError() : op->emitWarning();
  if (!isError)
    diagnostic << "'" << op->getName() << "' op ";
  diagnostic << what << ", thread " << formatIndex(thread.threadId)
             << ", block " << formatIndex(thread.blockId);
  return diagnostic;
}

InFlightDiagnostic Reports::stop(uint32_t site, const Twine &what) {
  ++errors;
  return sites[site]->emitOpError() << what;
}
