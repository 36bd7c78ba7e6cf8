// SPDX-License-Identifier: MIT
// Memory that is given out piece by piece and released at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ingot::chat {

/// Holds objects without destructors until the arena ends. Throws std::bad_alloc as operator new.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  [[nodiscard]] void* allocate(std::size_t bytes) {
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    if (rounded > static_cast<std::size_t>(end_ - next_)) add_chunk(rounded);
    void* place = next_;
    next_ += rounded;
    used_bytes_ += rounded;
    return place;
  }

  template <class T, class... Arguments>
  [[nodiscard]] T* make(Arguments&&... arguments) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignment);
    return new (allocate(sizeof(T))) T{std::forward<Arguments>(arguments)...};
  }

  /// `count` elements that are not initialised.
  template <class T>
  [[nodiscard]] T* make_array(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignment);
    return static_cast<T*>(allocate(count * sizeof(T)));
  }

  template <class T>
  [[nodiscard]] std::span<T> copy(const std::vector<T>& elements) {
    T* place = make_array<T>(elements.size());
    std::uninitialized_copy(elements.begin(), elements.end(), place);
    return {place, elements.size()};
  }

  [[nodiscard]] std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    char* place = make_array<char>(text.size());
    std::memcpy(place, text.data(), text.size());
    return {place, text.size()};
  }

  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_bytes_; }

 private:
  static constexpr std::size_t alignment = 8;
  static constexpr std::size_t first_chunk_bytes = 8192;
  static constexpr std::size_t max_chunk_bytes = std::size_t{1} << 20;

  void add_chunk(std::size_t min_bytes) {
    chunk_bytes_ = std::min(chunk_bytes_ * 2, max_chunk_bytes);
    const std::size_t bytes = std::max(chunk_bytes_, min_bytes);
    chunks_.push_back(std::unique_ptr<std::byte[]>(new std::byte[bytes]));
    next_ = chunks_.back().get();
    end_ = next_ + bytes;
  }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t chunk_bytes_ = first_chunk_bytes / 2;
  std::uint64_t used_bytes_ = 0;
};

}  // namespace ingot::chat
