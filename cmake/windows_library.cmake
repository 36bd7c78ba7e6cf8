# SPDX-License-Identifier: MIT
# For Windows: ingot.dll, the C interface of the libraries in one file that needs no other, and what
# `cmake --install` copies. Any compiler can link it, as only C crosses its border.

set(c_headers chat.h export.h ingot.h quantize_model.h tokenizer.h version.h writer.h
              errors.def special_tokens.def tensor_types.def value_types.def)
list(TRANSFORM c_headers PREPEND ${PROJECT_SOURCE_DIR}/include/ingot/)

# ingot.def lists the functions that the headers declare; what else is in the file stays inside.
set(exports "LIBRARY ingot.dll\nEXPORTS\n")
foreach(header ${c_headers})
  file(READ ${header} text)
  string(REGEX MATCHALL "INGOT_EXPORT [^;(]*[ *]ingot_[a-z0-9_]+\\(" declarations "${text}")
  foreach(declaration ${declarations})
    string(REGEX REPLACE ".*[ *](ingot_[a-z0-9_]+)\\($" "\\1" function "${declaration}")
    string(APPEND exports "  ${function}\n")
  endforeach()
endforeach()
set(definition ${PROJECT_BINARY_DIR}/ingot.def)
file(CONFIGURE OUTPUT ${definition} CONTENT "${exports}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${c_headers})

add_library(ingot_c_library SHARED ${definition} $<TARGET_OBJECTS:ingot_objects> $<TARGET_OBJECTS:ingot_text_objects>
                                   $<TARGET_OBJECTS:ingot_convert_objects>)
target_link_libraries(ingot_c_library PRIVATE ingot_convert)  # for what these link to
target_link_options(ingot_c_library PRIVATE -static LINKER:--gc-sections)
set_target_properties(ingot_c_library PROPERTIES
  OUTPUT_NAME ingot
  RUNTIME_OUTPUT_NAME ingot
  PREFIX ""
  LINKER_LANGUAGE CXX
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
  ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
  ARCHIVE_OUTPUT_NAME ingot)

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/ingot-config-windows.cmake.in ingot-config.cmake
                              INSTALL_DESTINATION lib/cmake/ingot)
write_basic_package_version_file(ingot-config-version.cmake COMPATIBILITY SameMinorVersion)
install(TARGETS ingot_program ingot_c_library RUNTIME DESTINATION bin ARCHIVE DESTINATION lib)
install(FILES ${definition} DESTINATION lib)
install(FILES ${c_headers} DESTINATION include/ingot)
install(FILES ${PROJECT_BINARY_DIR}/ingot-config.cmake ${PROJECT_BINARY_DIR}/ingot-config-version.cmake
        DESTINATION lib/cmake/ingot)
