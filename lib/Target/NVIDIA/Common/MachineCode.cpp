// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The encoding is in no manual; fields are as nvdisasm of CUDA 13.0 shows them.

#include "MachineCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attune;

static constexpr size_t kInstructionBytes = 16;

std::optional<std::string>
nvidia::findMisalignedSpill(llvm::ArrayRef<uint8_t> code) {
  constexpr uint64_t kStoreLocal = 0x387, kLoadLocal = 0x983, kZero = 255;
  constexpr uint64_t k64Bits = 5, k128Bits = 6;
  for (size_t place = 0; place + kInstructionBytes <= code.size();
       place += kInstructionBytes) {
    uint64_t low = llvm::support::endian::read64le(&code[place]),
             high = llvm::support::endian::read64le(&code[place + 8]);
    uint64_t opcode = low & 0xFFF, size = high >> 9 & 7;
    bool isStore = opcode == kStoreLocal;
    if ((!isStore && opcode != kLoadLocal) ||
        (size != k64Bits && size != k128Bits))
      continue;
    uint64_t data = (isStore ? low >> 32 : low >> 16) & 0xFF,
             registers = size == k64Bits ? 2 : 4;
    if (data != kZero && data % registers != 0)
      return llvm::formatv("{0}.{1} of R{2} at {3:x}", isStore ? "STL" : "LDL",
                           32 * registers, data, place)
          .str();
  }
  return std::nullopt;
}

std::optional<std::string>
nvidia::findMisalignedSpillInCubin(llvm::StringRef cubin) {
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(cubin, "cubin"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  for (const llvm::object::SectionRef &section : (*file)->sections()) {
    auto name = section.getName();
    auto contents = section.getContents();
    if (!name || !contents) {
      llvm::consumeError(name.takeError());
      llvm::consumeError(contents.takeError());
      continue;
    }
    if (!name->starts_with(".text."))
      continue;
    if (auto found =
            findMisalignedSpill(llvm::arrayRefFromStringRef(*contents)))
      return name->str() + ": " + *found;
  }
  return std::nullopt;
}
