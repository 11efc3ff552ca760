// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The product of a compilation, without any MLIR: assembly, object, what the
// assembler said about it.

#ifndef ATTUNE_TARGET_BINARY_H
#define ATTUNE_TARGET_BINARY_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// What the assembler reports about a kernel. Absent numbers were not reported.
struct KernelResources {
  std::optional<int64_t> registers;
  /// Registers beyond the vector registers: scalar registers on AMD.
  std::optional<int64_t> scalarRegisters;
  /// Of these, how many are spilled: into lanes of vector registers, where they
  /// cost instructions and no memory.
  std::optional<int64_t> scalarSpills;
  std::optional<int64_t> spillStoreBytes;
  std::optional<int64_t> spillLoadBytes;
  std::optional<int64_t> stackBytes;
  std::optional<int64_t> staticSharedBytes;
  /// Notices that MMAs which could run on are waited for one by one.
  std::optional<int64_t> serializedMultiplies;
  /// Warnings and performance notices, one per line of the report.
  std::vector<std::string> warnings;
};

/// What a model says of the main loop as machine code. Clocks are those of one
/// scheduler of an SM for an iteration of each of its warps, by the part that
/// would need so many if it alone counted.
struct LoopCost {
  /// Of all schedulers.
  int64_t warps = 0;
  double matrix = 0, vector = 0, shared = 0, cache = 0;
  /// What `vector` has of these, and `shared` of conflicts of banks.
  double exponentials = 0, conflicts = 0;
  /// Of one warp that has the scheduler for itself, and how much of that it
  /// waits for what it reads.
  double alone = 0, waits = 0;
  /// Floating-point operations of matrix instructions: of an SM in the time of
  /// a clock at the highest rate, and of all of them in 10^12 a second.
  double flopsPerClock = 0, teraflops = 0;

  double getClocks() const {
    return std::max({matrix, vector, shared, cache, alone});
  }
};

/// How many times the fewest rounds accesses of shared memory take, because
/// lanes meet in banks: by whether they write, and bytes of a lane.
using SharedConflicts = std::map<std::pair<bool, int64_t>, double>;

struct BinaryOptions {
  /// How far to go. Object falls back to Assembly only where `objectOptional`.
  enum class Format { Assembly, Object } format = Format::Object;
  /// Accept a missing assembler: the binary then holds assembly alone.
  bool objectOptional = true;
  /// Path of ptxas; empty searches PATH, CUDA_HOME, CUDA_PATH and CUDA_ROOT.
  std::string assemblerPath;
};

struct Binary {
  /// PTX or AMDGPU assembly.
  std::string assembly;
  /// What the file names of the two usually end in, without the dot.
  std::string assemblySuffix;
  std::string objectSuffix;
  /// Cubin or HSACO; empty where there is no assembler.
  std::string object;
  KernelResources resources;
  SharedConflicts conflicts;
};

} // namespace attune

#endif // ATTUNE_TARGET_BINARY_H
