// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attune-tune does, as a function: reads a module, tunes in turn each op
// that can be, or a function by a transform script, reports, and writes what it
// found.

#ifndef ATTUNE_TUNING_TUNEFILE_H
#define ATTUNE_TUNING_TUNEFILE_H

#include "attune/Tuning/Tuner.h"
#include "attune/Tuning/VendorTime.h"

namespace attune::tuning {

struct TuneFileOptions {
  /// A file, or "-".
  std::string input = "-";
  /// A file, "-", or empty for none.
  std::string output;
  /// Of dynamic dimensions, by the names of getProblemSizes().
  std::map<std::string, int64_t> sizes;
  /// The values that a knob is searched with, by its name; its domain for those
  /// that are not named.
  KnobValues only;
  /// What other kernels take, for reports.
  std::vector<VendorTime> vendors;
  /// Tuning specs: what they have for problems of the same kind is tried first.
  std::vector<std::string> tuningSpecs;
  /// Empty: that of the device.
  std::string chip;
  /// The chip where `chip` is empty and there is no device.
  std::string fallbackChip;
  /// "auto", "none", or the kind of device that has to be there.
  std::string device = "auto";
  /// How a device is measured, if there is one.
  ChipState state = ChipState::Sustained;
  /// Whether the command line names it, or an objective other than time: then
  /// there must be a device with states.
  bool namesState = false;
  std::vector<int> ordinals = {0};
  /// Whether the command line names devices to use: then there must be some.
  bool namesDevices = false;
  /// Beside those, all devices like the first of them.
  bool allDevices = false;
  /// Commands that start a worker on another machine, as makeRemoteCommand()
  /// takes them.
  std::vector<std::string> launchers;
  /// Empty: results last as long as the process.
  std::string database;
  std::string strategy = "guided";
  /// What the strategy `replay` repeats: a report or a database.
  std::string replay;
  uint64_t seed = 1;
  unsigned jobs = 1;
  bool rank = true;
  /// Also what is legal and not worth trying.
  bool everything = false;
  bool quiet = false;
  /// Report each rule that refuses schedules.
  bool verbose = false;
  /// Only count the space.
  bool dryRun = false;
  /// Where the JSON report goes; empty for nowhere.
  std::string report;
  /// Categories of the remarks that are emitted, as a regular expression; empty
  /// for none, or for all if they go to a file.
  std::string remarksFilter;
  /// Where remarks go as YAML; empty for the terminal.
  std::string remarksFile;
  std::string assembler;
  double compileSeconds = 60;
  double runSeconds = 30;
  double prepareSeconds = 600;
  uint64_t compileMemoryBytes = 4ull << 30;
  uint64_t runMemoryBytes = 0;
  TunerOptions search;
  /// The command line, for messages and the database.
  std::string command;
  /// The executable that holds the workers.
  std::string executable;

  /// The file of a transform script, of which the knobs are searched; it may as
  /// well stand in the input.
  std::string script;
  /// What makes the transformed input a program for the CPU. Empty: ops
  /// are tuned, for a chip.
  std::string pipeline;
  /// What does so without the script, for the reference.
  std::string referencePipeline =
      "builtin.module(one-shot-bufferize{bufferize-function-boundaries "
      "function-boundary-type-conversion=identity-layout-map},"
      "convert-linalg-to-loops,convert-vector-to-scf,lower-affine,"
      "convert-scf-to-cf,expand-strided-metadata,lower-affine,"
      "convert-math-to-libm,convert-vector-to-llvm,convert-to-llvm,"
      "reconcile-unrealized-casts)";
  /// The function that is run; that of the input if it has one.
  std::string entry;
  /// Shared libraries that programs call.
  std::vector<std::string> libraries;
};

/// Returns an exit code.
int tuneFile(const TuneFileOptions &options,
             const volatile sig_atomic_t &interrupted);

/// Prints the sessions of a database. Returns an exit code.
int printDatabaseStatus(llvm::StringRef database);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_TUNEFILE_H
