// SPDX-License-Identifier: MIT
// How the functions of a type are made from its encoder. Included once per CPU target, after
// hwy/highway.h.

#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"

/// Defines Quantize<name> for this CPU target: by a driver (EncodeLanes, EncodeBatches or
/// EncodeSuperBlocks) and the functor Encode<name>, which fills each Block<name>; without vectors
/// by the reference.
#undef INGOT_ENCODER
#if HWY_TARGET == HWY_SCALAR
#define INGOT_ENCODER(Driver, name, enumerator) \
  void Quantize##name(const FloatRows& rows) { quantize_##enumerator##_ref(rows); }
#else
#define INGOT_ENCODER(Driver, name, enumerator)                                           \
  void Quantize##name(const FloatRows& rows) {                                            \
    Driver<Block##name, block_elements_of(TensorType::enumerator)>(rows, Encode##name()); \
  }
#endif

/// Defines quantize_<enumerator>: the Quantize<name> of the CPU that runs it. Outside of all
/// namespaces; has an effect after the last target.
#undef INGOT_EXPORT_ENCODER
#if HWY_ONCE
#define INGOT_EXPORT_ENCODER(name, enumerator)                 \
  namespace ingot::codec {                                     \
  INGOT_KERNELS(Quantize##name);                               \
  void quantize_##enumerator(const FloatRows& rows) noexcept { \
    kernel_of(Quantize##name##Kernels)(rows);                  \
  }                                                            \
  }
#else
#define INGOT_EXPORT_ENCODER(name, enumerator)
#endif
