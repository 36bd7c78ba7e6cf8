# SPDX-License-Identifier: MIT
# Libraries and the modules they are made of.

include(GNUInstallDirs)

# What a program in C has to link beside a library in C++.
set(INGOT_RUNTIMES ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER INGOT_RUNTIMES INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|m)$")
list(REMOVE_DUPLICATES INGOT_RUNTIMES)

# On Windows, what uses a function of a DLL has to say so. Elsewhere the objects of shared and of static libraries
# are the same, and the compiler cache has them.
set(INGOT_SHARED_DEFINITION)
if(BUILD_SHARED_LIBS AND WIN32)
  set(INGOT_SHARED_DEFINITION INGOT_SHARED)
endif()

# ingot_library(<name> [COMPUTES] EXPORT_NAME <name> [LIBS <target>...])
#
# Declares the library target <name> (alias ingot::<EXPORT_NAME>), to be filled by ingot_module.
#   LIBS     what users of the library have to link too
#   COMPUTES its tests compute for long: it is optimised with sanitizers, too
# Two more targets are made from the same objects: <name>_objects, and the static <name>_internal
# for tests that need symbols which a shared library hides.
function(ingot_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COMPUTES" "EXPORT_NAME" "LIBS")

  # target_sources below each module adds the objects; a library needs no source of its own.
  add_library(${name}_objects OBJECT)
  add_library(${name} $<TARGET_OBJECTS:${name}_objects>)
  add_library(${name}_internal STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}_objects>)
  if(PROJECT_IS_TOP_LEVEL OR CXX IN_LIST INGOT_LANGUAGES_OF_USER)
    add_library(ingot::${arg_EXPORT_NAME} ALIAS ${name})
  else()
    ingot_library_for_c(${name})
    add_library(ingot::${arg_EXPORT_NAME} ALIAS ${name}_for_c)
  endif()

  foreach(target ${name}_objects ${name} ${name}_internal)
    target_link_libraries(${target} PUBLIC ${arg_LIBS})
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF LINKER_LANGUAGE CXX)
  endforeach()

  set_target_properties(${name}_objects PROPERTIES
    UNITY_BUILD_MODE GROUP  # ingot_module makes the groups
    POSITION_INDEPENDENT_CODE ON  # a static library ends up in other people's shared ones
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${name}_objects PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${name}_objects PRIVATE INGOT_BUILDING ${INGOT_SHARED_DEFINITION})
  target_link_libraries(${name}_objects PRIVATE ingot_warnings)
  target_compile_options(${name}_objects PRIVATE
    -ffp-contract=off             # same floats from every CPU and compiler
    -fno-semantic-interposition)  # exported functions may be inlined into their neighbours
  if(NOT arg_COMPUTES)
    target_compile_options(${name}_objects PRIVATE ${INGOT_SANITIZED_OPTIONS})
  endif()
  if(INGOT_COVERAGE)
    # Tests and the program stay as they are: only the library's lines are counted.
    target_compile_options(${name}_objects PRIVATE -O1 --coverage)
    foreach(target ${name} ${name}_internal)
      target_link_options(${target} PUBLIC --coverage)
    endforeach()
  endif()

  # A project in C alone links no C++ runtime by itself.
  if(NOT BUILD_SHARED_LIBS)
    target_link_libraries(${name} INTERFACE "$<$<LINK_LANGUAGE:C>:${INGOT_RUNTIMES}>")
  endif()

  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include)
  # While the major version is 0, a minor release may change the ABI.
  set_target_properties(${name} PROPERTIES
    EXPORT_NAME ${arg_EXPORT_NAME}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(BUILD_SHARED_LIBS)
    target_compile_definitions(${name} INTERFACE ${INGOT_SHARED_DEFINITION})
    # Instances of std:: templates ignore hidden visibility; the version script keeps them in.
    target_link_options(${name} PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/ingot.map)
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/ingot.map)
  endif()

  set(INGOT_LIBRARY ${name} PARENT_SCOPE)
endfunction()

# ingot_library_for_c(<name>)
#
# Declares <name>_for_c for a project that has no C++ compiler, which could neither link a target of C++ nor
# know its standard: the file of the library, and what a program in C has to link with it.
function(ingot_library_for_c name)
  add_library(${name}_for_c INTERFACE)
  add_dependencies(${name}_for_c ${name})
  target_include_directories(${name}_for_c INTERFACE ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${name}_for_c INTERFACE ${INGOT_SHARED_DEFINITION})
  target_link_libraries(${name}_for_c INTERFACE $<TARGET_FILE:${name}> ${INGOT_RUNTIMES} Threads::Threads)
endfunction()

# ingot_module(<folder> [MAY_USE <module>...] [HEADERS <header>...] [LIBS <target>...] [FLOORS <folder>...]
#              SOURCES <file>...)
#
# Adds src/<folder>/<file>... to the library declared last and registers ctest `layer.<folder>`, which
# checks the #includes of src/<folder> and of its public headers.
#   MAY_USE  the modules whose files and public headers it includes: those, and no more
#   HEADERS  the public headers that it implements, in include/ingot/
#   LIBS     what only this library needs, not its users
#   FLOORS   its folders, from the lowest on: ctest `layer.<folder>.floors` finds #includes that go up
function(ingot_module folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "MAY_USE;HEADERS;LIBS;SOURCES;FLOORS")
  get_property(declared GLOBAL PROPERTY INGOT_MODULES)
  foreach(module ${arg_MAY_USE})
    if(NOT module IN_LIST declared)
      message(FATAL_ERROR "${folder} may not use ${module}: layers point down, ${module} is no layer below")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY INGOT_MODULES ${folder})
  set_property(GLOBAL PROPERTY INGOT_HEADERS_OF_${folder} ${arg_HEADERS})

  # A target with less than a system leaves out what needs one.
  list(TRANSFORM arg_SOURCES PREPEND ${folder}/)
  foreach(pattern ${INGOT_LEFT_OUT})
    list(FILTER arg_SOURCES EXCLUDE REGEX "^${pattern}$")
  endforeach()
  if(NOT arg_SOURCES)
    return()
  endif()

  list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/)
  string(REGEX REPLACE "/.*" "" subject ${folder})
  ingot_unite(${subject} ${arg_SOURCES})
  target_sources(${INGOT_LIBRARY}_objects PRIVATE ${arg_SOURCES})
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/ingot/)
  target_sources(${INGOT_LIBRARY} PUBLIC FILE_SET HEADERS FILES ${arg_HEADERS})
  if(arg_LIBS)
    target_link_libraries(${INGOT_LIBRARY}_objects PRIVATE ${arg_LIBS})
    target_link_libraries(${INGOT_LIBRARY} PRIVATE ${arg_LIBS})
    target_link_libraries(${INGOT_LIBRARY}_internal PRIVATE ${arg_LIBS})
  endif()
  ingot_check_layer(${folder} MAY_USE ${arg_MAY_USE})
  if(arg_FLOORS)
    ingot_check(layer.${folder}.floors COMMAND Python3::Interpreter scripts/check_layers.py
                --floors src/${folder} ${arg_FLOORS})
  endif()
  ingot_check_headers(${arg_HEADERS})
endfunction()
