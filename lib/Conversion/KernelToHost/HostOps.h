// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How ops of a chip become calls of the host's runtime: a table from the kind
// of an op to the function that replaces it, filled once for each family.

#ifndef ATTUNE_LIB_CONVERSION_KERNELTOHOST_HOSTOPS_H
#define ATTUNE_LIB_CONVERSION_KERNELTOHOST_HOSTOPS_H

#include "attune/Simulator/HostThread.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <utility>

namespace attune {

/// Replaces ops of one function.
class HostRewriter {
public:
  HostRewriter(mlir::gpu::GPUModuleOp module,
               const llvm::DenseMap<mlir::Operation *, uint32_t> &sites)
      : module(module), layout(module), sites(sites),
        builder(module.getContext()) {}

  /// The first argument of the function at hand.
  mlir::Value thread;
  /// Asynchronous MMAs some of whose registers are written in the same
  /// block behind the last fence.
  llvm::DenseSet<mlir::Operation *> lateMmas;

  /// Sets the insertion point before `op`.
  mlir::OpBuilder &at(mlir::Operation *op);
  mlir::Value i32(mlir::Operation *op, int64_t value);
  /// A pointer `offset` bytes behind the start of the thread's context.
  mlir::Value field(mlir::Operation *op, uint64_t offset);

  /// Bytes of a value in memory.
  int64_t getBytes(mlir::Type type) const {
    return static_cast<int64_t>(layout.getTypeSize(type).getFixedValue());
  }
  /// A call of a runtime function at `op`, which stays. Operands of `extra`
  /// follow the thread and the site.
  mlir::LLVM::CallOp call(mlir::Operation *op, llvm::StringRef function,
                          mlir::ValueRange extra, mlir::Type result = {});
  /// Replaces `op` by the call of a runtime function that finds its operands in
  /// the thread's context and leaves the results there.
  void replaceWithCall(mlir::Operation *op, llvm::StringRef function,
                       llvm::ArrayRef<int64_t> immediates = {});
  /// Replaces `op` by a 32-bit field of the thread's context.
  void replaceWithField(mlir::Operation *op, uint64_t offset);
  void replace(mlir::Operation *op, mlir::Value value);
  /// What the results of asynchronous MMAs in `value` are at `op`.
  mlir::Value readMma(mlir::Operation *op, mlir::Value value);

private:
  mlir::gpu::GPUModuleOp module;
  mlir::DataLayout layout;
  const llvm::DenseMap<mlir::Operation *, uint32_t> &sites;
  mlir::OpBuilder builder;
  llvm::StringMap<mlir::LLVM::LLVMFuncOp> declared;
};

/// The ops that can be executed on the host.
class HostOps {
public:
  using Rewrite =
      std::function<llvm::LogicalResult(mlir::Operation *, HostRewriter &)>;

  /// `rewrite` replaces the op, or says at it why not.
  template <typename OpTy, typename Function> void add(Function rewrite) {
    table[mlir::TypeID::get<OpTy>()] = [rewrite](mlir::Operation *op,
                                                 HostRewriter &rewriter) {
      return rewrite(llvm::cast<OpTy>(op), rewriter);
    };
  }
  /// The op is one call of a runtime function, with all of its operands.
  template <typename OpTy>
  void addCall(llvm::StringRef function,
               llvm::ArrayRef<int64_t> immediates = {}) {
    add<OpTy>([function, list = llvm::SmallVector<int64_t>(immediates)](
                  OpTy op, HostRewriter &rewriter) {
      rewriter.replaceWithCall(op, function, list);
      return llvm::success();
    });
  }
  /// The ops read 32-bit fields of the thread's context: the first one that at
  /// `offset`, each other one the next.
  template <typename... OpTys> void addFields(uint64_t offset) {
    auto next = [&] {
      return std::exchange(offset, offset + sizeof(uint32_t));
    };
    (add<OpTys>([at = next()](OpTys op, HostRewriter &rewriter) {
       rewriter.replaceWithField(op, at);
       return llvm::success();
     }),
     ...);
  }
  /// The ops mean nothing on the host.
  template <typename... OpTys> void ignore() {
    (add<OpTys>([](OpTys op, HostRewriter &) {
       op->erase();
       return llvm::success();
     }),
     ...);
  }
  /// A call of the intrinsic `name` of a back end.
  void addIntrinsic(llvm::StringRef name, Rewrite rewrite) {
    intrinsics[name] = std::move(rewrite);
  }

  /// Null where the op is not known.
  const Rewrite *find(mlir::Operation *op) const;

private:
  llvm::DenseMap<mlir::TypeID, Rewrite> table;
  llvm::StringMap<Rewrite> intrinsics;
};

/// An op of one float for which LLVM has an intrinsic that every CPU supports.
template <typename OpTy>
llvm::LogicalResult rewriteMath(mlir::Operation *op, HostRewriter &rewriter) {
  rewriter.replace(op,
                   OpTy::create(rewriter.at(op), op->getLoc(),
                                op->getResult(0).getType(), op->getOperand(0)));
  return llvm::success();
}
/// 1 / x
llvm::LogicalResult rewriteReciprocal(mlir::Operation *op,
                                      HostRewriter &rewriter);

/// Before any op is replaced: finds `rewriter.lateProducts`, and asks for the
/// results of asynchronous MMAs before ops that look at them. Ops that only
/// move values, branches, waits and further MMAs do not ask.
void prepareMmas(mlir::LLVM::LLVMFuncOp function, HostRewriter &rewriter);

void populateNVVMHostOps(HostOps &ops);
void populateMBarrierHostOps(HostOps &ops);
void populateWarpgroupHostOps(HostOps &ops);
void populateROCDLHostOps(HostOps &ops);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_KERNELTOHOST_HOSTOPS_H
