# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What `cmake --install` lays down: the package that find_package(Attune) finds
# (headers, generated headers, .td files, libAttune.so, archives), the tools, the
# plugin and the search space. CPack packs something else, the component
# `portable`: tools for machines that have no LLVM.

include(CMakePackageConfigHelpers)

set(CPACK_GENERATOR TXZ)
set(CPACK_PACKAGE_NAME attune)
set(CPACK_PACKAGE_VENDOR Attune)
set(CPACK_COMPONENTS_ALL portable)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_THREADS 0)
set(CPACK_PACKAGE_FILE_NAME "attune-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/package")
include(CPack)

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        COMPONENT portable EXCLUDE_FROM_ALL)
install(TARGETS AttuneMLIR AttuneLLD AttuneAll EXPORT AttuneTargets)
foreach(root "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  install(DIRECTORY "${root}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*.td" PATTERN "*.def"
          PATTERN CMakeFiles EXCLUDE)
endforeach()

# Both trees answer find_package(Attune): -DAttune_DIR=<build>/lib/cmake/Attune
# works before anything is installed.
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Attune")
set(build_package_dir "${PROJECT_BINARY_DIR}/lib/cmake/Attune")
foreach(targets IN ITEMS AttuneTargets AttuneRuntimeTargets)
  install(EXPORT ${targets} DESTINATION "${package_dir}")
  export(EXPORT ${targets} FILE "${build_package_dir}/${targets}.cmake")
endforeach()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/AttuneConfig.cmake.in"
  "${build_package_dir}/AttuneConfig.cmake" INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${build_package_dir}/AttuneConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${build_package_dir}/AttuneConfig.cmake" "${build_package_dir}/AttuneConfigVersion.cmake"
        DESTINATION "${package_dir}")
