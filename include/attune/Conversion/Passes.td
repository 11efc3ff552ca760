// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_CONVERSION_PASSES_TD
#define ATTUNE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertAttnToTilePass : Pass<"convert-attn-to-tile", "::mlir::ModuleOp"> {
  let summary = "Outlines each attention op as a kernel that computes on tiles";
  let description = [{
    Each `attn.attention` becomes a `gpu.launch_func` of a kernel, in a
    `gpu.module` of its own, whose body computes one query tile of one head with
    online softmax over the key blocks that the mask lets it see. Where whole
    sequences of queries are shorter than a tile, heads that read the same keys
    share one. On the host
    side operands become buffers (`bufferization.to_buffer`) and results are
    new buffers (`memref.alloc`, `bufferization.to_tensor`). An `attn.merge`
    becomes one of a kernel whose workgroups merge the parts of some rows.

    Which key blocks are empty, partial or full is derived from the mask region
    by interval analysis (`Dialect/Attn/Analysis/MaskRanges.h` says what it
    understands): empty blocks are outside of the loop's bounds or left out
    between, and masking code stands in an `scf.if` that full blocks do not
    enter. Remarks of the category `mask` (`--remarks-filter=mask`) say how many
    blocks are skipped where lengths are known, and which ops of the region are
    not understood.

    Dynamic sizes that have to agree are checked in front of the launch
    (`cf.assert`).

    **Input**: short forms expanded (`attn-expand-short-forms`), a schedule on
    each op, `tile.target` on the module. **Output**: `gpu`, `tile`, `scf`,
    `arith`, `math` and `memref` in the kernel; tiles have no layout yet and are
    read from global memory where they are used.
  }];
  let dependentDialects = ["::attune::launch::LaunchDialect", "::attune::tile::TileDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def ConvertLinalgToAttnPass : Pass<"convert-linalg-to-attn"> {
  let summary = "Raises attention that is spelled out in linalg to attn.attention";
  let description = [{
    Finds contraction, softmax and contraction, with whatever elementwise function of the scores between them, and replaces them by one `attn.attention`
    (docs/Raising.md says which spellings are known). The second contraction is followed backwards: each element of its weights is an expression of
    scalars, whatever ops compute it, and softmax is recognized by its algebra,
    `exp(s - c) / sum_n exp(s - c)` with any `c` that is the same for all keys, before or behind the division by the sum. A further term of the sum becomes
    `sinks`; its logarithm, if it is used, becomes the second result. What happens to scores becomes `scale`, `softcap`, `causal`, `window`, the mask
    region and the score region. Tensors are read before transpositions, casts that widen, and repetition of heads.

    Differences between what was and what is:
    - Scores, weights and sums are f32: roundings between the contractions are left out, and so is that of a scaled operand.
    - A score of -inf hides its key; so does one that is selected or added as a constant of at most -1e9, or of -65504. A query that sees
      no key has the result 0, where the softmax of infinities is NaN, and that of equal large numbers a mean.

    What looks like attention and is none stays as it is, with a remark at the op that says why.

    **Input**: `linalg` on tensors with `tensor`, `arith` and `math`. **Output**: what was there, `attn.attention`, and reshapes and transpositions of
    its operands where its four dimensions need them.
  }];
  let dependentDialects = ["::attune::attn::AttnDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertLinalgToTilePass : Pass<"convert-linalg-to-tile", "::mlir::ModuleOp"> {
  let summary = "Outlines each matmul, with what is fused into it, as a kernel that computes on tiles";
  let description = [{
    Contractions of linalg with a `#schedule.matmul` as their attribute `attune.schedule`, and the elementwise ops around them
    (docs/Matmul.md), become a `gpu.launch_func` of a kernel, in a `gpu.module` of its own. A workgroup computes one tile of the result, or one after the other: a loop over
    blocks of k multiplies into accumulators in f32, and the epilogue is a `tile.map` over these and over tiles of what else it
    reads. Dynamic sizes that have to agree (`k` of both operands, `m`, `n` and batch of what is read and written beside
    them) are checked in front of the launch (`cf.assert`).

    **Input**: `tile.target` on the module. **Output**: `gpu`, `tile`, `scf`, `arith`, `math` and `memref` in the kernel.
    **Errors**: a contraction of types that no MMA takes; a schedule that is not legal, or is on an op that is not the
    first contraction of a kernel; an epilogue that reads sums of other columns; tensors whose dimensions are only parts of
    those of the contraction.
  }];
  let dependentDialects = ["::attune::tile::TileDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::attune::launch::LaunchDialect"];
}

def ConvertTileToGPUPass : Pass<"convert-tile-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lowers tiles to what one thread does";
  let description = [{
    A tile in registers becomes a vector with one element per register of its
    layout, a channel a buffer in workgroup memory, and each op the part of it
    that a thread computes. Matrix instructions, wide reads from shared memory and asynchronous
    copies are asked of the target; all else is written once for all chips.

    All channels of a kernel share one piece of dynamic workgroup memory. Its size is
    set on the kernel's launches and in its manifest. Tensor maps become arguments of the kernel.

    **Input**: layouts on all tiles, places in shared memory (`tile-allocate-shared`). **Output**: `gpu`, `vector`, `memref`,
    `scf`, `arith`, `math` and the target's dialects (`nvgpu`, `nvvm`, `amdgpu`, `rocdl`).
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::vector::VectorDialect", "::mlir::scf::SCFDialect",
    "::mlir::memref::MemRefDialect", "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::nvgpu::NVGPUDialect", "::mlir::ROCDL::ROCDLDialect", "::mlir::amdgpu::AMDGPUDialect",
    "::attune::wgmma::WGMMADialect"];
}

def ConvertTileToLoopsPass : Pass<"convert-tile-to-loops", "::mlir::ModuleOp"> {
  let summary = "Lowers tiles to plain loops of one thread";
  let description = [{
    What the tile ops mean, and nothing about how a chip does it: a tile is a
    buffer of its shape, an op is loops over elements, a product is accumulated
    in the accumulator's type in the order of k, and layouts, swizzles and atoms are ignored. A
    partial reduction assigns column `j` to group `j mod p`. Serves to run kernels at any stage
    before `convert-tile-to-gpu`, with which it shares no code, and the passes
    between are checked by it.

    A channel is an array of slots that knows what it holds. A put is carried
    out at once; `llvm.intr.trap` ends a kernel that puts into a slot whose element
    was not released, gets or releases an element that was not put, reads a tile after its
    release, or gets an element whose own copy may be among the `pending` ones.

    Where warps have two programs, the thread runs the consumers', and at each get the
    producers' up to the put that is waited for; it ends where they would wait for each other.
    An MMA is carried out when it is issued, and what it reads must be held until it
    is waited for; a wait ends the kernel if its MMA may be among the `running` ones. Ping-pong is nothing.

    The kernel has one thread for each workgroup, and so have its launches; it needs no
    workgroup memory, and each workgroup of a cluster puts whole tiles. Kernels without tiles are left alone.

    **Output**: `scf`, `arith`, `memref` and whatever else the kernel held.
    **Errors**: `gpu` ops that tell threads apart; tiles carried by anything but `scf.for` and `scf.if`, or
    that come as arguments; channels and pending MMAs that are handed on; producers that do more than put; sums and products of integers; an accumulator that is
    narrower than the operands; more groups than columns in a reduction; more than 32 MiB of tiles.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::LLVM::LLVMDialect"];
}

def AttuneAttachTargetPass : Pass<"attune-attach-target", "::mlir::ModuleOp"> {
  let summary = "Says for which chip to compile";
  let description = [{
    Sets `tile.target` on the module to the description of `chip`. There is no
    default: a missing or unknown name is an error that lists the known ones.
    A part of a device has fewer `sms` than the chip, and persistent workgroups
    are launched by their number.

    **Errors**: kernels in the module that were compiled, or made of tiles, for another chip.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "", "Name of the chip, as its vendor's tools spell it.">,
    Option<"sms", "sms", "unsigned", "0", "SMs to launch persistent workgroups on; 0 for those of the chip.">
  ];
  let dependentDialects = ["::attune::tile::TileDialect"];
}

def ConvertKernelToLLVMPass : Pass<"convert-kernel-to-llvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Takes a kernel from upstream's dialects to LLVM's";
  let description = [{
    One conversion with upstream's patterns for `gpu`, `vector`, `memref`, `scf`,
    `arith` and `math` and those that the target of `tile.target` adds, plus what
    upstream's pipeline cannot say:

    - workgroup memory of run-time size is an external array, so that it is not
      demoted to a static one;
    - base-2 exponentials and logarithms are single instructions, and other math
      functions are expressed by them, so that no device library is needed;
    - a tanh with `afn` is one instruction where the chip has it (NVIDIA's: error at
      most 2^-10.9 of the result), as that of a soft cap;
    - on NVIDIA chips, indices whose range is known to fit are narrowed to 32 bits first,
      by upstream's `arith-int-range-narrowing`: of 64 they take two registers;
    - `tile.workgroups_per_sm` on the kernel bounds the registers of a thread;
    - on NVIDIA chips, a kernel takes an `!nvgpu.tensormap.descriptor` as 128 bytes by
      value that are never copied (a grid constant). In the kernel
      `builtin.unrealized_conversion_cast %map : ... to !llvm.ptr` is their address.

    **Errors**: an argument of a type that the chip's kernels cannot take, an op that is
    left over.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::ROCDL::ROCDLDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::vector::VectorDialect"];
}

def ConvertKernelToHostPass : Pass<"convert-kernel-to-host", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Turns a kernel in LLVM dialect into one that a CPU runs thread by thread";
  let description = [{
    The same kernel that would become PTX or an HSACO, for the host executor
    (`attune-run --device=host`): its one parameter is the context of a thread,
    ops of the chip are calls of the executor's runtime, and so are loads and
    stores, which are checked before they happen unless they are of the thread's stack, and branches back to the start of a loop,
    which are counted. The conventions are those of `attune/Simulator/HostThread.h`.

    Arrays in workgroup memory (address space 3) are no longer globals but
    offsets from the start of that memory, first the static ones in the order of
    the module; `attune.static_shared` says how many bytes these take.

    **Input**: LLVM dialect with `nvvm` or `rocdl`. **Output**: LLVM dialect.
    **Errors**: an op that the executor does not model.
  }];
  let options = [
    Option<"checkAccesses", "check-accesses", "bool", "true",
           "Check loads and stores by calls of the runtime.">,
    Option<"countMath", "count-math", "bool", "false", "Count exponentials by calls of the runtime.">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def AttuneEmitBinaryPass : Pass<"attune-emit-binary", "::mlir::ModuleOp"> {
  let summary = "Compiles kernels in LLVM dialect to gpu.binary";
  let description = [{
    Each `gpu.module`, with one kernel in LLVM dialect, becomes a `gpu.binary` of
    the same name with one object: a cubin or HSACO (`bin`), or PTX or AMDGPU
    assembly (`isa`). `tile.target` is removed. The manifest of the kernel (`launch.manifest`) moves to the `gpu.binary`, together
    with the chip and the registers, spills and warnings that the assembler
    reported.

    Assembly to cubin is done by `ptxas`. It is looked for in PATH and in `bin/`
    below CUDA_HOME, CUDA_PATH and CUDA_ROOT; where there is none, the binary
    holds PTX, and a remark says so. HSACO needs no tool.

    With `output-dir`, `<kernel>.ptx` and `<kernel>.cubin` (`.s` and `.hsaco`), the manifest `<kernel>.json` and the
    sequences of launches `<sequence>.json` (`launch.sequences` of functions) are also written there: all of them, or none. `docs/Manifest.md` describes
    these.

    **Input**: `tile.target` on the module. **Errors**: more or less than one kernel in a
    `gpu.module`, an unknown chip, an op that the chip has no instruction for, what
    `ptxas` refuses, a file that cannot be written.
  }];
  let options = [
    Option<"format", "format", "::attune::BinaryOptions::Format", "::attune::BinaryOptions::Format::Object",
           "How far to compile.",
           [{::llvm::cl::values(
             clEnumValN(::attune::BinaryOptions::Format::Assembly, "isa", "PTX or AMDGPU assembly"),
             clEnumValN(::attune::BinaryOptions::Format::Object, "bin", "cubin or HSACO"))}]>,
    Option<"requireObject", "require-object", "bool", "false", "Make a missing ptxas an error.">,
    Option<"ptxas", "ptxas", "std::string", "", "Path of ptxas.">,
    Option<"outputDir", "output-dir", "std::string", "", "Folder for files of binaries and manifests.">];
  let dependentDialects = ["::attune::launch::LaunchDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::ROCDL::ROCDLDialect"];
}

def AttuneExpandFloat8Pass : Pass<"attune-expand-float8"> {
  let summary = "Converts numbers of 8 bits by arithmetic on their bits";
  let description = [{
    `arith.extf` of f8E4M3FN, f8E5M2, f8E4M3FNUZ or f8E5M2FNUZ, scalars and vectors, becomes integer arithmetic, and at most one
    subtraction of f32. It is exact, of subnormal numbers too, and NaN stays NaN. `arith.sitofp` of i8 to f16, bf16 or f32 becomes
    the lowest bits of a power of 2, which is subtracted. `arith.truncf` of f32 to floats of 8 bits rounds to nearest, halfway to even,
    and to the largest number what is beyond it, infinities too. `convert-kernel-to-llvm` does the same where a chip has no instruction.

    **Input**: any ops. **Output**: no such `arith.extf`, `arith.sitofp` or `arith.truncf`.
    **Errors**: none.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def AttuneBufferizeHostPass : Pass<"attune-bufferize-host", "::mlir::ModuleOp"> {
  let summary = "Gives host functions buffers in place of tensors";
  let description = [{
    Upstream's one-shot bufferization, with what host code that others call needs: an argument becomes a memref with the
    strides of its `#attn.strided`, or a row-major one, and a result becomes one more argument behind the others, in which the
    caller finds it. A result that is the buffer of an argument, as a cache that an `attn.append` has changed, is none: the argument is
    changed. Where the function reads its old value later, a copy would be changed, which no kernel makes. All of them are memory of the device.

    Erases the module `attune.source`: it says what the kernels compute, to `attune-run --verify`, and is no part of the program.

    **Input**: kernels in `gpu.binary`, or on any level at which their arguments are buffers. **Output**: `memref` in place of `tensor` and `bufferization`.
    **Errors**: those of one-shot bufferization; a result that is neither allocated in the function nor an argument nor a scalar.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def ConvertHostToLLVMPass : Pass<"convert-host-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Takes the host side of a compiled module to LLVM dialect";
  let description = [{
    What is left is LLVM dialect, for `mlir-translate --mlir-to-llvmir`, a compiler of LLVM IR, and a linker with
    `libAttuneRuntime.so`; no kernel, manifest or chip stands on it. Arithmetic, branches, calls and memrefs go by upstream's patterns. The rest become calls of the functions
    in `attune-c/Host.h`:

    | op | call |
    |---|---|
    | `gpu.launch_func` | `attuneHostLaunch`, with the image of its `gpu.binary`, which becomes a constant |
    | `nvgpu.tma.create.descriptor` | `attuneHostEncodeTensorMap`, into the function's stack |
    | `gpu.memset` | `attuneHostFill` |
    | `memref.alloc`, `memref.dealloc` | `attuneHostAllocate`, `attuneHostRelease` |
    | `cf.assert` | a branch to `attuneHostFail` and to the function's end |

    Each function with a body takes the `AttuneContext` of its caller first, and so do calls of it. The context has the stream, gives memory, and
    keeps the first error, after which nothing more is queued. A public function also has its C interface, which takes pointers to descriptors
    (`_mlir_ciface_<name>`).

    Memrefs are memory of the device: no op of the host reads or writes them. What an `memref.alloc` made lives until the caller's `attuneRuntimeEnd`.

    **Input**: kernels in `gpu.binary` (`attune-emit-binary`), no tensors (`attune-bufferize-host`). **Output**: LLVM dialect.
    **Errors**: a `gpu.module`; tensors; a function that returns a memref, or is used as a value; ops that read or write memrefs on the host, and memrefs that are memory of the host; a launch
    with async tokens or cluster sizes, or with a size of shared memory that neither a constant nor the manifest gives; a fill with other values than zero; a tensor map that is not filled with zeros; any other op.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

#endif // ATTUNE_CONVERSION_PASSES_TD
