// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How each op of the region of a tile.map is converted.

#include "RegionVectorizer.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <map>

using namespace mlir;
using namespace attune;

RegionVectorizer::RegionVectorizer(OpBuilder &builder, tile::TileType type,
                                   int64_t first, int64_t count)
    : b(builder), loc(builder.getUnknownLoc()),
      layout(type.getRegisterLayout()), rank(type.getRank()), first(first) {
  for (auto [varies, partition] : llvm::enumerate(partitions)) {
    std::map<SmallVector<int64_t, 2>, int64_t> seen;
    for (int64_t reg = 0; reg < count; ++reg) {
      SmallVector<int64_t, 2> place =
          layout.getRegisterCoordinates(first + reg, rank);
      for (auto [dim, coordinate] : llvm::enumerate(place))
        if (!(varies >> dim & 1))
          coordinate = 0;
      // Two registers of a tile may hold the same place.
      if (varies == Everywhere)
        place.push_back(reg);
      auto [found, isNew] = seen.try_emplace(place, getNumElements(varies));
      if (isNew)
        partition.registers.push_back(reg);
      partition.places.push_back(found->second);
    }
  }
}

Value RegionVectorizer::narrow(Value scalar) {
  if (!scalar.getType().isIndex())
    return scalar;
  return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), scalar);
}

unsigned RegionVectorizer::findVaries(ValueRange scalars) {
  unsigned varies = Nowhere;
  for (Value scalar : scalars)
    if (auto found = known.find(scalar); found != known.end())
      varies = join(varies, found->second.varies);
  return varies;
}

template <typename NumbersT>
unsigned RegionVectorizer::findPartition(const NumbersT &numbers) {
  Partition partition;
  std::map<typename NumbersT::value_type, int64_t> seen;
  for (auto [reg, number] : llvm::enumerate(numbers)) {
    auto [found, isNew] = seen.try_emplace(number, partition.registers.size());
    if (isNew)
      partition.registers.push_back(reg);
    partition.places.push_back(found->second);
  }
  for (unsigned varies = 1; varies < partitions.size(); ++varies)
    if (partitions[varies].places == partition.places)
      return varies;
  partitions.push_back(std::move(partition));
  return partitions.size() - 1;
}

unsigned RegionVectorizer::join(unsigned lhs, unsigned rhs) {
  if (lhs == rhs || rhs == Nowhere)
    return lhs;
  if (lhs == Nowhere)
    return rhs;
  if (lhs <= Everywhere && rhs <= Everywhere)
    return lhs | rhs;
  return findPartition(llvm::to_vector(
      llvm::zip_equal(partitions[lhs].places, partitions[rhs].places)));
}

Value RegionVectorizer::lookup(Value scalar, unsigned varies) {
  Lanewise lanewise = known.lookup(scalar);
  if (!lanewise.value)
    lanewise.value = scalar;
  if (lanewise.varies == varies)
    return lanewise.value;
  Value &vector = expanded[{scalar, varies}];
  if (vector)
    return vector;
  VectorType type = vectorType(scalar.getType(), varies);
  if (lanewise.varies != Nowhere) {
    SmallVector<int64_t> sources;
    for (int64_t reg : partitions[varies].registers)
      sources.push_back(partitions[lanewise.varies].places[reg]);
    vector = vector::ShuffleOp::create(b, loc, lanewise.value, lanewise.value,
                                       sources);
  } else if (TypedAttr constant;
             matchPattern(lanewise.value, m_Constant(&constant)) &&
             isa<IntegerAttr, FloatAttr>(constant)) {
    if (scalar.getType().isIndex())
      constant = b.getI32IntegerAttr(
          static_cast<int32_t>(cast<IntegerAttr>(constant).getInt()));
    vector = arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(type, constant));
  } else {
    vector = vector::BroadcastOp::create(b, loc, type, narrow(lanewise.value));
  }
  return vector;
}

SmallVector<Value> RegionVectorizer::getPlace(ValueRange indices,
                                              unsigned varies, int64_t number) {
  SmallVector<Value> place;
  for (Value index : indices) {
    if (findVaries(index) == Nowhere) {
      place.push_back(lookup(index, Nowhere));
      continue;
    }
    Value element =
        vector::ExtractOp::create(b, loc, lookup(index, varies), number);
    place.push_back(
        arith::IndexCastOp::create(b, loc, b.getIndexType(), element));
  }
  return place;
}

bool RegionVectorizer::isSpread(const KernelContext &context,
                                tile::MapOp map) const {
  ArrayRef<int64_t> shape = map.getResult().getType().getShape();
  int64_t elements = llvm::product_of(shape);
  return getNumElements(Everywhere) * context.getWarps(map).count *
             context.target.getLanes() ==
         elements;
}

/// A thread adds up what goes to one place, and a warp what all elements of the
/// tile add to one, so that less meets in memory.
LogicalResult RegionVectorizer::addToElements(memref::AtomicRMWOp op,
                                              const KernelContext &context) {
  if (op.getKind() != arith::AtomicRMWKind::addf || !op->use_empty() ||
      !op.getValue().getType().isF32())
    return op.emitOpError() << "expects an addition of f32 whose result is not "
                               "used in a tile.map";
  if (!isSpread(context, op->getParentOfType<tile::MapOp>()))
    return op.emitOpError() << "expects each element of a tile.map that adds "
                               "to memory to be one thread's alone";
  unsigned varies = findVaries(op.getIndices());
  Value values = lookup(op.getValue(), Everywhere);
  SmallVector<Value> sums(getNumElements(varies));
  for (auto [reg, place] : llvm::enumerate(partitions[varies].places)) {
    Value element = vector::ExtractOp::create(
        b, loc, values, partitions[Everywhere].places[reg]);
    Value &sum = sums[place];
    sum =
        sum ? arith::AddFOp::create(b, loc, sum, element).getResult() : element;
  }
  auto add = [&](OpBuilder &at, Value sum, ValueRange place) {
    memref::AtomicRMWOp::create(at, loc, arith::AtomicRMWKind::addf, sum,
                                op.getMemref(), place);
  };
  if (varies != Nowhere) {
    for (auto [number, sum] : llvm::enumerate(sums))
      add(b, sum, getPlace(op.getIndices(), varies, number));
    return success();
  }
  Value sum = sums.front();
  int64_t lanes = context.target.getLanes();
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    auto shuffle = gpu::ShuffleOp::create(b, loc, sum, distance, lanes,
                                          gpu::ShuffleMode::XOR);
    sum = arith::AddFOp::create(b, loc, sum, shuffle.getShuffleResult());
  }
  SmallVector<Value> place = getPlace(op.getIndices(), Nowhere, 0);
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                            laneNumber(b, loc, context), constant(b, loc, 0));
  scf::IfOp::create(b, loc, isFirst, [&](OpBuilder &inner, Location) {
    add(inner, sum, place);
    scf::YieldOp::create(inner, loc);
  });
  return success();
}

Value RegionVectorizer::loadElements(memref::LoadOp load, unsigned varies) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < getNumElements(varies); ++i)
    elements.push_back(narrow(memref::LoadOp::create(
        b, loc, load.getMemref(), getPlace(load.getIndices(), varies, i))));
  return vector::FromElementsOp::create(
      b, loc, vectorType(load.getType(), varies), elements);
}

/// Index became i32: what is left is a change of integer width, or nothing.
Value RegionVectorizer::convertCast(Operation &op, unsigned varies) {
  Value input = lookup(op.getOperand(0), varies);
  unsigned from = cast<VectorType>(input.getType()).getElementTypeBitWidth();
  VectorType type = vectorType(op.getResult(0).getType(), varies);
  unsigned to = type.getElementTypeBitWidth();
  if (from < to && isa<arith::IndexCastUIOp>(op))
    return arith::ExtUIOp::create(b, loc, type, input);
  if (from < to)
    return arith::ExtSIOp::create(b, loc, type, input);
  if (from > to)
    return arith::TruncIOp::create(b, loc, type, input);
  return input;
}

std::optional<Lanewise> RegionVectorizer::findPosition(Value scalar,
                                                       unsigned varies) {
  Lanewise found = known.lookup(scalar);
  if (found.varies == Nowhere) {
    found.base = narrow(found.value ? found.value : scalar);
    found.rest = getPossibleBits(found.base);
    found.offsets.assign(getNumElements(varies), 0);
    return found;
  }
  if (found.offsets.empty())
    return std::nullopt;
  SmallVector<int32_t> offsets;
  for (int64_t reg : partitions[varies].registers)
    offsets.push_back(found.offsets[partitions[found.varies].places[reg]]);
  found.offsets = std::move(offsets);
  return found;
}

void RegionVectorizer::addPositions(Operation &op, Lanewise &sum) {
  std::optional<Lanewise> lhs = findPosition(op.getOperand(0), sum.varies),
                          rhs = findPosition(op.getOperand(1), sum.varies);
  if (!lhs || !rhs)
    return;
  bool isDifference = isa<arith::SubIOp>(op);
  sum.base = lhs->base;
  sum.rest = getPossibleBits(lhs->rest, rhs->rest);
  sum.dims = isDifference || (lhs->dims && rhs->dims) ? unsigned(Everywhere)
                                                      : lhs->dims | rhs->dims;
  if (rhs->base && isDifference) {
    Value from =
        lhs->base ? lhs->base : arith::ConstantIntOp::create(b, loc, 0, 32);
    sum.base = arith::SubIOp::create(b, loc, from, rhs->base);
  } else if (rhs->base) {
    sum.base = lhs->base ? arith::AddIOp::create(b, loc, lhs->base, rhs->base)
                         : rhs->base;
  }
  for (auto [left, right] : llvm::zip_equal(lhs->offsets, rhs->offsets))
    sum.offsets.push_back(isDifference ? left - right : left + right);
  // Rows and columns that are equally far apart.
  SmallVector<int32_t> ofRegisters;
  for (int64_t place : partitions[sum.varies].places)
    ofRegisters.push_back(sum.offsets[place]);
  unsigned distinct = findPartition(ofRegisters);
  if (getNumElements(distinct) == getNumElements(sum.varies))
    return;
  sum.varies = distinct;
  sum.offsets.clear();
  for (int64_t reg : partitions[distinct].registers)
    sum.offsets.push_back(ofRegisters[reg]);
}

uint64_t attune::getPossibleBits(uint64_t lhs, uint64_t rhs) {
  uint64_t both = lhs & rhs;
  // From the lowest bit that both may have on, there are carries.
  return lhs | rhs | (both ? -(both & -both) : 0);
}

uint64_t attune::getPossibleBits(Value index) {
  auto ofOperand = [&](unsigned number) {
    return getPossibleBits(index.getDefiningOp()->getOperand(number));
  };
  std::optional<int64_t> right;
  if (Operation *op = index.getDefiningOp(); op && op->getNumOperands() == 2)
    right = getConstantIntValue(op->getOperand(1));
  bool isPower = right && llvm::isPowerOf2_64(*right);
  if (std::optional<int64_t> value = getConstantIntValue(index))
    return static_cast<uint64_t>(*value);
  if (index.getDefiningOp<arith::IndexCastOp>())
    return ofOperand(0);
  if (index.getDefiningOp<arith::AddIOp>())
    return getPossibleBits(ofOperand(0), ofOperand(1));
  if (index.getDefiningOp<arith::RemUIOp>() && isPower)
    return ofOperand(0) & (*right - 1);
  if (index.getDefiningOp<arith::DivUIOp>() && isPower)
    return ofOperand(0) >> llvm::Log2_64(*right);
  if (index.getDefiningOp<arith::MulIOp>() && isPower)
    return ofOperand(0) << llvm::Log2_64(*right);
  auto divisor = static_cast<uint64_t>(knownDivisor(index));
  return -(divisor & -divisor);
}

std::optional<Lanewise> RegionVectorizer::takeBits(arith::AndIOp op) {
  const Lanewise position = known.lookup(op.getLhs());
  std::optional<int64_t> bits = getConstantIntValue(op.getRhs());
  if (position.offsets.empty() || !bits)
    return std::nullopt;
  uint64_t possible = position.base ? getPossibleBits(position.base) : 0;
  // Above the bits that are not all taken or all left out, carries are right.
  unsigned width =
      llvm::bit_width(static_cast<uint64_t>(*bits < 0 ? ~*bits : *bits));
  uint64_t below = llvm::maskTrailingOnes<uint64_t>(width);
  if (llvm::any_of(position.offsets, [&](int32_t offset) {
        return offset < 0 || (offset & possible & below);
      }))
    return std::nullopt;
  auto taken = static_cast<int32_t>(*bits);
  SmallVector<int32_t> ofRegisters;
  for (int64_t place : partitions[position.varies].places)
    ofRegisters.push_back(position.offsets[place] & taken);
  Lanewise part{Value(), findPartition(ofRegisters)};
  for (int64_t reg : partitions[part.varies].registers)
    part.offsets.push_back(ofRegisters[reg]);
  auto type = VectorType::get(part.offsets.size(), b.getI32Type());
  part.value = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef(part.offsets)));
  if (possible & *bits) {
    part.base = arith::AndIOp::create(
        b, loc, position.base,
        arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(taken)));
    part.value = arith::AddIOp::create(
        b, loc, vector::BroadcastOp::create(b, loc, type, part.base),
        part.value);
  }
  return part;
}

/// One conversion for the thread, and an addition for each element, of which
/// chips have many more. As exact up to 2^24; what is larger is rounded as
/// conversions round it, or to the number beside that.
Value RegionVectorizer::convertPosition(arith::SIToFPOp op,
                                        const Lanewise &position) {
  VectorType type = vectorType(op.getType(), position.varies);
  SmallVector<float> offsets(position.offsets.begin(), position.offsets.end());
  Value constants = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef(offsets)));
  if (!position.base)
    return constants;
  Value base = arith::SIToFPOp::create(b, loc, b.getF32Type(), position.base);
  return arith::AddFOp::create(
      b, loc, vector::BroadcastOp::create(b, loc, type, base), constants);
}

Operation *RegionVectorizer::createOnVectors(Operation &op, ValueRange operands,
                                             unsigned varies) {
  OperationState state(op.getLoc(), op.getName());
  state.addOperands(operands);
  for (Type type : op.getResultTypes())
    state.addTypes(vectorType(type, varies));
  state.addAttributes(op.getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op.getPropertiesAsAttribute();
  return b.create(state);
}

LogicalResult RegionVectorizer::convert(Operation &op,
                                        const KernelContext &context) {
  if (auto add = dyn_cast<memref::AtomicRMWOp>(op))
    return addToElements(add, context);
  if (auto isKept = dyn_cast<tile::IsKeptOp>(op))
    return draw(isKept, context);
  unsigned varies = findVaries(op.getOperands());
  auto load = dyn_cast<memref::LoadOp>(op);
  if (!load &&
      !isa<arith::IndexCastOp, arith::IndexCastUIOp, memref::DimOp>(op) &&
      op.getNumOperands() != 0 && !OpTrait::hasElementwiseMappableTraits(&op))
    return op.emitOpError()
           << "expects an elementwise operation, a load or an addition to "
              "memory in a tile.map";
  if (op.getNumResults() == 0)
    return op.emitOpError()
           << "expects an operation with a result in a tile.map";
  Value scalar = op.getResult(0);
  if (varies == Nowhere) {
    IRMapping mapping;
    for (Value operand : op.getOperands())
      mapping.map(operand, lookup(operand, Nowhere));
    for (auto [result, value] :
         llvm::zip_equal(op.getResults(), b.clone(op, mapping)->getResults()))
      map(result, {value});
    return success();
  }
  if (auto mask = dyn_cast<arith::AndIOp>(op);
      mask && scalar.getType().isIndex())
    if (std::optional<Lanewise> part = takeBits(mask)) {
      map(scalar, std::move(*part));
      return success();
    }
  if (Value kept = takeKept(op, context)) {
    map(scalar, {kept, Everywhere});
    return success();
  }
  Lanewise converted{Value(), varies};
  if (isa<arith::AddIOp, arith::SubIOp>(op) && scalar.getType().isIndex())
    addPositions(op, converted);
  varies = converted.varies;
  if (load) {
    converted.value = loadElements(load, varies);
  } else if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    converted = known.lookup(op.getOperand(0));
    converted.value = convertCast(op, varies);
    if (!elementType(scalar.getType()).isInteger(32))
      converted.offsets.clear();
  } else if (auto cast = dyn_cast<arith::SIToFPOp>(op);
             cast && scalar.getType().isF32() &&
             !known.lookup(cast.getIn()).offsets.empty()) {
    converted.value = convertPosition(cast, known.lookup(cast.getIn()));
  } else {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(lookup(operand, varies));
    Operation *vectors = createOnVectors(op, operands, varies);
    converted.value = vectors->getResult(0);
    for (auto [result, value] : llvm::drop_begin(
             llvm::zip_equal(op.getResults(), vectors->getResults())))
      map(result, {value, varies});
  }
  map(scalar, std::move(converted));
  return success();
}

void RegionVectorizer::mapPosition(BlockArgument argument, unsigned dim,
                                   Value own) {
  Lanewise position{Value(), 1u << dim};
  position.dims = position.varies;
  for (int64_t reg : partitions[position.varies].registers)
    position.offsets.push_back(static_cast<int32_t>(
        layout.getRegisterCoordinates(first + reg, rank)[dim]));
  auto type = vectorType(argument.getType(), position.varies);
  position.value = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef(position.offsets)));
  if (own) {
    position.base = narrow(own);
    position.value = arith::AddIOp::create(
        b, loc, vector::BroadcastOp::create(b, loc, type, position.base),
        position.value);
  }
  map(argument, std::move(position));
}

LogicalResult RegionVectorizer::run(tile::MapOp op, ValueRange inputs,
                                    const KernelContext &context) {
  loc = op.getLoc();
  Block &block = op.getBody().front();
  for (auto [argument, input] : llvm::zip(block.getArguments(), inputs))
    map(argument, {input, Everywhere});
  for (auto [dim, argument] :
       llvm::enumerate(block.getArguments().take_back(rank)))
    if (!argument.use_empty())
      mapPosition(argument, dim, laneCoordinate(b, loc, context, layout, dim));
  for (Operation &inner : block.without_terminator())
    if (failed(convert(inner, context)))
      return failure();
  result =
      lookup(cast<tile::YieldOp>(block.getTerminator()).getValue(), Everywhere);
  return success();
}
