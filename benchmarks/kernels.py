# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls compiled kernels on PyTorch's tensors, by their manifests.

All that it knows of a kernel is the JSON beside the binary (docs/Manifest.md),
so that our kernels and those of others are timed in one process, on one stream.
"""

import ctypes
import json
import math
import os

import torch

DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "i32": torch.int32,
}
MAP_TYPES = {torch.int8: 0, torch.float16: 6, torch.bfloat16: 9, torch.float32: 7}
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
MAP_BYTES, MAP_ALIGNMENT = 128, 64
PROGRAMMATIC_SERIALIZATION = 6  # of CUlaunchAttributeID
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
PROMOTE_TO_128_BYTES = 2  # CU_TENSOR_MAP_L2_PROMOTION_L2_128B

driver = None


def call(name, *arguments):
    global driver
    driver = driver or ctypes.CDLL("libcuda.so.1")
    if code := getattr(driver, name)(*arguments):
        raise RuntimeError(f"{name} failed with {code}")


class LaunchAttribute(ctypes.Structure):
    _fields_ = [
        ("id", ctypes.c_int),
        ("padding", ctypes.c_int),
        ("value", ctypes.c_int),
        ("rest", ctypes.c_char * 60),
    ]


class LaunchConfig(ctypes.Structure):
    _fields_ = [
        ("extents", ctypes.c_uint * 6),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("count", ctypes.c_uint),
    ]


def reverse(kind, values):
    values = list(values)[::-1]
    return (kind * max(len(values), 1))(*values)


def multiply(product, bound):
    """A number, or the product of numbers and of parts of tensors' sizes."""
    def measure(factor):
        if isinstance(factor, int):
            return factor
        if "sum" in factor:
            return sum(map(measure, factor["sum"]))
        return -(-bound[factor["argument"]].shape[factor["index"]] // factor.get("per", 1))

    return math.prod(map(measure, product if isinstance(product, list) else [product]))


def encode_map(tensor, argument):
    """A tensor map, and the buffer that it lies in."""
    memory = ctypes.create_string_buffer(MAP_BYTES + MAP_ALIGNMENT)
    address = ctypes.addressof(memory)
    address += -address % MAP_ALIGNMENT
    strides = [s * tensor.element_size() for s in tensor.stride()[:-1]]
    call(
        "cuTensorMapEncodeTiled",
        ctypes.c_void_p(address),
        MAP_TYPES[tensor.dtype],
        tensor.dim(),
        ctypes.c_void_p(tensor.data_ptr()),
        reverse(ctypes.c_uint64, tensor.shape),
        reverse(ctypes.c_uint64, strides),
        reverse(ctypes.c_uint32, argument["box"]),
        reverse(ctypes.c_uint32, [1] * tensor.dim()),
        0,
        SWIZZLES[argument["swizzle"]],
        PROMOTE_TO_128_BYTES,
        0,
    )
    return address, memory


class Kernel:
    def __init__(self, path):
        """Of `path`.cubin and `path`.json."""
        with open(path + ".json") as file:
            self.manifest = json.load(file)
        with open(path + ".cubin", "rb") as file:
            self.image = file.read()
        torch.cuda.current_stream().synchronize()
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(module), self.image)
        name = self.manifest["kernel"].encode()
        call("cuModuleGetFunction", ctypes.byref(self.function), module, name)
        self.shared = self.manifest.get("shared_bytes", 0)
        call(
            "cuFuncSetAttribute", self.function, MAX_DYNAMIC_SHARED, self.shared
        )

    def bind(self, tensors, own=("workspace", None)):
        """What launches the kernel with these, in the manifest's order. Of what
        has an access in `own`, which tensor maps have none of, nothing is
        given."""
        given = iter(tensors)
        arguments = self.manifest["arguments"]
        bound = [
            None if argument.get("access") in own else next(given)
            for argument in arguments
        ]
        for number, argument in enumerate(arguments):
            if argument.get("access") == "workspace" and "workspace" in own:
                sizes = [multiply(size, bound) for size in argument["sizes"]]
                bound[number] = torch.zeros(
                    sizes, dtype=DTYPES[argument["type"]], device="cuda"
                )
        words, pointers, kept = [], [], [bound]
        for argument, tensor in zip(self.manifest["arguments"], bound):
            if argument["type"] == "tensor_map":
                address, memory = encode_map(bound[argument["of"]], argument)
                kept.append(memory)
                pointers.append(address)
                continue
            data = tensor.data_ptr()
            for word in (data, data, 0, *tensor.shape, *tensor.stride()):
                words.append(ctypes.c_uint64(word))
                pointers.append(ctypes.addressof(words[-1]))
        parameters = (ctypes.c_void_p * len(pointers))(*pointers)
        kept += [words, parameters]
        early = LaunchAttribute(PROGRAMMATIC_SERIALIZATION, 0, 1)
        config = LaunchConfig(
            (self.count_workgroups(bound), 1, 1, *self.manifest["block"]),
            self.shared,
            None,
            ctypes.pointer(early),
            1 if self.manifest.get("starts_early") else 0,
        )

        def launch():
            config.stream = torch.cuda.current_stream().cuda_stream
            call(
                "cuLaunchKernelEx",
                ctypes.byref(config),
                self.function,
                parameters,
                None,
            )

        launch.kept = kept
        return launch

    def count_workgroups(self, bound):
        count = self.manifest.get("cluster", 1)
        count *= multiply(self.manifest["grid"], bound)
        return min(count, self.manifest.get("grid_limit") or count)


class Sequence:
    def __init__(self, path):
        """Of the sequence's JSON, beside which its kernels are."""
        with open(path) as file:
            self.manifest = json.load(file)
        folder = os.path.dirname(path)
        self.kernels = [
            Kernel(os.path.join(folder, step["kernel"]))
            for step in self.manifest["launches"]
        ]

    def bind(self, named):
        """What launches the kernels with tensors by the names of values. What
        they work in is poisoned."""
        values = self.manifest["values"]
        bound = [named.get(value["name"]) for value in values]
        for number, value in enumerate(values):
            if value["access"] == "workspace":
                sizes = [multiply(size, bound) for size in value["sizes"]]
                dtype = DTYPES[value["type"]]
                poison = float("nan") if dtype.is_floating_point else -(2**31)
                fill = 0 if value["contents"] == "zero" else poison
                bound[number] = torch.full(
                    sizes, fill, dtype=dtype, device="cuda"
                )
        launches = [
            kernel.bind([bound[n] for n in step["arguments"]], own=(None,))
            for kernel, step in zip(self.kernels, self.manifest["launches"])
        ]

        def launch():
            for kernel in launches:
                kernel()

        return launch
