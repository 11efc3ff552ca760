// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers in workgroup memory, which count arrivals and bytes, and the bulk
// copies that they count (PTX ISA, "mbarrier").

#ifndef ATTUNE_LIB_SIMULATOR_MBARRIERS_H
#define ATTUNE_LIB_SIMULATOR_MBARRIERS_H

#include "HostTensorMap.h"
#include "SharedShadow.h"
#include <map>

namespace attune {

struct Thread;
class Workgroup;

class MBarriers {
public:
  /// Of the clocks, the first ones. Copies of more barriers than that may be
  /// taken for one another's.
  static constexpr uint32_t kActors = 32;

  explicit MBarriers(Workgroup &group) : group(group) {}

  /// Those of a new workgroup: none.
  void reset();

  void init(Thread &thread, uint32_t site, char *address, uint32_t count);
  void invalidate(Thread &thread, uint32_t site, char *address);
  /// Arrives `count` times, after `bytes` more are expected. Returns the number
  /// of the phase.
  uint64_t arrive(Thread &thread, uint32_t site, char *address, uint32_t count,
                  uint32_t bytes);
  /// Whether phase `number`, or the last one of its parity, is complete. A
  /// thread that hears so knows what those that arrived knew.
  bool test(Thread &thread, uint32_t site, char *address, uint64_t number,
            bool isParity);
  void wait(Thread &thread, uint32_t site, char *address, uint32_t parity);

  /// A copy to workgroup memory, complete when `barrier` has been told so.
  void copy(Thread &thread, uint32_t site, char *target, const char *source,
            char *barrier, uint32_t bytes);
  /// Starts a copy of `bytes` bytes, those in `pieces` and such as do not
  /// matter.
  void start(Thread &thread, uint32_t site, char *barrier, uint32_t bytes,
             llvm::SmallVector<BoxPiece> pieces);
  /// What the thread has initialised may be used by copies from here on.
  void fenceInit(const Thread &thread);
  /// Adds to `snapshot` what such fences of the thread order.
  void publishInits(const Thread &thread, Clocks::Snapshot &snapshot) const;
  /// Lets a copy land. False if none is on its way.
  bool landOne();

  /// Warns of copies that the workgroup has not waited for.
  void reportPending() const;
  /// Adds the state of each barrier that threads wait for.
  void describe(mlir::InFlightDiagnostic &diagnostic) const;

private:
  struct Barrier {
    uint32_t count = 0, pending = 0;
    /// Of its copies.
    uint32_t actor = 0;
    /// Who initialised it and where, a time of its own that those know who know
    /// of that, and whether a fence for copies followed.
    uint32_t initThread = 0, initSite = 0;
    Moment init;
    bool isFenced = false;
    /// Bytes that have not come.
    int64_t bytes = 0;
    uint64_t phase = 0;
    /// By those that arrived in this phase, the last one, and the one before.
    Clocks::Snapshot known, knownBefore, knownEarlier;
    llvm::SmallVector<Thread *> waiting;
  };
  struct Copy {
    uint32_t thread, site, bytes;
    llvm::SmallVector<BoxPiece> pieces;
    uint32_t barrier;
  };

  /// Ends the launch where there is none, or where it must be one of the
  /// thread's own workgroup and is not.
  Barrier &find(Thread &thread, uint32_t site, char *address,
                bool isOwn = true);
  void update(Barrier &barrier);
  void land(const Copy &copy);
  bool isComplete(const Barrier &barrier, uint64_t number, bool isParity) const;
  /// The thread learns of the last phase, for which it has waited.
  void hear(Thread &thread, uint32_t site, uint32_t offset,
            const Barrier &barrier, bool isParity);

  Workgroup &group;
  /// By offset.
  std::map<uint32_t, Barrier> barriers;
  std::vector<Copy> copies;
  uint32_t numInitialized = 0;
  /// Times that threads have asked in vain since the last copy landed for that
  /// reason.
  size_t numAsked = 0;
};

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_MBARRIERS_H
