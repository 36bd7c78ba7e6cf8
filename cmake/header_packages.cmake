# SPDX-License-Identifier: MIT
# Packages of headers alone, from the /usr/include of the machine that builds, one folder of links for each:
# for compilers whose headers of the system are others.
set(INGOT_HEADER_PACKAGES
    tl-expected,tl::expected,tl fmt,fmt::fmt,fmt CLI11,CLI11::CLI11,CLI
    nlohmann_json,nlohmann_json::nlohmann_json,nlohmann)

# Links /usr/include/NAME... into a folder, which it sets.
function(ingot_link_headers variable folder)
  set(folder ${CMAKE_BINARY_DIR}/headers/${folder})
  file(MAKE_DIRECTORY ${folder})
  foreach(name ${ARGN})
    if(NOT EXISTS /usr/include/${name})
      message(FATAL_ERROR "/usr/include/${name} is missing; scripts/setup installs what it belongs to")
    endif()
    file(CREATE_LINK /usr/include/${name} ${folder}/${name} SYMBOLIC)
  endforeach()
  set(${variable} ${folder} PARENT_SCOPE)
endfunction()

ingot_link_headers(highway hwy hwy)
set(INGOT_HIGHWAY_INCLUDE ${highway} CACHE PATH "")
ingot_link_headers(xxhash xxhash xxhash.h xxh3.h)
set(INGOT_XXHASH_INCLUDE ${xxhash} CACHE PATH "")
ingot_link_headers(json nlohmann_json nlohmann)
set(INGOT_JSON_INCLUDE ${json} CACHE PATH "")

macro(ingot_provide_headers method name)
  foreach(package ${INGOT_HEADER_PACKAGES})
    string(REPLACE "," ";" package ${package})
    list(GET package 0 package_name)
    if(package_name STREQUAL "${name}")
      list(GET package 1 package_target)
      list(GET package 2 package_headers)
      ingot_link_headers(package_folder ${package_name} ${package_headers})
      if(NOT TARGET ${package_target})
        add_library(${package_target} INTERFACE IMPORTED GLOBAL)
        target_include_directories(${package_target} SYSTEM INTERFACE ${package_folder})
      endif()
      set(${package_name}_FOUND TRUE)
    endif()
  endforeach()
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER ingot_provide_headers SUPPORTED_METHODS FIND_PACKAGE)
