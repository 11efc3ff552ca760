// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The drivers of both vendors, CUDA's and HIP's, have the same entry points
// under different names. This device calls them through one table.

#ifndef ATTUNE_LIB_RUNTIME_DRIVER_H
#define ATTUNE_LIB_RUNTIME_DRIVER_H

#include "attune/Runtime/Device.h"
#include "llvm/Support/DynamicLibrary.h"

namespace attune {

/// The entry points, declared as the vendors' headers do, with an int for
/// enumerations and plain pointers for handles. 0 is success.
struct DriverTable {
  using Handle = void *;

  int (*init)(unsigned flags);
  int (*getCount)(int *count);
  int (*getName)(char *name, int length, int device);
  int (*getAttribute)(int *value, int attribute, int device);
  int (*getDriverVersion)(int *version);
  int (*getTotalMemory)(size_t *bytes, int device);
  int (*allocate)(DeviceAddress *address, size_t bytes);
  int (*release)(DeviceAddress address);
  int (*copyToDevice)(DeviceAddress target, const void *source, size_t bytes);
  int (*copyToHost)(void *target, DeviceAddress source, size_t bytes);
  int (*fill)(DeviceAddress target, unsigned char byte, size_t bytes,
              Handle stream);
  int (*loadModule)(Handle *module, const void *image);
  int (*unloadModule)(Handle module);
  int (*getFunction)(Handle *function, Handle module, const char *name);
  int (*launch)(Handle function, unsigned gridX, unsigned gridY, unsigned gridZ,
                unsigned blockX, unsigned blockY, unsigned blockZ,
                unsigned sharedBytes, Handle stream, void **parameters,
                void **extra);
  int (*synchronize)();
  int (*createEvent)(Handle *event, unsigned flags);
  int (*recordEvent)(Handle event, Handle stream);
  int (*synchronizeEvent)(Handle event);
  int (*getElapsed)(float *milliseconds, Handle start, Handle stop);
  int (*destroyEvent)(Handle event);
};

class DriverDevice : public Device {
public:
  const DeviceInfo &getInfo() const override { return info; }
  llvm::Expected<DeviceAddress> allocate(int64_t bytes) override;
  llvm::Error release(DeviceAddress address) override;
  llvm::Error copyToDevice(DeviceAddress target, const void *source,
                           int64_t bytes) override;
  llvm::Error copyToHost(void *target, DeviceAddress source,
                         int64_t bytes) override;
  llvm::Error fill(DeviceAddress target, uint8_t byte, int64_t bytes,
                   void *stream) override;
  llvm::Expected<std::unique_ptr<Kernel>>
  loadKernel(llvm::StringRef image, llvm::StringRef name,
             int64_t sharedBytes) override;
  llvm::Error launch(Kernel &kernel, const LaunchShape &shape,
                     llvm::ArrayRef<void *> arguments) override;
  llvm::Error synchronize() override;
  llvm::Expected<std::unique_ptr<Event>> createEvent() override;
  llvm::Error record(Event &event) override;
  llvm::Expected<double> getElapsed(Event &start, Event &stop) override;

protected:
  /// An entry point and the name under which the vendor's library has it.
  struct Symbol {
    const char *name;
    void *slot;
  };

  /// Opens the first library of `names` that is there; "no <what> device:
  /// ..." where none is.
  llvm::Error openLibrary(llvm::StringRef what,
                          llvm::ArrayRef<const char *> names);
  llvm::Error resolve(llvm::ArrayRef<Symbol> symbols);
  static llvm::Error makeMissingError(const char *name);

  /// Success, or an error with `attempt` and the driver's own text.
  llvm::Error check(int status, const llvm::Twine &attempt);
  virtual std::string describe(int status) = 0;
  /// Queues a launch; returns the driver's status.
  virtual int queue(DriverTable::Handle function, const LaunchShape &shape,
                    void **parameters);
  /// Makes the device the calling thread's one. What was another device's is
  /// `previous` then, to be given back.
  virtual llvm::Error enterThread(DriverTable::Handle &previous) = 0;
  virtual void leaveThread(DriverTable::Handle previous) = 0;
  /// Allows a kernel more shared memory than drivers grant unasked.
  virtual llvm::Error allowSharedBytes(DriverTable::Handle function,
                                       int64_t bytes) = 0;
  /// What the driver's compiler said about the last module, if it did.
  virtual int loadImage(DriverTable::Handle *module, const void *image,
                        std::string &log);

  DriverTable driver{};
  DeviceInfo info;
  llvm::sys::DynamicLibrary library;
};

} // namespace attune

#endif // ATTUNE_LIB_RUNTIME_DRIVER_H
