// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workgroup memory serves a request in the rounds that the chip has for it, in
// each of which a bank gives one word; global memory moves 32 bytes at a time.

#include "Counters.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using llvm::format;
using llvm::json::Array;
using llvm::json::Object;

static constexpr uint32_t kSectorBytes = 32;

void Counters::access(uint32_t warp, uint32_t thread, uint32_t site,
                      uintptr_t address, uint32_t bytes, bool isShared,
                      bool isWrite) {
  if (warps.size() <= warp)
    warps.resize(warp + 1);
  Warp &state = warps[warp];
  uint32_t execution = state.executions[{site, thread}]++;
  auto [it, isNew] =
      state.found.insert({{site, execution}, state.requests.size()});
  if (isNew)
    state.requests.push_back({site, bytes, isShared, isWrite, {}, {}});
  state.requests[it->second].addresses.push_back(address);
  state.requests[it->second].lanes.push_back(thread);
}

void Counters::copy(uint32_t site, llvm::ArrayRef<BoxPiece> pieces) {
  if (!isEnabled())
    return;
  HostCounts::Site &count = counts.sites[site];
  ++count.requests;
  llvm::DenseSet<uint64_t> sectors;
  for (const BoxPiece &piece : pieces) {
    count.bytes += piece.bytes;
    if (piece.global)
      for (uint64_t sector = piece.global / kSectorBytes;
           sector * kSectorBytes < piece.global + piece.bytes; ++sector)
        sectors.insert(sector);
  }
  count.sectors += static_cast<int64_t>(sectors.size());
}

void Counters::readMatrices(uint32_t site, int64_t bytes) {
  if (!isEnabled())
    return;
  ++counts.sites[site].requests;
  counts.sites[site].bytes += bytes;
}

void Counters::wait(uint32_t site, bool isFirst, int64_t bytes) {
  if (!isEnabled())
    return;
  counts.sites[site].requests += isFirst;
  counts.sites[site].bytes += bytes;
}

void Counters::converge(uint32_t warp) {
  if (!isEnabled())
    return;
  for (uint32_t index = 0; index < warps.size(); ++index) {
    if (warp != ~0u && warp != index)
      continue;
    Warp &state = warps[index];
    for (const Request &request : state.requests)
      if (request.isShared)
        sharedRequest(request);
      else
        globalRequest(request);
    state = Warp();
  }
}

void Counters::sharedRequest(const Request &request) {
  HostCounts::Site &count = counts.sites[request.site];
  ++count.requests;
  count.bytes += int64_t(request.bytes) * request.addresses.size();
  SharedRounds rounds = model->countSharedRounds(
      request.addresses, request.bytes, request.isWrite, request.lanes);
  count.wavefronts += rounds.taken;
  count.leastWavefronts += rounds.fewest;
}

void Counters::globalRequest(const Request &request) {
  HostCounts::Site &count = counts.sites[request.site];
  ++count.requests;
  count.bytes += int64_t(request.bytes) * request.addresses.size();
  llvm::DenseSet<uintptr_t> sectors;
  for (uintptr_t address : request.addresses)
    for (uintptr_t sector = address / kSectorBytes;
         sector * kSectorBytes < address + request.bytes; ++sector)
      sectors.insert(sector);
  count.sectors += static_cast<int64_t>(sectors.size());
}

void Counters::matrix(double flops) {
  ++counts.matrixOps;
  counts.matrixFlops += flops;
}

bool HostCounts::empty() const { return sites.empty(); }

void HostCounts::printTable(llvm::raw_ostream &stream) const {
  stream << "counts    " << matrixOps << " matrix ops, "
         << format("%.3e", matrixFlops) << " flop in them, " << exponentials
         << " exponentials\n"
         << "          requests        bytes wavefronts    beyond    sectors  "
            "op\n";
  for (const Site &site : sites)
    if (site.requests > 0)
      stream << format("          %8lld %12lld %10lld %9lld %10lld  ",
                       static_cast<long long>(site.requests),
                       static_cast<long long>(site.bytes),
                       static_cast<long long>(site.wavefronts),
                       static_cast<long long>(site.wavefronts -
                                              site.leastWavefronts),
                       static_cast<long long>(site.sectors))
             << site.op << ' ' << site.location << '\n';
}

llvm::json::Value HostCounts::toJSON() const {
  Array list;
  for (const Site &site : sites)
    if (site.requests > 0)
      list.push_back(Object{{"op", site.op},
                            {"location", site.location},
                            {"requests", site.requests},
                            {"bytes", site.bytes},
                            {"wavefronts", site.wavefronts},
                            {"least_wavefronts", site.leastWavefronts},
                            {"sectors", site.sectors}});
  return Object{{"matrix_ops", matrixOps},
                {"matrix_flops", matrixFlops},
                {"exponentials", exponentials},
                {"sites", std::move(list)}};
}
