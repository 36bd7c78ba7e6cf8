// SPDX-License-Identifier: MIT
// Property: whatever the types, sizes and pointers are that the C functions for blocks and paths
// are given, each call returns a code that is not INGOT_ERROR_INTERNAL, reads nothing beyond the
// sizes that it was told, and writes only what it says.
//
// The input is first the arguments, then the blocks or floats.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "ingot/ingot.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// Memory of exactly the size, so that a sanitizer sees the first byte beyond it.
template <class T>
struct Buffer {
  std::unique_ptr<T[]> data;
  std::size_t count;

  explicit Buffer(std::size_t wanted) : data(new T[wanted]()), count(wanted) {}
};

class Caller {
 public:
  Caller(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  void run() {
    const std::uint32_t type = byte() % 48;
    const std::uint32_t is_big = byte() & 1;
    const std::uint8_t choice = byte();
    static_cast<void>(ingot_abi_version());
    require(ingot_version() != nullptr && ingot_type_weights(type) >= -1);
    if ((choice & 0xF0) == 0xF0) return open_path();
    if (choice % 8 == 0) return encode(type, is_big);
    decode(type, is_big, choice);
  }

 private:
  std::uint8_t byte() { return next_ < size_ ? data_[next_++] : std::uint8_t{0}; }

  /// The right size as a rule, else some other.
  std::size_t about(std::size_t right) {
    const std::uint8_t choice = byte();
    return choice < 200 ? right : choice - 200u;
  }

  bool is_ok(ingot_code code) {
    require(code != INGOT_ERROR_INTERNAL && std::strcmp(ingot_code_name(code), "unknown") != 0);
    return code == INGOT_OK;
  }

  ingot_error* error() { return (byte() & 3) == 0 ? nullptr : &error_; }

  template <class T>
  T* maybe(Buffer<T>& buffer) {
    return byte() == 0xFF ? nullptr : buffer.data.get();
  }

  void fill(void* to, std::size_t size) {
    const std::size_t count = std::min(size, size_ - next_);
    if (count != 0) std::memcpy(to, data_ + next_, count);
    next_ += count;
  }

  void decode(std::uint32_t type, std::uint32_t is_big, std::uint8_t choice) {
    const std::size_t block_count = byte() % 4;
    Buffer<std::uint8_t> blocks(about(block_count * ingot_type_block_bytes(type)));
    const std::size_t elements = about(block_count * ingot_type_block_elements(type));
    Buffer<float> floats(elements);
    Buffer<std::uint16_t> halves(elements);
    std::uint8_t* const from = maybe(blocks);
    float* const to_floats = maybe(floats);
    std::uint16_t* const to_halves = maybe(halves);
    ingot_error* const place = error();
    fill(blocks.data.get(), blocks.count);
    switch (choice % 4) {
      case 0:
        is_ok(ingot_dequantize(type, from, blocks.count, to_floats, elements, is_big, place));
        break;
      case 1:
        is_ok(
            ingot_dequantize_to_f16(type, from, blocks.count, to_halves, elements, is_big, place));
        break;
      case 2:
        is_ok(
            ingot_dequantize_to_bf16(type, from, blocks.count, to_halves, elements, is_big, place));
        break;
      default:
        if (is_ok(ingot_swap_byte_order(type, from, blocks.count, place))) {
          require(is_ok(ingot_swap_byte_order(type, from, blocks.count, place)));
        }
    }
  }

  void encode(std::uint32_t type, std::uint32_t is_big) {
    const std::size_t block_count = byte() % 3;
    const std::size_t block_elements = ingot_type_block_elements(type);
    const std::size_t elements = about(block_count * block_elements);
    const std::size_t row_elements = about(block_elements);
    Buffer<float> floats(elements);
    Buffer<float> weights(row_elements);
    Buffer<std::uint8_t> blocks(about(block_count * ingot_type_block_bytes(type)));
    float* const from = maybe(floats);
    const bool has_weights = (byte() & 1) != 0;
    std::uint8_t* const to = maybe(blocks);
    ingot_error* const place = error();
    fill(floats.data.get(), elements * sizeof(float));
    fill(weights.data.get(), row_elements * sizeof(float));
    ingot_quantize_options options = {};
    options.struct_size = sizeof options;
    options.weights = has_weights ? weights.data.get() : nullptr;
    options.is_big_endian = is_big;
    options.effort = byte() % 4;
    is_ok(ingot_quantize(type, from, elements, row_elements, options.weights, to, blocks.count,
                         is_big, place));
    is_ok(
        ingot_quantize_with(type, from, elements, row_elements, to, blocks.count, &options, place));
  }

  /// Names of files that are not there; with any characters.
  void open_path() {
    // The options of a later version may be longer than ours; their size must be true.
    alignas(ingot_open_options) std::array<std::uint8_t, 256> room = {};
    auto& options = *new (room.data()) ingot_open_options{};
    options.struct_size = byte() < 200 ? sizeof options : byte();
    const std::string path =
        "/nonexistent/" + std::string(reinterpret_cast<const char*>(data_ + next_), size_ - next_);
    ingot_model* model = nullptr;
    require(!is_ok(ingot_open(byte() == 0 ? nullptr : path.c_str(), &options, &model, error())));
    require(model == nullptr);
    require(!is_ok(ingot_dequantize_rows(nullptr, 0, 0, 1, nullptr, 0, error())));
  }

  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t next_ = 0;
  ingot_error error_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Caller(data, size).run();
  return 0;
}
