// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of a file is a literal of a Python dictionary with three keys, as
// numpy.lib.format describes it.

#include "attune/Runtime/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace attune;
using llvm::StringRef;

static constexpr llvm::StringLiteral kMagic("\x93NUMPY");
/// Of version 1: magic, version, length of what follows.
static constexpr size_t kShortPrefix = 10, kLongPrefix = 12;

namespace {
struct Header {
  StringRef type;
  bool rowMajor;
  llvm::SmallVector<int64_t, 4> sizes;
  StringRef data;
};
} // namespace

/// How NumPy spells the types that a tensor of `type` is read from; the first
/// one is written.
static llvm::SmallVector<StringRef, 2> getDescriptions(DataType type) {
  switch (type) {
  case DataType::F16:
    return {"<f2"};
  case DataType::BF16:
    return {"<u2", "|V2"};
  case DataType::F32:
    return {"<f4"};
  case DataType::F64:
    return {"<f8"};
  case DataType::I1:
    return {"|b1"};
  case DataType::I8:
    return {"|i1"};
  case DataType::F8E4M3FN:
  case DataType::F8E5M2:
  case DataType::F8E4M3FNUZ:
  case DataType::F8E5M2FNUZ:
    return {"|u1", "|V1"};
  case DataType::I16:
    return {"<i2"};
  case DataType::I32:
    return {"<i4"};
  case DataType::I64:
    return {"<i8"};
  }
  llvm_unreachable("all types are covered");
}

static llvm::Error damaged(StringRef what) {
  return llvm::createStringError("expects a .npy file, but got " + what);
}

static llvm::Expected<Header> parseHeader(StringRef content) {
  if (!content.starts_with(kMagic) || content.size() < kLongPrefix)
    return damaged("a file that does not start as one");
  auto major = static_cast<uint8_t>(content[kMagic.size()]);
  if (major < 1 || major > 3)
    return damaged("one of version " + std::to_string(major));
  const char *length = content.data() + kMagic.size() + 2;
  size_t prefix = major == 1 ? kShortPrefix : kLongPrefix,
         bytes = major == 1 ? llvm::support::endian::read16le(length)
                            : llvm::support::endian::read32le(length);
  if (bytes > content.size() - prefix)
    return damaged("one that ends within its header");
  StringRef text = content.substr(prefix, bytes);
  auto find = [&](StringRef pattern, StringRef &value) {
    llvm::SmallVector<StringRef> groups;
    if (!llvm::Regex(pattern).match(text, &groups))
      return false;
    value = groups[1];
    return true;
  };
  StringRef order, sizes;
  Header header;
  if (!find("'descr': *'([^']*)'", header.type) ||
      !find("'fortran_order': *(True|False)", order) ||
      !find("'shape': *\\(([0-9, ]*)\\)", sizes))
    return damaged("one without type, order and shape in its header");
  header.rowMajor = order == "False";
  for (StringRef part : llvm::split(sizes, ',')) {
    int64_t size;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, size))
      return damaged(("one with a size of " + part.trim()).str());
    header.sizes.push_back(size);
  }
  header.data = content.drop_front(prefix + bytes);
  return header;
}

static llvm::Expected<Tensor> parseNpy(StringRef content,
                                       const TensorShape &shape) {
  auto header = parseHeader(content);
  if (!header)
    return header.takeError();
  llvm::SmallVector<StringRef, 2> types = getDescriptions(shape.type);
  if (!llvm::is_contained(types, header->type))
    return llvm::createStringError(
        "expects elements of type '" + types.front() + "' for " +
        getName(shape.type) + ", but got '" + header->type + "'");
  if (!header->rowMajor)
    return llvm::createStringError(
        "expects rows one after the other, but got Fortran's order");
  if (header->sizes != shape.sizes) {
    TensorShape got = TensorShape::contiguous(shape.type, header->sizes);
    return llvm::createStringError("expects an array of " + shape.str() +
                                   ", but got " + got.str());
  }
  int64_t elementBytes = getBytes(shape.type),
          bytes = shape.getNumElements() * elementBytes;
  if (static_cast<int64_t>(header->data.size()) != bytes)
    return llvm::createStringError("expects " + llvm::Twine(bytes) +
                                   " bytes of elements, but got " +
                                   llvm::Twine(header->data.size()));
  Tensor tensor(shape);
  const char *source = header->data.data();
  shape.forEachOffset([&](int64_t offset) {
    std::memcpy(&tensor.bytes[offset * elementBytes], source, elementBytes);
    source += elementBytes;
  });
  return tensor;
}

llvm::Expected<Tensor> attune::readNpy(StringRef path,
                                       const TensorShape &shape) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + file.getError().message());
  auto tensor = parseNpy((*file)->getBuffer(), shape);
  if (!tensor)
    return llvm::createStringError("'" + path + "' " +
                                   llvm::toString(tensor.takeError()));
  return tensor;
}

std::string attune::writeNpy(const Tensor &tensor) {
  const TensorShape &shape = tensor.shape;
  std::string header;
  llvm::raw_string_ostream stream(header);
  stream << "{'descr': '" << getDescriptions(shape.type).front()
         << "', 'fortran_order': False, 'shape': (";
  // A tuple of one needs its comma.
  for (int64_t size : shape.sizes)
    stream << size << ", ";
  stream << "), }";
  // The elements start at a multiple of 64 bytes.
  constexpr size_t kAlignment = 64;
  header.resize(llvm::alignTo(kShortPrefix + header.size() + 1, kAlignment) -
                    kShortPrefix - 1,
                ' ');
  header += '\n';
  std::string content(kMagic);
  content += {'\1', '\0'};
  char length[2];
  llvm::support::endian::write16le(length, header.size());
  content.append(length, sizeof(length));
  content += header;
  int64_t elementBytes = getBytes(shape.type);
  content.reserve(content.size() + shape.getNumElements() * elementBytes);
  shape.forEachOffset([&](int64_t offset) {
    content.append(&tensor.bytes[offset * elementBytes], elementBytes);
  });
  return content;
}
