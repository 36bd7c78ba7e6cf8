// SPDX-License-Identifier: MIT
// The numbers of one tensor of a model folder, wherever they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "ingot/error.hpp"
#include "ingot/source.hpp"
#include "ingot/types.hpp"

namespace ingot::huggingface {

/// Numbers in row-major order. Thread-safe.
class NumberSource {
 public:
  virtual ~NumberSource() = default;

  /// The type in which `read` gives the numbers; it has one element per block.
  [[nodiscard]] virtual TensorType type() const noexcept = 0;

  /// Fills `destination` with the numbers from `first` on; its size decides how many.
  [[nodiscard]] virtual Result<void> read(std::uint64_t first,
                                          std::span<std::byte> destination) const = 0;

  /// The source that has these numbers in the same places, before each was changed.
  [[nodiscard]] virtual const NumberSource* unchanged() const noexcept { return this; }
};

/// Numbers as they are in a file.
class StoredNumbers final : public NumberSource {
 public:
  StoredNumbers(std::shared_ptr<const Source> file, std::uint64_t file_offset, TensorType type,
                std::uint64_t element_bytes)
      : file_(std::move(file)),
        file_offset_(file_offset),
        element_bytes_(element_bytes),
        type_(type) {}

  [[nodiscard]] TensorType type() const noexcept override { return type_; }
  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    return file_->read(file_offset_ + first * element_bytes_, destination);
  }

 private:
  std::shared_ptr<const Source> file_;
  std::uint64_t file_offset_;
  std::uint64_t element_bytes_;
  TensorType type_;
};

}  // namespace ingot::huggingface
