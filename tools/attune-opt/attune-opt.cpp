// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-opt: reads MLIR, runs the passes named on the command line, prints
// MLIR, or the assembly of the kernels in it. The dialects and passes are those
// of the project and of upstream, so that what mlir-opt does to a module that
// attune-tune wrote, this does as well.

#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "attune/Tools/ToolMain.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

/// Prints the assembly of all kernels in a module, one after the other.
static LogicalResult printAssembly(llvm::raw_ostream &os, ModuleOp module) {
  auto binaries = module.getOps<gpu::BinaryOp>();
  if (binaries.empty())
    return module.emitError()
           << "--emit-assembly expects a gpu.binary, as attune-compile makes "
              "it with format=isa, but there is none";
  for (gpu::BinaryOp binary : binaries) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    if (object.getFormat() != gpu::CompilationTarget::Assembly)
      return binary.emitError()
             << "--emit-assembly expects assembly, but got an object; compile "
                "with format=isa";
    os << object.getObject().getValue();
  }
  return success();
}

/// Runs the passes as ever, and prints what the result holds.
static LogicalResult emitAssembly(StringRef inputPath, StringRef outputPath,
                                  DialectRegistry &registry) {
  auto fail = [](const llvm::Twine &message) {
    llvm::WithColor::error(llvm::errs(), "attune-opt") << message << "\n";
    return failure();
  };
  auto config = MlirOptMainConfig::createFromCLOptions();
  if (!config.inputSplitMarker().empty())
    return fail("--emit-assembly expects one module, and no "
                "--split-input-file");
  std::string message;
  auto input = openInputFile(inputPath, &message);
  if (!input)
    return fail(message);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(MlirOptMain(stream, std::move(input), registry,
                         config.emitBytecode(true))))
    return failure();
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = parseSourceString<ModuleOp>(text, &context);
  auto output = openOutputFile(outputPath, &message);
  if (!output)
    return fail(message);
  if (!module || failed(printAssembly(output->os(), *module)))
    return failure();
  output->keep();
  return success();
}

int attuneOptMain(int argc, char **argv) {
  attune::setToolVersion("attune-opt");
  DialectRegistry registry;
  attune::registerAllDialects(registry);
  attune::registerAllPasses();
  llvm::cl::opt<bool> assembly{
      "emit-assembly",
      llvm::cl::desc("Print the assembly (PTX, or AMDGPU's) of the kernels in "
                     "the result instead of MLIR")};
  auto [inputPath, outputPath] = registerAndParseCLIOptions(
      argc, argv, "Attune optimizer driver\n", registry);
  attune::reportFatalErrors("attune-opt", &outputPath);
  if (assembly)
    return asMainReturnCode(emitAssembly(inputPath, outputPath, registry));
  return asMainReturnCode(
      MlirOptMain(argc, argv, inputPath, outputPath, registry));
}
