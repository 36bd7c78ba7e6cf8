// SPDX-License-Identifier: MIT
// The reader of a format: the rows of formats.def point to these.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ingot/error.hpp"
#include "ingot/interop.hpp"
#include "ingot/store.hpp"

namespace ingot::formats {

/// The facts of an input before it is opened.
struct Probe {
  std::string name;
  bool is_folder = false;
  std::span<const std::byte> first_bytes;  ///< 16, or all of a shorter file.
};

struct FormatReader {
  bool (*recognises)(const Probe& probe) = nullptr;
  Result<OpenedModel> (*open)(const Store& store, const std::string& name,
                              const OpenAnyOptions& options) = nullptr;
};

extern const FormatReader bump_reader;
extern const FormatReader ggml_reader;
extern const FormatReader gguf_reader;
extern const FormatReader safetensors_reader;
inline constexpr FormatReader no_reader{};

}  // namespace ingot::formats
