// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boost.Context through its C functions: its classes need exceptions.

#include "Fiber.h"
#include "llvm/Support/MathExtras.h"
#include <boost/context/detail/fcontext.hpp>
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

using namespace attune;
namespace context = boost::context::detail;

/// Of a stack, for wide vectors that do not fit into the registers of the CPU.
static constexpr size_t kMinBytes = size_t(2) << 20;
/// Of the only stack, for the tiles that convert-tile-to-loops puts on it.
static constexpr size_t kMaxBytes = size_t(64) << 20;
/// Of all stacks together, where they are larger than they must be.
static constexpr size_t kReserve = size_t(256) << 20;

FiberStacks::~FiberStacks() {
  if (base)
    munmap(base, count * bytes);
}

llvm::Error FiberStacks::reserve(size_t wanted) {
  if (wanted <= count)
    return llvm::Error::success();
  if (base)
    munmap(base, count * bytes);
  count = 0;
  bytes = llvm::alignDown(std::clamp(kReserve / wanted, kMinBytes, kMaxBytes),
                          getpagesize());
  void *memory = mmap(nullptr, wanted * bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  base = memory == MAP_FAILED ? nullptr : static_cast<char *>(memory);
  if (!base)
    return llvm::createStringError(
        llvm::errnoAsErrorCode(),
        "failed to reserve memory for the stacks of " + llvm::Twine(wanted) +
            " lanes");
  count = wanted;
  for (size_t index = 0; index < count; ++index)
    mprotect(base + index * bytes, getpagesize(), PROT_NONE);
  return llvm::Error::success();
}

char *FiberStacks::getTop(size_t index) const {
  return base + (index + 1) * bytes;
}

bool FiberStacks::contains(size_t index, const void *address) const {
  auto *byte = static_cast<const char *>(address);
  return byte >= getTop(index) - bytes && byte < getTop(index);
}

void Fiber::start(char *top, size_t bytes, Function newFunction,
                  void *newArgument) {
  function = newFunction;
  argument = newArgument;
  done = false;
  context =
      context::make_fcontext(top, bytes, [](context::transfer_t transfer) {
        auto &fiber = *static_cast<Fiber *>(transfer.data);
        fiber.caller = transfer.fctx;
        fiber.function(fiber.argument);
        fiber.done = true;
        fiber.suspend();
      });
}

void Fiber::resume() { context = context::jump_fcontext(context, this).fctx; }

void Fiber::suspend() { caller = context::jump_fcontext(caller, nullptr).fctx; }
