// SPDX-License-Identifier: MIT
// Makes the functions of a type from its encoder. Included once per CPU target, after
// hwy/highway.h.

#include "codec/codec.hpp"
#include "codec/kernel_inl.hpp"

/// Defines quantize_<enumerator> with a body for each CPU target. Outside of all namespaces.
#undef INGOT_ENCODER_BY
#define INGOT_ENCODER_BY(name, enumerator, ...) \
  INGOT_KERNEL(Quantize##name, quantize_##enumerator, (const FloatRows& rows), (rows), __VA_ARGS__)

/// Defines quantize_<enumerator> by a driver (EncodeLanes, EncodeBatches or EncodeSuperBlocks) and
/// the functor Encode<name>, which fills each Block<name>; without vectors the reference encodes.
#undef INGOT_ENCODER
#if HWY_TARGET == HWY_SCALAR
#define INGOT_ENCODER(Driver, name, enumerator) \
  INGOT_ENCODER_BY(name, enumerator, quantize_##enumerator##_ref(rows))
#else
#define INGOT_ENCODER(Driver, name, enumerator) \
  INGOT_ENCODER_BY(                             \
      name, enumerator,                         \
      Driver<Block##name, block_elements_of(TensorType::enumerator)>(rows, Encode##name()))
#endif
