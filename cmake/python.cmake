# SPDX-License-Identifier: MIT
# Whether the Python package is built. It needs pybind11 and an interpreter with its headers; where
# several are installed, INGOT_PYTHON names one.

find_path(INGOT_PYBIND11_INCLUDE pybind11/pybind11.h)
if(NOT INGOT_PYTHON)
  # The first that has NumPy, without which the package is of no use, and what the tests need.
  set(modules sys,numpy)
  if(INGOT_BUILD_TESTS)
    string(APPEND modules ,pytest,hypothesis)
  endif()
  foreach(candidate python3 /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import ${modules}; print(sys.executable)"
                    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                    RESULT_VARIABLE status)
    if(status EQUAL 0)
      set(INGOT_PYTHON ${found} CACHE FILEPATH "The interpreter that the Python package is for")
      break()
    endif()
  endforeach()
endif()
set(Python_EXECUTABLE ${INGOT_PYTHON})
if(INGOT_PYTHON)
  find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
endif()

find_package(fmt QUIET)
if(INGOT_PYBIND11_INCLUDE AND Python_Development.Module_FOUND AND fmt_FOUND)
  set(has_python ON)
else()
  set(has_python OFF)
  message(STATUS "The Python package is not built: it needs pybind11-dev, python3-dev, libfmt-dev and python3-numpy")
endif()
# A module with a sanitizer loads only where the interpreter has the same one.
if(INGOT_INSTRUMENTED OR INGOT_COVERAGE OR INGOT_STATIC_PROGRAM OR CMAKE_CROSSCOMPILING OR NOT PROJECT_IS_TOP_LEVEL)
  set(has_python OFF)
endif()
option(INGOT_BUILD_PYTHON "Build the Python package (pybind11)" ${has_python})
set(INGOT_PYTHON_INSTALL_DIR "" CACHE STRING
    "Where below the prefix `cmake --install` puts the Python package; empty: nowhere")
if(INGOT_BUILD_PYTHON AND NOT (INGOT_PYBIND11_INCLUDE AND Python_Development.Module_FOUND AND fmt_FOUND))
  message(FATAL_ERROR "INGOT_BUILD_PYTHON needs pybind11-dev, python3-dev, libfmt-dev and python3-numpy")
endif()
