// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that become calls of attune-c/Host.h. The context is the function's
// first argument.

#include "HostOps.h"
#include "attune/Conversion/SwizzleBytes.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Runtime/DataType.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace attune;

/// Before upstream's patterns.
static constexpr unsigned kBenefit = 2;
/// As drivers align what they allocate.
static constexpr int64_t kAlignment = 256;
static constexpr int64_t kMapBytes = 128, kMapAlignment = 64;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static LLVM::GlobalOp addConstant(OpBuilder &builder, SymbolTable &symbols,
                                  Location loc, const Twine &name, Type type,
                                  Attribute value) {
  auto global =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name.str(), value);
  symbols.insert(global);
  return global;
}

static LLVM::GlobalOp addBytes(OpBuilder &builder, SymbolTable &symbols,
                               Location loc, const Twine &name,
                               StringRef bytes) {
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  return addConstant(builder, symbols, loc, name, type,
                     builder.getStringAttr(bytes));
}

static LLVM::GlobalOp addString(OpBuilder &builder, SymbolTable &symbols,
                                Location loc, const Twine &name,
                                StringRef text) {
  return addBytes(builder, symbols, loc, name, (text + Twine('\0')).str());
}

static Value makeNumber(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), value);
}

/// The most dynamic shared memory that a launch asks for.
static FailureOr<int64_t> getSharedBytes(gpu::LaunchFuncOp launch,
                                         launch::ManifestAttr manifest) {
  Value size = launch.getDynamicSharedMemorySize();
  if (!size)
    return 0;
  if (std::optional<int64_t> bytes = getConstantIntValue(size))
    return *bytes;
  if (manifest)
    return manifest.getSharedBytes();
  return launch.emitOpError() << "expects a constant size of dynamic shared "
                                 "memory where the gpu.binary has no manifest";
}

static FailureOr<LLVM::GlobalOp> makeImage(gpu::LaunchFuncOp launch,
                                           gpu::BinaryOp binary,
                                           SymbolTable &symbols) {
  if (binary.getObjects().size() != 1)
    return binary.emitOpError()
           << "expects one object, but got " << binary.getObjects().size();
  auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  launch::ManifestAttr manifest = launch::getManifest(binary);
  FailureOr<int64_t> sharedBytes = getSharedBytes(launch, manifest);
  if (failed(sharedBytes))
    return failure();
  StringRef chip = manifest && manifest.getChip()
                       ? manifest.getChip().getValue()
                       : "an unknown chip";
  Location loc = binary.getLoc();
  OpBuilder b(binary);
  StringRef kernel = launch.getKernelName().getValue();
  LLVM::GlobalOp parts[] = {
      addBytes(b, symbols, loc, kernel + "_image", object.getObject()),
      addString(b, symbols, loc, kernel + "_name", kernel),
      addString(b, symbols, loc, kernel + "_chip", chip)};
  // As AttuneImage has them.
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(),
      {pointer, b.getI64Type(), pointer, pointer, b.getI64Type()});
  LLVM::GlobalOp global =
      addConstant(b, symbols, loc, kernel + "_description", type, Attribute());
  b.createBlock(&global.getInitializerRegion());
  auto addressOf = [&](LLVM::GlobalOp part) -> Value {
    return LLVM::AddressOfOp::create(b, loc, part);
  };
  Value fields[] = {
      addressOf(parts[0]),
      makeNumber(b, loc,
                 static_cast<int64_t>(object.getObject().getValue().size())),
      addressOf(parts[1]), addressOf(parts[2]),
      makeNumber(b, loc, *sharedBytes)};
  Value description = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, field] : llvm::enumerate(fields))
    description = LLVM::InsertValueOp::create(b, loc, description, field, i);
  LLVM::ReturnOp::create(b, loc, description);
  return global;
}

FailureOr<KernelImages> attune::makeKernelImages(ModuleOp module) {
  KernelImages images;
  SymbolTable symbols(module);
  WalkResult result = module.walk([&](gpu::LaunchFuncOp launch) -> WalkResult {
    LLVM::GlobalOp &image = images[launch.getKernel()];
    if (image)
      return WalkResult::advance();
    auto binary = symbols.lookup<gpu::BinaryOp>(launch.getKernelModuleName());
    // The verifier looks in the launch's own module.
    if (!binary)
      return launch.emitOpError("expects its binary in the module that is "
                                "converted, but got one in a module inside");
    FailureOr<LLVM::GlobalOp> made = makeImage(launch, binary, symbols);
    if (failed(made))
      return failure();
    image = *made;
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return images;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static FunctionOpInterface getFunction(OpBuilder &builder) {
  Operation *op = builder.getInsertionBlock()->getParentOp();
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    return function;
  return op->getParentOfType<FunctionOpInterface>();
}

/// Calls a function of attune-c/Host.h with the context and `operands`.
static FailureOr<LLVM::CallOp> call(OpBuilder &builder, Location loc,
                                    StringRef name, ValueRange operands,
                                    Type result = Type()) {
  FunctionOpInterface function = getFunction(builder);
  SmallVector<Value> all = {function.getArgument(0)};
  llvm::append_range(all, operands);
  if (!result)
    result = LLVM::LLVMVoidType::get(builder.getContext());
  FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(
      builder, function->getParentOfType<ModuleOp>(), name,
      SmallVector<Type>(ValueRange(all).getTypes()), result);
  if (failed(callee))
    return failure();
  return LLVM::CallOp::create(builder, loc, *callee, all);
}

/// Stack of the function, taken once, also in a loop.
static Value allocateOnStack(OpBuilder &builder, Location loc, Type type,
                             unsigned alignment = 0) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(
      &getFunction(builder).getFunctionBody().front());
  Value one = makeNumber(builder, loc, 1);
  return LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type, one,
      alignment);
}

/// An array on the stack with these values, which are all of one type.
static Value makeArray(OpBuilder &builder, Location loc, ValueRange values,
                       Type type) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value array = allocateOnStack(builder, loc,
                                LLVM::LLVMArrayType::get(type, values.size()));
  for (auto [i, value] : llvm::enumerate(values)) {
    Value slot =
        LLVM::GEPOp::create(builder, loc, pointer, type, array,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, value, slot);
  }
  return array;
}

/// Extents and sizes are not negative.
static Value widen(OpBuilder &builder, Location loc, Value value) {
  if (value.getType().isInteger(64))
    return value;
  return LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), value);
}

namespace {

struct LaunchPattern : ConvertOpToLLVMPattern<gpu::LaunchFuncOp> {
  LaunchPattern(const LLVMTypeConverter &converter, const KernelImages &images)
      : ConvertOpToLLVMPattern(converter, kBenefit), images(images) {}

  LogicalResult
  matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(op.getContext());
    SmallVector<Value> parameters = storeParameters(op, adaptor, rewriter);
    SmallVector<Value> extents;
    for (Value extent : {adaptor.getGridSizeX(), adaptor.getGridSizeY(),
                         adaptor.getGridSizeZ(), adaptor.getBlockSizeX(),
                         adaptor.getBlockSizeY(), adaptor.getBlockSizeZ()})
      extents.push_back(widen(rewriter, loc, extent));
    Value shared = adaptor.getDynamicSharedMemorySize();
    Value image =
        LLVM::AddressOfOp::create(rewriter, loc, images.lookup(op.getKernel()));
    Value operands[] = {
        image, makeArray(rewriter, loc, extents, rewriter.getI64Type()),
        shared ? widen(rewriter, loc, shared) : makeNumber(rewriter, loc, 0),
        makeArray(rewriter, loc, parameters, pointer),
        makeNumber(rewriter, loc, static_cast<int64_t>(parameters.size()))};
    if (failed(call(rewriter, loc, "attuneHostLaunch", operands)))
      return rewriter.notifyMatchFailure(op, "another attuneHostLaunch");
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The addresses of the kernel's parameters, which lie on the stack.
  SmallVector<Value>
  storeParameters(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const {
    Location loc = op.getLoc();
    SmallVector<Value> values;
    for (auto [operand, converted] :
         llvm::zip_equal(op.getKernelOperands(), adaptor.getKernelOperands()))
      llvm::append_range(values, getTypeConverter()->promoteOperands(
                                     loc, ValueRange(operand),
                                     ValueRange(converted), rewriter));
    auto pointer = LLVM::LLVMPointerType::get(op.getContext());
    auto type = LLVM::LLVMStructType::getLiteral(
        op.getContext(), SmallVector<Type>(ValueRange(values).getTypes()));
    Value all = allocateOnStack(rewriter, loc, type);
    SmallVector<Value> addresses;
    for (auto [i, value] : llvm::enumerate(values)) {
      Value slot = LLVM::GEPOp::create(
          rewriter, loc, pointer, type, all,
          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
      LLVM::StoreOp::create(rewriter, loc, value, slot);
      addresses.push_back(slot);
    }
    // A map is passed by value, and what stands for it is its address.
    size_t next = 0;
    for (Value operand : op.getKernelOperands()) {
      if (isa<nvgpu::TensorMapDescriptorType>(operand.getType()))
        addresses[next] = values[next];
      auto memref = dyn_cast<MemRefType>(operand.getType());
      next += memref ? 3 + 2 * memref.getRank() : 1;
    }
    return addresses;
  }

  const KernelImages &images;
};

struct MapPattern : ConvertOpToLLVMPattern<nvgpu::TmaCreateDescriptorOp> {
  explicit MapPattern(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern(converter, kBenefit) {}

  LogicalResult
  matchAndRewrite(nvgpu::TmaCreateDescriptorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    nvgpu::TensorMapDescriptorType type = op.getTensorMap().getType();
    std::string name;
    llvm::raw_string_ostream(name)
        << cast<BaseMemRefType>(op.getTensor().getType()).getElementType();
    std::optional<DataType> element = parseDataType(name);
    if (!element)
      return rewriter.notifyMatchFailure(op, "elements of an unknown type");
    Value map = allocateOnStack(
        rewriter, loc,
        LLVM::LLVMArrayType::get(rewriter.getI8Type(), kMapBytes),
        kMapAlignment);
    UnrankedMemRefDescriptor tensor(adaptor.getTensor());
    Value operands[] = {
        map,
        makeNumber(rewriter, loc, static_cast<int64_t>(*element)),
        tensor.rank(rewriter, loc),
        tensor.memRefDescPtr(rewriter, loc),
        makeArray(rewriter, loc, adaptor.getBoxDimensions(),
                  rewriter.getI64Type()),
        makeNumber(rewriter, loc, getSwizzleBytes(type.getSwizzle()))};
    if (failed(call(rewriter, loc, "attuneHostEncodeTensorMap", operands)))
      return rewriter.notifyMatchFailure(op,
                                         "another attuneHostEncodeTensorMap");
    rewriter.replaceOp(op, map);
    return success();
  }
};

struct MemsetPattern : ConvertOpToLLVMPattern<gpu::MemsetOp> {
  explicit MemsetPattern(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern(converter, kBenefit) {}

  LogicalResult
  matchAndRewrite(gpu::MemsetOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getDst().getType());
    MemRefDescriptor buffer(adaptor.getDst());
    Value bytes = getSizeInBytes(loc, type.getElementType(), rewriter);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      bytes = LLVM::MulOp::create(rewriter, loc, bytes,
                                  buffer.size(rewriter, loc, dim));
    Value operands[] = {buffer.alignedPtr(rewriter, loc), bytes};
    if (failed(call(rewriter, loc, "attuneHostFill", operands)))
      return rewriter.notifyMatchFailure(op, "another attuneHostFill");
    rewriter.eraseOp(op);
    return success();
  }
};

struct AllocPattern : ConvertOpToLLVMPattern<memref::AllocOp> {
  explicit AllocPattern(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern(converter, kBenefit) {}

  LogicalResult
  matchAndRewrite(memref::AllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> sizes, strides;
    Value bytes;
    getMemRefDescriptorSizes(loc, op.getType(), adaptor.getDynamicSizes(),
                             rewriter, sizes, strides, bytes,
                             /*sizeInBytes=*/true);
    auto alignment =
        static_cast<int64_t>(op.getAlignment().value_or(kAlignment));
    Value operands[] = {bytes, makeNumber(rewriter, loc, alignment)};
    FailureOr<LLVM::CallOp> memory =
        call(rewriter, loc, "attuneHostAllocate", operands,
             LLVM::LLVMPointerType::get(op.getContext()));
    if (failed(memory))
      return rewriter.notifyMatchFailure(op, "another attuneHostAllocate");
    Value address = memory->getResult();
    Value buffer = createMemRefDescriptor(loc, op.getType(), address, address,
                                          sizes, strides, rewriter);
    rewriter.replaceOp(op, buffer);
    return success();
  }
};

struct DeallocPattern : ConvertOpToLLVMPattern<memref::DeallocOp> {
  explicit DeallocPattern(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern(converter, kBenefit) {}

  LogicalResult
  matchAndRewrite(memref::DeallocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (!isa<MemRefType>(op.getMemref().getType()))
      return rewriter.notifyMatchFailure(op, "a buffer of unknown rank");
    Value address =
        MemRefDescriptor(adaptor.getMemref()).allocatedPtr(rewriter, loc);
    if (failed(call(rewriter, loc, "attuneHostRelease", address)))
      return rewriter.notifyMatchFailure(op, "another attuneHostRelease");
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

LogicalResult attune::lowerAssert(RewriterBase &rewriter, cf::AssertOp op) {
  Location loc = op.getLoc();
  auto function = op->getParentOfType<func::FuncOp>();
  OpBuilder globals(function);
  SymbolTable symbols(function->getParentOfType<ModuleOp>());
  LLVM::GlobalOp message = addString(
      globals, symbols, loc, function.getName() + "_message", op.getMsg());
  Block *block = op->getBlock();
  Block *holds = rewriter.splitBlock(block, std::next(op->getIterator()));
  Block *fails = rewriter.createBlock(holds);
  rewriter.setInsertionPointToStart(fails);
  Value text = LLVM::AddressOfOp::create(rewriter, loc, message);
  if (failed(call(rewriter, loc, "attuneHostFail", text)))
    return op.emitOpError() << "expects no other function 'attuneHostFail'";
  SmallVector<Value> zeros;
  for (Type type : function.getResultTypes())
    zeros.push_back(
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type)));
  func::ReturnOp::create(rewriter, loc, zeros);
  rewriter.setInsertionPoint(op);
  cf::CondBranchOp::create(rewriter, loc, op.getArg(), holds, fails);
  rewriter.eraseOp(op);
  return success();
}

void attune::populateHostCallPatterns(LLVMTypeConverter &converter,
                                      const KernelImages &images,
                                      RewritePatternSet &patterns) {
  converter.addConversion([](nvgpu::TensorMapDescriptorType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  patterns.add<LaunchPattern>(converter, images);
  patterns.add<MapPattern, MemsetPattern, AllocPattern, DeallocPattern>(
      converter);
}
