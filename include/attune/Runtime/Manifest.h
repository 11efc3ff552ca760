// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How to call a compiled kernel, as attune-emit-binary writes it next to the
// binary: for programs that load kernels and know no MLIR. docs/Manifest.md
// describes the JSON.

#ifndef ATTUNE_RUNTIME_MANIFEST_H
#define ATTUNE_RUNTIME_MANIFEST_H

#include "attune/Runtime/DataType.h"
#include "attune/Runtime/DeviceTensor.h"
#include "attune/Runtime/Launch.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace attune {

/// The version of the JSON that is written, and the only one that is read.
inline constexpr int64_t kManifestVersion = 1;

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

/// The size of dimension `index` of argument `argument`, divided by `per` and
/// rounded up, and what is added to it: the size of dimension `moreIndex` of
/// argument `moreArgument`, which is below 0 where that is not, or a number.
struct ManifestFactor {
  int64_t argument = 0;
  int64_t index = 0;
  int64_t per = 1;
  int64_t moreArgument = -1;
  int64_t moreIndex = 0;
  int64_t moreNumber = 0;

  bool isSum() const { return moreArgument >= 0 || moreNumber != 0; }
};

/// A constant times sizes of arguments.
struct ManifestProduct {
  int64_t constant = 1;
  std::vector<ManifestFactor> factors;

  /// The value for these arguments; empty where it is 2^63 or more.
  std::optional<int64_t>
  evaluate(llvm::ArrayRef<KernelArgument> arguments) const;
};

/// What to allocate for an argument that nobody passes. Launches that may run
/// at the same time need one each.
struct ManifestWorkspace {
  /// Elements along each dimension, row-major.
  std::vector<ManifestProduct> sizes;
  /// In bytes.
  int64_t alignment = 1;
  /// Whether all bytes must be zero before a launch; else they may be anything.
  bool zero = false;
  /// Whether the kernel leaves it as it found it.
  bool restored = false;
};

struct ManifestArgument {
  enum class Access { Read, Write, ReadWrite, Workspace };

  std::string name;
  KernelArgument::Kind kind = KernelArgument::Kind::Buffer;
  /// Of a buffer and of a scalar.
  DataType type = DataType::F32;
  /// 0 but for buffers.
  int64_t rank = 0;
  /// Of a buffer.
  Access access = Access::Read;
  /// Of a buffer that is passed: what is compiled in. Empty where nothing is.
  std::vector<std::optional<int64_t>> sizes, strides;
  /// Of a tensor map.
  ManifestTensorMap map;
  /// Of a buffer that is a workspace.
  ManifestWorkspace workspace;

  bool isMap() const { return kind == KernelArgument::Kind::TensorMap; }
  bool isWorkspace() const {
    return kind == KernelArgument::Kind::Buffer && access == Access::Workspace;
  }
};

/// What is wrong with arguments of a kernel, or values of a sequence, as a
/// whole; empty where nothing is.
std::string findContradiction(llvm::ArrayRef<ManifestArgument> arguments);

/// Whether a value is what `argument` says: its kind, type, rank, and the sizes
/// and strides that are compiled in. `owner`, here and below, is who errors
/// speak of.
llvm::Error checkValue(llvm::StringRef owner, const ManifestArgument &argument,
                       const KernelArgument &value);

/// The workspace that goes with `bound`, which are all arguments; its sizes
/// depend on buffers alone.
llvm::Expected<TensorShape>
getWorkspaceShape(llvm::StringRef owner, const ManifestArgument &argument,
                  llvm::ArrayRef<KernelArgument> bound);
llvm::Error checkAlignment(llvm::StringRef owner,
                           const ManifestArgument &argument,
                           DeviceAddress address);

/// A workspace on the device, filled as its kernel wants it.
struct AllocatedWorkspace {
  std::shared_ptr<DeviceTensor> tensor;
  /// Whether it has to be zero again before the next launch.
  bool zeroAgain = false;
};

/// All of `arguments` but the tensor maps, whose places stay empty: `values` in
/// the order of the arguments, checked, and between them new workspaces, which
/// are added to `workspaces`.
llvm::Expected<std::vector<KernelArgument>>
bindValues(Device &device, llvm::StringRef owner,
           llvm::ArrayRef<ManifestArgument> arguments,
           llvm::ArrayRef<KernelArgument> values,
           std::vector<AllocatedWorkspace> &workspaces);

/// What Device::launch() takes beside the kernel.
struct PreparedLaunch {
  LaunchShape shape;
  PackedArguments arguments;
  std::vector<AllocatedWorkspace> workspaces;
  bool launched = false;

  /// May be called again and again: fills what has to be filled. The launches
  /// of one preparation must not overlap where there are workspaces.
  llvm::Error launch(Device &device, Kernel &kernel);
};

struct Manifest {
  std::string kernel;
  std::string chip;
  std::vector<ManifestArgument> arguments;
  /// The grid's first extent, in clusters.
  ManifestProduct grid;
  /// Workgroups of a cluster, along the first extent. The kernel says so, too,
  /// and launches like any other.
  int64_t cluster = 1;
  /// Most workgroups that a launch has: the kernel computes everything with any
  /// number of whole clusters. Absent where the grid is as large as its factors
  /// say.
  std::optional<int64_t> gridLimit;
  std::array<int64_t, 3> block{1, 1, 1};
  /// Dynamic shared memory.
  int64_t sharedBytes = 0;
  /// Whether the kernel itself waits for what its stream has in front of it.
  bool startsEarly = false;
  /// What the assembler reported, unread.
  llvm::json::Object resources;

  /// Errors name the key, what was expected there and what is there.
  static llvm::Expected<Manifest> parse(llvm::StringRef json);
  static llvm::Expected<Manifest> fromJSON(const llvm::json::Value &value);
  llvm::json::Value toJSON() const;

  /// What only all facts together can show to be wrong; empty where nothing is.
  std::string findContradiction() const;

  /// The shape and the parameters of a launch with `values`, which are those of
  /// all arguments but the tensor maps and the workspaces, in their order.
  /// Checks them, and has `device` encode the maps and allocate the workspaces.
  llvm::Expected<PreparedLaunch>
  prepareLaunch(Device &device, llvm::ArrayRef<KernelArgument> values) const;
  /// The same with workspaces among the values.
  llvm::Expected<PreparedLaunch>
  prepareWithWorkspaces(Device &device,
                        llvm::ArrayRef<KernelArgument> values) const;

private:
  /// Encodes the tensor maps of `bound`, the other arguments.
  llvm::Expected<PreparedLaunch> finish(Device &device,
                                        std::vector<KernelArgument> bound,
                                        std::vector<AllocatedWorkspace>) const;
};

/// Kernels that are launched one after the other, and what they share.
struct LaunchSequence {
  struct Step {
    std::string kernel;
    /// Numbers of values, for all of the kernel's arguments but tensor maps.
    std::vector<int64_t> arguments;
  };

  std::string name;
  /// Buffers, scalars and workspaces.
  std::vector<ManifestArgument> values;
  std::vector<Step> launches;

  static llvm::Expected<LaunchSequence> parse(llvm::StringRef json);
  static llvm::Expected<LaunchSequence>
  fromJSON(const llvm::json::Value &value);
  llvm::json::Value toJSON() const;
  std::string findContradiction() const;
};

/// A sequence that is ready to run on one device.
class PreparedSequence {
public:
  /// `manifests` are those of the launches, in order; `passed` are the values
  /// but for workspaces.
  static llvm::Expected<PreparedSequence>
  create(Device &device, const LaunchSequence &sequence,
         llvm::ArrayRef<Manifest> manifests,
         llvm::ArrayRef<KernelArgument> passed);

  /// `kernels` are those of the launches, in order.
  llvm::Error launch(Device &device, llvm::ArrayRef<Kernel *> kernels);

private:
  std::vector<AllocatedWorkspace> workspaces;
  std::vector<PreparedLaunch> launches;
  bool launched = false;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_MANIFEST_H
