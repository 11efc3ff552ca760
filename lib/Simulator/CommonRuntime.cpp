// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of all families call, and the conversions of 16-bit floats
// that LLVM takes from a library where the CPU has no instruction for them.

#include "Runtime.h"
#include "attune/Runtime/DataType.h"

using namespace attune;

static DataType getDataType(HostElementType type) {
  switch (type) {
  case kHostF16:
    return DataType::F16;
  case kHostBF16:
    return DataType::BF16;
  case kHostF8E4M3FN:
    return DataType::F8E4M3FN;
  case kHostF8E5M2:
    return DataType::F8E5M2;
  case kHostF8E4M3FNUZ:
    return DataType::F8E4M3FNUZ;
  case kHostF8E5M2FNUZ:
    return DataType::F8E5M2FNUZ;
  }
  llvm_unreachable("all elements have a type");
}

double attune::loadOperand(HostElementType type, const char *bits) {
  return loadElement(getDataType(type), bits);
}

uint32_t attune::getOperandBytes(HostElementType type) {
  return static_cast<uint32_t>(getBytes(getDataType(type)));
}

void attune::storeOperand(HostElementType type, float value, uint8_t *bits) {
  DataType dataType = getDataType(type);
  storeElement(dataType, bits, value);
  if (std::fabs(static_cast<double>(value)) > getLargest(dataType))
    storeElement(dataType, bits, std::numeric_limits<float>::quiet_NaN());
}

static char *access(HostThread *context, uint32_t site, char *address,
                    uint32_t bytes, uint32_t alignment, uint32_t flags) {
  Thread &thread = asThread(context);
  return thread.group->access(thread, site, address, bytes, alignment, flags);
}

static void step(HostThread *context, uint32_t site) {
  Thread &thread = asThread(context);
  thread.group->step(thread, site);
}

static void trap(HostThread *context, uint32_t site) {
  Thread &thread = asThread(context);
  thread.group->trap(thread, site);
}

static void fenceDevice(HostThread *context, uint32_t) {
  Thread &thread = asThread(context);
  thread.group->fenceDevice(thread);
}

static void countExp(HostThread *context, uint32_t, uint32_t count) {
  asThread(context).group->getCounters().exponentials(count);
}

/// Operands: number of the barrier, number of threads, where they are there.
static void barrier(HostThread *context, uint32_t site, uint32_t hasId,
                    uint32_t hasCount, uint32_t waits) {
  Thread &thread = asThread(context);
  uint32_t id = hasId ? thread.takeOperand<uint32_t>() : 0;
  uint32_t count = hasCount ? thread.takeOperand<uint32_t>() : 0;
  thread.group->barrier(thread, site, id, count, waits);
}

template <typename To> static To convertFloat(DataType type, double value) {
  To result;
  static_assert(sizeof(To) == 2);
  storeElement(type, &result, value);
  return result;
}

static __bf16 truncateToBF16(float value) {
  return convertFloat<__bf16>(DataType::BF16, value);
}
static __bf16 truncateDoubleToBF16(double value) {
  return convertFloat<__bf16>(DataType::BF16, value);
}
static _Float16 truncateToF16(float value) {
  return convertFloat<_Float16>(DataType::F16, value);
}
static _Float16 truncateDoubleToF16(double value) {
  return convertFloat<_Float16>(DataType::F16, value);
}
static float extendF16(_Float16 value) {
  return static_cast<float>(loadElement(DataType::F16, &value));
}

llvm::ArrayRef<HostFunction> attune::getCommonHostFunctions() {
  static const HostFunction functions[] = {
      hostFunction("attuneHostAccess", access),
      hostFunction("attuneHostStep", step),
      hostFunction("attuneHostTrap", trap),
      hostFunction("attuneHostFenceDevice", fenceDevice),
      hostFunction("attuneHostCountExp", countExp),
      hostFunction("attuneHostBarrier", barrier),
      hostFunction("__truncsfbf2", truncateToBF16),
      hostFunction("__truncdfbf2", truncateDoubleToBF16),
      hostFunction("__truncsfhf2", truncateToF16),
      hostFunction("__truncdfhf2", truncateDoubleToF16),
      hostFunction("__extendhfsf2", extendF16),
  };
  return functions;
}
