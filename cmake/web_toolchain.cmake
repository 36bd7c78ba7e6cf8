# SPDX-License-Identifier: MIT
# WebAssembly by Debian's packages clang-19, lld-19, libc++-19-dev-wasm32, libclang-rt-19-dev-wasm32 and wasi-libc.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_AR ar)  # No library is made: modules are linked from objects.
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
# These libraries have no exceptions. The emulation is declarations alone. The linker sees the whole program, and drops
# the arguments and texts that only the program of a terminal uses: a sixth of the compressed size.
set(CMAKE_CXX_FLAGS_INIT "-stdlib=libc++ -fno-exceptions -fno-rtti -flto -msimd128 -D_WASI_EMULATED_PROCESS_CLOCKS -DINGOT_DECODES_ONLY")
set(CMAKE_CXX_FLAGS_MINSIZEREL "-Oz -DNDEBUG" CACHE STRING "")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-mexec-model=reactor")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(CMAKE_PROJECT_TOP_LEVEL_INCLUDES ${CMAKE_CURRENT_LIST_DIR}/header_packages.cmake)
