// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule that need not be an attribute: the search asks about more of them
// than a context should keep.

#ifndef ATTUNE_SCHEDULE_SCHEDULE_H
#define ATTUNE_SCHEDULE_SCHEDULE_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include <functional>

namespace attune {

/// The value of each knob, read where it is kept and when it is asked for.
class Schedule {
public:
  Schedule(attn::ScheduleAttr schedule)
      : read([values = schedule.getValues()](size_t place) {
          return values[place];
        }) {}
  /// `read` gives the value of a knob by its place in ScheduleAttr::getKnobs().
  explicit Schedule(std::function<int64_t(size_t)> read)
      : read(std::move(read)) {}

#define ATTUNE_KNOB_ACCESSOR(accessor, place)                                  \
  int64_t accessor() const { return read(place); }
  ATTUNE_FOR_EACH_KNOB(ATTUNE_KNOB_ACCESSOR)
#undef ATTUNE_KNOB_ACCESSOR

private:
  enum Place : size_t { ATTUNE_KNOB_MEMBERS };

  std::function<int64_t(size_t)> read;
};

} // namespace attune

#endif // ATTUNE_SCHEDULE_SCHEDULE_H
