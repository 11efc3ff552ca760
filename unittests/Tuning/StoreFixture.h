// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A database in a temporary folder, and results to put there.

#ifndef ATTUNE_UNITTESTS_TUNING_STOREFIXTURE_H
#define ATTUNE_UNITTESTS_TUNING_STOREFIXTURE_H

#include "Fake.h"
#include "attune/Tuning/Store.h"
#include "gtest/gtest.h"

namespace attune::tuning {

struct StoreTest : testing::Test {
  StoreTest() : space(fake::makeSpace({100})), path(folder / "tuning.db") {
    session.key = {"problem", "chip", "device", "compiler"};
  }

  /// Opens with a session begun.
  std::unique_ptr<Store> open() {
    llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
    if (!store) {
      ADD_FAILURE() << llvm::toString(store.takeError());
      return nullptr;
    }
    EXPECT_FALSE(
        bool((*store)->addProblem("problem", "p", "text of the problem")));
    if (session.id == 0)
      EXPECT_FALSE(bool((*store)->beginSession(session)));
    return std::move(*store);
  }

  int64_t add(Store &store, const Result &result) {
    llvm::Expected<int64_t> row = store.add(session, space, result);
    if (row)
      return *row;
    ADD_FAILURE() << llvm::toString(row.takeError());
    return 0;
  }

  static Result makeResult(int64_t x) {
    Result result;
    result.point = {x};
    result.stage = Stage::Measure;
    result.samples = {fake::getTime(x), fake::getTime(x) + 0.125};
    result.binaryHash = "hash-" + std::to_string(x);
    return result;
  }

  /// What opening the file says; empty where it opens.
  static std::string getOpenError(const std::string &path) {
    llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
    return store ? "" : llvm::toString(store.takeError());
  }

  fake::TemporaryFolder folder;
  Space space;
  std::string path;
  SessionInfo session;
};

} // namespace attune::tuning

#endif // ATTUNE_UNITTESTS_TUNING_STOREFIXTURE_H
