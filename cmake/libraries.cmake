# SPDX-License-Identifier: MIT
# Libraries that are a part of a static program, which starts faster so; a shared library leaves them where they are.
if(NOT BUILD_SHARED_LIBS AND NOT DEFINED OPENSSL_USE_STATIC_LIBS)
  set(OPENSSL_USE_STATIC_LIBS ON)
endif()
if(NOT BUILD_SHARED_LIBS AND NOT DEFINED ZLIB_USE_STATIC_LIBS)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
find_package(ZLIB REQUIRED)

# Windows and macOS have digests of their own, and no libyaml: there a reader of our own knows the part of YAML that
# model cards use.
if(WIN32)
  set(INGOT_SHA_LIBRARY bcrypt)
elseif(NOT APPLE)
  find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)
  set(INGOT_SHA_LIBRARY OpenSSL::Crypto)
  set(yaml_names yaml)
  if(NOT BUILD_SHARED_LIBS)
    list(PREPEND yaml_names libyaml.a)
  endif()
  find_path(INGOT_YAML_INCLUDE yaml.h REQUIRED)
  find_library(INGOT_YAML_LIBRARY NAMES ${yaml_names} REQUIRED)
  set(INGOT_YAML_LIBS LIBS $<BUILD_INTERFACE:${INGOT_YAML_LIBRARY}> $<INSTALL_INTERFACE:yaml>)
endif()
