// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owners, in C++, of what attune-c/Runtime.h opens, loads and prepares. Null
// where a call failed.

#ifndef ATTUNE_C_RUNTIMECXX_H
#define ATTUNE_C_RUNTIMECXX_H

#include "attune-c/Runtime.h"
#include <memory>
#include <string_view>
#include <vector>

namespace attune::runtime {

struct Release {
  void operator()(AttuneDevice *device) const {
    attuneRuntimeCloseDevice(device);
  }
  void operator()(AttuneKernel *kernel) const {
    attuneRuntimeUnloadKernel(kernel);
  }
  void operator()(AttuneLaunch *launch) const {
    attuneRuntimeReleaseLaunch(launch);
  }
};
/// To be destroyed in the opposite order.
using Device = std::unique_ptr<AttuneDevice, Release>;
using Kernel = std::unique_ptr<AttuneKernel, Release>;
using Launch = std::unique_ptr<AttuneLaunch, Release>;

inline Device openDevice(const char *kind, int ordinal, AttuneError &error) {
  return Device(attuneRuntimeOpenDevice(kind, ordinal, &error));
}

inline Kernel loadKernel(const Device &device, std::string_view image,
                         std::string_view manifest, AttuneError &error) {
  return Kernel(attuneRuntimeLoadKernel(device.get(), image.data(),
                                        image.size(), manifest.data(),
                                        manifest.size(), &error));
}

inline Kernel loadSequence(const std::vector<const AttuneKernel *> &kernels,
                           std::string_view sequence, AttuneError &error) {
  return Kernel(attuneRuntimeLoadSequence(kernels.data(), kernels.size(),
                                          sequence.data(), sequence.size(),
                                          &error));
}

inline Launch prepare(const Kernel &kernel,
                      const std::vector<AttuneArgument> &arguments,
                      AttuneError &error) {
  return Launch(attuneRuntimePrepare(kernel.get(), arguments.data(),
                                     arguments.size(), &error));
}

/// Whether later launches use memory at these addresses of the arguments.
inline bool move(const Launch &launch, const std::vector<uint64_t> &addresses,
                 AttuneError &error) {
  return attuneRuntimeMoveLaunch(launch.get(), addresses.data(),
                                 addresses.size(), &error);
}

/// Whether it was queued.
inline bool launch(const Launch &launch, void *stream, AttuneError &error) {
  return attuneRuntimeLaunch(launch.get(), stream, &error);
}

} // namespace attune::runtime

#endif // ATTUNE_C_RUNTIMECXX_H
