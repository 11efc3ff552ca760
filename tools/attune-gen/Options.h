// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command line of attune-gen: what all ops share here, what each has of its own
// in a file beside this one. A problem is checked as far as the command line
// can be: what is left is the verifiers'.

#ifndef ATTUNE_TOOLS_ATTUNE_GEN_OPTIONS_H
#define ATTUNE_TOOLS_ATTUNE_GEN_OPTIONS_H

#include "attune/Dialect/Attn/IR/AttentionProblem.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace attune::gen {

template <typename... Ts>
llvm::Error makeError(const char *format, Ts &&...values) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Ts>(values)...).str());
}

using attn::Element;
using attn::getEncoding;
using attn::getType;

/// The element types that attention takes.
llvm::cl::ValuesClass getInputTypes();

/// Sizes that may be dynamic.
enum class Size { Batch, Heads, SeqQ, SeqK, M, N, K, Tokens, Pages };

struct CommonOptions {
  llvm::cl::OptionCategory category{"Options of all ops"};
  llvm::cl::opt<std::string> op;
  llvm::cl::opt<long long> batch;
  llvm::cl::opt<long long> headDim;
  llvm::cl::opt<Element> dtype;
  llvm::cl::list<Size> dynamic;
  llvm::cl::opt<bool> strided;
  llvm::cl::opt<std::string> schedule;
  llvm::cl::opt<std::string> output;

  CommonOptions();
  /// A size: dynamic if --dynamic says so, else the option, else the fallback.
  llvm::Expected<int64_t> getSize(const llvm::cl::opt<long long> &option,
                                  std::optional<int64_t> fallback,
                                  std::optional<Size> name) const;
  /// One value for each knob of the set; leaves `values` without a schedule.
  llvm::Error readSchedule(llvm::SmallVectorImpl<int64_t> &values,
                           const KnobSet &set) const;
  /// Fails where --dtype has 8 bits, which attention alone takes.
  llvm::Error checkWide() const;
  /// Fails where --dynamic names a size that the op does not have.
  llvm::Error checkDynamic(llvm::ArrayRef<Size> known) const;
};

/// Sets `size`, or passes an error on.
inline llvm::Error read(int64_t &size, llvm::Expected<int64_t> got) {
  if (!got)
    return got.takeError();
  size = *got;
  return llvm::Error::success();
}

} // namespace attune::gen

#endif // ATTUNE_TOOLS_ATTUNE_GEN_OPTIONS_H
