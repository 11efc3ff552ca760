// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long IR lives that Python holds.

#include "IR.h"
#include "attune-c/Compile.h"
#include "attune-c/Dialects.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include <algorithm>

namespace nb = nanobind;
using namespace attune::python;

Context::Context() {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  attuneRegisterAllDialects(registry);
  context = mlirContextCreateWithRegistry(registry, /*threading=*/false);
  mlirDialectRegistryDestroy(registry);
  mlirContextAttachDiagnosticHandler(context, handle, this, nullptr);
}

MlirLogicalResult Context::handle(MlirDiagnostic diagnostic, void *userData) {
  attuneDiagnosticPrint(diagnostic, append,
                        &static_cast<Context *>(userData)->said);
  return mlirLogicalResultSuccess();
}

Entered::Entered(Context &context) : lock(context.mutex, std::defer_lock) {
  if (lock.try_lock())
    return;
  nb::gil_scoped_release released;
  lock.lock();
}

std::vector<MlirOperation> attune::python::collectOperations(MlirOperation op) {
  std::vector<MlirOperation> found;
  mlirOperationWalk(
      op,
      [](MlirOperation inner, void *userData) {
        static_cast<std::vector<MlirOperation> *>(userData)->push_back(inner);
        return MlirWalkResultAdvance;
      },
      &found, MlirWalkPreOrder);
  return found;
}

/// Of an operation and all within.
static void dropOperands(MlirOperation op) {
  for (MlirOperation inner : collectOperations(op))
    mlirOperationSetOperands(inner, 0, nullptr);
}

Arena::~Arena() {
  // They may use each other's values, whatever their order.
  for (MlirOperation top : tops)
    dropOperands(top);
  for (MlirOperation top : tops)
    mlirOperationDestroy(top);
}

Node::~Node() {
  if (!isErased)
    arena->context->nodes.erase(op.ptr);
}

MlirOperation Node::get() const {
  if (isErased)
    throw nb::value_error(
        "expects an operation of a module, but got one that was erased");
  return op;
}

/// That which has all operations of an arena by now.
static ArenaRef resolve(ArenaRef arena) {
  while (arena->into)
    arena = arena->into;
  return arena;
}

NodeRef attune::python::getNode(const ArenaRef &arena, MlirOperation op) {
  std::weak_ptr<Node> &known = arena->context->nodes[op.ptr];
  if (NodeRef node = known.lock())
    return node;
  auto node = std::make_shared<Node>(resolve(arena), op);
  known = node;
  return node;
}

NodeRef attune::python::addTop(ContextRef context, MlirOperation op) {
  auto arena = std::make_shared<Arena>(std::move(context));
  arena->tops.push_back(op);
  return getNode(arena, op);
}

void attune::python::unite(const NodeRef &a, const NodeRef &b) {
  ArenaRef from = resolve(a->arena), into = resolve(b->arena);
  if (from == into)
    return;
  into->tops.insert(into->tops.end(), from->tops.begin(), from->tops.end());
  from->tops.clear();
  from->into = into;
}

void attune::python::checkContext(const ContextRef &context,
                                  const ContextRef &other) {
  if (context != other)
    throw nb::value_error("expects operations, types, attributes and locations "
                          "of one context, but got those of two");
}

static void checkOperation(const ContextRef &context, const Parts &parts) {
  if (parts.name.find('.') != std::string::npos)
    mlirContextGetOrLoadDialect(
        context->get(), toRef(parts.name.substr(0, parts.name.find('.'))));
  if (!mlirContextIsRegisteredOperation(context->get(), toRef(parts.name)))
    throw nb::value_error(
        ("expects the name of an operation, but got '" + parts.name + "'")
            .c_str());
  for (const Value &operand : parts.operands) {
    operand.get();
    checkContext(context, operand.owner->arena->context);
  }
  for (const auto &[name, attribute] : parts.attributes)
    checkContext(context, attribute.context);
  if (parts.results)
    for (const Type &type : *parts.results)
      checkContext(context, type.context);
  checkContext(context, parts.location.context);
  if (!mlirAttributeIsALocation(parts.location.attribute))
    throw nb::value_error("expects a location, but got another attribute");
}

static void checkPlace(const Block &block,
                       const std::optional<Operation> &before) {
  block.get();
  if (before &&
      !mlirBlockEqual(mlirOperationGetBlock(before->get()), block.block))
    throw nb::value_error("expects an operation of the block to insert before, "
                          "but got one that is elsewhere");
}

/// Branches stay within a region, so that no block is erased before them.
static void checkSuccessors(const Parts &parts,
                            const std::optional<Block> &block) {
  for (const Block &successor : parts.successors)
    if (!block || !mlirRegionEqual(mlirBlockGetParentRegion(successor.get()),
                                   mlirBlockGetParentRegion(block->get())))
      throw nb::value_error("expects successors in the region into which the "
                            "operation is inserted, but got others");
}

[[noreturn]] static void throwOfAttribute(const std::string &op,
                                          const std::string &name,
                                          const Attribute &attribute) {
  std::string text = "expects '" + name + "' of '" + op +
                     "' to be an attribute of another kind, but got '" +
                     print(mlirAttributePrint, attribute.attribute) + "'";
  throw nb::value_error(text.c_str());
}

/// An operation leaves out its own attributes where they are of another kind,
/// and then lacks them.
static void checkAttributes(MlirOperation op, const Parts &parts) {
  for (const auto &[name, attribute] : parts.attributes) {
    if (mlirAttributeEqual(mlirOperationGetAttributeByName(op, toRef(name)),
                           attribute.attribute))
      continue;
    mlirOperationDestroy(op);
    throwOfAttribute(parts.name, name, attribute);
  }
}

static MlirOperation create(MlirContext context, const Parts &parts,
                            const std::vector<MlirType> *results) {
  MlirOperationState state = mlirOperationStateGet(
      toRef(parts.name), mlirLocationFromAttribute(parts.location.attribute));
  std::vector<MlirValue> operands;
  for (const Value &operand : parts.operands)
    operands.push_back(operand.value);
  mlirOperationStateAddOperands(&state, operands.size(), operands.data());
  std::vector<MlirNamedAttribute> attributes;
  for (const auto &[name, attribute] : parts.attributes)
    attributes.push_back(mlirNamedAttributeGet(
        mlirIdentifierGet(context, toRef(name)), attribute.attribute));
  mlirOperationStateAddAttributes(&state, attributes.size(), attributes.data());
  std::vector<MlirBlock> successors;
  for (const Block &successor : parts.successors)
    successors.push_back(successor.block);
  mlirOperationStateAddSuccessors(&state, successors.size(), successors.data());
  std::vector<MlirRegion> regions;
  for (intptr_t i = 0; i < parts.regions; ++i)
    regions.push_back(mlirRegionCreate());
  mlirOperationStateAddOwnedRegions(&state, regions.size(), regions.data());
  if (results)
    mlirOperationStateAddResults(&state, results->size(), results->data());
  else
    mlirOperationStateEnableResultTypeInference(&state);
  MlirOperation op = mlirOperationCreate(&state);
  if (!mlirOperationIsNull(op))
    checkAttributes(op, parts);
  return op;
}

std::vector<std::pair<std::string, Attribute>>
attune::python::getAttributes(const ContextRef &context, MlirOperation op) {
  std::vector<std::pair<std::string, Attribute>> attributes;
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); ++i) {
    MlirNamedAttribute named = mlirOperationGetAttribute(op, i);
    attributes.emplace_back(toString(mlirIdentifierStr(named.name)),
                            Attribute{context, named.attribute});
  }
  return attributes;
}

static std::vector<MlirType> getResults(const ContextRef &context,
                                        const Parts &parts, size_t number) {
  std::vector<MlirType> results(number, mlirNoneTypeGet(context->get()));
  if (parts.results) {
    results.clear();
    for (const Type &type : *parts.results)
      results.push_back(type.type);
  }
  return results;
}

/// Adds attributes with defaults, and returns what the verifier says of
/// operands, attributes and results that are given, of an operation that is
/// made for it. Inference, verifiers of other operations and printers trust
/// that these are right. What is still missing, as blocks, is of no interest
/// yet.
static std::string verifyParts(const ContextRef &context, Parts &parts,
                               MlirBlock block) {
  std::string said;
  size_t number = 0;
  // It asks for the number of results first.
  do {
    std::vector<MlirType> results = getResults(context, parts, ++number);
    MlirOperation op = create(context->get(), parts, &results);
    parts.attributes = getAttributes(context, op);
    if (!mlirBlockIsNull(block))
      mlirBlockAppendOwnedOperation(block, op);
    mlirOperationVerify(op);
    mlirOperationDestroy(op);
    said = context->takeDiagnostics();
  } while (!parts.results && number < 8 &&
           said.find("' op expected ") != std::string::npos &&
           said.find(" results") != std::string::npos);
  for (const char *text :
       {"' op operand #", "' op attribute '", "' op requires attribute '",
        " specified in attribute '"})
    if (said.find(text) != std::string::npos)
      return said;
  return parts.results && said.find("' op result #") != std::string::npos ? said
                                                                          : "";
}

static Parts getParts(const NodeRef &node) {
  const ContextRef &context = node->arena->context;
  MlirOperation op = node->get();
  Parts parts;
  parts.name = toString(mlirIdentifierStr(mlirOperationGetName(op)));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    parts.operands.push_back({node, mlirOperationGetOperand(op, i)});
  parts.results.emplace();
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    parts.results->push_back(
        {context, mlirValueGetType(mlirOperationGetResult(op, i))});
  parts.attributes = getAttributes(context, op);
  parts.regions = mlirOperationGetNumRegions(op);
  for (intptr_t i = 0; i < mlirOperationGetNumSuccessors(op); ++i)
    parts.successors.push_back({node, mlirOperationGetSuccessor(op, i)});
  parts.location = {context,
                    mlirLocationGetAttribute(mlirOperationGetLocation(op))};
  return parts;
}

std::string
attune::python::setAttribute(const Operation &op, const std::string &name,
                             const std::optional<Attribute> &attribute) {
  const ContextRef &context = op.node->arena->context;
  if (attribute)
    checkContext(context, attribute->context);
  Entered entered(*context);
  Parts parts = getParts(op.node);
  parts.attributes.erase(
      std::remove_if(parts.attributes.begin(), parts.attributes.end(),
                     [&](const auto &named) { return named.first == name; }),
      parts.attributes.end());
  if (attribute)
    parts.attributes.emplace_back(name, *attribute);
  std::string said =
      verifyParts(context, parts, mlirOperationGetBlock(op.get()));
  if (!said.empty())
    return said;
  // One that is removed is what it is where nobody gives it, if it has a
  // default.
  mlirOperationRemoveAttributeByName(op.get(), toRef(name));
  for (const auto &[other, value] : parts.attributes)
    if (other == name)
      mlirOperationSetAttributeByName(op.get(), toRef(name), value.attribute);
  return "";
}

static void insert(MlirOperation op, const Block &block,
                   const std::optional<Operation> &before) {
  if (before)
    mlirBlockInsertOwnedOperationBefore(block.block, before->node->op, op);
  else
    mlirBlockAppendOwnedOperation(block.block, op);
}

std::pair<std::optional<Operation>, std::string>
attune::python::createOperation(const ContextRef &context, Parts parts,
                                std::optional<Block> block,
                                std::optional<Operation> before) {
  Entered entered(*context);
  checkOperation(context, parts);
  if (block) {
    checkContext(context, block->owner->arena->context);
    checkPlace(*block, before);
  }
  checkSuccessors(parts, block);
  MlirBlock place = block ? block->block : MlirBlock{nullptr};
  if (std::string said = verifyParts(context, parts, place); !said.empty())
    return {std::nullopt, said};
  std::vector<MlirType> results = getResults(context, parts, 0);
  MlirOperation op =
      create(context->get(), parts, parts.results ? &results : nullptr);
  std::string said = context->takeDiagnostics();
  if (mlirOperationIsNull(op))
    return {std::nullopt, said};
  NodeRef node;
  if (block) {
    insert(op, *block, before);
    node = getNode(block->owner, op);
  } else {
    node = addTop(context, op);
  }
  for (const Value &operand : parts.operands)
    unite(node, operand.owner);
  return {Operation{node}, said};
}

static bool isWithin(MlirOperation inner, MlirOperation outer) {
  for (; !mlirOperationIsNull(inner);
       inner = mlirOperationGetParentOperation(inner))
    if (mlirOperationEqual(inner, outer))
      return true;
  return false;
}

static void removeTop(const NodeRef &node) {
  std::vector<MlirOperation> &tops = resolve(node->arena)->tops;
  tops.erase(std::remove_if(tops.begin(), tops.end(),
                            [&](MlirOperation top) {
                              return mlirOperationEqual(top, node->op);
                            }),
             tops.end());
}

void attune::python::insertOperation(const Operation &op, const Block &block,
                                     std::optional<Operation> before) {
  checkContext(op.node->arena->context, block.owner->arena->context);
  Entered entered(op.node->context());
  if (!mlirBlockIsNull(mlirOperationGetBlock(op.get())))
    throw nb::value_error(
        "expects an operation that is in no block, but got one that is");
  checkPlace(block, before);
  if (isWithin(block.owner->op, op.get()))
    throw nb::value_error("expects a block outside of the operation, but got "
                          "one within");
  removeTop(op.node);
  insert(op.get(), block, before);
  unite(op.node, block.owner);
}

/// Whether all uses of a value are in an operation.
static bool isUsedWithin(MlirValue value, MlirOperation op) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (!isWithin(mlirOpOperandGetOwner(use), op))
      return false;
  return true;
}

/// Whether nothing outside of an operation uses what is defined in `inner`.
static bool isUsedWithin(MlirOperation inner, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(inner); ++i)
    if (!isUsedWithin(mlirOperationGetResult(inner, i), op))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(inner); ++i)
    for (MlirBlock block =
             mlirRegionGetFirstBlock(mlirOperationGetRegion(inner, i));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (intptr_t j = 0; j < mlirBlockGetNumArguments(block); ++j)
        if (!isUsedWithin(mlirBlockGetArgument(block, j), op))
          return false;
  return true;
}

void attune::python::eraseOperation(const Operation &op) {
  Context &context = op.node->context();
  Entered entered(context);
  std::vector<MlirOperation> erased = collectOperations(op.get());
  for (MlirOperation inner : erased)
    if (!isUsedWithin(inner, op.get()))
      throw nb::value_error(
          "expects an operation whose values nobody else uses, but got one "
          "with uses");
  for (MlirOperation inner : erased) {
    auto known = context.nodes.find(inner.ptr);
    if (known == context.nodes.end())
      continue;
    if (NodeRef node = known->second.lock())
      node->isErased = true;
    context.nodes.erase(inner.ptr);
  }
  removeTop(op.node);
  mlirOperationDestroy(op.node->op);
}

std::string attune::python::printOperation(MlirOperation op, bool generic,
                                           bool locations) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  if (generic)
    mlirOpPrintingFlagsPrintGenericOpForm(flags);
  if (locations)
    mlirOpPrintingFlagsEnableDebugInfo(flags, /*enable=*/true,
                                       /*prettyForm=*/false);
  std::string text;
  mlirOperationPrintWithFlags(op, flags, append, &text);
  mlirOpPrintingFlagsDestroy(flags);
  return text;
}
