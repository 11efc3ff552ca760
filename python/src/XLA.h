// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What XLA passes to a custom call, and the functions that it lends to one, as
// version 0.3 of its foreign function interface lays them out in C. A test
// compares this with the header of jaxlib, which no build needs.

#ifndef ATTUNE_PYTHON_SRC_XLA_H
#define ATTUNE_PYTHON_SRC_XLA_H

#include <cstddef>
#include <cstdint>

namespace attune::python::xla {

constexpr int kMajor = 0, kMinor = 3;

struct Extension {
  size_t size;
  int32_t kind;
  Extension *next;
};
constexpr int32_t kMetadataExtension = 1;

/// What all begin with: how many bytes whoever made one knows of.
struct Header {
  size_t size;
  Extension *extensions;
};

struct Version {
  Header header;
  int major, minor;
};

/// What XLA asks of a handler instead of calling it.
struct Metadata {
  size_t size;
  Version version;
  uint32_t traits;
  int64_t stateType;
};
struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

/// An array in row-major order without gaps.
struct Buffer {
  Header header;
  int32_t type;
  void *data;
  int64_t rank;
  int64_t *sizes;
};
constexpr int32_t kBufferKind = 1;

/// Operands or results.
struct Buffers {
  Header header;
  int64_t count;
  int32_t *kinds;
  Buffer **items;
};

struct Text {
  const char *data;
  size_t length;
};

struct Attributes {
  Header header;
  int64_t count;
  int32_t *kinds;
  Text **names;
  void **values;
};
constexpr int32_t kTextKind = 4;

struct Context;
struct Error;
struct API;

struct Frame {
  Header header;
  const API *api;
  Context *context;
  int32_t stage;
  Buffers operands, results;
  Attributes attributes;
};
constexpr int32_t kExecute = 3;

struct CreateError {
  Header header;
  const char *message;
  int32_t code;
};
constexpr int32_t kInternal = 13;

struct GetMessage {
  Header header;
  Error *error;
  const char *message;
  /// Since version 0.4.
  int32_t code;
};

struct DestroyError {
  Header header;
  Error *error;
};

struct GetStream {
  Header header;
  Context *context;
  void *stream;
};

struct Allocate {
  Header header;
  Context *context;
  size_t numBytes, alignment;
  void *data;
};

struct Free {
  Header header;
  Context *context;
  size_t numBytes;
  void *data;
};

struct GetOrdinal {
  Header header;
  Context *context;
  int32_t ordinal;
};

struct API {
  Header header;
  Version version;
  const void *internal;
  Error *(*createError)(CreateError *);
  void (*getMessage)(GetMessage *);
  void (*destroyError)(DestroyError *);
  void *registerHandler;
  Error *(*getStream)(GetStream *);
  void *registerType, *getContext, *setState, *getState;
  Error *(*allocate)(Allocate *);
  Error *(*free)(Free *);
  void *schedule, *getNumThreads, *createFuture, *setAvailable, *setError,
      *getRunId;
  Error *(*getOrdinal)(GetOrdinal *);
};

} // namespace attune::python::xla

#endif // ATTUNE_PYTHON_SRC_XLA_H
