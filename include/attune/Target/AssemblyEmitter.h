// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's translation of a gpu.module, up to the assembly. Its own last step
// keeps timers on the stack, which must not be left by an error in the back
// end.

#ifndef ATTUNE_TARGET_ASSEMBLYEMITTER_H
#define ATTUNE_TARGET_ASSEMBLYEMITTER_H

#include "attune/Target/Backend.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Target/LLVM/ModuleToObject.h"
#include "llvm/Target/TargetMachine.h"

namespace attune {

/// `Serializer` is the base class of upstream's serializers for the vendor.
template <typename Serializer> class AssemblyEmitter : public Serializer {
public:
  using Serializer::Serializer;

protected:
  void handleModulePreLink(llvm::Module &module) override {
    stopAtErrors(module.getContext());
    Serializer::handleModulePreLink(module);
  }
  mlir::FailureOr<llvm::SmallVector<char, 0>>
  moduleToObject(llvm::Module &module) override {
    mlir::FailureOr<llvm::TargetMachine *> machine =
        this->getOrCreateTargetMachine();
    if (mlir::failed(machine))
      return mlir::failure();
    mlir::FailureOr<llvm::SmallString<0>> text = this->translateModuleToISA(
        module, **machine, [&] { return this->getOperation().emitError(); });
    if (mlir::failed(text))
      return mlir::failure();
    return llvm::SmallVector<char, 0>(text->begin(), text->end());
  }
};

/// The assembly that `emitter`, an AssemblyEmitter, makes of `module`. Fails
/// with a diagnostic, also where the back end would end the process.
mlir::FailureOr<std::string> emitAssembly(mlir::gpu::GPUModuleOp module,
                                          mlir::LLVM::ModuleToObject &emitter);

} // namespace attune

#endif // ATTUNE_TARGET_ASSEMBLYEMITTER_H
