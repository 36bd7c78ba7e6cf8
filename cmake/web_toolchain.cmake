# SPDX-License-Identifier: MIT
# WebAssembly by Debian's packages clang-19, lld-19, libc++-19-dev-wasm32, libclang-rt-19-dev-wasm32 and wasi-libc.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_AR ar)  # No library is made: modules are linked from objects.
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
# These libraries have no exceptions. The emulation is declarations alone.
set(CMAKE_CXX_FLAGS_INIT "-stdlib=libc++ -fno-exceptions -D_WASI_EMULATED_PROCESS_CLOCKS -DINGOT_DECODES_ONLY")
set(CMAKE_CXX_FLAGS_MINSIZEREL "-Oz -DNDEBUG" CACHE STRING "")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-mexec-model=reactor")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

# Headers of libraries that are nothing else; those of this system's C library must not be found with them.
set(INGOT_HEADERS ${CMAKE_BINARY_DIR}/headers)
foreach(name tl hwy fmt nlohmann xxhash.h)
  if(NOT EXISTS ${INGOT_HEADERS}/${name})
    file(MAKE_DIRECTORY ${INGOT_HEADERS})
    file(CREATE_LINK /usr/include/${name} ${INGOT_HEADERS}/${name} SYMBOLIC)
  endif()
endforeach()
set(INGOT_HIGHWAY_INCLUDE ${INGOT_HEADERS} CACHE PATH "")
set(INGOT_XXHASH_INCLUDE ${INGOT_HEADERS} CACHE PATH "")
set(INGOT_JSON_INCLUDE ${INGOT_HEADERS} CACHE PATH "")
