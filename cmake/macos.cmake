# SPDX-License-Identifier: MIT
# The toolchain for macOS by zig, which has Apple's headers and the list of the system's functions: scripts/macos, which
# makes the folder of compilers that this file names.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR $ENV{INGOT_MACOS_MACHINE})
set(CMAKE_SYSTEM_VERSION 22)
set(tools $ENV{INGOT_MACOS_TOOLS})
set(CMAKE_C_COMPILER ${tools}/cc)
set(CMAKE_CXX_COMPILER ${tools}/c++)
set(CMAKE_AR ${tools}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${tools}/ranlib CACHE FILEPATH "")
set(CMAKE_INSTALL_NAME_TOOL /bin/true CACHE FILEPATH "")  # nothing is installed
set(CMAKE_OSX_SYSROOT "" CACHE PATH "")
set(CMAKE_FIND_ROOT_PATH ${tools})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Apple's own zlib: its header is among zig's, its library a list of names.
set(ZLIB_INCLUDE_DIR $ENV{INGOT_MACOS_HEADERS} CACHE PATH "")
set(ZLIB_LIBRARY ${tools}/libz.tbd CACHE FILEPATH "")

set(CMAKE_PROJECT_TOP_LEVEL_INCLUDES ${CMAKE_CURRENT_LIST_DIR}/header_packages.cmake)
