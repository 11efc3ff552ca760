# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How libraries and tools of this project are declared.

include_guard()

# All dialect headers, parsed once: an MLIR source then compiles in a few
# seconds instead of half a minute.
add_library(AttunePCH OBJECT "${PROJECT_SOURCE_DIR}/cmake/PCH.cpp")
target_precompile_headers(AttunePCH PRIVATE "${PROJECT_SOURCE_DIR}/cmake/PCH.h")

# libAttune.so: all libraries of ours in one, with all their symbols, so that each
# op, type and interface has one identity in a process, whoever asks. The tools
# and plugins of this build link it, and so do other people's. Upstream's C API of
# IR is in it as well (lib/CAPI), and so are lld, SQLite and Boost, whose symbols
# stay its own.
add_library(Attune SHARED)
target_include_directories(Attune INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(Attune PUBLIC AttuneMLIR)
target_link_options(Attune PRIVATE LINKER:-Bsymbolic-functions LINKER:--gc-sections LINKER:--build-id=sha1
  LINKER:--exclude-libs,liblldELF.a:liblldCommon.a:libsqlite3.a:libboost_context.a)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize") # the executable brings the sanitizer's runtime
  target_link_options(Attune PRIVATE LINKER:-z,defs)
endif()
set_target_properties(Attune PROPERTIES LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
install(TARGETS Attune EXPORT AttuneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The same libraries as archives, for programs that take what they need of them.
# Not for plugins, which would bring a second copy of each dialect along.
add_library(AttuneAll INTERFACE)

# attune_add_library(<name> <sources>... [DEPENDS <tablegen targets>...] [LINK <libraries>...] [NO_PCH])
#
# A library of ours: an archive that is exported with the package, and a part of
# libAttune.so and of AttuneAll.
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
  # Its objects go in whole. The archive only names what else they need.
  target_sources(Attune PRIVATE $<TARGET_OBJECTS:${name}>)
  target_link_libraries(Attune PRIVATE ${name})
  target_link_libraries(AttuneAll INTERFACE ${name})
  set_property(GLOBAL APPEND PROPERTY ATTUNE_TEST_DEPENDS ${name}) # a test installs all of them
  install(TARGETS ${name} EXPORT AttuneTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# attune_add_tool(attune-<x> <sources>... [LINK <libraries>...])
#
# A tool is a function, so that the portable executable (AttunePortable.cmake)
# can hold all tools, and LLVM once:
#
#     int attune<X>Main(int argc, char **argv)      // attune-lsp-server: attuneLspServerMain
#
# `main` is added here, and links libAttune.so; LINK names what the portable
# executable takes from the archives. Two rules follow from sharing one executable:
# - No `cl::opt` at namespace scope: two tools may both have a `--chip`. Put the
#   options into a struct and make one inside attune<X>Main.
# - Names with external linkage other than attune<X>Main go into an anonymous
#   namespace or a library.
# A tool that starts itself again passes its own name ("attune-tune") as
# argv[0] to llvm::sys::fs::getMainExecutable's file: the shared executable
# tells by that name, or by a first argument ("tune"), which tool it is.
function(attune_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  attune_tool_entry(${name} entry)
  add_library(${name}-main OBJECT ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name}-main PUBLIC ${ARG_LINK} AttuneMLIR)
  target_precompile_headers(${name}-main REUSE_FROM AttunePCH)
  set_target_properties(${name}-main PROPERTIES UNITY_BUILD OFF) # sources import what namespaces they like
  foreach(source IN LISTS ARG_UNPARSED_ARGUMENTS)
    file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/${source}" mains REGEX "^int main\\(")
    if(mains)
      message(FATAL_ERROR "${name}: name the entry of ${source} `int ${entry}(int argc, char **argv)` "
                          "and make its options inside it (see cmake/AddAttune.cmake)")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ATTUNE_TOOLS ${name})
  add_executable(${name} "${PROJECT_SOURCE_DIR}/cmake/ToolMain.cpp")
  target_compile_definitions(${name} PRIVATE ATTUNE_TOOL_MAIN=${entry})
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}-main>)
  target_link_libraries(${name} PRIVATE Attune)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  install(TARGETS ${name} EXPORT AttuneTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# attune-lsp-server -> attuneLspServerMain
function(attune_tool_entry name result)
  string(REPLACE "-" ";" words ${name})
  list(POP_FRONT words entry)
  foreach(word IN LISTS words)
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND entry ${first}${rest})
  endforeach()
  set(${result} ${entry}Main PARENT_SCOPE)
endfunction()
