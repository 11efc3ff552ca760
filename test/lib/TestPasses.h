// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_TEST_LIB_TESTPASSES_H
#define ATTUNE_TEST_LIB_TESTPASSES_H

namespace attune::test {
void registerTestContractionGroupsPasses();
void registerTestCheckLayerPass();
void registerTestDropOpPass();
void registerTestMutateKernelPass();
} // namespace attune::test

#endif // ATTUNE_TEST_LIB_TESTPASSES_H
