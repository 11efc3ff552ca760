// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code for the CPU from C.

#include "attune-c/HostCode.h"
#include "attune/Execution/HostCode.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace attune;

static HostCode *unwrap(AttuneHostCode code) {
  return static_cast<HostCode *>(code.ptr);
}

AttuneHostCode attuneHostCodeCompile(MlirModule module,
                                     MlirStringRef function) {
  ModuleOp op = unwrap(module);
  auto fail = [&](llvm::Error error) -> AttuneHostCode {
    emitError(op.getLoc()) << llvm::toString(std::move(error));
    return {nullptr};
  };
  llvm::Expected<HostObject> object = compileForHost(op, unwrap(function));
  if (!object)
    return fail(object.takeError());
  auto code = HostCode::load(*object, /*libraries=*/{});
  if (!code)
    return fail(code.takeError());
  return {code->release()};
}

void attuneHostCodeDestroy(AttuneHostCode code) { delete unwrap(code); }

void attuneHostCodeCall(AttuneHostCode code, void **arguments) {
  unwrap(code)->call(arguments);
}
