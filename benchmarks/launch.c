// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch costs on the host beyond the driver's own, on a CUDA device:
//
//   launch <image> <manifest> <shape of each buffer>...     (4x16x4096x128 ...)
//
// Prints the time of attuneRuntimeLaunch beside that of cuLaunchKernel with the
// same kernel and parameters, and the allocations of either after the first
// call. Then captures a launch in a graph, and compares what its replays
// compute with what the launch computed, bit for bit. Exit code 1 says that
// something failed, 2 that a launch allocates or a replay differs.
//
// clang-format off
//   attune-opt examples/mha_causal.mlir --attune-compile="chip=sm_90a output-dir=out" -o /dev/null
//   clang -O2 -Iinclude benchmarks/launch.c -Lbuild/lib -lAttuneRuntime -Wl,-rpath,'$ORIGIN' -o out/launch
//   cp -L build/lib/libAttuneRuntime.so.* out
// clang-format on

#define _GNU_SOURCE
#include "attune-c/Runtime.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRounds = 301, kBatch = 32, kCounted = 100000, kReplays = 100 };
enum { kMostArguments = 32, kMostDims = 8 };

//===----------------------------------------------------------------------===//
// Allocations of the process, also those of C++
//===----------------------------------------------------------------------===//

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
static long allocations;

void *malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void *realloc(void *memory, size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

typedef void *Handle;
/// CUDA_KERNEL_NODE_PARAMS, as CUDA 11 has it.
typedef struct NodeParams {
  Handle function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void **parameters, **extra;
} NodeParams;

static struct {
  int (*allocate)(uint64_t *address, size_t bytes);
  int (*copyToDevice)(uint64_t target, const void *source, size_t bytes);
  int (*copyToHost)(void *target, uint64_t source, size_t bytes);
  int (*fill)(uint64_t target, unsigned char byte, size_t bytes, Handle stream);
  int (*createStream)(Handle *stream, unsigned flags);
  int (*synchronize)(Handle stream);
  int (*beginCapture)(Handle stream, int mode);
  int (*endCapture)(Handle stream, Handle *graph);
  int (*getNodes)(Handle graph, Handle *nodes, size_t *count);
  int (*getNodeParams)(Handle node, NodeParams *params);
  int (*instantiate)(Handle *executable, Handle graph,
                     unsigned long long flags);
  int (*replay)(Handle executable, Handle stream);
  int (*launch)(Handle function, unsigned gridX, unsigned gridY, unsigned gridZ,
                unsigned blockX, unsigned blockY, unsigned blockZ,
                unsigned sharedBytes, Handle stream, void **parameters,
                void **extra);
} driver;

static void stop(const char *what, const char *why) {
  fprintf(stderr, "error: %s: %s\n", what, why);
  exit(1);
}

static void check(int status, const char *what) {
  char text[32];
  snprintf(text, sizeof(text), "the driver answered %d", status);
  if (status != 0)
    stop(what, text);
}

static void openDriver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    stop("open CUDA", dlerror());
  const struct {
    const char *name;
    void *slot;
  } symbols[] = {
      {"cuMemAlloc_v2", &driver.allocate},
      {"cuMemcpyHtoD_v2", &driver.copyToDevice},
      {"cuMemcpyDtoH_v2", &driver.copyToHost},
      {"cuMemsetD8Async", &driver.fill},
      {"cuStreamCreate", &driver.createStream},
      {"cuStreamSynchronize", &driver.synchronize},
      {"cuStreamBeginCapture_v2", &driver.beginCapture},
      {"cuStreamEndCapture", &driver.endCapture},
      {"cuGraphGetNodes", &driver.getNodes},
      {"cuGraphKernelNodeGetParams", &driver.getNodeParams},
      {"cuGraphInstantiateWithFlags", &driver.instantiate},
      {"cuGraphLaunch", &driver.replay},
      {"cuLaunchKernel", &driver.launch},
  };
  for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
    void *address = dlsym(library, symbols[i].name);
    if (!address)
      stop("find a function of the driver", symbols[i].name);
    memcpy(symbols[i].slot, &address, sizeof(address));
  }
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

typedef struct Buffer {
  int64_t sizes[kMostDims];
  size_t rank, bytes;
  bool isOutput;
} Buffer;

static AttuneError error;
static AttuneKernel *kernel;
static AttuneArgument arguments[kMostArguments];
static Buffer buffers[kMostArguments];
static size_t numArguments;
static Handle stream;

static char *readFile(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0)
    stop("read", path);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char *content = malloc(*bytes + 1);
  if (fread(content, 1, *bytes, file) != *bytes)
    stop("read", path);
  fclose(file);
  return content;
}

static size_t getBytes(AttuneDataType type) {
  static const size_t bytes[] = {2, 2, 4, 8, 1, 1, 2, 4, 8};
  return bytes[type];
}

/// Numbers of 0.5 to 1, some negative; integers are 0.
static void randomize(char *memory, size_t bytes, AttuneDataType type) {
  memset(memory, 0, bytes);
  for (size_t i = 0; i * getBytes(type) < bytes; ++i) {
    uint32_t random = (uint32_t)rand();
    if (type == AttuneDataTypeF32) {
      uint32_t bits = 0x3f000000 | (random & 0x7fffff) | (random & 1) << 31;
      memcpy(memory + i * 4, &bits, 4);
    } else if (type == AttuneDataTypeF16 || type == AttuneDataTypeBF16) {
      uint32_t mantissa = type == AttuneDataTypeF16 ? 0x3ff : 0x7f;
      uint16_t bits =
          (uint16_t)((type == AttuneDataTypeF16 ? 0x3800 : 0x3f00) |
                     (random & mantissa) | (random >> 20 & 1) << 15);
      memcpy(memory + i * 2, &bits, 2);
    }
  }
}

static void makeBuffer(size_t pos, AttuneArgumentInfo info, const char *shape) {
  Buffer *buffer = &buffers[pos];
  buffer->bytes = getBytes(info.type);
  char *rest = (char *)shape;
  do {
    if (buffer->rank == kMostDims)
      stop("expects fewer dimensions", shape);
    int64_t size = strtoll(rest, &rest, 10);
    if (size < 1)
      stop("expects a shape such as 4x16x4096x128, but got", shape);
    buffer->sizes[buffer->rank++] = size;
    buffer->bytes *= (size_t)size;
  } while (*rest++ == 'x');
  buffer->isOutput = info.access != AttuneAccessRead;
  check(driver.allocate(&arguments[pos].address, buffer->bytes),
        "allocate a buffer");
  char *content = malloc(buffer->bytes);
  randomize(content, buffer->bytes, info.type);
  check(driver.copyToDevice(arguments[pos].address, content, buffer->bytes),
        "copy a buffer");
  free(content);
  arguments[pos].rank = buffer->rank;
  arguments[pos].sizes = buffer->sizes;
}

static void makeArguments(char **shapes, size_t numShapes) {
  size_t next = 0;
  numArguments = attuneRuntimeGetNumArguments(kernel);
  if (numArguments > kMostArguments)
    stop("expects a kernel of fewer arguments", "got too many");
  for (size_t i = 0; i < numArguments; ++i) {
    AttuneArgumentInfo info = attuneRuntimeGetArgument(kernel, i);
    arguments[i].type = info.type;
    if (info.isScalar)
      stop("expects a kernel of buffers alone, but got the scalar", info.name);
    if (info.access == AttuneAccessWorkspace)
      continue;
    if (next == numShapes)
      stop("expects a shape for", info.name);
    makeBuffer(i, info, shapes[next++]);
  }
  for (size_t i = 0; i < numArguments; ++i) {
    AttuneArgumentInfo info = attuneRuntimeGetArgument(kernel, i);
    if (info.access != AttuneAccessWorkspace)
      continue;
    int64_t bytes = attuneRuntimeGetWorkspaceBytes(kernel, arguments,
                                                   numArguments, i, &error);
    if (bytes < 0)
      stop(info.name, error.text);
    if (info.zero == AttuneZeroEachLaunch)
      stop("expects workspaces that launches restore, but got", info.name);
    check(driver.allocate(&arguments[i].address, bytes ? (size_t)bytes : 1),
          "allocate a workspace");
    check(driver.fill(arguments[i].address, 0, (size_t)bytes, stream),
          "fill a workspace");
  }
}

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

static AttuneLaunch *prepared;
static NodeParams node;

static void launch(void) {
  if (!attuneRuntimeLaunch(prepared, stream, &error))
    stop("launch", error.text);
}

static void launchBare(void) {
  check(driver.launch(node.function, node.gridX, node.gridY, node.gridZ,
                      node.blockX, node.blockY, node.blockZ, node.sharedBytes,
                      stream, node.parameters, NULL),
        "launch");
}

static void synchronize(void) {
  check(driver.synchronize(stream), "wait for the stream");
}

/// Nanoseconds of one launch, of a batch that the queue has room for.
static double timeBatch(void (*one)(void)) {
  struct timespec start, end;
  synchronize();
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < kBatch; ++i)
    one();
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((double)(end.tv_sec - start.tv_sec) * 1e9 +
          (double)(end.tv_nsec - start.tv_nsec)) /
         kBatch;
}

static int compareDoubles(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static double getMedian(double *values) {
  qsort(values, kRounds, sizeof(double), compareDoubles);
  return values[kRounds / 2];
}

static void measureTime(void) {
  static double ours[kRounds], bare[kRounds], extra[kRounds];
  timeBatch(launch);
  timeBatch(launchBare);
  for (int i = 0; i < kRounds; ++i) {
    // Who comes first changes, so that neither is always the warm one.
    if (i % 2)
      ours[i] = timeBatch(launch);
    bare[i] = timeBatch(launchBare);
    if (i % 2 == 0)
      ours[i] = timeBatch(launch);
    extra[i] = ours[i] - bare[i];
  }
  printf("launch: %.0f ns, cuLaunchKernel: %.0f ns, difference: %.0f ns "
         "(medians of %d batches of %d)\n",
         getMedian(ours), getMedian(bare), getMedian(extra), kRounds, kBatch);
}

/// Allocations in many launches. The driver may make some of its own.
static long countAllocations(void (*one)(void)) {
  synchronize();
  long before = allocations;
  for (int i = 0; i < kCounted; ++i)
    one();
  long after = allocations;
  synchronize();
  return after - before;
}

static char *readOutputs(size_t *bytes) {
  synchronize();
  *bytes = 0;
  for (size_t i = 0; i < numArguments; ++i)
    if (buffers[i].isOutput)
      *bytes += buffers[i].bytes;
  char *content = malloc(*bytes + 1), *next = content;
  for (size_t i = 0; i < numArguments; ++i)
    if (buffers[i].isOutput) {
      check(driver.copyToHost(next, arguments[i].address, buffers[i].bytes),
            "copy an output");
      next += buffers[i].bytes;
    }
  return content;
}

static void poisonOutputs(void) {
  for (size_t i = 0; i < numArguments; ++i)
    if (buffers[i].isOutput)
      check(driver.fill(arguments[i].address, 0xff, buffers[i].bytes, stream),
            "poison an output");
}

static Handle capture(void) {
  Handle graph = NULL, nodes[1] = {NULL};
  size_t count = 1;
  check(driver.beginCapture(stream, /*mode=*/0), "begin to capture a graph");
  launch();
  check(driver.endCapture(stream, &graph), "capture a graph");
  check(driver.getNodes(graph, nodes, &count), "read the graph");
  if (count != 1)
    stop("expects a launch to be one node of a graph", "got another number");
  check(driver.getNodeParams(nodes[0], &node), "read the graph's launch");
  return graph;
}

static int countDifferentReplays(Handle graph) {
  Handle executable = NULL;
  check(driver.instantiate(&executable, graph, 0), "instantiate the graph");
  size_t bytes;
  poisonOutputs();
  launch();
  char *expected = readOutputs(&bytes);
  int different = 0;
  for (int i = 0; i < kReplays; ++i) {
    poisonOutputs();
    check(driver.replay(executable, stream), "replay the graph");
    char *got = readOutputs(&bytes);
    different += memcmp(expected, got, bytes) != 0;
    free(got);
  }
  free(expected);
  return different;
}

int main(int argc, char **argv) {
  if (argc < 4)
    stop("expects", "launch <image> <manifest> <shape>...");
  AttuneDevice *device = attuneRuntimeOpenDevice("cuda", 0, &error);
  if (!device)
    stop("device", error.text);
  openDriver();
  check(driver.createStream(&stream, /*non-blocking*/ 1), "create a stream");
  size_t imageBytes, manifestBytes;
  char *image = readFile(argv[1], &imageBytes);
  char *manifest = readFile(argv[2], &manifestBytes);
  kernel = attuneRuntimeLoadKernel(device, image, imageBytes, manifest,
                                   manifestBytes, &error);
  if (!kernel)
    stop("kernel", error.text);
  makeArguments(argv + 3, (size_t)(argc - 3));
  prepared = attuneRuntimePrepare(kernel, arguments, numArguments, &error);
  if (!prepared)
    stop("prepare", error.text);
  launch();
  synchronize();
  Handle graph = capture();
  measureTime();
  long ours = countAllocations(launch), bare = countAllocations(launchBare);
  printf("allocations in %d launches: %ld, in as many cuLaunchKernel: %ld\n",
         kCounted, ours, bare);
  int different = countDifferentReplays(graph);
  printf("replays of a captured launch that differ: %d of %d\n", different,
         kReplays);
  attuneRuntimeReleaseLaunch(prepared);
  attuneRuntimeUnloadKernel(kernel);
  attuneRuntimeCloseDevice(device);
  free(image);
  free(manifest);
  return ours > bare || different != 0 ? 2 : 0;
}
