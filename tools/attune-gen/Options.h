// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command line of attune-gen, and the problem that it describes.

#ifndef ATTUNE_TOOLS_ATTUNE_GEN_OPTIONS_H
#define ATTUNE_TOOLS_ATTUNE_GEN_OPTIONS_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace attune::gen {

/// One attention problem, checked as far as the command line can be: what is
/// left is the op's verifier's.
struct Problem {
  /// Sizes; ShapedType::kDynamic where --dynamic names them.
  int64_t batch, headsQ, headsKV, seqQ, seqK;
  int64_t headDimQK, headDimV;
  bool isBFloat16;
  std::string order;
  std::optional<attn::Alignment> causal;
  /// Left and right, -1 where unbounded.
  std::optional<std::pair<int64_t, int64_t>> window;
  std::optional<float> softcap, scale;
  bool alibi, sinks, lse, strided;
  /// One value per knob; empty for no schedule.
  llvm::SmallVector<int64_t> schedule;
  std::string outputPath;
};

/// Reads the command line. What llvm::cl itself refuses ends the process with
/// a message; the rest is an error here.
llvm::Expected<Problem> parseCommandLine(int argc, char **argv);

} // namespace attune::gen

#endif // ATTUNE_TOOLS_ATTUNE_GEN_OPTIONS_H
