# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds LLVM, MLIR and lld 22 and defines the one place that says how we link
# them: `AttuneMLIR` (every library of ours that needs MLIR) and `AttuneLLD`
# (whoever links HSACO). An executable links the shared libraries, or, if it has
# the property ATTUNE_STATIC_LLVM, the static archives of AttunePortable.cmake;
# a mix of the two registers every pass twice at run time.

find_package(MLIR 22.1 REQUIRED CONFIG)
find_package(LLD REQUIRED CONFIG)
message(STATUS "Attune uses LLVM ${LLVM_PACKAGE_VERSION} from ${LLVM_INSTALL_PREFIX}")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(LLVM_ENABLE_WARNINGS ON)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(attune_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${attune_llvm_definitions})

add_compile_options(
  -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
  -Xclang -fno-pch-timestamp # ccache compares contents
  -fno-exceptions -ffunction-sections -fdata-sections -fvisibility-inlines-hidden)
if(ATTUNE_WERROR)
  add_compile_options(-Werror)
endif()
if(ATTUNE_ENABLE_ASSERTIONS)
  add_compile_options(-UNDEBUG)
endif()

add_library(AttuneMLIR INTERFACE)
add_library(AttuneLLD INTERFACE)
set(shared "$<NOT:$<BOOL:$<TARGET_PROPERTY:ATTUNE_STATIC_LLVM>>>")
target_link_libraries(AttuneMLIR INTERFACE $<${shared}:MLIR> $<${shared}:LLVM>)
target_link_libraries(AttuneLLD INTERFACE $<${shared}:lldELF> $<${shared}:lldCommon>)
