# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every test runs a pipeline in two hosts, attune-opt and the stock mlir-opt.
import os

import lit.formats

config.name = "AttuneGuest"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.substitutions += [
    ("%attune_opt", f"{config.attune_opt} --load-pass-plugin={config.guest}"),
    ("%mlir_opt", f"{config.llvm_tools}/mlir-opt --load-dialect-plugin={config.attune_plugin} "
                  f"--load-pass-plugin={config.attune_plugin} --load-pass-plugin={config.guest}")]
config.environment["PATH"] = os.pathsep.join([config.llvm_tools, os.environ["PATH"]])
