// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IR as attune_mlir.ir needs it. What a user wrote wrongly is returned as text
// where MLIR says it, and is a ValueError where MLIR would not check it.

#include "IR.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <variant>

namespace nb = nanobind;
using namespace attune::python;

template <typename Handle> struct Kind {
  bool (*is)(Handle);
  const char *name;
};

/// The class of Python; the first that fits.
static const char *getKind(MlirType type) {
  static constexpr Kind<MlirType> kinds[] = {
      {mlirTypeIsAInteger, "IntegerType"},
      {mlirTypeIsAIndex, "IndexType"},
      {mlirTypeIsAF16, "F16Type"},
      {mlirTypeIsABF16, "BF16Type"},
      {mlirTypeIsAF32, "F32Type"},
      {mlirTypeIsAF64, "F64Type"},
      {mlirTypeIsAFloat8E4M3FN, "Float8E4M3FNType"},
      {mlirTypeIsAFloat8E5M2, "Float8E5M2Type"},
      {mlirTypeIsAFloat8E4M3FNUZ, "Float8E4M3FNUZType"},
      {mlirTypeIsAFloat8E5M2FNUZ, "Float8E5M2FNUZType"},
      {mlirTypeIsANone, "NoneType"},
      {mlirTypeIsARankedTensor, "RankedTensorType"},
      {mlirTypeIsAMemRef, "MemRefType"},
      {mlirTypeIsAVector, "VectorType"},
      {mlirTypeIsAFunction, "FunctionType"}};
  for (const auto &[is, name] : kinds)
    if (is(type))
      return name;
  return "Type";
}

static const char *getKind(MlirAttribute attribute) {
  static constexpr Kind<MlirAttribute> kinds[] = {
      {mlirAttributeIsALocation, "Location"},
      {mlirAttributeIsAUnit, "UnitAttr"},
      {mlirAttributeIsABool, "BoolAttr"},
      {mlirAttributeIsAInteger, "IntegerAttr"},
      {mlirAttributeIsAFloat, "FloatAttr"},
      {mlirAttributeIsAString, "StringAttr"},
      {mlirAttributeIsAType, "TypeAttr"},
      {mlirAttributeIsAArray, "ArrayAttr"},
      {mlirAttributeIsADictionary, "DictAttr"},
      {mlirAttributeIsAFlatSymbolRef, "FlatSymbolRefAttr"},
      {mlirAttributeIsADenseI64Array, "DenseI64ArrayAttr"},
      {mlirAttributeIsADenseI32Array, "DenseI32ArrayAttr"},
      {mlirAttributeIsAAffineMap, "AffineMapAttr"},
      {mlirAttributeIsADenseIntElements, "DenseIntElementsAttr"},
      {mlirAttributeIsADenseElements, "DenseElementsAttr"}};
  for (const auto &[is, name] : kinds)
    if (is(attribute))
      return name;
  return "Attribute";
}

using Key = std::pair<uintptr_t, uintptr_t>;

/// Equal where two handles are of the same thing: its address and that of its
/// node, which nobody else gets as long as one of them is held.
static Key makeKey(const void *node, const void *address) {
  return {reinterpret_cast<uintptr_t>(node),
          reinterpret_cast<uintptr_t>(address)};
}

template <typename Handle>
using Parsed = std::pair<std::optional<Handle>, std::string>;

static Parsed<Type> parseType(const ContextRef &self, const std::string &text) {
  Entered entered(*self);
  MlirType type = mlirTypeParseGet(self->get(), toRef(text));
  std::string said = self->takeDiagnostics();
  if (mlirTypeIsNull(type))
    return {std::nullopt, said};
  return {Type{self, type}, said};
}

static Parsed<Attribute> parseAttribute(const ContextRef &self,
                                        const std::string &text) {
  Entered entered(*self);
  MlirAttribute attribute = mlirAttributeParseGet(self->get(), toRef(text));
  std::string said = self->takeDiagnostics();
  if (mlirAttributeIsNull(attribute))
    return {std::nullopt, said};
  return {Attribute{self, attribute}, said};
}

static void bindContext(nb::module_ &scope) {
  nb::class_<Context>(scope, "Context")
      .def(nb::new_([] { return std::make_shared<Context>(); }))
      .def_prop_ro("key",
                   [](const Context &self) { return makeKey(nullptr, &self); })
      .def("parse_type", parseType, nb::arg("text"),
           "The type, or None and what was said.")
      .def("parse_attribute", parseAttribute, nb::arg("text"),
           "The attribute or location, or None and what was said.")
      .def("create", createOperation, nb::arg("parts"), nb::arg("block").none(),
           nb::arg("before").none());
}

/// Sizes of a tensor, vector or memref with a rank; None of any other type.
static std::optional<std::vector<int64_t>> getShape(const Type &self) {
  if (!mlirTypeIsAShaped(self.type) || !mlirShapedTypeHasRank(self.type))
    return std::nullopt;
  std::vector<int64_t> shape;
  for (int64_t i = 0; i < mlirShapedTypeGetRank(self.type); ++i)
    shape.push_back(
        mlirShapedTypeGetDimSize(self.type, static_cast<intptr_t>(i)));
  return shape;
}

/// Types of arguments, or of results, of a function's type.
static std::vector<Type> getSignature(const Type &self, bool isResults) {
  std::vector<Type> types;
  if (!mlirTypeIsAFunction(self.type))
    return types;
  intptr_t size = isResults ? mlirFunctionTypeGetNumResults(self.type)
                            : mlirFunctionTypeGetNumInputs(self.type);
  for (intptr_t i = 0; i < size; ++i)
    types.push_back(
        {self.context, isResults ? mlirFunctionTypeGetResult(self.type, i)
                                 : mlirFunctionTypeGetInput(self.type, i)});
  return types;
}

static void bindTypes(nb::module_ &scope) {
  nb::class_<Type>(scope, "Type")
      .def_prop_ro(
          "key",
          [](const Type &self) { return makeKey(nullptr, self.type.ptr); })
      .def_ro("context", &Type::context)
      .def_prop_ro("kind", [](const Type &self) { return getKind(self.type); })
      .def_prop_ro(
          "text",
          [](const Type &self) { return print(mlirTypePrint, self.type); })
      .def_prop_ro("width",
                   [](const Type &self) -> std::optional<unsigned> {
                     if (mlirTypeIsAInteger(self.type))
                       return mlirIntegerTypeGetWidth(self.type);
                     if (mlirTypeIsAFloat(self.type))
                       return mlirFloatTypeGetWidth(self.type);
                     return std::nullopt;
                   })
      .def_prop_ro("shape", getShape)
      .def_prop_ro("element",
                   [](const Type &self) -> std::optional<Type> {
                     if (!mlirTypeIsAShaped(self.type))
                       return std::nullopt;
                     return Type{self.context,
                                 mlirShapedTypeGetElementType(self.type)};
                   })
      .def_prop_ro("encoding",
                   [](const Type &self) -> std::optional<Attribute> {
                     if (!mlirTypeIsARankedTensor(self.type))
                       return std::nullopt;
                     MlirAttribute encoding =
                         mlirRankedTensorTypeGetEncoding(self.type);
                     if (mlirAttributeIsNull(encoding))
                       return std::nullopt;
                     return Attribute{self.context, encoding};
                   })
      .def("signature", getSignature, nb::arg("of_results"));
}

/// Of an array, or of a dictionary with their names.
static std::vector<std::pair<std::string, Attribute>>
getElements(const Attribute &self) {
  std::vector<std::pair<std::string, Attribute>> elements;
  if (mlirAttributeIsAArray(self.attribute))
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(self.attribute); ++i)
      elements.emplace_back(
          "",
          Attribute{self.context, mlirArrayAttrGetElement(self.attribute, i)});
  if (mlirAttributeIsADictionary(self.attribute))
    for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(self.attribute);
         ++i) {
      MlirNamedAttribute named =
          mlirDictionaryAttrGetElement(self.attribute, i);
      elements.emplace_back(toString(mlirIdentifierStr(named.name)),
                            Attribute{self.context, named.attribute});
    }
  return elements;
}

static void bindAttributes(nb::module_ &scope) {
  nb::class_<Attribute>(scope, "Attribute")
      .def_prop_ro("key",
                   [](const Attribute &self) {
                     return makeKey(nullptr, self.attribute.ptr);
                   })
      .def_ro("context", &Attribute::context)
      .def_prop_ro(
          "kind", [](const Attribute &self) { return getKind(self.attribute); })
      .def_prop_ro("text",
                   [](const Attribute &self) {
                     return print(mlirAttributePrint, self.attribute);
                   })
      .def_prop_ro("value",
                   [](const Attribute &self) {
                     return describeAttribute(self.attribute);
                   })
      .def_prop_ro("type",
                   [](const Attribute &self) -> std::optional<Type> {
                     // The type that a type attribute names is its value.
                     MlirType type = mlirAttributeIsAType(self.attribute)
                                         ? mlirTypeAttrGetValue(self.attribute)
                                         : mlirAttributeGetType(self.attribute);
                     if (mlirTypeIsNull(type))
                       return std::nullopt;
                     return Type{self.context, type};
                   })
      .def_prop_ro("elements", getElements)
      .def_prop_ro("place", [](const Attribute &self) -> nb::object {
        if (!mlirAttributeIsALocation(self.attribute))
          return nb::none();
        return describeLocation(mlirLocationFromAttribute(self.attribute));
      });
}

static std::vector<std::pair<Operation, intptr_t>> getUses(const Value &self) {
  Entered entered(self.owner->context());
  std::vector<std::pair<Operation, intptr_t>> uses;
  for (MlirOpOperand use = mlirValueGetFirstUse(self.get());
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    uses.emplace_back(
        Operation{getNode(self.owner, mlirOpOperandGetOwner(use))},
        mlirOpOperandGetOperandNumber(use));
  return uses;
}

static void bindValues(nb::module_ &scope) {
  nb::class_<Value>(scope, "Value")
      .def_prop_ro("key",
                   [](const Value &self) {
                     return makeKey(self.owner.get(), self.value.ptr);
                   })
      .def_prop_ro("type",
                   [](const Value &self) {
                     return Type{self.owner->arena->context,
                                 mlirValueGetType(self.get())};
                   })
      .def_prop_ro("is_argument",
                   [](const Value &self) {
                     return mlirValueIsABlockArgument(self.get());
                   })
      .def_prop_ro("number",
                   [](const Value &self) {
                     MlirValue value = self.get();
                     return mlirValueIsABlockArgument(value)
                                ? mlirBlockArgumentGetArgNumber(value)
                                : mlirOpResultGetResultNumber(value);
                   })
      .def_prop_ro("owner",
                   [](const Value &self) -> std::variant<Operation, Block> {
                     MlirValue value = self.get();
                     if (mlirValueIsABlockArgument(value))
                       return Block{self.owner,
                                    mlirBlockArgumentGetOwner(value)};
                     return Operation{self.owner};
                   })
      .def_prop_ro("is_erased",
                   [](const Value &self) { return self.owner->isErased; })
      .def_prop_ro("uses", getUses)
      .def(
          "replace_all_uses_with",
          [](const Value &self, const Value &other) {
            checkContext(self.owner->arena->context,
                         other.owner->arena->context);
            Entered entered(self.owner->context());
            // By itself, it would never end.
            if (!mlirValueEqual(self.get(), other.get()))
              mlirValueReplaceAllUsesOfWith(self.get(), other.get());
            unite(self.owner, other.owner);
          },
          nb::arg("other"));
}

static std::vector<Operation> getOperations(const Block &self) {
  Entered entered(self.owner->context());
  std::vector<Operation> operations;
  for (MlirOperation op = mlirBlockGetFirstOperation(self.get());
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    operations.push_back({getNode(self.owner, op)});
  return operations;
}

static std::vector<Value> getArguments(const Block &self) {
  std::vector<Value> arguments;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(self.get()); ++i)
    arguments.push_back({self.owner, mlirBlockGetArgument(self.block, i)});
  return arguments;
}

static Region getRegion(const Block &self) {
  MlirRegion region = mlirBlockGetParentRegion(self.get());
  intptr_t number = 0;
  while (
      !mlirRegionEqual(mlirOperationGetRegion(self.owner->op, number), region))
    ++number;
  return {self.owner, number};
}

/// One of the block's context.
static MlirLocation getLocation(const ContextRef &context,
                                const Attribute &location) {
  checkContext(context, location.context);
  if (!mlirAttributeIsALocation(location.attribute))
    throw nb::value_error("expects a location, but got another attribute");
  return mlirLocationFromAttribute(location.attribute);
}

static Value addArgument(const Block &self, const Type &type,
                         const Attribute &location) {
  const ContextRef &context = self.owner->arena->context;
  checkContext(context, type.context);
  Entered entered(*context);
  return {self.owner, mlirBlockAddArgument(self.get(), type.type,
                                           getLocation(context, location))};
}

static Block insertBlock(const Region &self, bool first) {
  Entered entered(self.owner->context());
  MlirRegion region = self.get();
  MlirBlock block = mlirBlockCreate(0, nullptr, nullptr);
  if (first)
    mlirRegionInsertOwnedBlock(region, 0, block);
  else
    mlirRegionAppendOwnedBlock(region, block);
  return {self.owner, block};
}

static std::vector<Block> getBlocks(const Region &self) {
  std::vector<Block> blocks;
  for (MlirBlock block = mlirRegionGetFirstBlock(self.get());
       !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
    blocks.push_back({self.owner, block});
  return blocks;
}

static void bindBlocks(nb::module_ &scope) {
  nb::class_<Block>(scope, "Block")
      .def_prop_ro("key",
                   [](const Block &self) {
                     return makeKey(self.owner.get(), self.block.ptr);
                   })
      .def_prop_ro(
          "owner",
          [](const Block &self) { return self.get(), Operation{self.owner}; })
      .def_prop_ro("region", getRegion)
      .def_prop_ro("operations", getOperations)
      .def_prop_ro("arguments", getArguments)
      .def("add_argument", addArgument, nb::arg("type"), nb::arg("location"));
  nb::class_<Region>(scope, "Region")
      .def_prop_ro("key",
                   [](const Region &self) {
                     return Key{makeKey(nullptr, self.owner.get()).second,
                                self.number};
                   })
      .def_prop_ro(
          "owner",
          [](const Region &self) { return self.get(), Operation{self.owner}; })
      .def_prop_ro("blocks", getBlocks)
      .def("insert", insertBlock, nb::arg("first"));
}

/// The operation that defines a value, or has the block that does.
static Value makeValue(const NodeRef &node, MlirValue value) {
  MlirOperation owner =
      mlirValueIsABlockArgument(value)
          ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value))
          : mlirOpResultGetOwner(value);
  return {getNode(node, owner), value};
}

static std::vector<Value> getOperands(const Operation &self) {
  std::vector<Value> operands;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(self.get()); ++i)
    operands.push_back(
        makeValue(self.node, mlirOperationGetOperand(self.node->op, i)));
  return operands;
}

static void setOperand(const Operation &self, intptr_t number,
                       const Value &value) {
  checkContext(self.node->arena->context, value.owner->arena->context);
  Entered entered(self.node->context());
  if (number < 0 || number >= mlirOperationGetNumOperands(self.get()))
    throw nb::index_error("expects the number of an operand");
  mlirOperationSetOperand(self.get(), number, value.get());
  unite(self.node, value.owner);
}

static std::vector<Value> getResults(const Operation &self) {
  std::vector<Value> results;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(self.get()); ++i)
    results.push_back({self.node, mlirOperationGetResult(self.node->op, i)});
  return results;
}

static std::vector<Block> getSuccessors(const Operation &self) {
  std::vector<Block> successors;
  for (intptr_t i = 0; i < mlirOperationGetNumSuccessors(self.get()); ++i) {
    MlirBlock block = mlirOperationGetSuccessor(self.node->op, i);
    successors.push_back(
        {getNode(self.node, mlirBlockGetParentOperation(block)), block});
  }
  return successors;
}

static std::pair<bool, std::string> verify(const Operation &self) {
  Context &context = self.node->context();
  Entered entered(context);
  bool ok = mlirOperationVerify(self.get());
  return {ok, context.takeDiagnostics()};
}

static std::vector<Operation> walk(const Operation &self) {
  Entered entered(self.node->context());
  std::vector<Operation> found;
  for (MlirOperation op : collectOperations(self.get()))
    found.push_back({getNode(self.node, op)});
  return found;
}

static std::optional<Block> getBlock(const Operation &self) {
  MlirBlock block = mlirOperationGetBlock(self.get());
  if (mlirBlockIsNull(block))
    return std::nullopt;
  return Block{getNode(self.node, mlirBlockGetParentOperation(block)), block};
}

static void bindOperations(nb::module_ &scope) {
  nb::class_<Parts>(scope, "Parts")
      .def(
          "__init__",
          [](Parts *self, std::string name, std::vector<Value> operands,
             std::optional<std::vector<Type>> results,
             std::vector<std::pair<std::string, Attribute>> attributes,
             intptr_t regions, std::vector<Block> successors,
             Attribute location) {
            new (self) Parts{std::move(name),
                             std::move(operands),
                             std::move(results),
                             std::move(attributes),
                             regions,
                             std::move(successors),
                             std::move(location)};
          },
          nb::arg("name"), nb::arg("operands"), nb::arg("results").none(),
          nb::arg("attributes"), nb::arg("regions"), nb::arg("successors"),
          nb::arg("location"));
  nb::class_<Operation>(scope, "Operation")
      .def_prop_ro("key",
                   [](const Operation &self) {
                     return makeKey(nullptr, self.node.get());
                   })
      .def_prop_ro(
          "context",
          [](const Operation &self) { return self.node->arena->context; })
      .def_prop_ro("name",
                   [](const Operation &self) {
                     return toString(
                         mlirIdentifierStr(mlirOperationGetName(self.get())));
                   })
      .def_prop_ro(
          "location",
          [](const Operation &self) {
            return Attribute{
                self.node->arena->context,
                mlirLocationGetAttribute(mlirOperationGetLocation(self.get()))};
          })
      .def_prop_ro("operands", getOperands)
      .def_prop_ro("results", getResults)
      .def_prop_ro("regions",
                   [](const Operation &self) {
                     std::vector<Region> regions;
                     for (intptr_t i = 0;
                          i < mlirOperationGetNumRegions(self.get()); ++i)
                       regions.push_back({self.node, i});
                     return regions;
                   })
      .def_prop_ro("successors", getSuccessors)
      .def_prop_ro("attributes",
                   [](const Operation &self) {
                     // What an operation has becomes a dictionary first.
                     Entered entered(self.node->context());
                     return getAttributes(self.node->arena->context,
                                          self.get());
                   })
      .def_prop_ro("block", getBlock)
      .def("set_operand", setOperand, nb::arg("number"), nb::arg("value"))
      .def("set_attribute", setAttribute, nb::arg("name"),
           nb::arg("attribute").none(), "None removes it.")
      .def("verify", verify)
      .def(
          "print",
          [](const Operation &self, bool generic, bool locations) {
            Entered entered(self.node->context());
            return printOperation(self.get(), generic, locations);
          },
          nb::arg("generic"), nb::arg("locations"))
      .def("insert", insertOperation, nb::arg("block"),
           nb::arg("before").none())
      .def_prop_ro("is_erased",
                   [](const Operation &self) { return self.node->isErased; })
      .def("walk", walk,
           "The operation and all within, each before what is in it.")
      .def("erase", eraseOperation);
}

void attune::python::bindIR(nb::module_ &scope) {
  scope.attr("DYNAMIC") = mlirShapedTypeGetDynamicSize();
  bindContext(scope);
  bindTypes(scope);
  bindAttributes(scope);
  bindValues(scope);
  bindBlocks(scope);
  bindOperations(scope);
}
