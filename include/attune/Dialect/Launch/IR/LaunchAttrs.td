// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_LAUNCH_ATTRS_TD
#define ATTUNE_DIALECT_LAUNCH_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Launch_Dialect : Dialect {
  let name = "launch";
  let cppNamespace = "::attune::launch";
  let summary = "How kernels are launched";
  let description = [{
    Attributes and no ops. `launch.manifest`, on a kernel and later on its `gpu.binary`, says how
    the kernel is called; `launch.sequences`, on a function, says in which order
    kernels that work together are launched, and what they share; `launch.restored`, on a
    `gpu.memset`, that the kernels leave the buffer as it is then, so that who launches them again need not fill it. `launch.follows` and `launch.precedes`, on a
    kernel, say that a kernel of its sequence runs in front of it or behind it, for chips that start it before the one in front is done. The JSON form of the former (docs/Manifest.md)
    is for programs that know no MLIR.

    Who makes a kernel writes the manifest (`KernelOutliner`), who adds an argument to
    it adds it to the manifest, and who compiles it adds what is known then. Where the kernel is a `gpu.func`,
    its arguments must be those of the manifest.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    /// On a kernel or its gpu.binary: a #launch.manifest.
    static constexpr ::llvm::StringLiteral kManifestAttrName = "launch.manifest";
    /// On a function: an array of #launch.sequence.
    static constexpr ::llvm::StringLiteral kSequencesAttrName = "launch.sequences";
    /// On a gpu.memset, a unit attribute: kernels leave the buffer as they found it.
    static constexpr ::llvm::StringLiteral kRestoredAttrName = "launch.restored";
    /// On a kernel, unit attributes: its place in a sequence, until it is compiled.
    static constexpr ::llvm::StringLiteral kFollowsAttrName = "launch.follows";
    static constexpr ::llvm::StringLiteral kPrecedesAttrName = "launch.precedes";
  }];
}

class Launch_Attr<string name, string attrMnemonic> : AttrDef<Launch_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Launch_Access : I32EnumAttr<"Access", "what a kernel does with a buffer", [
    I32EnumAttrCase<"Read", 0, "read">,
    I32EnumAttrCase<"Write", 1, "write">,
    I32EnumAttrCase<"ReadWrite", 2, "read_write">]> {
  let cppNamespace = "::attune::launch";
  let genSpecializedAttr = 0;
}

def Launch_Contents : I32EnumAttr<"Contents", "what a buffer holds before a launch", [
    I32EnumAttrCase<"Undefined", 0, "undefined">,
    I32EnumAttrCase<"Zero", 1, "zero">]> {
  let cppNamespace = "::attune::launch";
  let genSpecializedAttr = 0;
}

def Launch_ProductAttr : Launch_Attr<"Product", "product"> {
  let summary = "A constant times sizes of arguments";
  let description = [{
    `dim(a, i)` is the size of dimension `i` of argument `a`, a buffer that the caller passes; `ceildiv n` divides it and rounds up.
    In parentheses, a second size or a number may be added.

    ```mlir
    #launch.product<4 * dim(0, 2) ceildiv 128 * dim(0, 1)>
    #launch.product<(dim(0, 2) ceildiv 128 + dim(3, 0)) * dim(0, 1)>
    #launch.product<(dim(0, 0) + 132) * dim(0, 1)>
    ```

    **Errors**: a constant or a divisor below 1.
  }];
  let parameters = (ins "int64_t":$constant, ArrayRefParameter<"::attune::launch::Factor">:$factors);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Launch_BufferAttr : Launch_Attr<"Buffer", "buffer"> {
  let summary = "An argument that is a buffer";
  let description = [{
    Passed as MLIR expands a memref: allocated pointer, aligned pointer, offset, sizes, strides. What is static in `type` is compiled in: who launches the
    kernel checks it.

    ```mlir
    #launch.buffer<name = "query", type = memref<?x?x?x64xbf16>, access = read>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::MemRefType":$type, EnumParameter<Launch_Access>:$access);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Launch_ScalarAttr : Launch_Attr<"Scalar", "scalar"> {
  let summary = "An argument that is a value";
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Type":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Launch_TensorMapAttr : Launch_Attr<"TensorMap", "tensor_map"> {
  let summary = "An argument that is a tensor map of another one";
  let description = [{
    128 bytes by value. `of` is the number of a buffer, `box` the elements of each of its dimensions that are copied
    at once, and `swizzle` the bytes of a row of the box within which 16-byte chunks are permuted.

    ```mlir
    #launch.tensor_map<name = "key_map", of = 1, box = [1, 1, 64, 64], swizzle = 128>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$of, "::mlir::DenseI64ArrayAttr":$box, "int64_t":$swizzle);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Launch_WorkspaceAttr : Launch_Attr<"Workspace", "workspace"> {
  let summary = "An argument that is a buffer which nobody passes";
  let description = [{
    Who launches the kernel allocates it: row-major, `sizes` elements along each dimension, at a
    multiple of `alignment` bytes. Launches that may run at the same time need one each. `contents` is what it
    must hold before the launch. A kernel that leaves it as it found it has it `restored`: then it is filled once, and serves all launches
    on a stream.

    ```mlir
    #launch.workspace<name = "counter", type = i32, sizes = [#launch.product<1>], alignment = 4, contents = zero, restored = true>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Type":$type,
                        AttrParameter<"::mlir::ArrayAttr", "of #launch.product">:$sizes, "int64_t":$alignment,
                        EnumParameter<Launch_Contents>:$contents, DefaultValuedParameter<"bool", "false">:$restored);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Launch_ManifestAttr : Launch_Attr<"Manifest", "manifest"> {
  let summary = "How a kernel is called";
  let description = [{
    The kernel's arguments in their order (`#launch.buffer`, `#launch.scalar`, `#launch.tensor_map`, `#launch.workspace`; of kernels
    that were written by hand they may be unknown), the number of workgroups along
    the first dimension (`grid`, in clusters where `cluster` is more than 1; there are never more than `grid_limit`), the
    threads of a workgroup, and the bytes of dynamic shared memory. Known after compilation: the kernel's name in the
    binary, the chip, what the assembler reported, and whether the kernel itself waits for what its stream has in front of it, so that it may be
    started early (`starts_early`). `threads_in_one` is for the host executor alone: how many threads were
    made one.

    ```mlir
    #launch.manifest<arguments = [#launch.buffer<name = "in", type = memref<?xf32>, access = read>],
                     grid = <dim(0, 0) ceildiv 128>, block = [128, 1, 1], shared_bytes = 1024>
    ```

    **Errors**: what contradicts itself, such as a tensor map of a scalar, a box of another rank than its
    buffer, a factor of the grid that is no dimension of a buffer, or a grid limit that is no multiple of the
    cluster.
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::ArrayAttr", "in the kernel's order; null where nobody said">:$arguments,
    DefaultValuedParameter<"::attune::launch::ProductAttr", "ProductAttr::get($_ctxt, 1, {})">:$grid,
    OptionalParameter<"std::optional<int64_t>">:$grid_limit,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    DefaultValuedParameter<"::mlir::DenseI64ArrayAttr", "::mlir::DenseI64ArrayAttr::get($_ctxt, {1, 1, 1})">:$block,
    DefaultValuedParameter<"int64_t", "0">:$shared_bytes,
    DefaultValuedParameter<"int64_t", "1">:$threads_in_one,
    DefaultValuedParameter<"bool", "false">:$starts_early,
    OptionalParameter<"::mlir::StringAttr">:$kernel,
    OptionalParameter<"::mlir::StringAttr">:$chip,
    OptionalParameter<"::mlir::DictionaryAttr">:$resources);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// That of a kernel of which nothing is known, or its arguments alone.
    static ManifestAttr get(::mlir::MLIRContext *context, ::mlir::ArrayAttr arguments = {});
    /// The same with something else, or something more.
    ManifestAttr withArgument(::mlir::Attribute argument) const;
    ManifestAttr withGrid(ProductAttr grid, std::optional<int64_t> limit, int64_t cluster) const;
    ManifestAttr withoutGridLimit() const;
    ManifestAttr withBlock(::llvm::ArrayRef<int64_t> block) const;
    ManifestAttr withSharedBytes(int64_t bytes) const;
    ManifestAttr withThreadsInOne(int64_t threads) const;
    ManifestAttr withEarlyStart() const;
    ManifestAttr withBinary(::mlir::StringAttr kernel, ::mlir::StringAttr chip, ::mlir::DictionaryAttr resources) const;

    /// The same without MLIR, with no arguments where nobody said what they are.
    ::attune::Manifest toManifest() const;
    /// Without how to launch the kernel where nobody said what its arguments are.
    ::llvm::json::Value toJSON() const;
  }];
}

def Launch_StepAttr : Launch_Attr<"Step", "step"> {
  let summary = "One launch of a sequence";
  let description = [{
    The kernel, and which of the sequence's values its arguments are, but for tensor maps, which follow from the kernel's manifest.
  }];
  let parameters = (ins "::mlir::SymbolRefAttr":$kernel, "::mlir::DenseI64ArrayAttr":$arguments);
  let assemblyFormat = "`<` $kernel `,` $arguments `>`";
}

def Launch_SequenceAttr : Launch_Attr<"Sequence", "sequence"> {
  let summary = "Kernels that work together";
  let description = [{
    The launches, one after the other on a stream, and the values that they are given. A value is a `#launch.buffer`, a
    `#launch.scalar` or a `#launch.workspace`; a workspace that several kernels take is one for them all, and a plain buffer in their
    own manifests.

    ```mlir
    #launch.sequence<name = "sum",
      values = [#launch.buffer<name = "in", type = memref<?x?xf32>, access = read>,
                #launch.workspace<name = "partial", type = f32, sizes = [#launch.product<dim(0, 0)>, #launch.product<dim(0, 1) ceildiv 64>],
                                  alignment = 16, contents = undefined>,
                #launch.buffer<name = "out", type = memref<?xf32>, access = write>],
      launches = [#launch.step<@partial::@partial, [0, 1]>, #launch.step<@total::@total, [1, 2]>]>
    ```

    **Errors**: a launch with a value that there is not; values that contradict themselves or each other.
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::ArrayAttr":$values, "::mlir::ArrayAttr":$launches);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The same without MLIR.
    ::attune::LaunchSequence toSequence() const;
  }];
}

#endif // ATTUNE_DIALECT_LAUNCH_ATTRS_TD
