// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reverse-mode differentiation of score regions: a rule for each op, from the
// last op to the first (Griewank and Walther, Evaluating Derivatives, 2008,
// section 3.2).

#include "attune/Dialect/Attn/IR/ScoreGradient.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune::attn;

namespace {
/// One op of the region, where its derivatives are emitted.
struct RuleContext {
  ImplicitLocOpBuilder &b;
  /// What it was given and what it gave.
  SmallVector<Value> in;
  Value out;
  /// The gradient of `out`.
  Value g;
  /// The gradients of `in`; null where there is none.
  SmallVector<Value> grads;

  Value constant(double value) {
    return arith::ConstantOp::create(b, b.getFloatAttr(g.getType(), value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value neg(Value x) { return arith::NegFOp::create(b, x); }
  Value square(Value x) { return mul(x, x); }
  /// `x` where the comparison holds, otherwise 0; and the other way round.
  std::pair<Value, Value> divide(arith::CmpFPredicate predicate, Value lhs,
                                 Value rhs, Value x) {
    Value holds = arith::CmpFOp::create(b, predicate, lhs, rhs);
    return select(holds, x);
  }
  std::pair<Value, Value> select(Value holds, Value x) {
    Value zero = constant(0);
    return {arith::SelectOp::create(b, holds, x, zero),
            arith::SelectOp::create(b, holds, zero, x)};
  }
  /// For functions of one number: their derivative.
  void setDerivative(Value derivative) { grads[0] = mul(g, derivative); }
};

using Rule = void (*)(RuleContext &);
using RuleMap = llvm::DenseMap<TypeID, Rule>;
} // namespace

using Predicate = arith::CmpFPredicate;

static void addArithRules(RuleMap &rules) {
  rules[TypeID::get<arith::AddFOp>()] = [](RuleContext &c) {
    c.grads = {c.g, c.g};
  };
  rules[TypeID::get<arith::SubFOp>()] = [](RuleContext &c) {
    c.grads = {c.g, c.neg(c.g)};
  };
  rules[TypeID::get<arith::MulFOp>()] = [](RuleContext &c) {
    c.grads = {c.mul(c.g, c.in[1]), c.mul(c.g, c.in[0])};
  };
  rules[TypeID::get<arith::DivFOp>()] = [](RuleContext &c) {
    Value first = c.div(c.g, c.in[1]);
    c.grads = {first, c.neg(c.mul(first, c.out))};
  };
  rules[TypeID::get<arith::RemFOp>()] = [](RuleContext &c) {
    Value whole = math::TruncOp::create(c.b, c.div(c.in[0], c.in[1]));
    c.grads = {c.g, c.neg(c.mul(c.g, whole))};
  };
  rules[TypeID::get<arith::NegFOp>()] = [](RuleContext &c) {
    c.grads[0] = c.neg(c.g);
  };
  Rule larger = [](RuleContext &c) {
    auto [first, second] = c.divide(Predicate::OGE, c.in[0], c.in[1], c.g);
    c.grads = {first, second};
  };
  rules[TypeID::get<arith::MaximumFOp>()] = larger;
  rules[TypeID::get<arith::MaxNumFOp>()] = larger;
  Rule smaller = [](RuleContext &c) {
    auto [first, second] = c.divide(Predicate::OLE, c.in[0], c.in[1], c.g);
    c.grads = {first, second};
  };
  rules[TypeID::get<arith::MinimumFOp>()] = smaller;
  rules[TypeID::get<arith::MinNumFOp>()] = smaller;
  rules[TypeID::get<math::ClampFOp>()] = [](RuleContext &c) {
    auto [below, rest] = c.divide(Predicate::OLT, c.in[0], c.in[1], c.g);
    auto [above, inside] = c.divide(Predicate::OGT, c.in[0], c.in[2], rest);
    c.grads = {inside, below, above};
  };
  rules[TypeID::get<arith::SelectOp>()] = [](RuleContext &c) {
    auto [first, second] = c.select(c.in[0], c.g);
    c.grads = {Value(), first, second};
  };
  rules[TypeID::get<arith::ExtFOp>()] = [](RuleContext &c) {
    c.grads[0] = arith::TruncFOp::create(c.b, c.in[0].getType(), c.g);
  };
  rules[TypeID::get<arith::TruncFOp>()] = [](RuleContext &c) {
    c.grads[0] = arith::ExtFOp::create(c.b, c.in[0].getType(), c.g);
  };
}

static void addPowerRules(RuleMap &rules) {
  rules[TypeID::get<math::FmaOp>()] = [](RuleContext &c) {
    c.grads = {c.mul(c.g, c.in[1]), c.mul(c.g, c.in[0]), c.g};
  };
  rules[TypeID::get<math::AbsFOp>()] = [](RuleContext &c) {
    Value zero = c.constant(0);
    Value above = c.divide(Predicate::OGT, c.in[0], zero, c.g).first;
    Value below = c.divide(Predicate::OLT, c.in[0], zero, c.g).first;
    c.grads[0] = c.sub(above, below);
  };
  rules[TypeID::get<math::CopySignOp>()] = [](RuleContext &c) {
    Value one = c.constant(1);
    Value before = math::CopySignOp::create(c.b, one, c.in[0]);
    Value behind = math::CopySignOp::create(c.b, one, c.in[1]);
    c.grads[0] = c.mul(c.g, c.mul(before, behind));
  };
  rules[TypeID::get<math::SqrtOp>()] = [](RuleContext &c) {
    c.setDerivative(c.div(c.constant(0.5), c.out));
  };
  rules[TypeID::get<math::RsqrtOp>()] = [](RuleContext &c) {
    c.setDerivative(c.mul(c.constant(-0.5), c.div(c.out, c.in[0])));
  };
  rules[TypeID::get<math::CbrtOp>()] = [](RuleContext &c) {
    c.setDerivative(c.div(c.constant(1.0 / 3), c.square(c.out)));
  };
  rules[TypeID::get<math::PowFOp>()] = [](RuleContext &c) {
    Value lower =
        math::PowFOp::create(c.b, c.in[0], c.sub(c.in[1], c.constant(1)));
    Value log = math::LogOp::create(c.b, c.in[0]);
    c.grads = {c.mul(c.g, c.mul(c.in[1], lower)),
               c.mul(c.g, c.mul(c.out, log))};
  };
  rules[TypeID::get<math::FPowIOp>()] = [](RuleContext &c) {
    Type type = c.in[1].getType();
    Value one = arith::ConstantOp::create(c.b, c.b.getIntegerAttr(type, 1));
    Value lower = math::FPowIOp::create(
        c.b, c.in[0], arith::SubIOp::create(c.b, c.in[1], one));
    Value power = arith::SIToFPOp::create(c.b, c.g.getType(), c.in[1]);
    c.grads[0] = c.mul(c.g, c.mul(power, lower));
  };
}

static void addExponentialRules(RuleMap &rules) {
  rules[TypeID::get<math::ExpOp>()] = [](RuleContext &c) {
    c.setDerivative(c.out);
  };
  rules[TypeID::get<math::Exp2Op>()] = [](RuleContext &c) {
    c.setDerivative(c.mul(c.out, c.constant(llvm::numbers::ln2)));
  };
  rules[TypeID::get<math::ExpM1Op>()] = [](RuleContext &c) {
    c.setDerivative(c.add(c.out, c.constant(1)));
  };
  rules[TypeID::get<math::LogOp>()] = [](RuleContext &c) {
    c.grads[0] = c.div(c.g, c.in[0]);
  };
  rules[TypeID::get<math::Log2Op>()] = [](RuleContext &c) {
    c.setDerivative(c.div(c.constant(llvm::numbers::log2e), c.in[0]));
  };
  rules[TypeID::get<math::Log10Op>()] = [](RuleContext &c) {
    c.setDerivative(c.div(c.constant(llvm::numbers::log10e), c.in[0]));
  };
  rules[TypeID::get<math::Log1pOp>()] = [](RuleContext &c) {
    c.grads[0] = c.div(c.g, c.add(c.in[0], c.constant(1)));
  };
  rules[TypeID::get<math::ErfOp>()] = [](RuleContext &c) {
    Value exponent = c.neg(c.square(c.in[0]));
    c.setDerivative(c.mul(c.constant(2 * llvm::numbers::inv_sqrtpi),
                          math::ExpOp::create(c.b, exponent)));
  };
  rules[TypeID::get<math::ErfcOp>()] = [](RuleContext &c) {
    Value exponent = c.neg(c.square(c.in[0]));
    c.setDerivative(c.mul(c.constant(-2 * llvm::numbers::inv_sqrtpi),
                          math::ExpOp::create(c.b, exponent)));
  };
}

static void addTrigonometricRules(RuleMap &rules) {
  rules[TypeID::get<math::SinOp>()] = [](RuleContext &c) {
    c.setDerivative(math::CosOp::create(c.b, c.in[0]));
  };
  rules[TypeID::get<math::CosOp>()] = [](RuleContext &c) {
    c.setDerivative(c.neg(math::SinOp::create(c.b, c.in[0])));
  };
  rules[TypeID::get<math::TanOp>()] = [](RuleContext &c) {
    c.setDerivative(c.add(c.square(c.out), c.constant(1)));
  };
  rules[TypeID::get<math::AsinOp>()] = [](RuleContext &c) {
    c.setDerivative(
        math::RsqrtOp::create(c.b, c.sub(c.constant(1), c.square(c.in[0]))));
  };
  rules[TypeID::get<math::AcosOp>()] = [](RuleContext &c) {
    c.setDerivative(c.neg(
        math::RsqrtOp::create(c.b, c.sub(c.constant(1), c.square(c.in[0])))));
  };
  rules[TypeID::get<math::AtanOp>()] = [](RuleContext &c) {
    c.grads[0] = c.div(c.g, c.add(c.square(c.in[0]), c.constant(1)));
  };
  rules[TypeID::get<math::Atan2Op>()] = [](RuleContext &c) {
    Value share = c.div(c.g, c.add(c.square(c.in[0]), c.square(c.in[1])));
    c.grads = {c.mul(share, c.in[1]), c.neg(c.mul(share, c.in[0]))};
  };
  rules[TypeID::get<math::SinhOp>()] = [](RuleContext &c) {
    c.setDerivative(math::CoshOp::create(c.b, c.in[0]));
  };
  rules[TypeID::get<math::CoshOp>()] = [](RuleContext &c) {
    c.setDerivative(math::SinhOp::create(c.b, c.in[0]));
  };
  rules[TypeID::get<math::TanhOp>()] = [](RuleContext &c) {
    c.setDerivative(c.sub(c.constant(1), c.square(c.out)));
  };
  rules[TypeID::get<math::AsinhOp>()] = [](RuleContext &c) {
    c.setDerivative(
        math::RsqrtOp::create(c.b, c.add(c.square(c.in[0]), c.constant(1))));
  };
  rules[TypeID::get<math::AcoshOp>()] = [](RuleContext &c) {
    c.setDerivative(
        math::RsqrtOp::create(c.b, c.sub(c.square(c.in[0]), c.constant(1))));
  };
  rules[TypeID::get<math::AtanhOp>()] = [](RuleContext &c) {
    c.grads[0] = c.div(c.g, c.sub(c.constant(1), c.square(c.in[0])));
  };
}

/// Steps, which are constant but for where they jump.
static void addStepRules(RuleMap &rules) {
  Rule none = [](RuleContext &) {};
  rules[TypeID::get<math::CeilOp>()] = none;
  rules[TypeID::get<math::FloorOp>()] = none;
  rules[TypeID::get<math::RoundOp>()] = none;
  rules[TypeID::get<math::RoundEvenOp>()] = none;
  rules[TypeID::get<math::TruncOp>()] = none;
}

static Rule findRule(Operation *op) {
  static const RuleMap rules = [] {
    RuleMap map;
    addArithRules(map);
    addPowerRules(map);
    addExponentialRules(map);
    addTrigonometricRules(map);
    addStepRules(map);
    return map;
  }();
  return rules.lookup(op->getName().getTypeID());
}

/// The values of the region whose changes are asked for or passed on. Integers
/// are steps of floats and pass nothing on, but for the bits of a float.
static DenseSet<Value> findActive(Region &score, ValueRange wrt) {
  DenseSet<Value> active{score.getArgument(0)};
  for (Operation &op : score.front().without_terminator()) {
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    bool isActive = extract
                        ? llvm::is_contained(wrt, extract.getTensor())
                        : llvm::any_of(op.getOperands(), [&](Value operand) {
                            return active.contains(operand);
                          });
    for (Value result : op.getResults())
      if (isActive &&
          (isa<FloatType>(result.getType()) || isa<arith::BitcastOp>(op)))
        active.insert(result);
  }
  return active;
}

/// The ops that the yielded value is computed by.
static DenseSet<Operation *> findUsed(Region &score) {
  DenseSet<Operation *> used;
  SmallVector<Value> values(score.front().getTerminator()->getOperands());
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (op && score.isAncestor(op->getParentRegion()) && used.insert(op).second)
      llvm::append_range(values, op->getOperands());
  }
  return used;
}

Operation *attune::attn::findWithoutDerivative(Region &score, ValueRange wrt) {
  DenseSet<Value> active = findActive(score, wrt);
  DenseSet<Operation *> used = findUsed(score);
  for (Operation &op : score.front().without_terminator()) {
    bool isOnTheWay =
        used.contains(&op) && llvm::any_of(op.getResults(), [&](Value result) {
          return active.contains(result);
        });
    if (isOnTheWay && !isa<tensor::ExtractOp>(op) && !findRule(&op))
      return &op;
  }
  return nullptr;
}

ScoreGradient attune::attn::differentiateScore(OpBuilder &builder,
                                               Region &score,
                                               const IRMapping &forward,
                                               Value seed, ValueRange wrt) {
  Block &block = score.front();
  DenseSet<Value> active = findActive(score, wrt);
  DenseMap<Value, Value> gradients;
  gradients[cast<YieldOp>(block.getTerminator()).getValue()] = seed;
  ScoreGradient result;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (op.getNumResults() != 1 || !active.contains(op.getResult(0)))
      continue;
    Value gradient = gradients.lookup(op.getResult(0));
    if (!gradient)
      continue;
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      result.reads.emplace_back(extract, gradient);
      continue;
    }
    ImplicitLocOpBuilder b(op.getLoc(), builder);
    RuleContext context{b,
                        {},
                        forward.lookupOrDefault(op.getResult(0)),
                        gradient,
                        SmallVector<Value>(op.getNumOperands())};
    for (Value operand : op.getOperands())
      context.in.push_back(forward.lookupOrDefault(operand));
    findRule (&op)(context);
    for (auto [operand, more] :
         llvm::zip_equal(op.getOperands(), context.grads)) {
      if (!more || !active.contains(operand))
        continue;
      Value &sum = gradients[operand];
      sum = sum ? context.add(sum, more) : more;
    }
  }
  result.score = gradients.lookup(block.getArgument(0));
  return result;
}
