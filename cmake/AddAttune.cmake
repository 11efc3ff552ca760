# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include_guard()

# All dialect headers, parsed once: an MLIR source then compiles in a few
# seconds instead of half a minute.
add_library(AttunePCH OBJECT "${PROJECT_SOURCE_DIR}/cmake/PCH.cpp")
target_precompile_headers(AttunePCH PRIVATE "${PROJECT_SOURCE_DIR}/cmake/PCH.h")

# attune_add_library(<name> <sources>... [DEPENDS <tablegen targets>...] [LINK <libraries>...] [NO_PCH])
#
# A static library of ours. Every library is exported with the package.
function(attune_add_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} AttuneMLIR)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM AttunePCH)
  endif()
  install(TARGETS ${name} EXPORT AttuneTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# attune_add_tool(<name> <sources>... [LINK <libraries>...])
function(attune_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} AttuneMLIR)
  target_precompile_headers(${name} REUSE_FROM AttunePCH)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  if(ATTUNE_PORTABLE)
    target_link_options(${name} PRIVATE ${ATTUNE_PORTABLE_LINK_OPTIONS})
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
