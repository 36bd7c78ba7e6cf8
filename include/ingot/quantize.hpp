// SPDX-License-Identifier: MIT
// Decode blocks of any tensor type to floats, and encode floats.
//
// ```cpp
// const std::vector<float> numbers(1024, 0.5f);  // four rows of 256
// const ingot::TensorTypeInfo& type = *ingot::find_type(ingot::TensorType::q4_k);
// std::vector<std::byte> blocks(type.bytes_of(numbers.size()));
// const auto encoded = ingot::quantize(type.type, numbers, 256, blocks);
// if (!encoded) throw std::runtime_error(encoded.error().message());
// std::vector<float> decoded(numbers.size());
// const auto result = ingot::dequantize(type.type, blocks, decoded);
// if (!result) throw std::runtime_error(result.error().message());
// ```
//
// Every CPU, compiler and number of threads produces the same bits: those of the reference
// implementation, ggml, unless Effort::best is requested. All functions are thread-safe, take time
// linear in the elements and allocate only to report an error; the quantizers of the IQ types build
// tables of some 100 KiB when they first run. Pointers need no alignment, except that streamed
// stores want outputs aligned to 64 bytes.
//
// docs/tensor-types.md lists the types; the block structs in src/codec/blocks show their layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/types.hpp"
#include "ingot/weight_grid.hpp"

namespace ingot {

/// Outputs from this size on do not stay in the caches of one core.
inline constexpr std::size_t streamed_output_bytes = std::size_t{8} << 20;

/// The way in which decoded floats are written.
enum class OutputStores : std::uint8_t {
  automatic,  ///< Streamed if one call writes streamed_output_bytes or more, else cached.
  cached,     ///< Writes through the caches: right if the floats are used soon.
  streamed    ///< Past the caches, where the output is aligned to 64 bytes: faster if it is large.
};

/// The CPU target whose kernels run on this machine: "AVX3", "AVX2", "SSE4", "NEON", ...; static.
/// All have the same results.
[[nodiscard]] INGOT_EXPORT std::string_view cpu_target() noexcept;

struct DequantizeOptions {
  Endian byte_order = Endian::little;  ///< The byte order of the blocks.
  OutputStores stores = OutputStores::automatic;
};

/// Decodes blocks to binary32. F64 and the integer types are rounded to the nearest float, ties to
/// even; a binary16 NaN becomes quiet; all else follows the block's formula, one rounding a step.
///
/// @param type  the encoding of `src`.
/// @param src   whole blocks, back to back; borrowed for the call.
/// @param dst   receives `src.size() / block_bytes * block_elements` floats, exactly; must not
///              overlap `src`.
/// @return      Errc::unsupported_type for a removed or unknown type; Errc::size_mismatch if
///              `src` is not whole blocks or `dst` has another size. On error `dst` is untouched.
[[nodiscard]] INGOT_EXPORT Result<void> dequantize(TensorType type, std::span<const std::byte> src,
                                                   std::span<float> dst,
                                                   const DequantizeOptions& options = {});

/// Decodes to numbers rounded to binary16 (nearest, ties to even; overflow becomes infinity). The
/// numbers are in this machine's byte order.
[[nodiscard]] INGOT_EXPORT Result<void> dequantize_to_f16(TensorType type,
                                                          std::span<const std::byte> src,
                                                          std::span<std::uint16_t> dst,
                                                          Endian byte_order = Endian::little);

/// Decodes to numbers rounded to bfloat16 (nearest, ties to even).
[[nodiscard]] INGOT_EXPORT Result<void> dequantize_to_bf16(TensorType type,
                                                           std::span<const std::byte> src,
                                                           std::span<std::uint16_t> dst,
                                                           Endian byte_order = Endian::little);

/// The amount of work for the choice of a block.
enum class Effort : std::uint8_t {
  reference,  ///< The blocks of the reference implementation, ggml, byte for byte.
  best,  ///< The least error that a search finds, at the same type and size: several times slower.
  /// Those blocks which lie on a lattice that Q4_0, Q4_1, Q5_0, Q5_1 or Q8_0 holds, or nearly Q4_K
  /// or Q5_K, get its own scale and integers, where the reference would round a second time; all
  /// others are those of the reference. Looking at every block takes several times as long as the
  /// reference, so find out first whether a tensor lies on a lattice: effort_for.
  automatic
};

/// The effort for a tensor that lies on a lattice (weight_grid.hpp), or on none, if it is to be
/// `automatic`: `reference` unless the type holds the lattice, and `best` for Q6_K.
[[nodiscard]] INGOT_EXPORT Effort effort_for(TensorType type,
                                             const std::optional<WeightGrid>& grid) noexcept;

struct QuantizeOptions {
  /// The weight of an error in each column: `row_elements` finite numbers, the same for every row;
  /// or empty. Types whose ImportanceWeights are `unused` ignore them, except with Effort::best,
  /// which uses them for all types.
  std::span<const float> importance = {};
  Endian byte_order = Endian::little;  ///< The byte order of the blocks.
  Effort effort = Effort::reference;
};

/// Encodes rows of binary32. Works for every type that is in files today, and for Q8_1 and Q8_K.
///
/// Cases that the reference implementation leaves undefined are defined here:
/// - A block that holds a NaN or an infinity is encoded as a block of zeros would be. F32, F16,
///   BF16 and F64 keep both; integer types make NaN 0 and saturate.
/// - So is a block that is too small for its scale to have a finite reciprocal, in the types whose
///   quantizers divide by it (magnitudes below about 2^-120).
/// - Magnitudes that are too large for a binary16 scale (above about 65504 times the largest code)
///   give an infinite scale, as in the reference; such blocks do not decode to finite numbers.
///
/// With Effort::best each block is encoded as the reference does it and by a search, both get
/// scales that hardly shorten the weights, and the better one is kept. Types without a scale that
/// could be searched for (F16, integers, Q8_1, Q8_K) are encoded as by the reference; so are blocks
/// whose magnitudes are all below 1e-8 or reach above 1e8, and those with a negative importance.
/// Needs about 200 KiB of stack.
///
/// @param type          the encoding of `dst`.
/// @param src           whole rows, back to back; borrowed for the call.
/// @param row_elements  a multiple of the type's block. Rows are independent of one another, so
///                      work may be split between them in any way.
/// @param dst           receives `src.size() / block_elements * block_bytes` bytes, exactly; must
///                      not overlap `src`.
/// @return  Errc::unsupported_type for a removed or unknown type; Errc::row_not_whole_blocks;
///          Errc::size_mismatch; Errc::weights_required; Errc::invalid_argument if an importance
///          is not finite. On error `dst` is untouched.
[[nodiscard]] INGOT_EXPORT Result<void> quantize(TensorType type, std::span<const float> src,
                                                 std::size_t row_elements, std::span<std::byte> dst,
                                                 const QuantizeOptions& options = {});

/// Turns blocks from little-endian to big-endian or back, in place: every field of more than one
/// byte is reversed. The format's documentation has no table of these fields; they follow from how
/// the reference implementation accesses memory.
///
/// @param blocks  whole blocks. Errc::size_mismatch otherwise; Errc::unsupported_type as above.
[[nodiscard]] INGOT_EXPORT Result<void> swap_byte_order(TensorType type,
                                                        std::span<std::byte> blocks);

}  // namespace ingot
