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
#include "llvm/IR/LegacyPassManager.h"
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
    std::unique_ptr<llvm::legacy::PassManager> passes = makePasses(module);
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream stream(text);
    if ((*machine)->addPassesToEmitFile(*passes, stream, /*DwoOut=*/nullptr,
                                        llvm::CodeGenFileType::AssemblyFile))
      return this->getOperation().emitError(
          "expects a back end of LLVM that writes assembly, but got none");
    passes->run(module);
    return text;
  }
  /// Where the back end adds its passes for a module.
  virtual std::unique_ptr<llvm::legacy::PassManager>
  makePasses(const llvm::Module &) {
    return std::make_unique<llvm::legacy::PassManager>();
  }
};

/// The assembly that `emitter`, an AssemblyEmitter, makes of `module`. Fails
/// with a diagnostic, also where the back end would end the process.
mlir::FailureOr<std::string> emitAssembly(mlir::gpu::GPUModuleOp module,
                                          mlir::LLVM::ModuleToObject &emitter);

} // namespace attune

#endif // ATTUNE_TARGET_ASSEMBLYEMITTER_H
