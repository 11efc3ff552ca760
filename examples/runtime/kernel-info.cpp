// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads a kernel and prints what a launch of it expects:
//
//   kernel-info <image> <manifest.json>

#include "attune-c/RuntimeCXX.h"
#include <fstream>
#include <iostream>
#include <iterator>

using namespace attune::runtime;

static std::string read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static const char *describe(AttuneAccess access) {
  switch (access) {
  case AttuneAccessRead:
    return "read";
  case AttuneAccessWrite:
    return "written";
  case AttuneAccessReadWrite:
    return "read and written";
  case AttuneAccessWorkspace:
    return "lent as a workspace";
  }
  return "";
}

static int fail(const AttuneError &error) {
  std::cerr << "kernel-info: " << error.text << "\n";
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: kernel-info <image> <manifest.json>\n";
    return 2;
  }
  AttuneError error{};
  Device device = openDevice("auto", 0, error);
  if (!device)
    return fail(error);
  Kernel kernel = loadKernel(device, read(argv[1]), read(argv[2]), error);
  if (!kernel)
    return fail(error);
  size_t count = attuneRuntimeGetNumArguments(kernel.get());
  std::cout << argv[2] << " on " << attuneRuntimeGetChip(device.get()) << ": "
            << count << " arguments\n";
  for (size_t i = 0; i < count; ++i) {
    AttuneArgumentInfo info = attuneRuntimeGetArgument(kernel.get(), i);
    std::cout << info.name << ": ";
    if (info.isScalar)
      std::cout << "scalar\n";
    else
      std::cout << "buffer of rank " << info.rank << ", "
                << describe(info.access) << "\n";
  }
}
