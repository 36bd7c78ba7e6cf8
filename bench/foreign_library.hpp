// SPDX-License-Identifier: MIT
// Functions of a library that is compared with, where one is given.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ingot::bench {

/// The function `name` of the library whose path stands in an environment variable; nullptr without
/// the variable. A library that cannot be used ends the program.
template <typename Function>
Function foreign_function(const char* variable, const char* name) {
  const char* path = std::getenv(variable);
  if (path == nullptr) return nullptr;
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* const symbol = library != nullptr ? ::dlsym(library, name) : nullptr;
  if (symbol == nullptr) {
    std::fprintf(stderr, "%s: %s\n", variable, ::dlerror());
    std::exit(2);
  }
  return reinterpret_cast<Function>(symbol);
}

/// size_t ggml_quantize_chunk(type, src, dst, start, nrows, n_per_row, imatrix), of ggml.h.
using GgmlQuantize = std::size_t (*)(int, const float*, void*, std::int64_t, std::int64_t,
                                     std::int64_t, const float*);

/// The function of the library in INGOT_GGML.
inline GgmlQuantize ggml_quantize() {
  static const auto function = foreign_function<GgmlQuantize>("INGOT_GGML", "ggml_quantize_chunk");
  return function;
}

}  // namespace ingot::bench
