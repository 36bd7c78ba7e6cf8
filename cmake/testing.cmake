# SPDX-License-Identifier: MIT
# Tests, fuzz targets, examples, benchmarks and the checks of the tree. Every function that
# registers a test is a no-op, or registers nothing, in a build without tests.

if(INGOT_BUILD_TESTS OR INGOT_BUILD_FUZZ)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
if(INGOT_BUILD_TESTS)
  if(INGOT_GOOGLETEST_SOURCE)
    set(INSTALL_GTEST OFF)
    set(unity ${CMAKE_UNITY_BUILD})
    set(CMAKE_UNITY_BUILD OFF)  # its sources are a unit already
    add_subdirectory(${INGOT_GOOGLETEST_SOURCE} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
    set(CMAKE_UNITY_BUILD ${unity})
  else()
    find_package(GTest REQUIRED)
  endif()
  include(GoogleTest)
endif()

# A check that takes longer has failed. With sanitizers, programs take several times as long.
set(INGOT_CHECK_SECONDS 600)
if(INGOT_INSTRUMENTED)
  set(INGOT_CHECK_SECONDS 1500)
endif()

# Tests exit with this to say "skipped".
set(INGOT_SKIP_CODE 77)

# What a test that is a command finds in its environment, and one in C++ as macros. INGOT_SHARED is
# the user's to set; its default is the folder `shared` beside the checkout.
set(INGOT_PROGRAM ${PROJECT_BINARY_DIR}/bin/ingot)
set(INGOT_TEST_ENVIRONMENT
    INGOT_PROGRAM=${INGOT_PROGRAM}
    INGOT_SOURCE_DIR=${PROJECT_SOURCE_DIR}
    INGOT_INSTRUMENTED=${INGOT_INSTRUMENTED})

# ingot_check(<test> COMMAND <command>... [PROPERTIES <property> <value>...])
# A test that is a command: 0 passes, 77 skips. It runs in the source folder.
function(ingot_check test)
  if(NOT INGOT_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND;PROPERTIES")
  add_test(NAME ${test} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE ${INGOT_SKIP_CODE} TIMEOUT ${INGOT_CHECK_SECONDS}
                       ENVIRONMENT "${INGOT_TEST_ENVIRONMENT}" ${arg_PROPERTIES})
endfunction()

# ingot_check_layer(<module> [MAY_USE <module>...])
function(ingot_check_layer module)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "MAY_USE")
  set(modules)
  foreach(name ${module} ${arg_MAY_USE})
    get_property(headers GLOBAL PROPERTY INGOT_HEADERS_OF_${name})
    list(JOIN headers "," headers)
    list(APPEND modules ${name}=${headers})
  endforeach()
  string(REPLACE "/" "." test ${module})
  ingot_check(layer.${test} COMMAND Python3::Interpreter scripts/check_layers.py ${modules})
endfunction()

# ingot_check_headers(<header>...): each public header compiles alone, with every warning.
function(ingot_check_headers)
  # ISO C wants at least one declaration, and a header may hold only macros.
  set(declaration ${PROJECT_BINARY_DIR}/tests/one_declaration.c)
  file(CONFIGURE OUTPUT ${declaration} CONTENT "typedef int one_declaration;\n")
  set(flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only
      -I${PROJECT_SOURCE_DIR}/include)
  foreach(header ${ARGN})
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/include)
    cmake_path(GET header FILENAME name)
    if(header MATCHES "\\.(hpp|h)$")
      ingot_check(headers.${name}.cpp COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 ${flags}
                  -include ${header} -x c++ ${declaration})
    endif()
    if(header MATCHES "\\.h$")
      ingot_check(headers.${name}.c COMMAND ${CMAKE_C_COMPILER} -std=c11 ${flags}
                  -include ${header} -x c ${declaration})
    endif()
  endforeach()
endfunction()

# ingot_test(<module> [WHOLE] [FOLDER <folder>] SOURCES <file>... [LIBS <target>...])
# One GoogleTest executable <module>_test from tests/<module>/<file>... (or those in another FOLDER,
# for tests that cannot live in one program with the rest of a module); its tests appear in ctest
# as <module>.<Suite>.<Name>, or, if it has thousands of short ones, WHOLE as <module>; with sanitizers
# all do, as each start of a program takes longer there than most tests. It may include private
# headers and "support/...", and knows the macros INGOT_PROGRAM and INGOT_SOURCE_DIR (paths) and
# INGOT_INSTRUMENTED (0 or 1).
function(ingot_test module)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WHOLE" "FOLDER" "SOURCES;LIBS")
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${module})
  endif()
  list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/tests/${arg_FOLDER}/)
  add_executable(${module}_test ${arg_SOURCES})
  target_link_libraries(${module}_test PRIVATE ingot_internal ingot_warnings ${arg_LIBS}
                        GTest::gmock_main)
  target_include_directories(${module}_test PRIVATE ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_SOURCE_DIR}/tests)
  set_target_properties(${module}_test PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF CXX_EXTENSIONS OFF)
  target_precompile_headers(${module}_test REUSE_FROM ingot_test_headers)
  # GCC 12 warns about std::string itself where its header is precompiled.
  target_compile_options(${module}_test PRIVATE ${INGOT_RUN_ONCE_OPTIONS}
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
  # gtest_discover_tests cannot set more than one environment variable, so these are macros.
  target_compile_definitions(${module}_test PRIVATE
    INGOT_PROGRAM="${INGOT_PROGRAM}" INGOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    INGOT_INSTRUMENTED=${INGOT_INSTRUMENTED})
  if(arg_WHOLE OR INGOT_INSTRUMENTED)
    add_test(NAME ${module} COMMAND ${module}_test --gtest_brief=1)
    set_tests_properties(${module} PROPERTIES TIMEOUT 600)
    return()
  endif()
  gtest_discover_tests(${module}_test TEST_PREFIX ${module}. NO_PRETTY_VALUES DISCOVERY_TIMEOUT 120
                       PROPERTIES TIMEOUT 600)
endfunction()

# ingot_fuzz(<target> [MUTATOR <file>] [DICTIONARY <file>] [SEEDS <folder>...] [LIBS <target>...])
# One fuzz target from fuzz/<target>.cpp. With INGOT_LIBFUZZER it fuzzes, with the MUTATOR and the
# DICTIONARY, and <target>.arguments beside it tells scripts/fuzz how; without, it replays the files
# it is given. Either way ctest replays fuzz/corpus/<target> and the SEEDS.
function(ingot_fuzz target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MUTATOR;DICTIONARY" "SEEDS;LIBS")
  add_executable(${target} ${target}.cpp)
  target_link_libraries(${target} PRIVATE ingot_internal ingot_warnings ${arg_LIBS})
  target_compile_options(${target} PRIVATE ${INGOT_RUN_ONCE_OPTIONS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_SOURCE_DIR}/tests)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF  # one source, and perhaps a mutator
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  list(TRANSFORM arg_SEEDS PREPEND ${PROJECT_SOURCE_DIR}/)
  set(corpora ${arg_SEEDS} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${target})
  if(INGOT_LIBFUZZER)
    target_sources(${target} PRIVATE ${arg_MUTATOR})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    # libFuzzer refuses a folder that is missing; without one it tries the empty input.
    if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/fuzz/corpus/${target})
      set(corpora ${arg_SEEDS})
    endif()
    add_test(NAME fuzz.${target} COMMAND ${target} -runs=0 ${corpora})
    # libFuzzer looks up every feature of a run in a list of the rare ones. Left to itself it calls
    # rare what 255 runs had, and spends most of its time there while a corpus is young.
    set(arguments -entropic_feature_frequency_threshold=1 ${corpora})
    if(arg_DICTIONARY)
      list(PREPEND arguments -dict=${CMAKE_CURRENT_SOURCE_DIR}/${arg_DICTIONARY})
    endif()
    list(JOIN arguments "\n" arguments)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/bin/${target}.arguments CONTENT "${arguments}\n")
  else()
    target_link_libraries(${target} PRIVATE fuzz_replay)
    add_test(NAME fuzz.${target} COMMAND ${target} ${corpora})
  endif()
  set_tests_properties(fuzz.${target} PROPERTIES TIMEOUT 600)
endfunction()

# ingot_example(<file> [ARGS <argument>...] [LIBS <target>...])
# Builds examples/<file> (C or C++) against the public library, and LIBS, and runs it as ctest
# example.<stem>. ${INGOT_SAMPLE_MODEL} may be an argument: a model that ctest has made by then.
set(INGOT_SAMPLE_MODEL ${PROJECT_BINARY_DIR}/tests/sample.gguf)
if(INGOT_BUILD_EXAMPLES)
  add_custom_target(examples)
endif()
function(ingot_example file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ARGS;LIBS")
  cmake_path(GET file STEM stem)
  add_executable(example_${stem} ${file})
  add_dependencies(examples example_${stem})
  target_link_libraries(example_${stem} PRIVATE ingot::ingot ingot_warnings ${arg_LIBS})
  set_target_properties(example_${stem} PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF
                        LINKER_LANGUAGE CXX)  # a C program links our C++ runtime too
  ingot_check(example.${stem} COMMAND example_${stem} ${arg_ARGS}
              PROPERTIES FIXTURES_REQUIRED sample_model)
endfunction()

# ingot_bench(<target> [SOURCES <file>...] [LIBS <target>...])
# A Google Benchmark program from bench/<target>.cpp and the SOURCES; never part of ctest.
function(ingot_bench target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_executable(${target} ${target}.cpp ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ingot_internal ingot_warnings ${arg_LIBS}
                        benchmark::benchmark_main)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_SOURCE_DIR}/tests)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()
