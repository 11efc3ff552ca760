// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld as a library. The only file of the project that knows it.

#include "AMD.h"
#include "attune/Target/Backend.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace attune;

FailureOr<std::string> amd::linkHSACO(Operation *op, StringRef object) {
  auto input = ScratchFile::create(op, "o", object);
  auto output = ScratchFile::create(op, "hsaco");
  if (failed(input) || failed(output))
    return failure();
  std::string inputPath = input->getPath().str();
  std::string outputPath = output->getPath().str();
  std::string said;
  llvm::raw_string_ostream stream(said);
  const char *arguments[] = {"ld.lld", "-shared", inputPath.c_str(), "-o",
                             outputPath.c_str()};
  LogicalResult linked = runBackend(op, [&] {
    lld::Result result =
        lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
    if (result.canRunAgain)
      lld::CommonLinkerContext::destroy();
    return success(result.retCode == 0);
  });
  if (failed(linked))
    return op->emitError() << "expects lld to link the kernel, but got: "
                           << StringRef(said).rtrim();
  return output->read(op);
}
