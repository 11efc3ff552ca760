// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that stop in the middle and go on later, on stacks of their own:
// Boost.Context's switch, and memory for the stacks.

#ifndef ATTUNE_LIB_SIMULATOR_FIBER_H
#define ATTUNE_LIB_SIMULATOR_FIBER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Memory.h"
#include <cstddef>
#include <vector>

namespace attune {

/// Stacks of one size, each above a page that must not be touched. They share a
/// range of addresses, so that those of few threads are large; memory is taken
/// from the system when it is used first.
class FiberStacks {
public:
  FiberStacks() = default;
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;
  ~FiberStacks();

  /// Makes room for `count` stacks.
  llvm::Error reserve(size_t count);
  /// The upper end of a stack.
  char *getTop(size_t index) const;
  bool contains(size_t index, const void *address) const;
  /// The size of each.
  size_t getBytes() const { return bytes; }

private:
  char *base = nullptr;
  size_t count = 0, bytes = 0;
};

class Fiber {
public:
  using Function = void (*)(void *);

  /// Makes the fiber ready to run `function` on the stack of `bytes` below
  /// `top`. What it ran before is forgotten, wherever it had come to.
  void start(char *top, size_t bytes, Function function, void *argument);
  /// Runs until the next suspend() or the end of the function.
  void resume();
  /// Within the fiber: goes back to resume().
  void suspend();
  bool isDone() const { return done; }

private:
  void *context = nullptr;
  void *caller = nullptr;
  Function function = nullptr;
  void *argument = nullptr;
  bool done = true;
};

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_FIBER_H
