// SPDX-License-Identifier: MIT
// A mutator that knows where the fields of a GGUF file are: it changes one of them to a value that
// readers get wrong, or lets libFuzzer change bytes. Without it nearly every change would break a
// length, and all that comes after would never be seen.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

struct Field {
  std::size_t offset;
  std::size_t size_bytes;
};

/// Walks over a file as far as it makes sense and remembers where its numbers are.
class FieldFinder {
 public:
  FieldFinder(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {
    if (size < 24) return;
    is_big_ = data[7] == 3 && data[4] == 0;
    is_narrow_ = data[4] == 1;
    offset_ = 4;
    number(4);
    const std::uint64_t tensors = count();
    const std::uint64_t keys = count();
    for (std::uint64_t i = 0; i < keys && is_good_; ++i) {
      skip(count());
      value(number(4), 0);
    }
    for (std::uint64_t i = 0; i < tensors && is_good_; ++i) {
      skip(count());
      const std::uint64_t dimensions = number(4);
      for (std::uint64_t d = 0; d < dimensions && is_good_; ++d) count();
      number(4);
      number(8);
    }
  }

  [[nodiscard]] std::size_t field_count() const { return std::min(found_, fields_.size()); }
  [[nodiscard]] Field field(std::size_t index) const { return fields_[index]; }
  [[nodiscard]] bool is_big() const { return is_big_; }

 private:
  std::uint64_t number(std::size_t size_bytes) {
    if (!is_good_ || size_bytes > size_ - offset_) {
      is_good_ = false;
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size_bytes; ++i) {
      const std::size_t shift = 8 * (is_big_ ? size_bytes - 1 - i : i);
      value |= std::uint64_t{data_[offset_ + i]} << shift;
    }
    fields_[found_++ % fields_.size()] = {offset_, size_bytes};
    offset_ += size_bytes;
    return value;
  }
  std::uint64_t count() { return number(is_narrow_ ? 4 : 8); }
  void skip(std::uint64_t size_bytes) {
    if (!is_good_ || size_bytes > size_ - offset_) {
      is_good_ = false;
    } else {
      offset_ += size_bytes;
    }
  }
  void value(std::uint64_t type, int depth) {
    constexpr std::array<std::uint8_t, 13> sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type >= sizes.size() || depth > 70) {
      is_good_ = false;
    } else if (type == 8) {
      skip(count());
    } else if (type == 9) {
      const std::uint64_t element_type = number(4);
      const std::uint64_t element_count = count();
      for (std::uint64_t i = 0; i < element_count && is_good_; ++i) value(element_type, depth + 1);
    } else {
      number(sizes[type]);
    }
  }

  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t offset_ = 0;
  bool is_good_ = true;
  bool is_big_ = false;
  bool is_narrow_ = false;
  std::array<Field, 512> fields_{};  // of a long file, the last ones
  std::size_t found_ = 0;
};

/// A small generator of our own, so that an input is repeatable from its seed.
class Random {
 public:
  explicit Random(unsigned seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % bound;
  }

 private:
  std::uint64_t state_;
};

std::uint64_t interesting_number(Random& random, std::uint64_t old) {
  constexpr std::array<std::uint64_t, 24> numbers = {0,
                                                     1,
                                                     2,
                                                     3,
                                                     4,
                                                     5,
                                                     7,
                                                     8,
                                                     9,
                                                     12,
                                                     13,
                                                     31,
                                                     32,
                                                     64,
                                                     65,
                                                     256,
                                                     65535,
                                                     65536,
                                                     std::uint64_t{1} << 31,
                                                     std::uint64_t{1} << 32,
                                                     std::uint64_t{1} << 62,
                                                     std::uint64_t{1} << 63,
                                                     ~std::uint64_t{0},
                                                     ~std::uint64_t{31}};
  switch (random.below(4)) {
    case 0:
      return old + 1;
    case 1:
      return old - 1;
    case 2:
      return old + 8 * (random.below(17) - 8);
    default:
      return numbers[random.below(numbers.size())];
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  Random random(seed);
  const FieldFinder finder(data, size);
  if (finder.field_count() == 0 || random.below(2) == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const Field field = finder.field(random.below(finder.field_count()));
  std::uint64_t old = 0;
  for (std::size_t i = 0; i < field.size_bytes; ++i) {
    const std::size_t place = finder.is_big() ? i : field.size_bytes - 1 - i;
    old = old << 8 | data[field.offset + place];
  }
  std::uint64_t value = interesting_number(random, old);
  for (std::size_t i = 0; i < field.size_bytes; ++i, value >>= 8) {
    const std::size_t place = finder.is_big() ? field.size_bytes - 1 - i : i;
    data[field.offset + place] = static_cast<std::uint8_t>(value);
  }
  return size;
}
