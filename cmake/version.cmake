# SPDX-License-Identifier: MIT
# INGOT_VERSION, read from the one header that holds it.
set(version_header ${CMAKE_CURRENT_SOURCE_DIR}/include/ingot/version.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${version_header})
file(READ ${version_header} version_text)
set(INGOT_VERSION "")
foreach(part MAJOR MINOR PATCH)
  if(NOT version_text MATCHES "#define INGOT_VERSION_${part} ([0-9]+)")
    message(FATAL_ERROR "${version_header} does not define INGOT_VERSION_${part}")
  endif()
  list(APPEND INGOT_VERSION ${CMAKE_MATCH_1})
endforeach()
list(JOIN INGOT_VERSION "." INGOT_VERSION)
