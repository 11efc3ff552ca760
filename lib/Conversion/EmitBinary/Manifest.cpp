// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds manifests as attributes and writes them as JSON.

#include "attune/Conversion/Manifest.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;

static DictionaryAttr toAttribute(Builder &builder,
                                  const KernelResources &resources) {
  NamedAttrList list;
  auto add = [&](StringRef name, std::optional<int64_t> value) {
    if (value)
      list.set(name, builder.getI64IntegerAttr(*value));
  };
  add("registers", resources.registers);
  add("scalar_registers", resources.scalarRegisters);
  add("spill_store_bytes", resources.spillStoreBytes);
  add("spill_load_bytes", resources.spillLoadBytes);
  add("stack_bytes", resources.stackBytes);
  add("static_shared_bytes", resources.staticSharedBytes);
  add("serialized_multiplies", resources.serializedMultiplies);
  if (!resources.warnings.empty()) {
    SmallVector<StringRef> warnings(resources.warnings.begin(),
                                    resources.warnings.end());
    list.set("warnings", builder.getStrArrayAttr(warnings));
  }
  return list.getDictionary(builder.getContext());
}

DictionaryAttr attune::completeManifest(DictionaryAttr manifest,
                                        StringAttr kernel, StringRef chip,
                                        const KernelResources &resources) {
  Builder builder(kernel.getContext());
  NamedAttrList list(manifest);
  list.set("kernel", kernel);
  list.set("chip", builder.getStringAttr(chip));
  list.set("resources", toAttribute(builder, resources));
  return list.getDictionary(builder.getContext());
}

llvm::json::Value attune::toJSON(Attribute attribute) {
  return TypeSwitch<Attribute, llvm::json::Value>(attribute)
      .Case([](DictionaryAttr dictionary) {
        llvm::json::Object object;
        for (NamedAttribute entry : dictionary)
          object[entry.getName().getValue()] = toJSON(entry.getValue());
        return object;
      })
      .Case([](ArrayAttr array) {
        llvm::json::Array values;
        for (Attribute element : array)
          values.push_back(toJSON(element));
        return values;
      })
      .Case([](DenseI64ArrayAttr array) {
        return llvm::json::Array(array.asArrayRef());
      })
      .Case([](BoolAttr value) { return value.getValue(); })
      .Case([](IntegerAttr value) { return value.getValue().getSExtValue(); })
      .Case([](FloatAttr value) { return value.getValueAsDouble(); })
      .Case([](StringAttr value) { return value.getValue(); })
      .Case([](UnitAttr) { return true; })
      .Default([](Attribute other) {
        std::string text;
        llvm::raw_string_ostream(text) << other;
        return text;
      });
}
