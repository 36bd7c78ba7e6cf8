// SPDX-License-Identifier: MIT
// Builds LLaMA files from before GGUF, right and wrong ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::test {

/// The bytes of a file, field by field.
class GgmlBuilder {
 public:
  /// @param magic  "lmgg", "fmgg" or "tjgg"; the first has no version.
  explicit GgmlBuilder(std::string_view magic, std::uint32_t version = 1)
      : has_scores_(magic != "lmgg"), is_aligned_(magic == "tjgg") {
    bytes_ = magic;
    if (has_scores_) u32(version);
  }

  GgmlBuilder& u32(std::uint32_t number) {
    for (int i = 0; i < 4; ++i, number >>= 8) bytes_.push_back(static_cast<char>(number & 0xFF));
    return *this;
  }

  /// A model of that many layers, of width 32, with two heads and these tokens.
  GgmlBuilder& shape(std::uint32_t layers, std::uint32_t file_type,
                     const std::vector<std::string>& tokens) {
    u32(static_cast<std::uint32_t>(tokens.size())).u32(32).u32(256).u32(2).u32(layers).u32(16);
    u32(file_type);
    for (const std::string& token : tokens) {
      u32(static_cast<std::uint32_t>(token.size()));
      bytes_ += token;
      if (has_scores_) u32(0xBF800000);  // -1.0
    }
    return *this;
  }

  /// @param data_bytes  are filled with the first letter of the name.
  GgmlBuilder& tensor(std::string_view name, std::uint32_t type,
                      const std::vector<std::uint32_t>& dimensions, std::size_t data_bytes) {
    u32(static_cast<std::uint32_t>(dimensions.size())).u32(static_cast<std::uint32_t>(name.size()));
    u32(type);
    for (const std::uint32_t length : dimensions) u32(length);
    bytes_ += name;
    if (is_aligned_) bytes_.resize((bytes_.size() + 31) / 32 * 32);
    bytes_.append(data_bytes, name[0]);
    return *this;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(bytes_));
  }

 private:
  std::string bytes_;
  bool has_scores_;
  bool is_aligned_;
};

}  // namespace ingot::test
