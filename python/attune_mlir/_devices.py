# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices that kernels run on, the kernels that are loaded there, and their launch."""

from __future__ import annotations

import functools
import json
import os
import threading
from collections.abc import Hashable
from typing import Any, Protocol

from . import _compiler, _frameworks, _native, _schedules, _zeros

#: The handle that names another stream in each thread, in CUDA and HIP.
_STREAM_PER_THREAD = 2


class Problem(Hashable, Protocol):
    """What is compiled."""

    def make_module(self) -> _compiler.Module:
        """The problem in the attn dialect. CompileError where the dialect has no such problem."""


class Traced(Exception):  # noqa: N818
    """A call of what stands for arrays is as it should be, and has nothing to launch."""


class Device:
    """Where kernels run, and those that are loaded there."""

    def __init__(self, kind: str, number: int, chip: str | None) -> None:
        self.is_host = kind == "cpu"
        if self.is_host:
            self.chip = chip or choose_host_chip()
            self._native = _native.open_executor(self.chip, 0)
        else:
            self._native = _native.open_device(kind, number)
            self.chip = chip or _native.chip_of_device(self._native.chip)
        #: Of what kernels leave zero; the executor's may fail half way.
        self._zeros = None if self.is_host else _zeros.Zeros(self._native.allocate_zeros)
        #: For loading, and for the executor, which does one thing at a time.
        self.lock = threading.RLock()
        self._kernels: dict[Hashable, _native.Kernel] = {}
        #: By modules, for buckets often have one schedule. What is here stays loaded: a graph may have captured it.
        self._loaded: dict[bytes, _native.Kernel] = {}

    def get_kernel(self, problem: Problem, bucket: _schedules.Bucket) -> _native.Kernel:
        """The loaded kernel of a problem for the lengths of a bucket, compiled if it is nowhere. It may be several as one."""
        if kernel := self._kernels.get((problem, bucket)):
            return kernel
        with self.lock:
            if kernel := self._kernels.get((problem, bucket)):
                return kernel
            module = _schedules.schedule(problem.make_module(), bucket, self.chip).module
            self._kernels[problem, bucket] = kernel = self.get_module_kernel(module)
            return kernel

    def get_module_kernel(self, module: _compiler.Module) -> _native.Kernel:
        """The loaded kernel of a module, which becomes one."""
        name = module.bytecode()
        with self.lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(module)
            return self._loaded[name]

    def _load(self, module: _compiler.Module) -> _native.Kernel:
        compiled = _compiler.compile(module, chip=self.chip, format="llvm" if self.is_host else "bin")
        kernels = [_native.Kernel(self._native, made.image, made.manifest_json) for made in compiled.kernels]
        if len(kernels) == 1:
            return kernels[0]
        if len(compiled.sequences) != 1:
            raise NotImplementedError(f"expects one sequence of kernels, but {self.chip} has {len(compiled.sequences)} of {len(kernels)}")
        return _native.Kernel.make_sequence(kernels, json.dumps(compiled.sequences[0]))

    def forget(self, problem: Problem, bucket: _schedules.Bucket) -> None:
        """Looks for the schedule of a problem again when it is called next."""
        with self.lock:
            self._kernels.pop((problem, bucket), None)

    def take_zeros(self, num_bytes: int, device_type: int, stream: int) -> int | None:
        """The address of bytes that are zero, for kernels on this stream that leave them so; None where there are none. DLPack's type."""
        capture = _native.get_capture(device_type, stream)
        if self._zeros is None or capture is None or stream == _STREAM_PER_THREAD:
            return None
        return self._zeros.take(num_bytes, stream, capture)

    def launch(self, kernel: _native.Kernel, tensors: list[_native.Tensor], stream: int) -> None:
        """Queues a kernel; on the CPU it has ended afterwards."""
        if not self.is_host:
            kernel.launch(tensors, stream)
            return
        with self.lock:
            kernel.launch(tensors, stream)


_devices: dict[tuple[str, int, str | None], Device] = {}
_devices_lock = threading.Lock()


def choose_host_chip() -> str:
    """The chip whose kernels run on the CPU: $ATTUNE_HOST_CHIP, or the one with most shared memory, which takes the most problems."""
    if chip := os.environ.get("ATTUNE_HOST_CHIP"):
        return check_chip(chip, "ATTUNE_HOST_CHIP")
    return max(_compiler.chips(), key=lambda chip: chip.shared_bytes).name


def check_chip(chip: str, name: str) -> str:
    """The chip, if it is known."""
    if chip not in _native.chips():
        raise ValueError(f"expects {name} to be one of {', '.join(_native.chips())}, but got '{chip}'")
    return chip


def get_kernel(place: tuple[str, int], chip: str | None, problem: Problem, bucket: _schedules.Bucket) -> tuple[Device, _native.Kernel]:
    """The device of a place and the kernel there. Traced where there is none, once the chip has a schedule, if one is named."""
    if place[0] != _frameworks.TRACED:
        device = get_device(*place, chip)
        return device, device.get_kernel(problem, bucket)
    if chip is not None:
        check_chip(chip, "chip")
    _check(problem, bucket, chip)
    raise Traced


@functools.cache
def _check(problem: Problem, bucket: _schedules.Bucket, chip: str | None) -> None:
    module = problem.make_module()
    if chip is not None:
        _schedules.schedule(module, bucket, chip)


def get_device(kind: str, number: int, chip: str | None) -> Device:
    """The device, which is opened once. ValueError for a chip that is not known, RuntimeError where there is no such device."""
    key = (kind, number, chip)
    if device := _devices.get(key):
        return device
    if chip is not None:
        check_chip(chip, "chip")
    with _devices_lock:
        if key not in _devices:
            _devices[key] = Device(*key)
        return _devices[key]


def _round_up(num_bytes: int) -> int:
    """To what a workspace may have to start at a multiple of."""
    return -(-max(num_bytes, 1) // 256) * 256


def _add_workspaces(
    device: Device, kernel: _native.Kernel, tensors: list[_native.Tensor], framework: _frameworks.Framework, like: Any, queue: int
) -> list[Any]:
    """Puts memory that the kernel needs itself among its tensors, at their places. Gives who owns it."""
    workspaces = [pos for pos in range(kernel.num_arguments) if kernel.argument(pos).is_workspace]
    # What is there now stands for them, which is not read.
    for pos in workspaces:
        tensors.insert(pos, tensors[0])
    sizes = {pos: kernel.workspace_bytes(tensors, pos) for pos in workspaces}
    # Those that kernels leave as they found them lie behind each other in what the stream has for all.
    restored = {pos: _round_up(num_bytes) for pos, num_bytes in sizes.items() if kernel.argument(pos).is_restored}
    if restored and (address := device.take_zeros(sum(restored.values()), tensors[0].device_type, queue)) is not None:
        for pos, num_bytes in restored.items():
            # Bytes, by DLPack's numbers.
            tensors[pos] = _native.Tensor.from_memory(address, [num_bytes], 1, 8, tensors[0].device_type, tensors[0].device_number)
            address += num_bytes
            del sizes[pos]
    owners = []
    for pos, num_bytes in sizes.items():
        argument = kernel.argument(pos)
        owner = framework.allocate(like, num_bytes + argument.alignment, argument.is_zero)
        begin = -_frameworks.make_tensor(owner, argument.name, writable=True).address % argument.alignment
        tensors[pos] = _frameworks.make_tensor(owner[begin : begin + max(num_bytes, 1)], argument.name, writable=True)
        owners.append(owner)
    return owners


def find_places(kernel: _native.Kernel) -> dict[str, int]:
    """Positions of the arguments that callers pass, by name and in order."""
    return {kernel.argument(pos).name: pos for pos in range(kernel.num_arguments) if not kernel.argument(pos).is_workspace}


def forget(chip: str, problem: Problem, bucket: _schedules.Bucket) -> None:
    """The same on all devices that kernels for a chip run on."""
    for device in list(_devices.values()):
        if device.chip == chip:
            device.forget(problem, bucket)
    _native.forget_known()


def run(
    device: Device, kernel: _native.Kernel, tensors: list[_native.Tensor], like: Any, stream: int | None
) -> tuple[list[_native.Tensor], int]:
    """Launches a kernel, with the memory that it needs itself from the framework of the array `like`.

    `stream` is a handle; by default it is the framework's current stream. Gives its arguments, and where it was queued.
    """
    framework = _frameworks.find_framework(like)
    arguments = list(tensors)
    queue = framework.get_stream(like) if stream is None else stream
    owners = _add_workspaces(device, kernel, arguments, framework, like, queue)
    device.launch(kernel, arguments, queue)
    del owners  # queued: frameworks reuse memory in the order of the stream
    return arguments, queue
