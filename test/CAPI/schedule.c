// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of schedules without compiling them.
//
// RUN: %capi-schedule-test 2>&1 | FileCheck %s

#include "attune-c/Schedule.h"
#include "Print.h"
#include "attune-c/Compile.h"
#include "attune-c/Dialects.h"
#include "attune-c/Tile.h"
#include "mlir-c/BuiltinAttributes.h"

static const char attention[] =
    "func.func @f(%q: tensor<1x8x?x128xbf16>) -> tensor<1x8x?x128xbf16> {\n"
    "  %o = attn.attention %q, %q, %q schedule(<blockN = 32>)\n"
    "     : tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16>, "
    "tensor<1x8x?x128xbf16>\n"
    "  return %o : tensor<1x8x?x128xbf16>\n"
    "}\n";

static MlirModule parse(MlirContext context, const char *text,
                        const char *chip) {
  MlirModule module = attuneModuleParse(context, toRef(text), toRef("m.mlir"));
  if (chip)
    mlirOperationSetAttributeByName(mlirModuleGetOperation(module),
                                    toRef("tile.target"),
                                    attuneTargetAttrGet(context, toRef(chip)));
  return module;
}

static AttuneCostModel create(MlirModule module, int64_t length) {
  AttuneSize sizes[] = {{toRef("seq-q"), length}, {toRef("seq-k"), length}};
  return attuneCostModelCreate(module, 2, sizes);
}

static void printSet(MlirAttribute schedule) {
  intptr_t set = attuneScheduleAttrGetKnobSet(schedule);
  print(attuneKnobSetGetName(set), NULL);
  for (intptr_t knob = 0; knob < 2; ++knob) {
    printf(" ");
    print(attuneKnobSetGetKnob(set, knob), NULL);
    printf("=");
    attuneScheduleAttrPrintValue(schedule, knob, print, NULL);
    printf(" of");
    for (intptr_t i = 0; i < attuneKnobSetGetNumValues(set, knob); ++i) {
      printf(" ");
      attuneKnobSetPrintValue(set, knob, i, print, NULL);
    }
  }
  printf("\n");
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  attuneRegisterAllDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);

  mlirContextAttachDiagnosticHandler(context, printDiagnostic, NULL, NULL);
  MlirModule module = parse(context, attention, "sm_80");
  AttuneCostModel brief = create(module, 512), longer = create(module, 8192);
  MlirAttribute schedule = attuneCostModelGetSchedule(brief);
  // CHECK: attention block-m=128 of 16 32 {{.*}} block-n=32 of 16 32
  printSet(schedule);

  // Times depend on sizes that are given, and on what the assembler said.
  // CHECK-NEXT: legal: 1, longer takes longer: 1, spills take longer: 1
  double time = attuneCostModelPredict(longer, schedule, -1, -1);
  printf("legal: %d, longer takes longer: %d, spills take longer: %d\n",
         attuneCostModelIsLegal(brief, schedule),
         0 < attuneCostModelPredict(brief, schedule, -1, -1) &&
             attuneCostModelPredict(brief, schedule, -1, -1) < time,
         attuneCostModelPredict(longer, schedule, 255, 4096) > time);

  // CHECK-NEXT: other legal: 0, other set legal: 0, predicted: 0
  MlirAttribute other =
      attuneScheduleAttrWith(schedule, toRef("mma-warps"), toRef("4"));
  MlirAttribute matmul = attuneScheduleAttrGetDefault(
      context, attuneScheduleAttrGetKnobSet(schedule) ? 0 : 1);
  printf("other legal: %d, other set legal: %d, predicted: %d\n",
         attuneCostModelIsLegal(brief, other),
         attuneCostModelIsLegal(brief, matmul),
         attuneCostModelPredict(brief, matmul, -1, -1) >= 0);
  attuneCostModelDestroy(brief);
  attuneCostModelDestroy(longer);
  mlirModuleDestroy(module);

  // CHECK-NEXT: {{.*}}error: expects a 'tile.target' attribute on the module
  // CHECK-NEXT: null: 1
  module = parse(context, attention, NULL);
  printf("null: %d\n", create(module, 1).ptr == NULL);
  mlirModuleDestroy(module);

  // CHECK-NEXT: {{.*}}error: expects an op that can be tuned
  // CHECK-NEXT: null: 1
  module = parse(context, "func.func private @f()", "sm_80");
  printf("null: %d\n", create(module, 1).ptr == NULL);
  mlirModuleDestroy(module);

  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
