// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fake drivers share: how a test makes an entry point fail, and is
// told of calls.

#ifndef ATTUNE_TEST_TOOLS_FAKEDRIVER_FAKEDRIVER_H
#define ATTUNE_TEST_TOOLS_FAKEDRIVER_FAKEDRIVER_H

#include <cstdio>
#include <cstdlib>
#include <string>

static inline int answer(const char *entry) {
  const char *fault = std::getenv("FAKE_DRIVER_FAULT");
  return fault && std::string(fault) == entry ? 719 : 0;
}

/// Tells that an entry point was called, and answers.
static inline int work(const char *entry, const std::string &details = "") {
  if (std::getenv("FAKE_DRIVER_TRACE"))
    std::fprintf(stderr, "driver: %s%s\n", entry, details.c_str());
  return answer(entry);
}

static inline int getNumber(const char *variable, int fallback) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : fallback;
}

/// Writes `value` where the caller wants it.
template <typename T> static int give(const char *entry, T *slot, T value) {
  *slot = value;
  return answer(entry);
}

#endif // ATTUNE_TEST_TOOLS_FAKEDRIVER_FAKEDRIVER_H
