// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips, tools and versions from C.

#include "attune-c/Target.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MathExtras.h"
#include <link.h>

using namespace mlir;
using namespace attune;

intptr_t attuneGetNumChips(void) { return getChipNames().size(); }

MlirStringRef attuneGetChipName(intptr_t pos) {
  return wrap(getChipNames()[pos]);
}

MlirStringRef attuneGetChipOfDevice(MlirStringRef device) {
  return wrap(getChipOf(unwrap(device)));
}

AttuneChipInfo attuneTargetAttrGetInfo(MlirAttribute target) {
  auto attr = cast<tile::TargetAttr>(unwrap(target));
  AttuneChipInfo info;
  info.family = wrap(attr.getFamily());
  info.lanes = attr.getLanes();
  info.sms = attr.getSms();
  info.sharedBytes = attr.getShared();
  info.registers = attr.getRegisters();
  info.maxThreads = attr.getMaxThreads();
  return info;
}

void attuneGetToolchain(MlirStringRef chip, MlirStringRef assembler,
                        MlirStringCallback callback, void *userData) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  std::string toolchain;
  auto target = getTarget(&context, unwrap(chip),
                          [&] { return emitError(UnknownLoc::get(&context)); });
  if (succeeded(target)) {
    BinaryOptions options;
    options.assemblerPath = unwrap(assembler).str();
    if (const TargetModel *model = getTargetModel(target->getFamily()))
      toolchain = model->getToolchain(options);
  }
  callback(wrap(StringRef(toolchain)), userData);
}

MlirStringRef attuneGetVersion(void) {
  return wrap(StringRef(ATTUNE_VERSION ", LLVM " LLVM_VERSION_STRING));
}

/// The digits of the build id in the notes of a loaded object; empty if it has
/// none.
static std::string readBuildId(const dl_phdr_info &object) {
  for (const ElfW(Phdr) &header :
       ArrayRef(object.dlpi_phdr, object.dlpi_phnum)) {
    if (header.p_type != PT_NOTE)
      continue;
    StringRef notes(
        reinterpret_cast<const char *>(object.dlpi_addr + header.p_vaddr),
        header.p_memsz);
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, notes.data(), sizeof(note));
      notes = notes.drop_front(sizeof(note));
      StringRef owner = notes.take_front(note.n_namesz);
      StringRef content =
          notes
              .drop_front(std::min<size_t>(llvm::alignTo(note.n_namesz, 4),
                                           notes.size()))
              .take_front(note.n_descsz);
      if (note.n_type == NT_GNU_BUILD_ID && owner.starts_with("GNU"))
        return llvm::toHex(content, /*LowerCase=*/true);
      notes = notes.drop_front(std::min<size_t>(
          llvm::alignTo(note.n_namesz, 4) + llvm::alignTo(note.n_descsz, 4),
          notes.size()));
    }
  }
  return "";
}

namespace {
/// Looks for the object that an address is in.
struct BuildIdSearch {
  uintptr_t address;
  std::string id;

  static int visit(dl_phdr_info *object, size_t, void *data) {
    auto *search = static_cast<BuildIdSearch *>(data);
    bool isIn = llvm::any_of(ArrayRef(object->dlpi_phdr, object->dlpi_phnum),
                             [&](const ElfW(Phdr) & header) {
                               return header.p_type == PT_LOAD &&
                                      search->address - object->dlpi_addr -
                                              header.p_vaddr <
                                          header.p_memsz;
                             });
    if (isIn)
      search->id = readBuildId(*object);
    return isIn;
  }
};
} // namespace

MlirStringRef attuneGetBuildId(void) {
  static const std::string id = [] {
    BuildIdSearch search{reinterpret_cast<uintptr_t>(&attuneGetBuildId), ""};
    dl_iterate_phdr(BuildIdSearch::visit, &search);
    return search.id;
  }();
  return wrap(StringRef(id));
}
