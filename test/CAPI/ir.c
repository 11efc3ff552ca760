// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types and attributes from C: made, recognized, read.
//
// RUN: %capi-ir-test 2>&1 | FileCheck %s

#include "attune-c/Attn.h"
#include "Print.h"
#include "attune-c/Dialects.h"
#include "attune-c/Launch.h"
#include "attune-c/Schedule.h"
#include "attune-c/Tile.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Pass.h"

static MlirLogicalResult printText(MlirDiagnostic diagnostic, void *userData) {
  (void)userData;
  printf("diagnostic: ");
  mlirDiagnosticPrint(diagnostic, print, NULL);
  printf("\n");
  return mlirLogicalResultSuccess();
}

static void printAttribute(const char *title, MlirAttribute attr) {
  printf("%s: ", title);
  if (mlirAttributeIsNull(attr))
    printf("null");
  else
    mlirAttributePrint(attr, print, NULL);
  printf("\n");
}

static void printType(const char *title, MlirType type) {
  printf("%s: ", title);
  if (mlirTypeIsNull(type))
    printf("null");
  else
    mlirTypePrint(type, print, NULL);
  printf("\n");
}

static void testAttn(MlirContext context) {
  // CHECK-LABEL: attn
  printf("attn\n");
  // CHECK: causal: #attn.causal<bottom_right>
  // CHECK-NEXT: 1 0 1
  MlirAttribute causal =
      attuneCausalAttrGet(context, AttuneAlignmentBottomRight);
  printAttribute("causal", causal);
  printf("%d %d %d\n", attuneAttributeIsACausal(causal),
         attuneAttributeIsAWindow(causal),
         attuneCausalAttrGetAlignment(causal) == AttuneAlignmentBottomRight);

  // CHECK-NEXT: window: #attn.window<left = 1023, right = 0, top_left>
  // CHECK-NEXT: 1 1023 0 0
  MlirAttribute window =
      attuneWindowAttrGet(context, 1023, 0, AttuneAlignmentTopLeft);
  printAttribute("window", window);
  printf("%d %d %d %d\n", attuneAttributeIsAWindow(window),
         (int)attuneWindowAttrGetLeft(window),
         (int)attuneWindowAttrGetRight(window),
         attuneWindowAttrGetAlignment(window));
  // CHECK-NEXT: diagnostic: expects window sides of at least -1 (unbounded), but got -7 and 0
  // CHECK-NEXT: window: null
  printAttribute("window",
                 attuneWindowAttrGet(context, -7, 0, AttuneAlignmentTopLeft));

  // CHECK-NEXT: diagnostic: expects an alignment, but got the number 7
  // CHECK-NEXT: causal: null
  // CHECK-NEXT: diagnostic: expects an alignment, but got the number 7
  // CHECK-NEXT: window: null
  printAttribute("causal", attuneCausalAttrGet(context, (AttuneAlignment)7));
  printAttribute("window",
                 attuneWindowAttrGet(context, 1, 0, (AttuneAlignment)7));

  // CHECK-NEXT: strided: #attn.strided<[?, 64, 1], divisor = 8>
  // CHECK-NEXT: 1 3 64 1 8
  int64_t strides[] = {mlirShapedTypeGetDynamicStrideOrOffset(), 64, 1};
  MlirAttribute strided = attuneStridedAttrGet(context, 3, strides, 8);
  printAttribute("strided", strided);
  printf("%d %d %d %d %d\n", attuneAttributeIsAStrided(strided),
         (int)attuneStridedAttrGetNumStrides(strided),
         (int)attuneStridedAttrGetStride(strided, 1),
         attuneStridedAttrGetStride(strided, 0) == strides[0],
         (int)attuneStridedAttrGetDivisor(strided));
}

static void testSchedule(MlirContext context) {
  // CHECK-LABEL: schedule
  printf("schedule\n");
  // CHECK: set attention
  // CHECK-NEXT: default: #schedule.attention
  // CHECK-NEXT: 1 block-m is 128, found 1
  for (intptr_t set = 0; set < attuneGetNumKnobSets(); ++set) {
    MlirStringRef name = attuneKnobSetGetName(set);
    printf("set %.*s\n", (int)name.length, name.data);
    MlirAttribute schedule = attuneScheduleAttrGetDefault(context, set);
    printAttribute("default", schedule);
    bool found;
    MlirStringRef knob = attuneKnobSetGetKnob(set, 0);
    int64_t value = attuneScheduleAttrGetValue(schedule, knob, &found);
    printf("%d %.*s is %d, found %d\n", attuneAttributeIsASchedule(schedule),
           (int)knob.length, knob.data, (int)value, found);
  }
  // CHECK: 64: #schedule.attention<blockM = 64>
  // CHECK-NEXT: static: #schedule.attention<blockM = 64, persistent = static>
  // CHECK-NEXT: diagnostic: expects knob 'block-m' to be one of {{.*}}, but got 17
  // CHECK-NEXT: 17: null
  // CHECK-NEXT: diagnostic: expects a tunable of attention, but got 'depth'
  // CHECK-NEXT: depth: null
  // CHECK-NEXT: found 0
  MlirAttribute schedule = attuneScheduleAttrWith(
      attuneScheduleAttrGetDefault(context, 0), toRef("block-m"), toRef("64"));
  printAttribute("64", schedule);
  printAttribute("static", attuneScheduleAttrWith(schedule, toRef("persistent"),
                                                  toRef("static")));
  printAttribute(
      "17", attuneScheduleAttrWith(schedule, toRef("block-m"), toRef("17")));
  printAttribute("depth",
                 attuneScheduleAttrWith(schedule, toRef("depth"), toRef("1")));
  bool found;
  attuneScheduleAttrGetValue(schedule, toRef("depth"), &found);
  printf("found %d\n", found);
}

static void testTile(MlirContext context) {
  // CHECK-LABEL: tile
  printf("tile\n");
  MlirType f32 = mlirF32TypeGet(context);
  int64_t shape[] = {128, 64};
  MlirAttribute noLayout = {NULL};
  // CHECK: tile: !tile.tile<128x64xf32, registers>
  // CHECK-NEXT: 1 0 2 64 1 0 1
  MlirType tile =
      attuneTileTypeGet(2, shape, f32, AttuneMemorySpaceRegisters, noLayout);
  printType("tile", tile);
  printf("%d %d %d %d %d %d %d\n", attuneTypeIsATile(tile),
         attuneTypeIsAChannel(tile), (int)attuneTileTypeGetRank(tile),
         (int)attuneTileTypeGetDimSize(tile, 1),
         mlirTypeEqual(attuneTileTypeGetElementType(tile), f32),
         attuneTileTypeGetSpace(tile),
         mlirAttributeIsNull(attuneTileTypeGetLayout(tile)));
  // CHECK-NEXT: diagnostic: expects
  // CHECK-NEXT: rank 0: null
  printType("rank 0", attuneTileTypeGet(0, NULL, f32,
                                        AttuneMemorySpaceRegisters, noLayout));

  // CHECK-NEXT: diagnostic: expects a memory space, but got the number 9
  // CHECK-NEXT: nowhere: null
  printType("nowhere",
            attuneTileTypeGet(2, shape, f32, (AttuneMemorySpace)9, noLayout));

  // CHECK-NEXT: channel: !tile.channel<128x64xf32, stages = 3>
  // CHECK-NEXT: 1 3 0 1
  // CHECK-NEXT: of: !tile.tile<128x64xf32, shared
  MlirType channel = attuneChannelTypeGet(shape, f32, 3, 0, 1);
  printType("channel", channel);
  printf("%d %d %d %d\n", attuneTypeIsAChannel(channel),
         (int)attuneChannelTypeGetStages(channel),
         (int)attuneChannelTypeGetSwizzleAtom(channel),
         (int)attuneChannelTypeGetCluster(channel));
  printType("of", attuneChannelTypeGetTile(channel));
  // CHECK-NEXT: diagnostic: expects
  // CHECK-NEXT: no stages: null
  printType("no stages", attuneChannelTypeGet(shape, f32, 0, 0, 1));

  // CHECK-NEXT: pending: !tile.pending<<128x64xf32, registers>>
  // CHECK-NEXT: 1 1 1 1
  MlirType pending = attunePendingTypeGet(tile);
  printType("pending", pending);
  printf("%d %d %d %d\n", attuneTypeIsAPending(pending),
         mlirTypeEqual(attunePendingTypeGetTile(pending), tile),
         attuneTypeIsAToken(attuneTokenTypeGet(context)),
         attuneTypeIsAScheduler(attuneSchedulerTypeGet(context)));

  // CHECK-NEXT: 1 sm_90a
  MlirAttribute target = attuneTargetAttrGet(context, toRef("sm_90a"));
  MlirStringRef chip = attuneTargetAttrGetChip(target);
  printf("%d %.*s\n", attuneAttributeIsATarget(target), (int)chip.length,
         chip.data);
  // CHECK-NEXT: diagnostic: expects a known chip ({{.*}}), but got 'sm_10'
  // CHECK-NEXT: target: null
  printAttribute("target", attuneTargetAttrGet(context, toRef("sm_10")));
}

/// Pipelines by their names.
static void testPasses(MlirContext context) {
  // CHECK-LABEL: passes
  printf("passes\n");
  // CHECK-NEXT: #schedule.attention<blockM = 64>
  const char *text =
      "func.func @f(%q: tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16> {\n"
      "  %o = attn.attention %q, %q, %q : tensor<1x2x64x64xf16>, "
      "tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>\n"
      "  return %o : tensor<1x2x64x64xf16>\n"
      "}\n";
  MlirModule module = mlirModuleCreateParse(context, toRef(text));
  MlirPassManager passes = mlirPassManagerCreate(context);
  MlirLogicalResult parsed = mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(passes),
      toRef("builtin.module(attune-set-schedule{block-m=64})"), print, NULL);
  if (mlirLogicalResultIsFailure(parsed) ||
      mlirLogicalResultIsFailure(
          mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module))))
    printf("failed\n");
  MlirOperation function =
      mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirOperation attention = mlirBlockGetFirstOperation(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)));
  mlirAttributePrint(
      mlirOperationGetInherentAttributeByName(attention, toRef("schedule")),
      print, NULL);
  printf("\n");
  mlirPassManagerDestroy(passes);
  mlirModuleDestroy(module);
}

static void testLaunch(MlirContext context) {
  // CHECK-LABEL: launch
  printf("launch\n");
  // CHECK-NEXT: 1 0: kernel 'add' for sm_80, 1 arguments, block 32 1, shared 64
  MlirAttribute manifest = mlirAttributeParseGet(
      context,
      toRef("#launch.manifest<arguments = [#launch.buffer<name = \"in\", type "
            "= memref<?xf32>, access = read>], block = [32, 1, 1], "
            "shared_bytes = 64, kernel = \"add\", chip = \"sm_80\">"));
  MlirStringRef kernel = attuneManifestAttrGetKernel(manifest);
  MlirStringRef chip = attuneManifestAttrGetChip(manifest);
  printf("%d %d: kernel '%.*s' for %.*s, %d arguments, block %d %d, shared "
         "%d\n",
         attuneAttributeIsAManifest(manifest),
         attuneAttributeIsASequence(manifest), (int)kernel.length, kernel.data,
         (int)chip.length, chip.data,
         (int)attuneManifestAttrGetNumArguments(manifest),
         (int)attuneManifestAttrGetBlock(manifest, 0),
         (int)attuneManifestAttrGetBlock(manifest, 1),
         (int)attuneManifestAttrGetSharedBytes(manifest));
  // CHECK-NEXT: argument: #launch.buffer<name = "in"
  printAttribute("argument", attuneManifestAttrGetArgument(manifest, 0));
  // CHECK: "kernel": "add"
  attuneLaunchAttrPrintJSON(manifest, print, NULL);
  // CHECK: unknown: -1, ''
  MlirAttribute unknown =
      mlirAttributeParseGet(context, toRef("#launch.manifest<>"));
  printf("\nunknown: %d, '%.*s'\n",
         (int)attuneManifestAttrGetNumArguments(unknown),
         (int)attuneManifestAttrGetKernel(unknown).length,
         attuneManifestAttrGetKernel(unknown).data);
  // CHECK-NEXT: 0 1
  MlirAttribute sequence = mlirAttributeParseGet(
      context, toRef("#launch.sequence<name = \"f\", values = [], launches = "
                     "[]>"));
  printf("%d %d\n", attuneAttributeIsAManifest(sequence),
         attuneAttributeIsASequence(sequence));
  // CHECK: "sequence": "f"
  attuneLaunchAttrPrintJSON(sequence, print, NULL);
  printf("\n");
}

int main(void) {
  MlirContext context = mlirContextCreate();
  mlirContextAttachDiagnosticHandler(context, printText, NULL, NULL);
  mlirDialectHandleRegisterDialect(mlirGetDialectHandle__wgmma__(), context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__attn__(), context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__launch__(), context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__schedule__(), context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__tile__(), context);
  testAttn(context);
  testSchedule(context);
  testTile(context);

  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  attuneRegisterAllDialects(registry);
  mlirContextAppendDialectRegistry(context, registry);
  attuneRegisterPasses();
  testPasses(context);
  testLaunch(context);
  mlirDialectRegistryDestroy(registry);
  mlirContextDestroy(context);
  return 0;
}
