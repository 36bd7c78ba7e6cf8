# SPDX-License-Identifier: MIT
# `cpack --preset package`: Debian packages, one for each component, of a build with preset
# `package`. They are named and depend on one another as Debian's policy wants it.

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ingot)
set(CPACK_PACKAGE_VENDOR "The Ingot authors")
set(CPACK_PACKAGE_CONTACT "The Ingot authors <noreply@ingot.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Toolkit for GGUF model files")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
# The same files everywhere, whatever the umask of who builds.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# What the binaries load is found by dpkg-shlibdeps, which has to know our own library too.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(CPACK_COMPONENTS_ALL development)
if(BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL library)
  # A library's package is named after its ABI, so that two can be installed side by side.
  set(library_package libingot${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(same_library "${library_package} (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
  set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
      "The library opens, decodes, encodes and writes the files in which language models\nare distributed; programs that use it need this package.")
endif()

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libingot-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
# The C++ headers use tl::expected; a static library needs what it stands on.
set(static_needs "libssl-dev, zlib1g-dev, libyaml-dev")
if(BUILD_SHARED_LIBS)
  set(static_needs ${same_library})
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libexpected-dev, ${static_needs}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "Headers for C++ and C, and what CMake and pkg-config need to find the library.")

# Loaded when a remote model is read, so nothing that dpkg-shlibdeps could see.
if(INGOT_BUILD_REMOTE)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS libcurl4)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS libcurl4)
endif()

if(INGOT_BUILD_PROGRAM)
  list(APPEND CPACK_COMPONENTS_ALL program)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME ingot)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
  if(BUILD_SHARED_LIBS)
    set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ${same_library})
  endif()
  set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
      "The program shows, checks, edits, splits, converts and quantizes the files in\nwhich language models are distributed.")
endif()

if(INGOT_BUILD_PYTHON AND INGOT_PYTHON_INSTALL_DIR)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-ingot)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  # The module is for one minor version of Python.
  math(EXPR next_minor "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${next_minor}), python3-numpy")
  if(BUILD_SHARED_LIBS)
    string(APPEND CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS ", ${same_library}")
  endif()
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
      ${PROJECT_SOURCE_DIR}/cmake/debian/postinst ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION
      "The package ingot for Python: tensors as NumPy arrays over the mapped file, and a\nfunction for everything that the program does.")
endif()

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
          RENAME copyright COMPONENT ${component})
endforeach()

include(CPack)
