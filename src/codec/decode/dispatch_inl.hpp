// SPDX-License-Identifier: MIT
// What makes the functions of a tensor type from its decoder. Included once per CPU target, after
// hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_DISPATCH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_DISPATCH_INL_HPP
#undef INGOT_CODEC_DISPATCH_INL_HPP
#else
#define INGOT_CODEC_DISPATCH_INL_HPP
#endif
// clang-format on

#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"
#include "codec/decode/decoding_inl.hpp"
#include "codec/statistics/lane_sums_inl.hpp"
#include "codec/statistics/runs_inl.hpp"

// Defines Dequantize<name> and Sum<name> for this CPU target: by the functor Decode<name>, which is
// called for each Block<name>; without vectors by the reference.
#undef INGOT_DECODER
#if HWY_TARGET == HWY_SCALAR
#define INGOT_DECODER(name, enumerator, elements)                                            \
  void Dequantize##name(const std::byte* src, float* dst, std::size_t block_count, Stores) { \
    dequantize_##enumerator##_ref(src, dst, block_count);                                    \
  }                                                                                          \
  void Sum##name(const std::byte* src, std::size_t block_count, NumberSums& sums) {          \
    sum_blocks_ref(*find_type(TensorType::enumerator), dequantize_##enumerator##_ref, src,   \
                   block_count, sums);                                                       \
  }
#else
#define INGOT_DECODER(name, enumerator, elements)                                                  \
  void Dequantize##name(const std::byte* src, float* dst, std::size_t block_count,                 \
                        Stores stores) {                                                           \
    DecodeBlocks<Block##name, elements>(src, dst, block_count, stores, Decode##name());            \
  }                                                                                                \
  void Sum##name(const std::byte* src, std::size_t block_count, NumberSums& sums) {                \
    SumBlocks<run_shape_of(TensorType::enumerator), Block##name, elements>(src, block_count, sums, \
                                                                           Decode##name());        \
  }
#endif

// Defines dequantize_<enumerator> and sum_<enumerator>: the Dequantize<name> and the Sum<name> of
// the CPU that runs it.
#undef INGOT_EXPORT_DECODER
#define INGOT_EXPORT_DECODER(name, enumerator)                                            \
  INGOT_KERNELS(Dequantize##name);                                                        \
  void dequantize_##enumerator(const std::byte* src, float* dst, std::size_t block_count, \
                               Stores stores) noexcept {                                  \
    kernel_of(Dequantize##name##Kernels)(src, dst, block_count, stores);                  \
  }                                                                                       \
  INGOT_KERNELS(Sum##name);                                                               \
  void sum_##enumerator(const std::byte* src, std::size_t block_count,                    \
                        NumberSums& sums) noexcept {                                      \
    kernel_of(Sum##name##Kernels)(src, block_count, sums);                                \
  }

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Adds floats up instead of storing them; for vectors of all 16 lanes.
struct SummingStore : FloatStore {
  VectorSums<false>* sums;
  HWY_INLINE explicit SummingStore(VectorSums<false>* to) : sums(to) {}
  HWY_INLINE void operator()(Floats value, const float*) const { sums->Add(value); }
};

/// Adds the floats of blocks to the sums.
template <class Block, std::size_t block_elements, class DecodeBlock>
HWY_INLINE void SumFloats(const std::byte* src, std::size_t block_count, NumberSums& sums,
                          const DecodeBlock& decode_block) {
  LaneSums lanes;
  if constexpr (float_lanes == statistics_lanes) {
    float nowhere[block_elements];
    const auto* blocks = reinterpret_cast<const Block*>(src);
    VectorSums<false> vector_sums(0.0f, lanes, 0);
    for (std::size_t b = 0; b < block_count; ++b) {
      decode_block(blocks[b], nowhere, SummingStore(&vector_sums));
    }
    vector_sums.StoreTo(lanes, 0);
  } else {
    // The sums of all lanes would not leave registers enough to decode.
    constexpr std::size_t most_blocks = 1024 / block_elements;
    HWY_ALIGN float floats[most_blocks * block_elements];
    for (std::size_t first = 0; first < block_count; first += most_blocks) {
      const std::size_t count = HWY_MIN(most_blocks, block_count - first);
      DecodeBlocks<Block, block_elements>(src + first * sizeof(Block), floats, count,
                                          Stores::cached, decode_block);
      sum_lanes(floats, count * block_elements, 0.0f, lanes);
    }
  }
  add_lanes(lanes, sums);
}

/// Adds the weights of blocks to the sums: by runs, if the type has any.
template <RunShape shape, class Block, std::size_t block_elements, class DecodeBlock>
HWY_INLINE void SumBlocks(const std::byte* src, std::size_t block_count, NumberSums& sums,
                          const DecodeBlock& decode_block) {
  if constexpr (requires { DecodeBlock::Count; }) {
    CountRuns<shape, Block, block_elements>(src, block_count, sums, decode_block);
  } else if constexpr (shape.elements != 0) {
    SumRuns<shape, Block, block_elements>(src, block_count, sums, decode_block);
  } else {
    SumFloats<Block, block_elements>(src, block_count, sums, decode_block);
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
