// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes texts by the grammar that other texts follow: it learns from them
// which types, attributes and words stand where, and puts one in the place of
// another, so that what comes out is nearly valid.

#ifndef ATTUNE_TEST_FUZZ_MUTATOR_H
#define ATTUNE_TEST_FUZZ_MUTATOR_H

#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace attune::fuzz {

/// Numbers that follow from a seed alone.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// At least 0 and below `bound`, which is not 0.
  size_t below(size_t bound) { return engine() % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename Container> const auto &pick(const Container &container) {
    return container[below(container.size())];
  }

private:
  std::mt19937_64 engine;
};

/// A lexeme of MLIR's, with the blanks and comments before it.
struct Token {
  enum class Kind { Word, Number, Value, Symbol, String, Mark };
  Kind kind;
  std::string blanks;
  std::string text;
};
using Tokens = std::vector<Token>;

/// Splits a text into tokens. A shape's dimensions are tokens each.
Tokens tokenize(llvm::StringRef text);
/// The text without one of its statements: a line, and what the brackets that
/// it opens hold. Nothing if it has fewer.
std::optional<std::string> dropStatement(llvm::StringRef text, size_t number);

class Mutator {
public:
  /// Takes what is in a text for use in others.
  void learn(llvm::StringRef text);

  /// A text with one to four changes.
  std::string mutate(llvm::StringRef text, Random &random) const;

private:
  void change(Tokens &tokens, Random &random) const;
  bool changeNumber(Tokens &tokens, Random &random) const;
  bool changePart(Tokens &tokens, Random &random) const;
  bool changeElements(Tokens &tokens, Random &random) const;
  bool changeWord(Tokens &tokens, Random &random) const;
  bool changeName(Tokens &tokens, Random &random) const;
  bool changeStatement(Tokens &tokens, Random &random) const;
  bool changeToken(Tokens &tokens, Random &random) const;

  /// What has followed a token.
  std::map<std::string, std::vector<std::string>> successors;
  /// Whole types and attributes, such as `tensor<4xf32>` and `#a.b<c>`.
  std::vector<std::string> parts;
  /// Elements of lists that are named, such as `scale = 1.0 : f32`.
  std::vector<std::string> entries;
  std::vector<std::string> strings;
  std::vector<std::string> statements;
  /// All of the above, so that each stands there once.
  std::set<std::string> known;
};

} // namespace attune::fuzz

#endif // ATTUNE_TEST_FUZZ_MUTATOR_H
