// SPDX-License-Identifier: MIT
#include "ingot/quantize.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "base/byte_order.hpp"
#include "codec/best/best.hpp"
#include "codec/blocks/swap_fields.hpp"
#include "codec/codec.hpp"
#include "codec/grid/encode_grid.hpp"

namespace ingot {
namespace {

/// Elements that pass through a buffer on the stack at once: whole blocks of every type, and small
/// enough for the first cache.
constexpr std::size_t chunk_elements = 1024;

struct Type {
  const TensorTypeInfo* info;
  const codec::Codec* codec;
};

Result<Type> find(TensorType type) {
  const Type found = {find_type(type), codec::find_codec(type)};
  if (found.info != nullptr && found.codec != nullptr) return found;
  const std::string_view name = removed_type_name(type);
  return fail(Errc::unsupported_type,
              name.empty() ? std::to_string(static_cast<std::uint32_t>(type)) : std::string(name));
}

/// The number of blocks; fails unless `bytes` are whole blocks that hold `elements`.
Result<std::size_t> count_blocks(const TensorTypeInfo& info, std::size_t bytes,
                                 std::size_t elements) {
  const std::size_t block_count = bytes / info.block_bytes;
  if (bytes % info.block_bytes != 0 || elements % info.block_elements != 0 ||
      elements / info.block_elements != block_count) {
    return fail(Errc::size_mismatch, std::string(info.name),
                std::to_string(bytes) + " bytes for " + std::to_string(elements) + " elements");
  }
  return block_count;
}

/// Calls use(first_block, block_count) for pieces of at most chunk_elements elements.
template <class Use>
void for_each_chunk(const TensorTypeInfo& info, std::size_t block_count, const Use& use) {
  const std::size_t chunk_blocks = chunk_elements / info.block_elements;
  for (std::size_t first = 0; first < block_count; first += chunk_blocks) {
    use(first, std::min(chunk_blocks, block_count - first));
  }
}

/// Decodes blocks whose fields are in the other byte order, through a buffer.
void dequantize_swapped(const Type& type, const std::byte* src, float* dst,
                        std::size_t block_count) {
  const std::size_t block_bytes = type.info->block_bytes;
  std::array<std::byte, chunk_elements * 8> buffer;  // no type has more bytes per element
  for_each_chunk(*type.info, block_count, [&](std::size_t first, std::size_t count) {
    const std::span<std::byte> blocks = std::span(buffer).first(count * block_bytes);
    std::memcpy(blocks.data(), src + first * block_bytes, blocks.size());
    codec::swap_fields(*type.info, blocks);
    type.codec->dequantize(blocks.data(), dst + first * type.info->block_elements, count,
                           codec::Stores::cached);
  });
}

void dequantize_blocks(const Type& type, const std::byte* src, float* dst, std::size_t block_count,
                       const DequantizeOptions& options) {
  if (options.byte_order == Endian::big) {
    dequantize_swapped(type, src, dst, block_count);
    return;
  }
  const std::size_t output_bytes = block_count * type.info->block_elements * sizeof(float);
  const bool is_streamed =
      options.stores == OutputStores::streamed ||
      (options.stores == OutputStores::automatic && output_bytes >= streamed_output_bytes);
  type.codec->dequantize(src, dst, block_count,
                         is_streamed ? codec::Stores::streamed : codec::Stores::cached);
}

/// Decodes to floats piece by piece, and encodes these as 16-bit floats.
Result<void> dequantize_to_half(TensorType half_type, TensorType type,
                                std::span<const std::byte> src, std::span<std::uint16_t> dst,
                                Endian byte_order) {
  INGOT_TRY(const Type source, find(type));
  INGOT_TRY(const Type half, find(half_type));
  INGOT_TRY(const std::size_t block_count, count_blocks(*source.info, src.size(), dst.size()));
  const std::size_t block_elements = source.info->block_elements;
  std::array<float, chunk_elements> floats;
  for_each_chunk(*source.info, block_count, [&](std::size_t first, std::size_t count) {
    dequantize_blocks(source, src.data() + first * source.info->block_bytes, floats.data(), count,
                      {.byte_order = byte_order, .stores = OutputStores::cached});
    half.codec->quantize({.src = floats.data(),
                          .dst = reinterpret_cast<std::byte*>(dst.data() + first * block_elements),
                          .row_elements = count * block_elements,
                          .row_count = 1,
                          .importances = nullptr});
  });
  if constexpr (std::endian::native == std::endian::big) {
    for (std::uint16_t& bits : dst) bits = byteswap(bits);
  }
  return {};
}

Result<void> check_weights(const TensorTypeInfo& info, std::size_t row_elements,
                           std::span<const float> weights) {
  if (weights.empty()) {
    if (info.weights == ImportanceWeights::required && row_elements != 0) {
      return fail(Errc::weights_required, std::string(info.name));
    }
    return {};
  }
  if (weights.size() != row_elements) {
    return fail(Errc::size_mismatch, "weights",
                std::to_string(weights.size()) + " for rows of " + std::to_string(row_elements));
  }
  const auto odd = std::find_if_not(weights.begin(), weights.end(),
                                    [](float weight) { return std::isfinite(weight); });
  if (odd == weights.end()) return {};
  return fail(Errc::invalid_argument, "weights",
              "number " + std::to_string(odd - weights.begin()) + " is not finite");
}

}  // namespace

Result<void> dequantize(TensorType type, std::span<const std::byte> src, std::span<float> dst,
                        const DequantizeOptions& options) {
  INGOT_TRY(const Type found, find(type));
  INGOT_TRY(const std::size_t block_count, count_blocks(*found.info, src.size(), dst.size()));
  dequantize_blocks(found, src.data(), dst.data(), block_count, options);
  return {};
}

Result<void> dequantize_to_f16(TensorType type, std::span<const std::byte> src,
                               std::span<std::uint16_t> dst, Endian byte_order) {
  return dequantize_to_half(TensorType::f16, type, src, dst, byte_order);
}

Result<void> dequantize_to_bf16(TensorType type, std::span<const std::byte> src,
                                std::span<std::uint16_t> dst, Endian byte_order) {
  return dequantize_to_half(TensorType::bf16, type, src, dst, byte_order);
}

Result<void> quantize(TensorType type, std::span<const float> src, std::size_t row_elements,
                      std::span<std::byte> dst, const QuantizeOptions& options) {
  INGOT_TRY(const Type found, find(type));
  const TensorTypeInfo& info = *found.info;
  if (row_elements % info.block_elements != 0) {
    return fail(Errc::row_not_whole_blocks, std::string(info.name), std::to_string(row_elements));
  }
  INGOT_TRY(const std::size_t block_count, count_blocks(info, dst.size(), src.size()));
  if (row_elements == 0 ? block_count != 0 : src.size() % row_elements != 0) {
    return fail(Errc::size_mismatch, "src", "not whole rows of " + std::to_string(row_elements));
  }
  INGOT_TRY_VOID(check_weights(info, row_elements, options.importance));
  if (block_count == 0) return {};
  const codec::FloatRows rows = {
      .src = src.data(),
      .dst = dst.data(),
      .row_elements = row_elements,
      .row_count = src.size() / row_elements,
      .importances = options.importance.empty() ? nullptr : options.importance.data()};
  const codec::BestEncoder* best =
      options.effort == Effort::best ? codec::find_best_encoder(type) : nullptr;
  if (best != nullptr) {
    codec::quantize_best(*best, rows);
  } else {
    found.codec->quantize(rows);
    if (options.effort == Effort::automatic) codec::encode_grid(type, rows);
  }
  if (options.byte_order == Endian::big) {
    codec::swap_fields(info, dst);
  }
  return {};
}

Result<void> swap_byte_order(TensorType type, std::span<std::byte> blocks) {
  INGOT_TRY(const Type found, find(type));
  if (blocks.size() % found.info->block_bytes != 0) {
    return fail(Errc::size_mismatch, std::string(found.info->name),
                std::to_string(blocks.size()) + " bytes");
  }
  codec::swap_fields(*found.info, blocks);
  return {};
}

}  // namespace ingot
