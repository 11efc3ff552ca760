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

/// The `type` of an argument that is a tensor map.
inline constexpr llvm::StringLiteral kTensorMapTypeName = "tensor_map";

/// What a tensor map shows, and how: for encodeTensorMap().
struct ManifestTensorMap {
  /// Number of the argument, a buffer.
  int64_t of = 0;
  /// Elements of each of its dimensions, outermost first.
  std::vector<int64_t> box;
  int64_t swizzleBytes = 0;
};

struct ManifestArgument {
  /// A workspace is the kernel's own: all zeros before the first launch, and
  /// again after each. Launches that may run at the same time need one each.
  enum class Access { Read, Write, Workspace };

  std::string name;
  KernelArgument::Kind kind = KernelArgument::Kind::Buffer;
  /// Of a buffer and of a scalar.
  DataType type = DataType::F32;
  /// 0 but for buffers.
  int64_t rank = 0;
  /// Of a buffer.
  Access access = Access::Read;
  /// Of a tensor map.
  ManifestTensorMap map;
};

/// A factor of the grid's first extent: the size of dimension `index` of
/// argument `argument`, divided by `per` and rounded up.
struct ManifestGridFactor {
  int64_t argument = 0;
  int64_t index = 0;
  int64_t per = 1;
};

/// What Device::launch() takes beside the kernel.
struct PreparedLaunch {
  LaunchShape shape;
  PackedArguments arguments;
};

struct Manifest {
  std::string kernel;
  std::string chip;
  std::vector<ManifestArgument> arguments;
  std::vector<ManifestGridFactor> grid;
  /// Workgroups of a cluster, along the first extent, whose factors count
  /// clusters. The kernel says so, too, and launches like any other.
  int64_t cluster = 1;
  /// Most workgroups that a launch has: the kernel computes everything with any
  /// number of whole clusters. Absent where the grid is as large as its factors
  /// say.
  std::optional<int64_t> gridLimit;
  std::array<int64_t, 3> block{1, 1, 1};
  /// Dynamic shared memory.
  int64_t sharedBytes = 0;
  /// What the assembler reported, unread.
  llvm::json::Object resources;

  /// Errors name the key, what was expected there and what is there.
  static llvm::Expected<Manifest> parse(llvm::StringRef json);
  static llvm::Expected<Manifest> fromJSON(const llvm::json::Value &value);
  llvm::json::Value toJSON() const;

  /// The shape and the parameters of a launch with `values`, which are those of
  /// all arguments but the tensor maps, in their order. Checks them, and has
  /// `device` encode the maps.
  llvm::Expected<PreparedLaunch>
  prepareLaunch(Device &device, llvm::ArrayRef<KernelArgument> values) const;

private:
  /// `values` with the tensor maps between them.
  llvm::Expected<std::vector<KernelArgument>>
  bindArguments(Device &device, llvm::ArrayRef<KernelArgument> values) const;
  llvm::Expected<LaunchShape>
  getLaunchShape(llvm::ArrayRef<KernelArgument> arguments) const;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_MANIFEST_H
