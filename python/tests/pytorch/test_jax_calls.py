# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What XLA calls for programs of JAX on a GPU, with frames of its C ABI made here and the tests' driver in place of CUDA's."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_void_p

import numpy as np
import pytest
from conftest import make_inputs

from attune_mlir import _devices, _native

jax = pytest.importorskip("jax")
from attune_mlir import _jax  # noqa: E402


class Header(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p)]


def structure(*fields):
    """With a header in front, as XLA's are."""
    return type("Structure", (ctypes.Structure,), {"_fields_": [("header", Header), *fields]})


Version = structure(("major", c_int32), ("minor", c_int32))
Buffer = structure(("type", c_int32), ("data", c_void_p), ("rank", c_int64), ("sizes", c_void_p))
Items = structure(("count", c_int64), ("kinds", c_void_p), ("items", c_void_p))
Attributes = structure(("count", c_int64), ("kinds", c_void_p), ("names", c_void_p), ("values", c_void_p))
Frame = structure(
    ("api", c_void_p), ("context", c_void_p), ("stage", c_int32), ("operands", Items), ("results", Items), ("attributes", Attributes)
)
CreateError = structure(("message", c_char_p), ("code", c_int32))
GetMessage = structure(("error", c_void_p), ("message", c_char_p))
DestroyError = structure(("error", c_void_p))
GetStream = structure(("context", c_void_p), ("stream", c_void_p))
Memory = structure(("context", c_void_p), ("bytes", c_size_t), ("alignment", c_size_t), ("data", c_void_p))
Free = structure(("context", c_void_p), ("bytes", c_size_t), ("data", c_void_p))
GetOrdinal = structure(("context", c_void_p), ("ordinal", c_int32))


class Text(ctypes.Structure):
    _fields_ = [("data", c_char_p), ("length", c_size_t)]


class Metadata(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("version", Version), ("traits", ctypes.c_uint32), ("state", c_int64)]


class Extension(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int32), ("next", c_void_p), ("metadata", POINTER(Metadata))]


def function(of, returns=c_void_p):
    return ctypes.CFUNCTYPE(returns, POINTER(of))


API = structure(
    ("version", Version), ("internal", c_void_p), ("create_error", function(CreateError)), ("get_message", function(GetMessage, None)),
    ("destroy_error", function(DestroyError, None)), ("register", c_void_p), ("get_stream", function(GetStream)),
    ("others", c_void_p * 4), ("allocate", function(Memory)), ("free", function(Free)), ("more", c_void_p * 6),
    ("get_ordinal", function(GetOrdinal)),
)  # fmt: skip

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
_TYPES = {"float16": 10, "float32": 11, "int32": 4}


class XLA:
    """As far as handlers see it."""

    def __init__(self, version=(0, 3)) -> None:
        self.errors, self.memory, self.freed, self.stream, self.ordinal, self.is_full = [], {}, [], 4660, 0, False
        self.kept = [
            function(CreateError)(self.create_error), function(GetMessage, None)(self.get_message),
            function(DestroyError, None)(lambda arguments: None), function(GetStream)(self.get_stream),
            function(Memory)(self.allocate), function(Free)(self.free), function(GetOrdinal)(self.get_ordinal),
        ]  # fmt: skip
        create, get, destroy, stream, allocate, free, ordinal = self.kept
        self.api = API(
            version=Version(Header(ctypes.sizeof(Version)), *version), create_error=create, get_message=get, destroy_error=destroy,
            get_stream=stream, allocate=allocate, free=free, get_ordinal=ordinal,
        )  # fmt: skip
        self.api.header.size = ctypes.sizeof(API)
        self.handler = function(Frame)(_get_pointer(_native.xla_handler(2), None))

    def create_error(self, arguments):
        self.errors.append(arguments.contents.message.decode())
        return len(self.errors)

    def get_message(self, arguments):
        self.kept.append(self.errors[arguments.contents.error - 1].encode())
        arguments.contents.message = self.kept[-1]

    def get_stream(self, arguments):
        arguments.contents.stream = self.stream
        return

    def get_ordinal(self, arguments):
        arguments.contents.ordinal = self.ordinal
        return

    def allocate(self, arguments):
        if self.is_full:
            self.errors.append("no memory is left")
            return len(self.errors)
        memory = np.full(arguments.contents.bytes, 255, np.uint8)
        self.memory[memory.ctypes.data] = memory
        arguments.contents.data = memory.ctypes.data
        return None

    def free(self, arguments):
        self.freed.append((arguments.contents.data, arguments.contents.bytes))
        return

    def make_items(self, arrays):
        """Buffers of arrays."""
        sizes = [(c_int64 * array.ndim)(*array.shape) for array in arrays]
        buffers = [
            Buffer(Header(ctypes.sizeof(Buffer)), _TYPES[array.dtype.name], array.ctypes.data, array.ndim, ctypes.addressof(shape))
            for array, shape in zip(arrays, sizes, strict=True)
        ]
        kinds, items = (c_int32 * len(arrays))(*[1] * len(arrays)), (c_void_p * len(arrays))(*map(ctypes.addressof, buffers))
        self.kept += [sizes, buffers, kinds, items]
        return Items(Header(ctypes.sizeof(Items)), len(arrays), ctypes.addressof(kinds), ctypes.addressof(items))

    def call(self, text, operands, results, *, stage=3, attributes=1):
        """What is wrong, or None."""
        value = Text(text.encode(), len(text))
        kinds, values = (c_int32 * 1)(4), (c_void_p * 1)(ctypes.addressof(value))
        frame = Frame(api=ctypes.addressof(self.api), stage=stage)
        frame.header.size = ctypes.sizeof(Frame)
        frame.operands, frame.results = self.make_items(operands), self.make_items(results)
        frame.attributes = Attributes(
            Header(ctypes.sizeof(Attributes)), attributes, ctypes.addressof(kinds), None, ctypes.addressof(values)
        )
        error = self.handler(ctypes.byref(frame))
        return self.errors[error - 1] if error else None


def say(call, given, **options):
    form = {"causal": True, "window": None, "softcap": None, "scale": None, "layout": "bshd", "chip": None}
    return json.dumps({"call": call, "given": given, **form, **options})


_FORWARD = say("attention", ["query", "key", "value"], return_lse=True)


def make_results(q):
    return [np.empty_like(q), np.empty((q.shape[0], q.shape[2], q.shape[1]), np.float32)]


@pytest.fixture
def driver(monkeypatch):
    """The tests' driver, which tells what it does."""
    folder = os.environ.get("ATTUNE_FAKE_DRIVER")
    assert folder, "expects the folder of the tests' driver in ATTUNE_FAKE_DRIVER"
    torch = pytest.importorskip("torch")
    torch.cuda.is_available()  # PyTorch remembers that there is none, and so leaves the tests' driver alone
    ctypes.CDLL(os.path.join(folder, "libcuda.so.1"))  # found by its name from now on
    monkeypatch.setattr(_devices, "_devices", {})
    _native.forget_known()
    os.environ["FAKE_DRIVER_TRACE"] = "1"
    yield
    del os.environ["FAKE_DRIVER_TRACE"]
    _native.forget_known()


@pytest.fixture
def seen(monkeypatch):
    """Calls that come to Python."""
    found, run = [], _jax.run
    monkeypatch.setattr(_jax, "run", lambda call: found.append(call) or run(call))
    return found


def find_streams(said: str) -> list[str]:
    return re.findall(r"driver: cuLaunchKernel .*stream (\d+)", said)


def test_known_call(driver, seen, capfd):
    """The second call like another one needs no Python; another stream or shape does."""
    xla = XLA()
    inputs = make_inputs(batch=2, seq_q=128)
    assert xla.call(_FORWARD, inputs, make_results(inputs[0])) is None and len(seen) == 1
    for arrays in (inputs, [array.copy() for array in inputs]):
        assert xla.call(_FORWARD, arrays, make_results(inputs[0])) is None and len(seen) == 1
    assert find_streams(capfd.readouterr().err) == ["4660"] * 3
    xla.stream = 77
    assert xla.call(_FORWARD, inputs, make_results(inputs[0])) is None and len(seen) == 2
    longer = make_inputs(batch=2, seq_q=130)
    assert xla.call(_FORWARD, longer, make_results(longer[0])) is None and len(seen) == 3
    assert find_streams(capfd.readouterr().err) == ["77"] * 2
    assert not xla.errors


def test_operands_that_are_one(driver, seen, monkeypatch):
    """One buffer thrice is no other kind of call than three."""
    inputs = make_inputs(seq_q=128)
    xla = XLA()
    for arrays in ([inputs[0]] * 3, inputs):
        assert xla.call(_FORWARD, arrays, make_results(inputs[0])) is None
    assert len(seen) == 1


@pytest.mark.parametrize("slopes", [False, True])
def test_gradients(driver, seen, capfd, slopes):
    """Workspaces are XLA's, and given back by each call; slopes are read again."""
    xla = XLA()
    inputs = make_inputs(seq_q=128, heads=2)
    saved = [np.empty_like(inputs[0]), np.empty((1, 2, 128), np.float32), np.empty_like(inputs[0])]
    names = ["query", "key", "value", "output", "lse", "output_grad"]
    operands, results = inputs + saved, [np.empty_like(array) for array in inputs]
    if slopes:
        names.append("argument3")
        operands.append(np.ones(2, np.float32))
        results.append(np.empty(2, np.float32))
    text = say("attention_gradients", names, wanted=[True, True, True, slopes])
    for _ in range(3):
        assert xla.call(text, operands, results) is None
        assert len(seen) == 1
    found = find_streams(capfd.readouterr().err)
    assert len(found) % 3 == 0 and set(found) == {"4660"}
    assert xla.memory and len(xla.freed) % 3 == 0 and {address for address, _ in xla.freed} == set(xla.memory)
    assert all(xla.memory[address].nbytes == size for address, size in xla.freed)
    xla.is_full = True
    assert xla.call(text, operands, results) == "no memory is left"


def test_packed_gradients(driver, seen):
    """Starts of sequences are read again."""
    xla = XLA()
    inputs = make_inputs(seq_q=128, heads=2)
    saved = [np.empty_like(inputs[0]), np.empty((1, 2, 128), np.float32), np.empty_like(inputs[0])]
    starts = np.int32([0, 100, 128])
    options = {"wanted": [True, True, True, False], "longest": [100, None], "batch_invariant": False}
    form = {"causal": True, "window": None, "softcap": None, "scale": None, "chip": None}
    names = ["query", "key", "value", "output", "lse", "output_grad", "query_starts", "key_starts"]
    text = json.dumps({"call": "varlen_gradients", "given": names, **form, **options})
    for _ in range(2):
        assert xla.call(text, [*inputs, *saved, starts, starts.copy()], [np.empty_like(array) for array in inputs]) is None
        assert len(seen) == 1


def test_counters(driver, seen, monkeypatch):
    """Memory that kernels leave zero is the stream's, and not XLA's; while a graph is captured, Python looks for some."""
    xla = XLA()
    inputs = make_inputs(heads=4, kv_heads=1, seq_q=1, seq_k=4096)
    results = make_results(inputs[0])
    for _ in range(2):
        assert xla.call(_FORWARD, inputs, results) is None and len(seen) == 1
    (device,) = _devices._devices.values()
    assert [stream for stream, _ in device._zeros._parts] == [4660]
    monkeypatch.setenv("FAKE_DRIVER_CAPTURE", "3")
    assert xla.call(_FORWARD, inputs, results) is None and len(seen) == 2
    monkeypatch.setenv("FAKE_DRIVER_FAULT", "cuStreamGetCaptureInfo")
    assert "expects a driver that says whether a stream is captured" in xla.call(_FORWARD, inputs, results)


def test_decode(driver, seen, capfd):
    """Integers are operands like others."""
    xla = XLA()
    q, k, v = make_inputs(batch=2, heads=4, kv_heads=2, seq_q=1, seq_k=300)
    text = json.dumps({"call": "decode", "given": ["q", "k_cache", "v_cache", "cache_seqlens", "sinks"], "return_lse": True})
    operands = [q, k, v, np.int32([300, 17]), np.ones(4, np.float32)]
    for _ in range(3):
        assert xla.call(text, operands, make_results(q)) is None and len(seen) == 1
    assert find_streams(capfd.readouterr().err) == ["4660"] * 3


def test_device_is_xla_s(driver, monkeypatch):
    monkeypatch.setenv("FAKE_DRIVER_DEVICES", "2")
    xla = XLA()
    inputs = make_inputs(seq_q=128)
    for xla.ordinal in (1, 0):
        assert xla.call(_FORWARD, inputs, make_results(inputs[0])) is None
    assert [place[:2] for place in _devices._devices] == [("cuda", 1), ("cuda", 0)]
    xla.ordinal = 7
    assert "no CUDA device: expects a number below 2" in xla.call(_FORWARD, inputs, make_results(inputs[0]))


def test_errors(driver, seen, monkeypatch):
    """They are XLA's, with the text of what was raised."""
    xla = XLA()
    q, k, v = make_inputs(seq_q=128)
    assert "expects k and v to have one number of heads and one length" in xla.call(_FORWARD, [q, k, v[:, :5].copy()], make_results(q))
    assert xla.call(_FORWARD, [q, k, v], [np.empty_like(q)] * 2).startswith(
        "expects a result of shape (1, 2, 128) and float32 in XLA's program, but got (1, 128, 2, 64) and float16"
    )
    assert "expects one attribute, a string" in xla.call(_FORWARD, [q, k, v], make_results(q), attributes=0)
    assert xla.call(_FORWARD, [q, k, v], make_results(q), stage=1) == "expects a call in the stage of execution"
    assert xla.call(say("other", []), [q, k, v], make_results(q)) == "'other'"
    # What was made before fails without Python, too.
    assert xla.call(_FORWARD, [q, k, v], make_results(q)) is None
    count = len(seen)
    monkeypatch.setenv("FAKE_DRIVER_FAULT", "cuLaunchKernel")
    assert "attention_kernel" in xla.call(_FORWARD, [q, k, v], make_results(q)) and len(seen) == count


def test_memory_ends_with_the_call(driver, seen):
    xla = XLA()
    inputs = make_inputs(seq_q=128)
    assert xla.call(_FORWARD, inputs, make_results(inputs[0])) is None
    with pytest.raises(RuntimeError, match="expects a call that lasts, but it has ended"):
        seen[0].allocate(16)


@pytest.mark.parametrize("version", [(0, 2), (1, 0)])
def test_other_versions(driver, version):
    xla = XLA(version)
    inputs = make_inputs(seq_q=128)
    said = xla.call(_FORWARD, inputs, make_results(inputs[0]))
    assert said == f"expects XLA's FFI of version 0.3, or a later one of 0, but got {version[0]}.{version[1]}"


def test_metadata():
    """Before the first call, XLA asks which version of its interface this is for."""
    xla, metadata = XLA((0, 9)), Metadata(traits=7, state=7)
    extension = Extension(size=ctypes.sizeof(Extension), kind=1, metadata=ctypes.pointer(metadata))
    frame = Frame(header=Header(ctypes.sizeof(Frame), ctypes.addressof(extension)), api=ctypes.addressof(xla.api))
    assert xla.handler(ctypes.byref(frame)) is None
    assert (metadata.version.major, metadata.version.minor, metadata.traits, metadata.state) == (0, 3, 0, 0)
    with pytest.raises(ValueError, match="expects DLPack's type of a CPU, CUDA or ROCm"):
        _native.xla_handler(7)


#: Ours, XLA's, and fields of both in order.
_LAYOUTS = {
    "Extension": ("Extension", {"size": "struct_size", "kind": "type", "next": "next"}),
    "Version": ("Api_Version", {"major": "major_version", "minor": "minor_version"}),
    "Metadata": ("Metadata", {"size": "struct_size", "version": "api_version", "traits": "traits", "stateType": "state_type_id"}),
    "MetadataExtension": ("Metadata_Extension", {"base": "extension_base", "metadata": "metadata"}),
    "Buffer": ("Buffer", {"type": "dtype", "data": "data", "rank": "rank", "sizes": "dims"}),
    "Buffers": ("Args", {"count": "size", "kinds": "types", "items": "args"}),
    "Text": ("ByteSpan", {"data": "ptr", "length": "len"}),
    "Attributes": ("Attrs", {"count": "size", "kinds": "types", "names": "names", "values": "attrs"}),
    "Frame": (
        "CallFrame",
        {"api": "api", "context": "ctx", "stage": "stage", "operands": "args", "results": "rets", "attributes": "attrs"},
    ),
    "CreateError": ("Error_Create_Args", {"message": "message", "code": "errc"}),
    "DestroyError": ("Error_Destroy_Args", {"error": "error"}),
    "GetStream": ("Stream_Get_Args", {"context": "ctx", "stream": "stream"}),
    "Allocate": ("DeviceMemory_Allocate_Args", {"context": "ctx", "numBytes": "size", "alignment": "alignment", "data": "data"}),
    "Free": ("DeviceMemory_Free_Args", {"context": "ctx", "numBytes": "size", "data": "data"}),
    "GetOrdinal": ("DeviceOrdinal_Get_Args", {"context": "ctx", "ordinal": "device_ordinal"}),
    "API": (
        "Api",
        {
            "version": "api_version", "internal": "internal_api", "createError": "XLA_FFI_Error_Create",
            "destroyError": "XLA_FFI_Error_Destroy", "getStream": "XLA_FFI_Stream_Get", "allocate": "XLA_FFI_DeviceMemory_Allocate",
            "free": "XLA_FFI_DeviceMemory_Free", "getOrdinal": "XLA_FFI_DeviceOrdinal_Get",
        },
    ),
}  # fmt: skip
_NUMBERS = {
    "kMajor": "XLA_FFI_API_MAJOR", "kBufferKind": "XLA_FFI_ArgType_BUFFER", "kTextKind": "XLA_FFI_AttrType_STRING",
    "kExecute": "XLA_FFI_ExecutionStage_EXECUTE", "kInternal": "XLA_FFI_Error_Code_INTERNAL",
    "kMetadataExtension": "1",
}  # fmt: skip


def test_layouts(tmp_path):
    """What is declared here is laid out as in the header of jaxlib."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    lines = ['#include "XLA.h"', '#include "xla/ffi/api/c_api.h"', "namespace ours = attune::python::xla;"]
    for ours, (theirs, fields) in _LAYOUTS.items():
        theirs = f"XLA_FFI_{theirs}"
        if ours == "Extension":  # whose name differs between versions
            theirs = "decltype(XLA_FFI_Metadata_Extension::extension_base)"
        for one, other in fields.items():
            lines.append(f"static_assert(offsetof(ours::{ours}, {one}) == offsetof({theirs}, {other}));")
            if ours != "API":
                lines.append(f"static_assert(sizeof(ours::{ours}::{one}) == sizeof({theirs}::{other}));")
    lines += [f"static_assert(int(ours::{one}) == int({other}));" for one, other in _NUMBERS.items()]
    lines += ["static_assert(ours::kMinor <= XLA_FFI_API_MINOR);", "static_assert(sizeof(ours::Frame) <= XLA_FFI_CallFrame_STRUCT_SIZE);"]
    lines += ["static_assert(sizeof(ours::API) <= XLA_FFI_Api_STRUCT_SIZE);"]
    (tmp_path / "layouts.cpp").write_text("\n".join(lines) + "\n")
    source = pathlib.Path(__file__).parents[2] / "src"
    command = [compiler, "-std=c++17", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{source}", f"-I{jax.ffi.include_dir()}"]
    done = subprocess.run([*command, str(tmp_path / "layouts.cpp")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
