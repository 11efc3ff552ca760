// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From LLVM dialect to AMDGPU assembly with LLVM's back end, to an HSACO with
// its assembler and lld, all in this process; the HSACO's notes say what the
// kernel takes.

#include "AMD.h"
#include "attune/Target/AssemblyEmitter.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Target/LLVM/ROCDL/Target.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"

using namespace mlir;
using namespace attune;

static constexpr StringLiteral kTriple = "amdgcn-amd-amdhsa";

/// Spilled vector registers are counted, not measured, in the notes; one has
/// four bytes in each lane. Scalar ones are spilled into lanes of vector
/// registers, and only what these cannot hold reaches memory.
static constexpr int64_t kRegisterBytes = 4;

/// Reads the notes of all kernels; of several kernels, the largest numbers.
static LogicalResult readResources(gpu::GPUModuleOp module, StringRef object,
                                   KernelResources &resources) {
  Builder builder(module.getContext());
  auto kernels = ROCDL::getAMDHSAKernelsELFMetadata(
      builder, ArrayRef<char>(object.data(), object.size()));
  if (!kernels)
    return module.emitError() << "expects notes about the kernel in the HSACO, "
                                 "but found none";
  for (const auto &[name, notes] : *kernels) {
    auto keep = [&notes = notes](std::optional<int64_t> &kept, StringRef key,
                                 int64_t factor = 1) {
      if (auto value = dyn_cast_or_null<IntegerAttr>(notes.get(key)))
        kept = std::max(kept.value_or(0), value.getInt() * factor);
    };
    keep(resources.registers, "vgpr_count");
    keep(resources.scalarRegisters, "sgpr_count");
    keep(resources.scalarSpills, "sgpr_spill_count");
    keep(resources.stackBytes, "private_segment_fixed_size");
    keep(resources.staticSharedBytes, "group_segment_fixed_size");
    // What is spilled is also loaded again.
    keep(resources.spillStoreBytes, "vgpr_spill_count", kRegisterBytes);
    keep(resources.spillLoadBytes, "vgpr_spill_count", kRegisterBytes);
  }
  return success();
}

/// Of the arguments that a runtime adds to those of a kernel, the first three
/// words are the numbers of workgroups (LLVM's AMDGPUUsage, "Code Object V5
/// Metadata"). Upstream asks a device library, which kernels are not linked
/// with.
template <typename OpTy>
static void readGridSize(gpu::GPUModuleOp module, int64_t place) {
  module.walk([&](OpTy op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    constexpr unsigned kConstantMemory = 4;
    auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kConstantMemory);
    Type word = b.getI32Type();
    Value added =
        LLVM::CallIntrinsicOp::create(
            b, loc, pointer, b.getStringAttr("llvm.amdgcn.implicitarg.ptr"),
            ValueRange())
            .getResult(0);
    Value address = LLVM::GEPOp::create(b, loc, pointer, word, added,
                                        ArrayRef<LLVM::GEPArg>{place});
    Value count = LLVM::LoadOp::create(b, loc, word, address);
    if (op.getType() != word)
      count = LLVM::ZExtOp::create(b, loc, op.getType(), count);
    op.replaceAllUsesWith(count);
    op.erase();
  });
}

FailureOr<Binary>
amd::AMDTarget::serialize(gpu::GPUModuleOp module, tile::TargetAttr target,
                          const BinaryOptions &options) const {
  ROCDL::SerializeGPUModuleBase::init();
  readGridSize<ROCDL::GridDimXOp>(module, 0);
  readGridSize<ROCDL::GridDimYOp>(module, 1);
  readGridSize<ROCDL::GridDimZOp>(module, 2);
  StringRef chip = target.getChip();
  if (failed(checkChip(module, kTriple, chip)))
    return failure();
  auto rocdl = ROCDL::ROCDLTargetAttr::get(module.getContext(), /*optLevel=*/3,
                                           kTriple, chip);
  module.setTargetsAttr(ArrayAttr::get(module.getContext(), {rocdl}));
  AssemblyEmitter<ROCDL::SerializeGPUModuleBase> emitter(*module, rocdl);
  FailureOr<std::string> assembly = emitAssembly(module, emitter);
  if (failed(assembly))
    return failure();
  Binary binary;
  binary.conflicts = findConflicts(module, *this, target.getLanes());
  binary.assembly = std::move(*assembly);
  binary.assemblySuffix = "s";
  binary.objectSuffix = "hsaco";
  if (options.format == BinaryOptions::Format::Assembly)
    return binary;
  FailureOr<SmallVector<char, 0>> object = failure();
  LogicalResult assembled = runBackend(module, [&] {
    object = ROCDL::assembleIsa(binary.assembly, kTriple, chip, /*features=*/"",
                                [&] { return module.emitError(); });
    return success(succeeded(object));
  });
  if (failed(assembled))
    return failure();
  FailureOr<std::string> linked =
      linkHSACO(module, StringRef(object->data(), object->size()));
  if (failed(linked))
    return failure();
  binary.object = std::move(*linked);
  if (failed(readResources(module, binary.object, binary.resources)))
    return failure();
  return binary;
}

std::optional<LoopCost> amd::AMDTarget::predictLoop(const Binary &binary,
                                                    tile::TargetAttr target,
                                                    int64_t threads,
                                                    int64_t sharedBytes) const {
  std::optional<Loop> loop =
      readMainLoop(binary.assembly, target.getLanes(), binary.conflicts);
  if (!loop || !binary.resources.registers || threads <= 0)
    return std::nullopt;
  LoopFacts facts = getLoopFacts();
  LoopCost cost =
      amd::predictLoop(*loop, target, facts,
                       countWaves(target, facts, *binary.resources.registers,
                                  threads, sharedBytes));
  double busy =
      cost.flopsPerClock / static_cast<double>(target.getRates().getMma());
  double share = getClockShare(target.getChip(), busy);
  cost.flopsPerClock *= share;
  cost.teraflops *= share;
  return cost;
}

void amd::registerDialects(DialectRegistry &registry) {
  registry.insert<ROCDL::ROCDLDialect, amdgpu::AMDGPUDialect>();
  ROCDL::registerROCDLTargetInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
}
