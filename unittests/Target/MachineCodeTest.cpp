// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NVIDIA/Common/MachineCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ObjectYAML/yaml2obj.h"
#include "llvm/Support/YAMLTraits.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <vector>

using namespace attune::nvidia;

/// Instructions as nvdisasm prints them: two words each.
static std::vector<uint8_t> toBytes(std::vector<uint64_t> words) {
  std::vector<uint8_t> bytes;
  for (uint64_t word : words)
    for (int i = 0; i < 8; ++i)
      bytes.push_back(word >> (8 * i) & 0xFF);
  return bytes;
}

// From a kernel that CUDA 13.0 assembled, and that an H200 ended.
TEST(MachineCode, FindsRegistersThatAreNoPair) {
  EXPECT_EQ(findMisalignedSpill(toBytes({
                0x000014ff01007387,
                0x0001e20000100800, // STL [R1+0x14], RZ
                0x0000080801007387,
                0x0001e40000100a00, // STL.64 [R1+0x8], R8
                0x0000080701007387,
                0x0003e20000100a00, // STL.64 [R1+0x8], R7
            })),
            "STL.64 of R7 at 0x20");
  EXPECT_EQ(findMisalignedSpill(toBytes({
                0x00000800010d7983,
                0x000ea20000100a00, // LDL.64 R13, [R1+0x8]
            })),
            "LDL.64 of R13 at 0x0");
  EXPECT_EQ(findMisalignedSpill(toBytes({
                0x00000800010a7983,
                0x000ea20000100c00, // LDL.128 R10, [R1+0x8]
            })),
            "LDL.128 of R10 at 0x0");
}

TEST(MachineCode, AcceptsTheOthers) {
  EXPECT_EQ(findMisalignedSpill({}), std::nullopt);
  EXPECT_EQ(findMisalignedSpill(toBytes({
                0x00000800010c7983,
                0x000ea20000100a00, // LDL.64 R12, [R1+0x8]
                0x0000100501007387,
                0x0001e80000100600, // STL.S16 [R1+0x10], R5
                0x0000100001057983,
                0x000ea80000100800, // LDL R5, [R1+0x10]
                0x000008ff01007387,
                0x0001e40000100a00, // STL.64 [R1+0x8], RZ
                0x0000100001057983, // half of one
            })),
            std::nullopt);
}

TEST(MachineCode, ReadsKernelsOfACubin) {
  llvm::yaml::Input yaml(R"(
--- !ELF
FileHeader:
  Class: ELFCLASS64
  Data: ELFDATA2LSB
  Type: ET_EXEC
  Machine: EM_CUDA
Sections:
  - Name: .nv.constant0.k
    Type: SHT_PROGBITS
    Content: '8773000107080000000a100000e20300'
  - Name: .text.k
    Type: SHT_PROGBITS
    Content: '8773000107080000000a100000e20300'
)");
  std::string cubin;
  llvm::raw_string_ostream stream(cubin);
  ASSERT_TRUE(llvm::yaml::convertYAML(
      yaml, stream, [](const llvm::Twine &why) { FAIL() << why.str(); }));
  EXPECT_EQ(findMisalignedSpillInCubin(cubin), ".text.k: STL.64 of R7 at 0x0");
  EXPECT_EQ(findMisalignedSpillInCubin("no ELF"), std::nullopt);
}
