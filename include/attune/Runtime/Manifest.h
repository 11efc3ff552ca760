// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How to call a compiled kernel, as attune-emit-binary writes it next to the
// binary: for programs that load kernels and know no MLIR.

#ifndef ATTUNE_RUNTIME_MANIFEST_H
#define ATTUNE_RUNTIME_MANIFEST_H

#include "attune/Runtime/DataType.h"
#include "attune/Runtime/Launch.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace attune {

struct ManifestArgument {
  enum class Access { Read, Write };

  std::string name;
  DataType type = DataType::F32;
  int64_t rank = 0;
  /// A value instead of a buffer.
  bool isScalar = false;
  Access access = Access::Read;
};

/// A factor of the grid's first extent: the size of dimension `index` of
/// argument `argument`, divided by `per` and rounded up.
struct ManifestGridFactor {
  int64_t argument = 0;
  int64_t index = 0;
  int64_t per = 1;
};

struct Manifest {
  std::string kernel;
  std::string chip;
  std::vector<ManifestArgument> arguments;
  std::vector<ManifestGridFactor> grid;
  std::array<int64_t, 3> block{1, 1, 1};
  /// Dynamic shared memory.
  int64_t sharedBytes = 0;
  /// What the assembler reported, unread.
  llvm::json::Object resources;

  /// Errors name the key, what was expected there and what is there.
  static llvm::Expected<Manifest> parse(llvm::StringRef json);
  static llvm::Expected<Manifest> fromJSON(const llvm::json::Value &value);
  llvm::json::Value toJSON() const;

  /// Checks `values` against the arguments; the shape and the parameters of a
  /// launch.
  llvm::Expected<LaunchShape>
  getLaunchShape(llvm::ArrayRef<KernelArgument> values) const;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_MANIFEST_H
