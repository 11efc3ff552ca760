# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds the chips: every folder lib/Target/<Vendor>/<Family> that is not
# `Common` holds one family, and every .mlir file in it describes one chip. From
# these comes include/attune/Target/Targets.def. Adding a chip or a family adds files there and
# changes nothing else.

function(attune_generate_targets)
  set(content "// Generated from lib/Target. Do not edit.\n")
  file(GLOB families CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*/*/CMakeLists.txt")
  set(libraries "")
  foreach(file IN LISTS families)
    get_filename_component(folder "${file}" DIRECTORY)
    get_filename_component(family "${folder}" NAME)
    if(family STREQUAL "Common")
      continue()
    endif()
    string(APPEND content "ATTUNE_FAMILY(${family})\n")
    list(APPEND libraries AttuneTarget${family})
    file(GLOB chips CONFIGURE_DEPENDS "${folder}/*.mlir")
    foreach(chip IN LISTS chips)
      get_filename_component(name "${chip}" NAME_WE)
      file(READ "${chip}" description)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${chip}")
      string(APPEND content "ATTUNE_CHIP(\"${name}\", R\"description(${description})description\")\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/include/attune/Target/Targets.def" CONTENT "${content}" @ONLY)
  set(ATTUNE_TARGET_LIBRARIES "${libraries}" PARENT_SCOPE)
endfunction()

# attune_add_target_family(<sources>... [LINK <libraries>...])
#
# The library of the family in the current folder, named AttuneTarget<Family>.
function(attune_add_target_family)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  get_filename_component(family "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  attune_add_library(AttuneTarget${family} ${ARG_UNPARSED_ARGUMENTS}
    DEPENDS TileIncGen
    LINK AttuneTargetModel ${ARG_LINK})
endfunction()
