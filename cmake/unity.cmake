# SPDX-License-Identifier: MIT
# With CMAKE_UNITY_BUILD the compiler takes several sources as one unit and so reads their headers once. The
# presets have it, all but `dev`; coverage and nightly build without it, so a source has to include what it
# uses.

# Sources of a unit, at most. More save little.
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)
endif()

# ingot_unite(<subject> <file>...)
# Makes units of the sources of one subject. A kernel includes itself once for each CPU: it stays alone.
function(ingot_unite subject)
  list(FILTER ARGN EXCLUDE REGEX "_simd\\.cpp$")
  get_property(count GLOBAL PROPERTY INGOT_UNITED_${subject})
  foreach(file ${ARGN})
    math(EXPR unit "0${count} / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${subject}_${unit})
    math(EXPR count "0${count} + 1")
  endforeach()
  set_property(GLOBAL PROPERTY INGOT_UNITED_${subject} ${count})
endfunction()
