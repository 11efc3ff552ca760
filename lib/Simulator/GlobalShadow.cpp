// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses are remembered and forgotten as those to workgroup memory are
// (SharedShadow.cpp). An atomic store counts as one that reads, too.

#include "GlobalShadow.h"

using namespace mlir;
using namespace attune;

void GlobalShadow::begin(ArrayRef<const HostThread *> newThreads) {
  threads = newThreads;
  clusters.push_back({});
  llvm::copy(threads.front()->blockId, clusters.back().begin());
  lessons.clear();
  fenced.assign(threads.size(), {});
  unacquired.assign(threads.size(), {});
}

GlobalShadow::Word &GlobalShadow::getWord(uintptr_t address) {
  uintptr_t number = address / kShadowWordBytes, page = number / kPageWords;
  if (!lastPage || page != lastPageNumber) {
    std::unique_ptr<Word[]> &words = pages[page];
    if (!words)
      words = std::make_unique<Word[]>(kPageWords);
    lastPage = words.get();
    lastPageNumber = page;
  }
  return lastPage[number % kPageWords];
}

bool GlobalShadow::knows(uint32_t thread, const Access &earlier) const {
  if (earlier.cluster + 1 == clusters.size())
    return earlier.thread == thread ||
           clocks.knows(thread, {earlier.thread, earlier.time});
  return llvm::any_of(lessons, [&](const Lesson &lesson) {
    if (!clocks.knows(thread, lesson.moment))
      return false;
    auto it = lesson.known.find(earlier.cluster);
    return it != lesson.known.end() &&
           (*it->second)[earlier.thread] >= earlier.time;
  });
}

std::string GlobalShadow::describe(const Access &access) const {
  const HostThread &thread = *threads[access.thread];
  std::string text = "thread " + formatIndex(thread.threadId);
  uint32_t block[3];
  llvm::copy(clusters[access.cluster], block);
  block[0] += thread.rank;
  return text + " of block " + formatIndex(block);
}

void GlobalShadow::checkOrder(ArrayRef<Access> accesses, const Access &now,
                              const GlobalRegion &region, uintptr_t address,
                              const char *what) {
  for (const Access &earlier : accesses) {
    if (!(earlier.mask & now.mask) || (earlier.atomic && now.atomic) ||
        knows(now.thread, earlier))
      continue;
    if (auto diagnostic = reports.add(
            HostCheck::Races, now.site, *threads[now.thread],
            Twine(what) + " " + describe(earlier) +
                " with nothing that orders them between, " +
                Twine(address - region.begin) + " bytes into " + region.name))
      diagnostic->attachNote(reports.getLoc(earlier.site))
          << "that access is here";
    return;
  }
}

void GlobalShadow::remember(llvm::SmallVectorImpl<Access> &accesses,
                            const Access &now) {
  llvm::erase_if(accesses, [&](const Access &earlier) {
    return (earlier.mask & ~now.mask) == 0 && knows(now.thread, earlier);
  });
  accesses.push_back(now);
}

void GlobalShadow::access(uint32_t thread, uint32_t site,
                          const GlobalRegion &region, uintptr_t address,
                          uint32_t bytes, uint32_t flags) {
  bool isWrite = flags & kHostAccessWrite, isAtomic = flags & kHostAccessAtomic;
  if (isAtomic)
    acquire(thread, address, flags);
  uint32_t cluster = clusters.size() - 1, time = clocks.now(thread);
  forEachShadowWord(address, bytes, [&](uintptr_t at, uint8_t mask) {
    Access now{cluster, thread, time, site, mask, isAtomic};
    Word &word = getWord(at);
    checkOrder(word.writes, now, region, at,
               isWrite ? "overwrites what was written by"
                       : "reads what was written by");
    if (isWrite) {
      checkOrder(word.reads, now, region, at, "overwrites what was read by");
      llvm::erase_if(word.reads, [&](const Access &earlier) {
        return (earlier.mask & ~mask) == 0;
      });
    }
    if (isWrite)
      remember(word.writes, now);
    else
      remember(word.reads, now);
  });
  // What is released includes the access itself.
  if (isAtomic && isWrite)
    release(thread, address, flags);
}

/// Each cluster's times in `to` become at least those in `from`.
template <typename Knowledge>
static void merge(Knowledge &to, const Knowledge &from) {
  for (const auto &[cluster, times] : from) {
    auto [it, isNew] = to.try_emplace(cluster, times);
    if (isNew || it->second == times)
      continue;
    auto merged = std::make_shared<Clocks::Snapshot>(*it->second);
    for (auto [known, time] : llvm::zip_equal(*merged, *times))
      known = std::max(known, time);
    it->second = std::move(merged);
  }
}

GlobalShadow::Knowledge GlobalShadow::share(uint32_t thread) {
  Knowledge known;
  for (const Lesson &lesson : lessons)
    if (clocks.knows(thread, lesson.moment))
      merge(known, lesson.known);
  auto own = std::make_shared<Clocks::Snapshot>();
  clocks.release(thread, *own);
  known[clusters.size() - 1] = std::move(own);
  return known;
}

void GlobalShadow::learn(uint32_t thread, const Knowledge &known) {
  if (known.empty())
    return;
  if (auto own = known.find(clusters.size() - 1); own != known.end())
    clocks.acquire(thread, *own->second);
  lessons.push_back({{thread, clocks.now(thread)}, known});
}

void GlobalShadow::acquire(uint32_t thread, uintptr_t address, uint32_t flags) {
  const Knowledge &released = atomics[address];
  if (flags & kHostAccessAcquire)
    learn(thread, released);
  else
    merge(unacquired[thread], released);
}

void GlobalShadow::release(uint32_t thread, uintptr_t address, uint32_t flags) {
  merge(atomics[address],
        flags & kHostAccessRelease ? share(thread) : fenced[thread]);
}

void GlobalShadow::fence(uint32_t thread) {
  if (!reports.isOn(HostCheck::Races))
    return;
  learn(thread, unacquired[thread]);
  unacquired[thread].clear();
  fenced[thread] = share(thread);
}
