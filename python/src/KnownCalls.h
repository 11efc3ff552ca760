// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of attention, or of its gradients, that were made before: with tensors
// that differ in nothing but their contents and addresses, they need no checks,
// and no search for a kernel.

#ifndef ATTUNE_PYTHON_SRC_KNOWNCALLS_H
#define ATTUNE_PYTHON_SRC_KNOWNCALLS_H

#include "Runtime.h"
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace attune::python {

/// A tensor as it is read.
struct View {
  void *data;
  int32_t deviceType, deviceNumber;
  /// Of its elements: a number of whoever reads it.
  int32_t type;
  int32_t rank;
  int64_t *sizes, *strides;

  uint64_t getAddress() const { return reinterpret_cast<uint64_t>(data); }
};

constexpr size_t kMaxInputs = 16, kMaxRank = 4;
/// Results and workspaces of a call that is known.
constexpr size_t kMaxMade = 16;
/// Device types and type codes of DLPack.
constexpr int32_t kDeviceCPU = 1, kDeviceCUDA = 2, kDeviceROCm = 10;
constexpr uint8_t kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kBool = 6;

/// What a call is besides its tensors: the arguments of `attention`, and which
/// kernels it is for.
struct Options {
  /// 0 for attention, other numbers are the caller's.
  uint32_t kind = 0;
  bool isCausal = false, hasLse = false, hasWindow = false;
  bool hasSoftcap = false, hasScale = false;
  int64_t window[2] = {0, 0};
  double softcap = 0, scale = 0;
  /// The probability of dropout.
  double dropout = 0;
  /// Queries and keys of the longest sequence, of their buckets; -1 without.
  int32_t longest[2] = {-1, -1};
  /// Number of a layout that is known.
  int32_t layout = 0;
  /// Number of a chip behind 0, which is the device's own.
  int32_t chip = 0;

  /// Whether these are names that are known; others are errors, which are said
  /// where calls are checked.
  bool setLayout(std::string_view name);
  bool setChip(std::string_view name);
};

/// What calls are told apart by: options; for each tensor its type and device,
/// alignment and rank, sizes and strides; and the stream.
class Key {
public:
  explicit Key(const Options &options);

  void add(int64_t word) { words[size++] = word; }
  /// A tensor that is left out.
  void addNone() { add(-1); }
  /// Whether it can be part of a call that is known.
  bool addTensor(const View &view);

  bool operator==(const Key &other) const {
    return size == other.size &&
           std::equal(words.begin(), words.begin() + size, other.words.begin());
  }
  /// A sum, of which no term waits for another.
  size_t getHash() const {
    uint64_t hash = size, factor = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < size; ++i) {
      auto word = static_cast<uint64_t>(words[i]);
      hash += (word ^ (word >> 29)) * factor;
      factor += 0xbf58476d1ce4e5b8u; // which leaves it odd
    }
    hash = (hash ^ (hash >> 32)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 29);
  }

private:
  static constexpr size_t kNumWords = 8 + kMaxInputs * (2 + 2 * kMaxRank);
  size_t size = 0;
  std::array<int64_t, kNumWords> words;
};

/// Addresses of a launch: of the inputs, of the results, of the workspaces.
class Addresses {
public:
  void add(uint64_t address) { words[size++] = address; }
  const uint64_t *begin() const { return words.data(); }

private:
  size_t size = 0;
  std::array<uint64_t, kMaxInputs + kMaxMade> words;
};

/// A call as it was made.
class Call {
public:
  /// Memory that each launch has anew: a result, or what a kernel works in,
  /// which is bytes and starts at a multiple of `alignment`.
  struct Memory {
    size_t place;
    uint8_t code, bits;
    std::vector<int64_t> sizes, strides;
    uint64_t alignment;
  };

  /// `places` are those of the inputs among the kernel's `tensors`, `results`
  /// those of what is returned, which without its first dimension, of 1, is
  /// packed. Null if it cannot be repeated.
  static std::shared_ptr<Call> make(std::shared_ptr<Kernel> kernel,
                                    const std::vector<Tensor> &tensors,
                                    std::vector<size_t> places,
                                    const std::vector<size_t> &results,
                                    bool isPacked = false);
  ~Call();

  const std::vector<Memory> &getResults() const { return results; }
  const std::vector<Memory> &getWorkspaces() const { return workspaces; }
  /// Whether memory is kept from launch to launch, which is for one stream and
  /// for no graph.
  bool keepsMemory() const { return !kept.empty(); }

  /// Queues it.
  bool launch(const Addresses &addresses, void *stream, AttuneError &error);

private:
  Call() = default;

  std::shared_ptr<Kernel> kernel;
  std::vector<size_t> inputs;
  std::vector<Memory> results, workspaces;
  /// What owns memory that kernels leave as they found it.
  std::vector<nanobind::object> kept;
  /// Of the kernel's arguments, where they were in the last launch.
  std::vector<uint64_t> places;
  runtime::Launch prepared;
  /// Threads repeat a call without the interpreter's lock.
  std::mutex mutex;
};

/// All of this process.
class KnownCalls {
public:
  static KnownCalls &get();

  std::shared_ptr<Call> find(const Key &key);
  void add(const Key &key, std::shared_ptr<Call> call);
  void clear();

private:
  struct Hash {
    size_t operator()(const Key &key) const { return key.getHash(); }
  };
  using Calls = std::unordered_map<Key, std::shared_ptr<Call>, Hash>;

  /// More are forgotten together: lengths that never come back stay few.
  static constexpr size_t kMaxCalls = 4096;
  std::mutex mutex;
  Calls calls;
};

/// The length of the bucket of lengths that share a schedule.
inline int64_t roundLength(int64_t length) {
  // No choice depends on lengths below or above.
  constexpr int64_t kShortest = 64, kLongest = 32768;
  int64_t rounded = kShortest;
  while (rounded < length && rounded < kLongest)
    rounded *= 2;
  return rounded;
}

/// The number of the graph that what is queued on a stream becomes part of, by
/// which captures of a process are told apart; 0 where it is of none, and
/// nothing where the driver does not say.
std::optional<uint64_t> getCapture(int32_t deviceType, void *stream);

/// Whether it may become part of one.
inline bool isCapturing(int32_t deviceType, void *stream) {
  return getCapture(deviceType, stream) != 0;
}

} // namespace attune::python

#endif // ATTUNE_PYTHON_SRC_KNOWNCALLS_H
