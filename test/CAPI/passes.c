// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from C, each by its own function: from tensors to tiles with one of
// every group.
//
// RUN: %capi-passes-test 2>&1 | FileCheck %s

#include "attune-c/Passes.h"
#include "Print.h"
#include "attune-c/Dialects.h"
#include "attune-c/Tile.h"

static const char *const kAttention =
    "module {\n"
    "  func.func @attention(%q: tensor<1x2x64x64xf16>)\n"
    "      -> tensor<1x2x64x64xf16> {\n"
    "    %o = attn.attention %q, %q, %q causal(top_left)\n"
    "        : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>,\n"
    "          tensor<1x2x64x64xf16>\n"
    "    return %o : tensor<1x2x64x64xf16>\n"
    "  }\n"
    "}\n";

static const char *const kMatmul =
    "func.func @matmul(%a: tensor<4x8xf16>, %b: tensor<8x2xf16>,\n"
    "                  %c: tensor<4x2xf32>) -> tensor<4x2xf32> {\n"
    "  %d = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x2xf16>)\n"
    "      outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>\n"
    "  return %d : tensor<4x2xf32>\n"
    "}\n";

static void run(const char *title, MlirPassManager passes, MlirModule module) {
  printf("%s\n", title);
  MlirOperation op = mlirModuleGetOperation(module);
  if (mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(passes, op)))
    printf("failed\n");
  mlirOperationPrint(op, print, NULL);
  printf("\n");
  mlirPassManagerDestroy(passes);
}

static void testCreate(MlirContext context) {
  MlirModule module = mlirModuleCreateParse(context, toRef(kAttention));
  mlirOperationSetDiscardableAttributeByName(
      mlirModuleGetOperation(module), toRef("tile.target"),
      attuneTargetAttrGet(context, toRef("sm_90")));

  // Schedule gives the ops schedules; Attn writes causal as a mask.
  // CHECK-LABEL: {{^}}tensors{{$}}
  // CHECK: func.func @attention
  // CHECK: attn.attention {{.*}} schedule(<{{.*}}>) mask
  // CHECK: arith.cmpi
  MlirPassManager tensors = mlirPassManagerCreate(context);
  mlirPassManagerAddOwnedPass(
      tensors, mlirCreateAttuneScheduleAttuneSelectSchedulePass());
  mlirOpPassManagerAddOwnedPass(
      mlirPassManagerGetNestedUnder(tensors, toRef("func.func")),
      mlirCreateAttuneAttnAttnExpandShortFormsPass());
  run("tensors", tensors, module);

  // Conversion outlines attention as a kernel.
  // CHECK-LABEL: {{^}}kernels{{$}}
  // CHECK: gpu.func @attention
  // CHECK-NOT: tile.channel
  // CHECK: tile.mma
  MlirPassManager kernels = mlirPassManagerCreate(context);
  mlirPassManagerAddOwnedPass(
      kernels, mlirCreateAttuneConversionConvertAttnToTilePass());
  run("kernels", kernels, module);

  // Tile brings operands into shared memory.
  // CHECK-LABEL: {{^}}shared{{$}}
  // CHECK: gpu.func @attention
  // CHECK: tile.channel
  // CHECK: tile.mma
  MlirPassManager shared = mlirPassManagerCreate(context);
  MlirOpPassManager functions = mlirOpPassManagerGetNestedUnder(
      mlirPassManagerGetNestedUnder(shared, toRef("gpu.module")),
      toRef("gpu.func"));
  mlirOpPassManagerAddOwnedPass(functions,
                                mlirCreateAttuneTileTilePromoteToSharedPass());
  run("shared", shared, module);
  mlirModuleDestroy(module);

  // Matmul has loops for the reference.
  // CHECK-LABEL: {{^}}loops{{$}}
  // CHECK: func.func @matmul
  // CHECK-NOT: linalg.matmul
  // CHECK: scf.for
  module = mlirModuleCreateParse(context, toRef(kMatmul));
  MlirPassManager loops = mlirPassManagerCreate(context);
  mlirOpPassManagerAddOwnedPass(
      mlirPassManagerGetNestedUnder(loops, toRef("func.func")),
      mlirCreateAttuneMatmulConvertMatmulToLoopsPass());
  run("loops", loops, module);
  mlirModuleDestroy(module);
}

/// A pass that is registered has a name in pipelines.
static void parse(MlirContext context, const char *pipeline) {
  MlirPassManager passes = mlirPassManagerCreate(context);
  MlirLogicalResult parsed = mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(passes), toRef(pipeline), print, NULL);
  printf("%s: %d\n", pipeline, mlirLogicalResultIsSuccess(parsed));
  mlirPassManagerDestroy(passes);
}

static void testRegister(MlirContext context) {
  // CHECK-LABEL: {{^}}registration{{$}}
  // CHECK: 'attune-keep-source' does not refer to a registered pass
  // CHECK: builtin.module(attune-keep-source): 0
  printf("registration\n");
  parse(context, "builtin.module(attune-keep-source)");
  // CHECK-NEXT: builtin.module(attune-keep-source): 1
  mlirRegisterAttuneScheduleAttuneKeepSourcePass();
  parse(context, "builtin.module(attune-keep-source)");
  mlirRegisterAttuneAttnPasses();
  mlirRegisterAttuneConversionPasses();
  mlirRegisterAttuneMatmulPasses();
  mlirRegisterAttuneSchedulePasses();
  mlirRegisterAttuneTilePasses();
  // CHECK-NEXT: {{.*}}convert-linalg-to-attn{{.*}}: 1
  parse(context, "builtin.module(func.func(convert-linalg-to-attn,"
                 "attn-expand-short-forms,convert-matmul-to-loops),"
                 "attune-set-schedule,"
                 "gpu.module(gpu.func(tile-unroll-loops)))");
}

int main(void) {
  MlirContext context = mlirContextCreate();
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  attuneRegisterAllDialects(registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  testCreate(context);
  testRegister(context);
  mlirContextDestroy(context);
  return 0;
}
