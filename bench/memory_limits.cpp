// SPDX-License-Identifier: MIT
#include "bench/memory_limits.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/memory_limits.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ingot::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::CappedTag<float, 16>;
using IntTag = hn::RebindToSigned<FloatTag>;

void StoreLoop(float* dst, std::size_t dst_bytes) {
  const FloatTag f32;
  const auto value = hn::Set(f32, 1.0f);
  for (float* end = dst + dst_bytes / sizeof(float); dst != end; dst += 16) {
    for (std::size_t i = 0; i < 16; i += hn::Lanes(f32)) hn::Store(value, f32, dst + i);
  }
}

void StreamLoop(float* dst, std::size_t dst_bytes) {
  const FloatTag f32;
  const auto value = hn::Set(f32, 1.0f);
  for (float* end = dst + dst_bytes / sizeof(float); dst != end; dst += 16) {
    for (std::size_t i = 0; i < 16; i += hn::Lanes(f32)) hn::Stream(value, f32, dst + i);
  }
  hwy::FlushStream();
}

template <class Write>
HWY_INLINE int ReadAndWrite(const std::byte* src, std::size_t src_bytes, float* dst,
                            std::size_t dst_bytes, const Write& write) {
  const IntTag i32;
  constexpr std::size_t step_bytes = 64;
  auto sum = hn::Zero(i32);
  std::size_t read_bytes = 0;
  // A slice is what 4 KiB of output are made of.
  constexpr std::size_t slice_bytes = 4096;
  for (std::size_t done = 0; done < dst_bytes; done += slice_bytes, dst += slice_bytes / 4) {
    const auto share = static_cast<double>(done + slice_bytes) / static_cast<double>(dst_bytes);
    const auto goal = static_cast<std::size_t>(share * static_cast<double>(src_bytes));
    for (; read_bytes + step_bytes <= goal; read_bytes += step_bytes) {
      for (std::size_t i = 0; i < step_bytes; i += 4 * hn::Lanes(i32)) {
        const auto* from = reinterpret_cast<const std::int32_t*>(src + read_bytes + i);
        sum = hn::Xor(sum, hn::LoadU(i32, from));
      }
    }
    const FloatTag f32;
    const auto value = hn::Set(f32, 1.0f);
    for (std::size_t i = 0; i < slice_bytes / 4; i += hn::Lanes(f32)) {
      write(value, f32, dst + i);
    }
  }
  return hn::GetLane(hn::SumOfLanes(i32, sum));
}

struct StoreVector {
  template <class V>
  HWY_INLINE void operator()(V value, FloatTag f32, float* to) const {
    hn::Store(value, f32, to);
  }
};
struct StreamVector {
  template <class V>
  HWY_INLINE void operator()(V value, FloatTag f32, float* to) const {
    hn::Stream(value, f32, to);
  }
};

int ReadAndStoreLoop(const std::byte* src, std::size_t src_bytes, float* dst,
                     std::size_t dst_bytes) {
  return ReadAndWrite(src, src_bytes, dst, dst_bytes, StoreVector());
}

int ReadAndStreamLoop(const std::byte* src, std::size_t src_bytes, float* dst,
                      std::size_t dst_bytes) {
  const int result = ReadAndWrite(src, src_bytes, dst, dst_bytes, StreamVector());
  hwy::FlushStream();
  return result;
}

}  // namespace ingot::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::bench {

HWY_EXPORT(StoreLoop);
HWY_EXPORT(StreamLoop);
HWY_EXPORT(ReadAndStoreLoop);
HWY_EXPORT(ReadAndStreamLoop);

MemoryLimits memory_limits() {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return {.store = &HWY_DYNAMIC_DISPATCH(StoreLoop),
          .stream = &HWY_DYNAMIC_DISPATCH(StreamLoop),
          .read_and_store = &HWY_DYNAMIC_DISPATCH(ReadAndStoreLoop),
          .read_and_stream = &HWY_DYNAMIC_DISPATCH(ReadAndStreamLoop)};
}

}  // namespace ingot::bench
#endif
