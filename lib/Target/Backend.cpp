// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM reports what it cannot select with report_fatal_error. The handler
// installed here leaves through the crash recovery context instead of abort().

#include "attune/Target/AssemblyEmitter.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace mlir;
using namespace attune;

/// Where the action under way says why it failed.
static std::string *currentMessage = nullptr;

/// Keeps the reason and unwinds to runBackend.
static void leaveBackend(void *message, const char *reason, bool) {
  *static_cast<std::string *>(message) = reason;
  if (auto *context = llvm::CrashRecoveryContext::GetCurrent())
    context->HandleExit(1);
}

LogicalResult attune::runBackend(Operation *op,
                                 function_ref<LogicalResult()> action) {
  // LLVM has one fatal error handler, and lld one set of global variables.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext context;
  std::string message;
  currentMessage = &message;
  LogicalResult result = failure();
  bool finished;
  {
    llvm::ScopedFatalErrorHandler handler(leaveBackend, &message);
    finished = context.RunSafely([&] { result = action(); });
  }
  currentMessage = nullptr;
  if (finished)
    return result;
  if (message.empty())
    return op->emitError() << "expects LLVM's back end to compile the kernel, "
                              "but it crashed (code "
                           << context.RetCode << ")";
  return op->emitError() << "expects a kernel that LLVM's back end can "
                            "compile, but got: "
                         << StringRef(message).split('\n').first;
}

void attune::stopAtErrors(llvm::LLVMContext &context) {
  assert(currentMessage && "called within runBackend");
  auto handler = [](const llvm::DiagnosticInfo *info, void *message) {
    if (info->getSeverity() != llvm::DS_Error)
      return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
    leaveBackend(message, text.c_str(), false);
  };
  context.setDiagnosticHandlerCallBack(handler, currentMessage);
}

FailureOr<std::string>
attune::emitAssembly(gpu::GPUModuleOp module,
                     mlir::LLVM::ModuleToObject &emitter) {
  std::string assembly;
  LogicalResult result = runBackend(module, [&] {
    auto text = emitter.run();
    if (!text)
      return failure();
    assembly = StringRef(text->data(), text->size()).rtrim('\0').str();
    return success();
  });
  if (failed(result))
    return failure();
  return assembly;
}

LogicalResult attune::checkChip(Operation *op, StringRef triple,
                                StringRef chip) {
  std::string error;
  llvm::Triple parsed(triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(parsed, error);
  if (!target)
    return op->emitError() << "expects a build of LLVM with a back end for '"
                           << triple << "', but got: " << error;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(parsed, "", ""));
  if (!info || !info->isCPUStringValid(chip))
    return op->emitError() << "expects a chip that LLVM's back end for '"
                           << triple << "' knows, but got '" << chip << "'";
  return success();
}

FailureOr<ScratchFile> ScratchFile::create(Operation *op, StringRef suffix,
                                           StringRef content) {
  int descriptor;
  SmallString<128> path;
  auto fail = [&](const std::error_code &error) {
    return op->emitError() << "expects to write a temporary file"
                           << (path.empty() ? "" : " '") << path
                           << (path.empty() ? "" : "'")
                           << ", but got: " << error.message();
  };
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(
          "attune", suffix, descriptor, path))
    return fail(error);
  ScratchFile file(std::string(path.str()));
  llvm::sys::RemoveFileOnSignal(path);
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << content;
  stream.close();
  if (stream.has_error()) {
    std::error_code error = stream.error();
    stream.clear_error();
    return fail(error);
  }
  return file;
}

ScratchFile::ScratchFile(ScratchFile &&other) : path(std::move(other.path)) {
  other.path.clear();
}

ScratchFile::~ScratchFile() {
  if (path.empty())
    return;
  (void)llvm::sys::fs::remove(path);
  llvm::sys::DontRemoveFileOnSignal(path);
}

FailureOr<std::string> ScratchFile::read(Operation *op) const {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return op->emitError() << "expects to read the temporary file '" << path
                           << "', but got: " << buffer.getError().message();
  return (*buffer)->getBuffer().str();
}
