// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Python holds of MLIR's IR. Nothing that it holds dangles: types and
// attributes keep their context; operations, and what is in them, keep all that
// was built together, and are told when they are erased.

#ifndef ATTUNE_PYTHON_SRC_IR_H
#define ATTUNE_PYTHON_SRC_IR_H

#include "Bindings.h"
#include "mlir-c/Diagnostics.h"
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace attune::python {

struct Node;

/// All dialects, and what is said while it is there. A context is for one
/// thread at a time.
class Context {
public:
  Context();
  ~Context() { mlirContextDestroy(context); }
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  MlirContext get() const { return context; }
  std::string takeDiagnostics() { return std::exchange(said, {}); }

  std::mutex mutex;
  /// Of operations that Python holds, by address. The interpreter's lock is
  /// theirs, too.
  std::unordered_map<const void *, std::weak_ptr<Node>> nodes;

private:
  static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *userData);

  MlirContext context;
  std::string said;
};

using ContextRef = std::shared_ptr<Context>;

/// Has a context for itself. Whoever has it does not wait for the interpreter,
/// so that nobody waits for a context with the interpreter's lock.
class Entered {
public:
  explicit Entered(Context &context);

private:
  std::unique_lock<std::mutex> lock;
};

/// Operations that refer to each other, and so live as long as any of them is
/// held.
struct Arena {
  explicit Arena(ContextRef context) : context(std::move(context)) {}
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  ContextRef context;
  /// Those that are in no block.
  std::vector<MlirOperation> tops;
  /// Has them all, once operations of two arenas referred to each other.
  std::shared_ptr<Arena> into;
};

using ArenaRef = std::shared_ptr<Arena>;

/// An operation that Python holds.
struct Node {
  Node(ArenaRef arena, MlirOperation op) : arena(std::move(arena)), op(op) {}
  ~Node();
  Node(const Node &) = delete;
  Node &operator=(const Node &) = delete;

  /// Raises ValueError where it was erased.
  MlirOperation get() const;
  Context &context() const { return *arena->context; }

  ArenaRef arena;
  MlirOperation op;
  bool isErased = false;
};

using NodeRef = std::shared_ptr<Node>;

/// The node of an operation of an arena: one, however often
/// it is asked for.
NodeRef getNode(const ArenaRef &arena, MlirOperation op);
/// That of an operation which is built with one that is held.
inline NodeRef getNode(const NodeRef &node, MlirOperation op) {
  return getNode(node->arena, op);
}
/// That of a new operation which is in no block.
NodeRef addTop(ContextRef context, MlirOperation op);

struct Type {
  ContextRef context;
  MlirType type;
};

struct Attribute {
  ContextRef context;
  MlirAttribute attribute;
};

/// One of an operation's regions.
struct Region {
  NodeRef owner;
  intptr_t number;
  MlirRegion get() const {
    return mlirOperationGetRegion(owner->get(), number);
  }
};

/// Blocks are never erased but with the operation around them.
struct Block {
  NodeRef owner;
  MlirBlock block;
  MlirBlock get() const { return owner->get(), block; }
};

/// A result of the operation, or an argument of one of its blocks.
struct Value {
  NodeRef owner;
  MlirValue value;
  MlirValue get() const { return owner->get(), value; }
};

struct Operation {
  NodeRef node;
  MlirOperation get() const { return node->get(); }
};

/// What an operation is made of.
struct Parts {
  std::string name;
  std::vector<Value> operands;
  /// Without them they are inferred.
  std::optional<std::vector<Type>> results;
  std::vector<std::pair<std::string, Attribute>> attributes;
  intptr_t regions;
  std::vector<Block> successors;
  Attribute location;
};

/// Makes an operation, in no block, or at the end of one or before another
/// operation there. None, and what was said, where types cannot be inferred.
/// Raises ValueError where parts are of several contexts, or were erased.
std::pair<std::optional<Operation>, std::string>
createOperation(const ContextRef &context, Parts parts,
                std::optional<Block> block, std::optional<Operation> before);
std::vector<std::pair<std::string, Attribute>>
getAttributes(const ContextRef &context, MlirOperation op);
/// Sets an attribute, or removes it: one with a default has that then. Gives
/// what was said where the operation cannot be so, and raises ValueError where
/// the attribute is of another kind.
std::string setAttribute(const Operation &op, const std::string &name,
                         const std::optional<Attribute> &attribute);
/// Moves an operation that is in no block into one.
void insertOperation(const Operation &op, const Block &block,
                     std::optional<Operation> before);
void eraseOperation(const Operation &op);
/// The operation and all within, each before what is in it.
std::vector<MlirOperation> collectOperations(MlirOperation op);
/// Lets what is built with each live as long as that with the other.
void unite(const NodeRef &a, const NodeRef &b);
/// Raises ValueError where it is another context.
void checkContext(const ContextRef &context, const ContextRef &other);

/// As Python's own values (attune_mlir/_native.pyi): numbers, strings and
/// collections of them; the text of anything else.
nanobind::object describeAttribute(MlirAttribute attribute);
/// Text, and file, line and column, or None where it has none.
nanobind::object describeLocation(MlirLocation location);

std::string printOperation(MlirOperation op, bool generic, bool locations);

/// Contexts, types, attributes, operations and what they are made of.
void bindIR(nanobind::module_ &scope);

template <typename Handle>
std::string print(void (*printTo)(Handle, MlirStringCallback, void *),
                  Handle handle) {
  std::string text;
  printTo(handle, append, &text);
  return text;
}

inline nanobind::object toObject(const std::string &text) {
  return nanobind::str(text.data(), text.size());
}

} // namespace attune::python

#endif // ATTUNE_PYTHON_SRC_IR_H
