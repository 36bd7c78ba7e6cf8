# SPDX-License-Identifier: MIT
# The toolchain for Windows by Debian's mingw-w64: scripts/windows. The threads of its posix variant are
# those of std::thread.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(mingw x86_64-w64-mingw32)
set(CMAKE_C_COMPILER ${mingw}-gcc-posix)
set(CMAKE_CXX_COMPILER ${mingw}-g++-posix)
set(CMAKE_RC_COMPILER ${mingw}-windres)
set(CMAKE_FIND_ROOT_PATH /usr/${mingw})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Windows 10; the printf of C99, functions of POSIX that mingw declares only then, and units larger than 32,768 sections.
set(CMAKE_CXX_FLAGS_INIT "-D_WIN32_WINNT=0x0A00 -DWIN32_LEAN_AND_MEAN -D__USE_MINGW_ANSI_STDIO=1 -D_POSIX_THREAD_SAFE_FUNCTIONS=1 -Wa,-mbig-obj")
# Threads that compute recurse as deep as on Linux.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--stack,8388608")

# The time that binutils take for an object or an archive of this system grows with the square of its sections: units
# are small, and ranlib writes the only index.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcS <TARGET> <LINK_FLAGS> <OBJECTS>")

# What is headers alone is the same for every system, but /usr/include as a whole is Linux's. So these
# packages are folders of links, and find_package answers with those.
set(CMAKE_PROJECT_TOP_LEVEL_INCLUDES ${CMAKE_CURRENT_LIST_DIR}/header_packages.cmake)
