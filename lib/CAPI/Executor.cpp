// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host executor as a device of the runtime's C functions.

#include "attune-c/Executor.h"
#include "attune/InitAllDialects.h"
#include "attune/Runtime/CAPI.h"
#include "attune/Simulator/HostDevice.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace attune;

namespace {
/// A context, and what is said in it since it was last asked.
struct ExecutorContext {
  MLIRContext context;
  std::string said;

  ExecutorContext()
      : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.printOpOnDiagnostic(false);
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { said += "; " + diagnostic.str(); });
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
};

/// Diagnostics become part of the errors, which is all that C has.
class ExecutorDevice : public HostDevice {
public:
  static llvm::Expected<std::unique_ptr<Device>> open(StringRef chip,
                                                      int64_t maxThreads) {
    auto owned = std::make_unique<ExecutorContext>();
    MLIRContext *context = &owned->context;
    auto target = getTarget(
        context, chip, [&] { return emitError(UnknownLoc::get(context)); });
    if (failed(target))
      return llvm::createStringError(StringRef(owned->said).drop_front(2));
    HostOptions options;
    if (maxThreads > 0)
      options.maxThreads = maxThreads;
    return std::make_unique<ExecutorDevice>(std::move(owned), *target, options);
  }

  ExecutorDevice(std::unique_ptr<ExecutorContext> given,
                 tile::TargetAttr target, const HostOptions &options)
      : HostDevice(given->context, target, options), owned(std::move(given)) {}

  llvm::Expected<std::unique_ptr<Kernel>>
  loadKernel(StringRef image, StringRef name, int64_t sharedBytes) override {
    owned->said.clear();
    auto kernel = HostDevice::loadKernel(image, name, sharedBytes);
    if (kernel)
      return kernel;
    return explain(kernel.takeError());
  }

  llvm::Error launch(Kernel &kernel, const LaunchShape &shape,
                     llvm::ArrayRef<void *> arguments) override {
    owned->said.clear();
    if (auto error = HostDevice::launch(kernel, shape, arguments))
      return explain(std::move(error));
    return llvm::Error::success();
  }

private:
  llvm::Error explain(llvm::Error error) {
    return llvm::createStringError(llvm::toString(std::move(error)) +
                                   owned->said);
  }

  /// Goes before the base, which then only frees memory.
  std::unique_ptr<ExecutorContext> owned;
};
} // namespace

AttuneDevice *attuneExecutorOpen(MlirStringRef chip, int64_t maxThreads,
                                 AttuneError *error) {
  auto device = ExecutorDevice::open(unwrap(chip), maxThreads);
  if (device)
    return new AttuneDevice{std::move(*device)};
  report(device.takeError(), error);
  return nullptr;
}
