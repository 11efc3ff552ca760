// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips, tools and versions from C.
//
// RUN: rm -rf %t && mkdir %t && touch %t/ptxas && chmod +x %t/ptxas
// RUN: env PATH=%t %capi-target-test 2>&1 | FileCheck %s

#include "attune-c/Target.h"
#include "Print.h"
#include "attune-c/Dialects.h"
#include "attune-c/Tile.h"

static void printToolchain(const char *chip, const char *assembler) {
  printf("tools of %s: ", chip);
  attuneGetToolchain(toRef(chip), toRef(assembler), print, NULL);
  printf(".\n");
}

int main(void) {
  // CHECK: chip gfx1100
  // CHECK: chip sm_90a
  for (intptr_t i = 0; i < attuneGetNumChips(); ++i) {
    printf("chip ");
    print(attuneGetChipName(i), NULL);
    printf("\n");
  }

  // CHECK: sm_90 is sm_90a
  // CHECK-NEXT: sm_10 is sm_10
  printf("sm_90 is ");
  print(attuneGetChipOfDevice(toRef("sm_90")), NULL);
  printf("\nsm_10 is ");
  print(attuneGetChipOfDevice(toRef("sm_10")), NULL);
  printf("\n");

  // CHECK-NEXT: Ampere: 32 lanes, 108 SMs, 166912 bytes, 255 registers, 1024 threads
  MlirContext context = mlirContextCreateWithThreading(false);
  AttuneChipInfo info =
      attuneTargetAttrGetInfo(attuneTargetAttrGet(context, toRef("sm_80")));
  print(info.family, NULL);
  printf(": %d lanes, %d SMs, %d bytes, %d registers, %d threads\n",
         (int)info.lanes, (int)info.sms, (int)info.sharedBytes,
         (int)info.registers, (int)info.maxThreads);
  mlirContextDestroy(context);

  // CHECK-NEXT: tools of sm_80: {{.*}}ptxas 0 {{[0-9]+}}.
  // CHECK-NEXT: tools of sm_80: no ptxas.
  // CHECK-NEXT: tools of gfx942: .
  // CHECK-NEXT: tools of moon: .
  printToolchain("sm_80", "");
  printToolchain("sm_80", "no-such-file");
  printToolchain("gfx942", "");
  printToolchain("moon", "");

  // CHECK-NEXT: version {{[0-9.]+}}, LLVM 22.{{.*}}
  // CHECK-NEXT: build {{[0-9a-f]+$}}
  printf("version ");
  print(attuneGetVersion(), NULL);
  printf("\nbuild ");
  print(attuneGetBuildId(), NULL);
  printf("\n");
  return 0;
}
