// SPDX-License-Identifier: MIT
// Property: the public functions accept any type, sizes and numbers without a crash; what they
// encode decodes, in both byte orders, to the same floats; what is encoded exactly decodes to its
// bits.
//
// Input: type, options, row length, then floats.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "ingot/quantize.hpp"
#include "ingot/quantize_exactly.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

constexpr std::size_t max_floats = 2048;

bool same_bits(std::span<const float> a, std::span<const float> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool are_nan = a[i] != a[i] && b[i] != b[i];
    if (!are_nan && std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) {
      return false;
    }
  }
  return true;
}

void check_blocks(const TensorTypeInfo& info, std::vector<std::byte> blocks, std::size_t elements) {
  require(!cpu_target().empty());
  std::vector<float> floats(elements);
  require(dequantize(info.type, blocks, floats).has_value());
  std::vector<std::uint16_t> halves(elements);
  require(dequantize_to_f16(info.type, blocks, halves).has_value());
  require(dequantize_to_bf16(info.type, blocks, halves).has_value());
  require(swap_byte_order(info.type, blocks).has_value());
  std::vector<float> again(elements);
  require(dequantize(info.type, blocks, again, {.byte_order = Endian::big}).has_value());
  require(same_bits(floats, again));
}

void check_exact(TensorType type, std::span<const float> floats, std::span<std::byte> blocks) {
  const auto is_exact = quantize_exactly(type, floats, blocks);
  if (!is_exact || !*is_exact) return;
  std::vector<float> decoded(floats.size());
  require(dequantize(type, blocks, decoded).has_value());
  // FP4 decodes -0 to +0.
  const bool is_fp4 = type == TensorType::mxfp4 || type == TensorType::nvfp4;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const bool is_same =
        std::bit_cast<std::uint32_t>(decoded[i]) == std::bit_cast<std::uint32_t>(floats[i]);
    require(is_same || (is_fp4 && decoded[i] == 0 && floats[i] == 0));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  // Removed and unknown ids too.
  const auto type = static_cast<TensorType>(data[0] % 64);
  const bool has_weights = (data[1] & 1) != 0;
  const Endian byte_order = (data[1] & 2) != 0 ? Endian::big : Endian::little;
  const std::size_t row_elements = std::size_t{data[2]} * ((data[1] & 4) != 0 ? 32 : 1);
  std::vector<float> floats(std::min(max_floats, (size - 4) / sizeof(float)));
  if (!floats.empty()) std::memcpy(floats.data(), data + 4, floats.size() * sizeof(float));
  if (row_elements != 0) floats.resize(floats.size() / row_elements * row_elements);

  const TensorTypeInfo* info = find_type(type);
  const std::size_t block_elements = info != nullptr ? info->block_elements : 1;
  const std::size_t block_bytes = info != nullptr ? info->block_bytes : 1;
  std::vector<std::byte> blocks(floats.size() / block_elements * block_bytes);
  check_exact(type, floats, blocks);
  const std::vector<float> weights(has_weights ? row_elements : 0, 0.5f);
  const auto result =
      quantize(type, floats, row_elements, blocks,
               {.importance = weights,
                .byte_order = byte_order,
                .effort = (data[1] & 8) != 0 ? Effort::automatic : Effort::reference});
  if (!result) {
    require(result.error().code != Errc::internal);
    return 0;
  }
  if (byte_order == Endian::big) require(swap_byte_order(type, blocks).has_value());
  check_blocks(*info, std::move(blocks), floats.size());
  return 0;
}
