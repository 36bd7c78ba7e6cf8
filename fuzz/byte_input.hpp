// SPDX-License-Identifier: MIT
// The input of a fuzz target as numbers and as text.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ingot::fuzz {

inline void require(bool condition, int line = __builtin_LINE()) {
  if (condition) return;
  std::fprintf(stderr, "line %d\n", line);
  std::abort();
}

/// Numbers go on with zeros where the input ends.
class ByteInput {
 public:
  ByteInput(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  template <class T>
  T take() {
    std::array<std::byte, sizeof(T)> bytes = {};
    const std::size_t count = std::min(bytes.size(), size_ - next_);
    if (count != 0) std::memcpy(bytes.data(), data_ + next_, count);
    next_ += count;
    return std::bit_cast<T>(bytes);
  }
  [[nodiscard]] std::string rest() const {
    return {reinterpret_cast<const char*>(data_) + next_, size_ - next_};
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t next_ = 0;
};

}  // namespace ingot::fuzz
