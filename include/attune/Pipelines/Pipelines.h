// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way from attention on tensors to a kernel, in named stages.

#ifndef ATTUNE_PIPELINES_PIPELINES_H
#define ATTUNE_PIPELINES_PIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace attune {

/// How far attune-compile goes.
enum class CompileFormat { Tile, GPU, LLVM, Assembly, Object };

/// What attune-compile makes of the functions that launch kernels.
enum class HostFormat { GPU, LLVM };

struct CompileOptions : mlir::PassPipelineOptions<CompileOptions> {
  Option<std::string> chip{
      *this, "chip", llvm::cl::desc("Name of the chip; there is no default.")};
  Option<unsigned> sms{
      *this, "sms",
      llvm::cl::desc("SMs to launch persistent workgroups on; 0 for those of "
                     "the chip."),
      llvm::cl::init(0)};
  Option<CompileFormat> format{
      *this, "format",
      llvm::cl::desc(
          "How far to go: tile, gpu, llvm, isa (assembly) or bin (object)."),
      llvm::cl::init(CompileFormat::Object),
      llvm::cl::values(
          clEnumValN(CompileFormat::Tile, "tile", "kernels that speak tile"),
          clEnumValN(CompileFormat::GPU, "gpu", "upstream's dialects"),
          clEnumValN(CompileFormat::LLVM, "llvm", "LLVM dialect"),
          clEnumValN(CompileFormat::Assembly, "isa", "PTX or AMDGPU assembly"),
          clEnumValN(CompileFormat::Object, "bin", "cubin or HSACO"))};
  Option<HostFormat> host{
      *this, "host",
      llvm::cl::desc("What becomes of the functions that launch kernels: gpu "
                     "(upstream's dialects), or llvm (calls of "
                     "libAttuneRuntime.so)."),
      llvm::cl::init(HostFormat::GPU),
      llvm::cl::values(
          clEnumValN(HostFormat::GPU, "gpu", "upstream's dialects"),
          clEnumValN(HostFormat::LLVM, "llvm", "LLVM dialect"))};
  ListOption<std::string> tuningSpecs{
      *this, "tuning-specs",
      llvm::cl::desc("Files with schedules that a search found, for ops "
                     "without one; the most important one first.")};
  Option<std::string> assembler{
      *this, "assembler",
      llvm::cl::desc("Path of the vendor's assembler; searched in PATH and the "
                     "toolkit's variables if not given.")};
  Option<std::string> outputDir{
      *this, "output-dir",
      llvm::cl::desc("Folder that also receives the kernels as files, each "
                     "with a JSON manifest.")};
};

/// Makes one op of each attention that is spelled out in linalg, as the
/// pipelines do first: for whoever asks what can be tuned before it runs them.
/// What cannot be raised is left to the pipeline to remark on.
mlir::LogicalResult raiseAttention(mlir::ModuleOp module);

/// Attention and matmuls on tensors to kernels that speak `tile`: raises
/// attention that is spelled out in linalg, attaches the target, picks a
/// schedule where there is none, checks it, expands short forms, outlines.
void buildTensorsToTilePipeline(mlir::OpPassManager &pm,
                                const CompileOptions &options);

/// All passes on tiles, which obey the schedule; those behind them do not read
/// it but for the bound of registers.
void buildTilePipeline(mlir::OpPassManager &pm);

/// Kernels that speak `tile`, and went through all passes on tiles, to LLVM
/// dialect.
void buildTileToLLVMPipeline(mlir::OpPassManager &pm);

/// Kernels that speak `tile` to kernels in upstream's dialects for one thread.
void buildTileToGPUPipeline(mlir::OpPassManager &pm);

/// Kernels in upstream's dialects to LLVM dialect.
void buildGPUToLLVMPipeline(mlir::OpPassManager &pm);

/// The host side of a module whose kernels are compiled to LLVM dialect that
/// calls libAttuneRuntime.so.
void buildHostToLLVMPipeline(mlir::OpPassManager &pm);

/// All of it, to the stages that `format` and `host` name.
void buildCompilePipeline(mlir::OpPassManager &pm,
                          const CompileOptions &options);

/// Registers tensors-to-tile-pipeline, tile-pipeline, tile-to-gpu-pipeline,
/// gpu-to-llvm-pipeline, host-to-llvm-pipeline and attune-compile.
void registerPipelines();

} // namespace attune

#endif // ATTUNE_PIPELINES_PIPELINES_H
