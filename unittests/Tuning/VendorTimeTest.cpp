// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/VendorTime.h"
#include "gtest/gtest.h"

using namespace attune::tuning;

static std::vector<double> resolve(llvm::ArrayRef<llvm::StringRef> texts,
                                   llvm::ArrayRef<VendorProblem> problems) {
  std::vector<VendorTime> times;
  for (llvm::StringRef text : texts)
    times.push_back(llvm::cantFail(VendorTime::parse(text)));
  return llvm::cantFail(resolveVendorTimes(times, problems, "dir/mha.mlir"));
}

TEST(VendorTime, ReadsUnits) {
  EXPECT_EQ(resolve({"a=412us", "c=500TFLOP/s", "b=0.4ms"},
                    {{"a", 0}, {"b", 0}, {"c", 1e12}, {"d", 0}}),
            (std::vector<double>{412e3, 400e3, 2e6, 0}));
}

TEST(VendorTime, AFileNamesItsOnlyProblem) {
  EXPECT_EQ(resolve({"mha=1us"}, {{"a", 0}}), (std::vector<double>{1000}));
  // A function is rather meant.
  EXPECT_EQ(resolve({"mha=1us"}, {{"a", 0}, {"mha", 0}}),
            (std::vector<double>{0, 1000}));
}

TEST(VendorTime, RefusesWhatIsNoTime) {
  for (llvm::StringRef text :
       {"", "mha", "mha=", "=4us", "mha=us", "mha=4", "mha=4s", "mha=-4us",
        "mha=0us", "mha=nanus", "mha=0x4us", "mha=4 us", "mha=1.2.3us",
        "mha=4TFLOP/sus"})
    EXPECT_EQ(llvm::toString(VendorTime::parse(text).takeError()),
              ("expects --vendor=<problem>=<number>us, <number>ms or "
               "<number>TFLOP/s, but got '" +
               text + "'")
                  .str());
}
