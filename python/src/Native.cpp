// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The extension attune_mlir._native, and the facts about the library and the
// chips that it knows.

#include "IR.h"
#include "attune-c/Dialects.h"
#include "attune-c/Target.h"
#include "attune-c/Tile.h"
#include "mlir-c/Diagnostics.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace attune::python;

static std::vector<std::string> getChips() {
  std::vector<std::string> names;
  for (intptr_t i = 0; i < attuneGetNumChips(); ++i)
    names.push_back(toString(attuneGetChipName(i)));
  return names;
}

using ChipFacts =
    std::tuple<std::string, int64_t, int64_t, int64_t, int64_t, int64_t>;

static std::optional<ChipFacts> getChipFacts(std::string_view chip) {
  MlirContext context = mlirContextCreateWithThreading(false);
  // What the caller has is the result.
  mlirContextAttachDiagnosticHandler(
      context,
      [](MlirDiagnostic, void *) { return mlirLogicalResultSuccess(); },
      nullptr, nullptr);
  std::optional<ChipFacts> facts;
  MlirAttribute target = attuneTargetAttrGet(context, toRef(chip));
  if (!mlirAttributeIsNull(target)) {
    AttuneChipInfo info = attuneTargetAttrGetInfo(target);
    facts.emplace(toString(info.family), info.lanes, info.sms, info.sharedBytes,
                  info.registers, info.maxThreads);
  }
  mlirContextDestroy(context);
  return facts;
}

void attune::python::bindTargets(nb::module_ &scope) {
  scope.def("version", [] { return toString(attuneGetVersion()); });
  scope.def("build_id", [] { return toString(attuneGetBuildId()); });
  scope.def("chips", getChips);
  scope.def("chip_facts", getChipFacts, nb::arg("chip"),
            "Family, lanes, SMs, shared bytes, registers and threads; None for "
            "a chip that is not known.");
  scope.def(
      "chip_of_device",
      [](std::string_view device) {
        return toString(attuneGetChipOfDevice(toRef(device)));
      },
      nb::arg("device"));
  scope.def(
      "toolchain",
      [](std::string_view chip, std::string_view assembler) {
        std::string text;
        attuneGetToolchain(toRef(chip), toRef(assembler), append, &text);
        return text;
      },
      nb::arg("chip"), nb::arg("assembler"));
}

NB_MODULE(_native, scope) {
#ifdef NDEBUG
  // Kernels are kept to the end of the process, and longer than the interpreter
  // looks after its objects.
  nb::set_leak_warnings(false);
#endif
  bindTargets(scope);
  bindIR(scope);
  bindModules(scope);
  bindRuntime(scope);
  bindKnownCalls(scope);
  bindJax(scope);
  bindOperator(scope);
}
