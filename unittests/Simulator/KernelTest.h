// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels in LLVM dialect on the host executor.

#ifndef ATTUNE_UNITTESTS_SIMULATOR_KERNELTEST_H
#define ATTUNE_UNITTESTS_SIMULATOR_KERNELTEST_H

#include "attune/Dialect/WGMMA/IR/WGMMA.h"
#include "attune/Simulator/HostDevice.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <deque>

namespace attune {

class KernelTest : public testing::Test {
protected:
  KernelTest() {
    context.loadDialect<mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
                        mlir::NVVM::NVVMDialect, tile::TileDialect,
                        wgmma::WGMMADialect>();
    target = *getTarget(&context, "sm_90", [&] {
      return mlir::emitError(mlir::UnknownLoc::get(&context));
    });
  }

  /// Runs kernel `name` of a gpu.module of `body` in one block. Its arguments
  /// are pointers to copies of `buffers`, which are copied back, `maps`, and
  /// what `arguments` point to.
  llvm::Error run(llvm::StringRef body, llvm::StringRef name, int64_t threads,
                  llvm::ArrayRef<void *> arguments, uint64_t seed) {
    HostOptions options;
    options.seed = seed;
    HostDevice device(context, target, options);
    std::string image;
    llvm::raw_string_ostream stream(image);
    stream << "gpu.module @kernels attributes {tile.target = "
           << mlir::Attribute(target) << "} {" << body << "}";
    auto kernel = device.loadKernel(image, name, 0);
    if (!kernel)
      return kernel.takeError();
    llvm::SmallVector<DeviceAddress> addresses;
    llvm::SmallVector<void *> words;
    for (auto [index, buffer] : llvm::enumerate(buffers)) {
      addresses.push_back(cantFail(device.allocate(buffer.second)));
      cantFail(
          device.copyToDevice(addresses[index], buffer.first, buffer.second));
    }
    for (DeviceAddress &address : addresses)
      words.push_back(&address);
    std::deque<TensorMap> encoded;
    for (auto [index, request] : maps) {
      TensorMapRequest placed = request;
      placed.address += addresses[index];
      auto map = device.encodeTensorMap(placed);
      if (!map)
        return map.takeError();
      encoded.push_back(*map);
      words.push_back(&encoded.back());
    }
    llvm::append_range(words, arguments);
    LaunchShape shape;
    shape.block[0] = threads;
    if (auto error = device.launch(**kernel, shape, words))
      return error;
    for (auto [index, buffer] : llvm::enumerate(buffers))
      cantFail(
          device.copyToHost(buffer.first, addresses[index], buffer.second));
    return llvm::Error::success();
  }

  mlir::MLIRContext context;
  tile::TargetAttr target;
  /// Memory and bytes of the first arguments, which are pointers.
  std::vector<std::pair<void *, int64_t>> buffers;
  /// Maps of these buffers, in which the address is an offset.
  std::vector<std::pair<size_t, TensorMapRequest>> maps;
};

} // namespace attune

#endif // ATTUNE_UNITTESTS_SIMULATOR_KERNELTEST_H
