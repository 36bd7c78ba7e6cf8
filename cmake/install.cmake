# SPDX-License-Identifier: MIT
# `cmake --install`: components `program` (with manual pages and completions), `library` (what
# programs that use a shared Ingot need to run) and `development` (headers, package files, and the
# library itself if it is static). `cpack` makes a Debian package of each.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ingot)

set(libraries ingot ingot_text ingot_convert ingot_import ingot_evaluate)
if(INGOT_BUILD_REMOTE)
  list(APPEND libraries ingot_remote)
endif()
install(TARGETS ${libraries} EXPORT ingot
        ARCHIVE COMPONENT development
        LIBRARY COMPONENT library NAMELINK_COMPONENT development
        FILE_SET HEADERS COMPONENT development)
install(EXPORT ingot NAMESPACE ingot:: FILE ingot-targets.cmake
        DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/ingot-config.cmake.in ingot-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(ingot-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ingot-config.cmake
              ${PROJECT_BINARY_DIR}/ingot-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)

# The .pc file finds its prefix from its own place, so an installed tree can be moved.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
           BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir} OUTPUT_VARIABLE pc_prefix)
if(INGOT_SHARED_DEFINITION)
  set(pc_cflags -D${INGOT_SHARED_DEFINITION})
endif()
configure_file(cmake/ingot.pc.in ingot.pc @ONLY)
configure_file(cmake/ingot-text.pc.in ingot-text.pc @ONLY)
configure_file(cmake/ingot-convert.pc.in ingot-convert.pc @ONLY)
configure_file(cmake/ingot-import.pc.in ingot-import.pc @ONLY)
configure_file(cmake/ingot-evaluate.pc.in ingot-evaluate.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ingot.pc ${PROJECT_BINARY_DIR}/ingot-text.pc
              ${PROJECT_BINARY_DIR}/ingot-convert.pc
              ${PROJECT_BINARY_DIR}/ingot-evaluate.pc ${PROJECT_BINARY_DIR}/ingot-import.pc
        DESTINATION ${pkgconfig_dir} COMPONENT development)
if(INGOT_BUILD_REMOTE)
  configure_file(cmake/ingot-remote.pc.in ingot-remote.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/ingot-remote.pc
          DESTINATION ${pkgconfig_dir} COMPONENT development)
endif()

if(INGOT_BUILD_PROGRAM)
  if(BUILD_SHARED_LIBS)
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR}
               OUTPUT_VARIABLE library_from_program)
    set_target_properties(ingot_program PROPERTIES INSTALL_RPATH $ORIGIN/${library_from_program})
  endif()
  install(TARGETS ingot_program RUNTIME COMPONENT program)
  # The page of `ingot view`, if scripts/web has made it.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/web/page/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ingot/page
          COMPONENT program OPTIONAL)
endif()

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR}
            -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
    VERBATIM)
endif()

include(package)
