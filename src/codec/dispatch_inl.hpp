// SPDX-License-Identifier: MIT
// What every decoding kernel shares. Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_DISPATCH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_DISPATCH_INL_HPP
#undef INGOT_CODEC_DISPATCH_INL_HPP
#else
#define INGOT_CODEC_DISPATCH_INL_HPP
#endif
// clang-format on

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "codec/block.hpp"
#include "codec/codec.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct CachedStore {
  template <class D>
  HWY_INLINE void operator()(hn::Vec<D> value, D d, float* to) const {
    hn::StoreU(value, d, to);
  }
};

struct StreamedStore {
  template <class D>
  HWY_INLINE void operator()(hn::Vec<D> value, D d, float* to) const {
    hn::Stream(value, d, to);
  }
};

/// A binary16 at `bytes` as binary32, by the CPU's own conversion where there is one.
HWY_INLINE float F16At(const std::uint8_t* bytes) {
#if HWY_TARGET == HWY_SCALAR
  return f16_at(bytes);
#else
  const hn::CappedTag<float, 4> f32;
  const hn::Rebind<hwy::float16_t, decltype(f32)> f16;
  const hn::RebindToUnsigned<decltype(f16)> u16;
  return hn::GetLane(hn::PromoteTo(f32, hn::BitCast(f16, hn::Set(u16, u16_at(bytes)))));
#endif
}

/// Decodes blocks one after the other: decode_block(block, dst, store), where `store` is one of the
/// two above and `block` a reference into `src`.
template <class Block, std::size_t block_elements, class DecodeBlock>
HWY_INLINE void DecodeBlocks(const std::byte* src, float* dst, std::size_t block_count,
                             Stores stores, const DecodeBlock& decode_block) {
  // Blocks are bytes without alignment, so one may be used where it lies.
  const auto* blocks = reinterpret_cast<const Block*>(src);
  if (stores == Stores::streamed && reinterpret_cast<std::uintptr_t>(dst) % 64 == 0) {
    for (std::size_t b = 0; b < block_count; ++b, dst += block_elements) {
      decode_block(blocks[b], dst, StreamedStore());
    }
    hwy::FlushStream();
    return;
  }
  for (std::size_t b = 0; b < block_count; ++b, dst += block_elements) {
    decode_block(blocks[b], dst, CachedStore());
  }
}

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
