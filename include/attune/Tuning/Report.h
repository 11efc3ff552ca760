// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search found, for people and for programs.

#ifndef ATTUNE_TUNING_REPORT_H
#define ATTUNE_TUNING_REPORT_H

#include "attune/Tuning/Tuner.h"

namespace attune::tuning {

/// The table at the end: the best ten, the default's rank, failures by reason
/// and, last of all, the winner. Schedules are told by what is not the default;
/// `verbose` adds that one and a line for each rule that refuses others.
void printReport(llvm::raw_ostream &os, const Task &task, const Space &space,
                 const LegalSpace &legal, const Outcome &outcome,
                 bool verbose = false);

/// The same, complete, as JSON.
llvm::json::Object makeReport(const Task &task, const Space &space,
                              const LegalSpace &legal,
                              const SessionInfo &session,
                              const Outcome &outcome);

/// What was not searched: a line for each rule that is broken.
void printRefusals(llvm::raw_ostream &os, const Space &space,
                   const LegalSpace &legal);

/// Refusals by id, as stored with a session.
llvm::json::Object makeRefusals(const LegalSpace::Refusals &refusals);

/// Prints what a database knows of its sessions; needs no device. Checks the
/// whole file.
llvm::Error printStatus(llvm::raw_ostream &os, Store &store);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_REPORT_H
