# SPDX-License-Identifier: MIT
# What a user may choose, and the flags that every target of the project shares.

option(BUILD_SHARED_LIBS "Build the library shared instead of static" OFF)
if(PROJECT_IS_TOP_LEVEL)
  set(INGOT_IS_PART OFF)
else()
  set(INGOT_IS_PART ON)
endif()
option(INGOT_CORE_ONLY "Build the library ingot::ingot alone, which needs headers and no other library"
       ${INGOT_IS_PART})
option(INGOT_BUILD_PROGRAM "Build the program `ingot`" ${PROJECT_IS_TOP_LEVEL})
option(INGOT_STATIC_PROGRAM "Link the program without any shared library, that of C included" OFF)
find_path(INGOT_CURL_INCLUDE curl/curl.h)
set(remote_default OFF)
if(INGOT_CURL_INCLUDE AND NOT INGOT_STATIC_PROGRAM)
  set(remote_default ON)  # a program without shared libraries cannot load libcurl
endif()
option(INGOT_BUILD_REMOTE "Build ingot::remote, which reads models on servers (libcurl)" ${remote_default})
option(INGOT_BUILD_TESTS "Build the tests and register the checks" ${PROJECT_IS_TOP_LEVEL})
option(INGOT_BUILD_WEB "Build the modules of WebAssembly, and nothing else" OFF)
option(INGOT_BUILD_FUZZ "Build the fuzz targets" ${PROJECT_IS_TOP_LEVEL})
option(INGOT_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(INGOT_BUILD_BENCH "Build the benchmarks (Google Benchmark)" OFF)
option(INGOT_INSTALL "Generate install rules" ${PROJECT_IS_TOP_LEVEL})
option(INGOT_WERROR "Treat warnings as errors" OFF)
option(INGOT_ALL_CPU_TARGETS "Build kernels for SSSE3 and AVX3_DL (Ice Lake) too" OFF)
option(INGOT_FEW_CPU_TARGETS "Build kernels for AVX2 and for every CPU alone, in three quarters of the time" OFF)
option(INGOT_STATIC_CPU_TARGET "Build only the kernels that every CPU runs, in a quarter of the time" OFF)
set(INGOT_DOCS_URL "" CACHE STRING "Where docs/ of this version can be read, for links in reports")
set(INGOT_COMMIT "" CACHE STRING "The commit that is built, for `ingot --version --verbose`")
option(INGOT_COVERAGE "Count which lines of the library run (gcov)" OFF)
set(INGOT_GOOGLETEST_SOURCE "" CACHE PATH
    "The sources of GoogleTest, where those who built its package had another standard library")
option(INGOT_LIBFUZZER "Link fuzz targets with libFuzzer (clang) instead of the replay main" OFF)

if(INGOT_CORE_ONLY AND (INGOT_BUILD_PROGRAM OR INGOT_BUILD_TESTS OR INGOT_BUILD_FUZZ OR INGOT_BUILD_EXAMPLES
                       OR INGOT_BUILD_PYTHON OR INGOT_BUILD_BENCH OR INGOT_INSTALL))
  message(FATAL_ERROR "the program, the tests, the package and what is installed need all libraries: "
                      "set INGOT_CORE_ONLY to OFF")
endif()

# A build without a type would be slow and would keep the assertions: rarely what users want.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# Sanitizers come from the presets, as flags of the toolchain. Some checks have no meaning under
# them (symbols, memory, start time), so it is worth knowing.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(INGOT_INSTRUMENTED 1)
else()
  set(INGOT_INSTRUMENTED 0)
endif()
# Programs with sanitizers are large. Where lld is installed, clang links them in a quarter of the time.
if(INGOT_INSTRUMENTED AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  find_program(INGOT_LLD ld.lld)
  mark_as_advanced(INGOT_LLD)
  if(INGOT_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

# To compile most code takes longer than what it does in tests. So tests and fuzz targets are not optimised,
# nor, with sanitizers, is what does not compute for long. libFuzzer wants speed of all.
set(INGOT_RUN_ONCE_OPTIONS -O0)
set(INGOT_SANITIZED_OPTIONS)
if(INGOT_LIBFUZZER)
  set(INGOT_RUN_ONCE_OPTIONS)
elseif(INGOT_INSTRUMENTED)
  set(INGOT_SANITIZED_OPTIONS -O0)
endif()

# libc++ has std::jthread only on request before its version 20.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT INGOT_BUILD_WEB)
  include(CheckCXXSourceCompiles)
  block()  # its variables end with it; nothing is linked, which would need the library of threads
    set(CMAKE_REQUIRED_FLAGS -std=c++20)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    check_cxx_source_compiles("#include <thread>\nint main() { std::jthread(); }" INGOT_HAS_JTHREAD)
  endblock()
  if(NOT INGOT_HAS_JTHREAD)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fexperimental-library>)
  endif()
endif()

# On systems of 32 bits: files of any size and times of any year, and numbers of the sizes that they have elsewhere,
# which those of the first coprocessor do not have.
if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND UNIX AND NOT INGOT_BUILD_WEB)
  add_compile_definitions(_FILE_OFFSET_BITS=64 _TIME_BITS=64)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^i[3-6]86$")
    add_compile_options(-msse2 -mfpmath=sse)
  endif()
endif()

# Linked privately by every target; never installed.
add_library(ingot_warnings INTERFACE)
target_compile_options(ingot_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  # GCC 12 sees what is not there: overlapping copies inside std::string (its bug 105651), and
  # uninitialised members in a std::variant that moves. clang and clang-tidy look for the real ones.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>
  # GCC takes the sources of a unit for headers, where an anonymous namespace would be a mistake.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  $<$<BOOL:${INGOT_WERROR}>:-Werror>)

# For the language server and clang-tidy.
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
