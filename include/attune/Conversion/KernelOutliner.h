// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes kernels of an op on tensors: their arguments, workspaces, manifests and
// launches. What the kernels compute is written by who calls this.
//
//   KernelOutliner outliner(op, symbols);
//   Value in = outliner.getInput(op.getInput(), "in");
//   Value out = outliner.makeOutput(op->getResult(0), "out");
//   OutlinedKernel &kernel = outliner.addKernel("sum");
//   Value source = kernel.addArgument(in), target = kernel.addArgument(out);
//   ... emit ops at kernel.getBody() ...
//   kernel.setBlock(128);
//   kernel.setGrid({1, {{in, /*dim=*/0, /*per=*/128}}});
//   outliner.finish();

#ifndef ATTUNE_CONVERSION_KERNELOUTLINER_H
#define ATTUNE_CONVERSION_KERNELOUTLINER_H

#include "attune/Dialect/Launch/IR/Launch.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include <deque>
#include <functional>

namespace attune {

/// The size of dimension `dim` of a buffer of the host side, divided by `per`
/// and rounded up, and what is added to it: unless it is null, the size of
/// dimension `moreDim` of `moreBuffer`, or a number.
struct HostFactor {
  mlir::Value buffer;
  int64_t dim;
  int64_t per = 1;
  mlir::Value moreBuffer = {};
  int64_t moreDim = 0;
  int64_t moreNumber = 0;
};

/// A constant times sizes of buffers, none of them a workspace.
struct HostProduct {
  int64_t constant = 1;
  llvm::SmallVector<HostFactor, 3> factors = {};
};

/// A buffer that the op has for itself. See #launch.workspace.
struct Workspace {
  std::string name;
  mlir::Type elementType;
  llvm::SmallVector<HostProduct, 3> sizes;
  int64_t alignment;
  launch::Contents contents = launch::Contents::Undefined;
  bool restored = false;
};

class KernelOutliner;

/// A kernel in the making.
class OutlinedKernel {
public:
  mlir::gpu::GPUFuncOp getFunction() { return function; }
  /// Inserts into the kernel, before its end.
  mlir::OpBuilder &getBody() { return body; }

  /// Passes a value of the outliner to the kernel. A second time, this is the
  /// same argument. Inputs are read, outputs written, updates and workspaces
  /// both unless `access` says something else.
  mlir::Value addArgument(mlir::Value hostValue,
                          std::optional<launch::Access> access = std::nullopt);
  /// Makes a value from around the op available: pure arithmetic is repeated in
  /// the kernel, all else becomes an argument. getMapping() has it then.
  void capture(mlir::Value value);
  /// From tensors and scalars around the op to what they are in the kernel.
  const mlir::IRMapping &getMapping() const { return mapping; }

  /// Workgroups along the first dimension, in clusters where these have more
  /// than one. All buffers must be arguments.
  void setGrid(HostProduct product) { grid = std::move(product); }
  /// Most workgroups that are launched: a multiple of the cluster.
  void setGridLimit(int64_t workgroups) { gridLimit = workgroups; }
  void setCluster(int64_t workgroups);
  void setBlock(int64_t threads);

private:
  friend class KernelOutliner;
  OutlinedKernel(KernelOutliner &outliner, mlir::gpu::GPUFuncOp function);

  struct Argument {
    /// Number of the outliner's value.
    size_t value;
    launch::Access access;
  };
  /// The product in terms of the kernel's arguments; null where a buffer is
  /// none.
  launch::ProductAttr resolve(const HostProduct &product) const;
  /// The number of a buffer's argument, if it is one.
  std::optional<int64_t> findArgument(mlir::Value buffer) const;
  launch::ManifestAttr makeManifest() const;
  void emitLaunch(mlir::ImplicitLocOpBuilder &host);

  KernelOutliner &outliner;
  mlir::gpu::GPUFuncOp function;
  mlir::OpBuilder body;
  mlir::IRMapping mapping;
  llvm::SmallVector<Argument> arguments;
  HostProduct grid;
  std::optional<int64_t> gridLimit;
  int64_t cluster = 1, threads = 1;
};

/// Outlines one op. Its kernels are launched in the order in which they are
/// added. Until finish() the op stays.
class KernelOutliner {
public:
  /// Kernels become symbols of `symbols`, that of the module. Buffers are
  /// row-major but where the encoding of a tensor is an #attn.strided.
  KernelOutliner(mlir::Operation *op, mlir::SymbolTable &symbols);

  /// Inserts before the op.
  mlir::ImplicitLocOpBuilder &getHost() { return host; }

  /// The buffer of a tensor that kernels read; the same one for the same
  /// tensor.
  mlir::Value getInput(mlir::Value tensor, llvm::StringRef name);
  /// A new buffer that becomes a result of the op. Where sizes are not static,
  /// the op must be able to reify them.
  mlir::Value makeOutput(mlir::OpResult result, llvm::StringRef name);
  /// The buffer of a tensor that kernels change, and whose new value is a
  /// result of the op, of the same type. Bufferization copies it where others
  /// need the old value.
  mlir::Value makeUpdate(mlir::OpResult result, mlir::Value tensor,
                         llvm::StringRef name);
  /// A value that is passed as it is.
  mlir::Value addScalar(mlir::Value scalar, llvm::StringRef name);
  /// A new buffer, in each call of the function, so that calls may overlap in
  /// time.
  mlir::Value makeWorkspace(Workspace workspace);

  /// The kernel of a new gpu.module of this name, or one like it if it is
  /// taken.
  OutlinedKernel &addKernel(llvm::StringRef name);

  /// Writes the manifests, launches the kernels and replaces the op by what
  /// they compute.
  void finish();

private:
  friend class OutlinedKernel;

  /// What kernels may be given.
  struct HostValue {
    mlir::Value value;
    std::string name;
    /// The tensor or scalar around the op; null for workspaces.
    mlir::Value source;
    /// Of buffers that are no workspaces.
    launch::Access access = launch::Access::Read;
    mlir::DictionaryAttr argumentAttributes;
    std::optional<Workspace> workspace;
  };
  /// How a tensor lies in memory, and what the kernel's argument says of it.
  struct BufferInfo {
    mlir::MemRefType type;
    mlir::DictionaryAttr argumentAttributes = {};
  };
  size_t add(HostValue value);
  size_t find(mlir::Value hostValue) const;
  mlir::Value makeSize(const HostProduct &product);
  static BufferInfo getInfo(mlir::Value tensor);
  /// As an argument of a kernel that uses it like this, or a value of the
  /// sequence.
  mlir::Attribute describe(const HostValue &value, launch::Access access) const;
  launch::WorkspaceAttr
  describeWorkspace(const Workspace &workspace,
                    llvm::function_ref<launch::ProductAttr(const HostProduct &)>
                        resolve) const;
  size_t countKernelsWith(size_t value) const;
  bool needsSequence() const;
  void addSequence();

  mlir::Operation *op;
  mlir::SymbolTable &symbols;
  mlir::ImplicitLocOpBuilder host;
  llvm::SmallVector<HostValue, 0> values;
  llvm::SmallVector<std::pair<mlir::OpResult, mlir::Value>> outputs;
  std::deque<OutlinedKernel> kernels;
};

} // namespace attune

#endif // ATTUNE_CONVERSION_KERNELOUTLINER_H
