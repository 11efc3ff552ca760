# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What counts as a test and which names a RUN line may use. Tools are
# substituted by their full paths, so that a test never picks up another build
# or another LLVM from PATH.
import os
import re
import sys

import lit.formats

config.name = "Attune" if config.attune_test_folder == "test" else "Attune-" + os.path.basename(config.attune_test_folder)
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.attune_source_dir, config.attune_test_folder)
config.test_exec_root = os.path.join(config.attune_binary_dir, config.attune_test_folder)

own_tools = os.path.join(config.attune_binary_dir, "bin")
tools = {name: own_tools for name in ["attune-bisect", "attune-fuzz", "attune-opt", "attune-gen", "attune-lsp-server", "attune-reduce", "attune-report", "attune-run", "attune-tune"]}
tools.update({name: config.llvm_tools_dir for name in [
    "FileCheck", "clang", "count", "llvm-objdump", "llvm-readelf", "llvm-readobj", "mlir-opt", "mlir-runner", "mlir-translate", "not",
    "split-file"]})
for name, folder in sorted(tools.items()):
    path = os.path.join(folder, name)
    # A word of its own: not part of a path, of an option or of a longer name.
    config.substitutions.append((r"(?<![\w./-])" + re.escape(name) + r"(?![\w.-])", path))

config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%attune_source", config.attune_source_dir))
config.substitutions.append(("%attune_build", config.attune_binary_dir))
config.substitutions.append(("%cmake", config.cmake))
config.substitutions.append(("%cxx", config.cxx_compiler))
config.substitutions.append(("%llvm_tools", config.llvm_tools_dir))
config.substitutions.append(("%portable", os.path.join(config.attune_binary_dir, "portable", "bin")))
config.substitutions.append(("%plugin", os.path.join(config.attune_binary_dir, "lib", "AttunePlugin.so")))
config.substitutions.append(("%test_passes", os.path.join(config.attune_binary_dir, "test", "lib", "AttuneTestPasses.so")))
config.substitutions.append(("%test_outliner", os.path.join(config.attune_binary_dir, "test", "lib", "AttuneTestOutliner.so")))
config.substitutions.append(("%fake_driver", os.path.join(config.attune_binary_dir, "test", "fake-driver")))
config.substitutions.append(("%fake_hip", os.path.join(config.attune_binary_dir, "test", "fake-hip")))
config.substitutions.append(("%examples", os.path.join(config.attune_source_dir, "examples")))

# How numeric tests run upstream IR (tensors, buffers, loops) on the CPU.
config.substitutions.append(("%cpu_pipeline", " ".join([
    '--convert-elementwise-to-linalg --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map"',
    "--convert-linalg-to-loops --lower-affine --convert-scf-to-cf --expand-strided-metadata --lower-affine",
    "--convert-math-to-libm --convert-vector-to-llvm --convert-to-llvm --reconcile-unrealized-casts"])))
config.substitutions.append(("%cpu_runner", "--entry-point-result=void --shared-libs=" + ",".join(
    os.path.join(config.llvm_lib_dir, name)
    for name in ["libmlir_runner_utils.so", "libmlir_c_runner_utils.so", "libmlir_float16_utils.so"])))

for name, folder in tools.items():
    if folder == own_tools and os.path.exists(os.path.join(folder, name)):
        config.available_features.add(name)
if any(os.access(os.path.join(folder, "ptxas"), os.X_OK) for folder in
       os.environ.get("PATH", "").split(os.pathsep)
       + [os.path.join(os.environ.get(name, ""), "bin") for name in ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"]]):
    config.available_features.add("ptxas")
if "-fsanitize" not in config.cxx_flags:
    config.available_features.update(["plugin", "portable"])
else:
    config.available_features.add("sanitizers")
    # LLVM's own allocators tell the sanitizer what is free, but Debian's libraries
    # use the memory without asking it. What is left to the end of a process is not
    # looked for.
    config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0:leak_check_at_exit=0"
    config.environment["ASAN_SYMBOLIZER_PATH"] = os.path.join(config.llvm_tools_dir, "llvm-symbolizer")
    config.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
# What a test that configures a project of its own passes on to CMake.
config.environment["CC"] = config.c_compiler
config.environment["CXX"] = config.cxx_compiler
