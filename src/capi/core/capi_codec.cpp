// SPDX-License-Identifier: MIT
// Decoding and encoding for C.
#include <cstddef>
#include <span>
#include <string>

#include "base/checked.hpp"
#include "capi/core/boundary.hpp"
#include "ingot/quantize.hpp"

namespace {

using namespace ingot;
using capi::at_boundary;
using capi::require;

// The options of the first version of the ABI.
constexpr std::size_t first_quantize_options_size =
    offsetof(ingot_quantize_options, is_big_endian) + sizeof(std::uint32_t);

static_assert(static_cast<int>(Effort::reference) == INGOT_EFFORT_REFERENCE &&
              static_cast<int>(Effort::best) == INGOT_EFFORT_BEST &&
              static_cast<int>(Effort::automatic) == INGOT_EFFORT_AUTO);

/// An array that a caller gives as pointer and count.
template <class Element>
Result<std::span<Element>> array_of(Element* data, std::size_t count, std::string_view name) {
  INGOT_TRY_VOID(require(data != nullptr || count == 0, name));
  return std::span<Element>(data, count);
}

/// The common part of all that decode; `decode` takes the blocks and the numbers.
template <class Number, class Decode>
ingot_code dequantize_into(const void* blocks, std::size_t size_bytes, Number* dst,
                           std::size_t element_count, ingot_error* error, Decode&& decode) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY(const auto source,
              array_of(static_cast<const std::byte*>(blocks), size_bytes, "blocks"));
    INGOT_TRY(const auto numbers, array_of(dst, element_count, "dst"));
    return decode(source, numbers);
  });
}

constexpr Endian endian_of(std::uint32_t is_big_endian) noexcept {
  return is_big_endian != 0 ? Endian::big : Endian::little;
}

}  // namespace

int32_t ingot_type_weights(uint32_t type) {
  const TensorTypeInfo* info = find_type(static_cast<TensorType>(type));
  return info != nullptr ? static_cast<std::int32_t>(info->weights) : -1;
}

ingot_code ingot_dequantize(uint32_t type, const void* blocks, size_t size_bytes, float* dst,
                            size_t element_count, uint32_t is_big_endian, ingot_error* error) {
  return dequantize_into(blocks, size_bytes, dst, element_count, error,
                         [&](auto source, auto floats) {
                           return dequantize(static_cast<TensorType>(type), source, floats,
                                             {.byte_order = endian_of(is_big_endian)});
                         });
}

ingot_code ingot_dequantize_to_f16(uint32_t type, const void* blocks, size_t size_bytes,
                                   uint16_t* dst, size_t element_count, uint32_t is_big_endian,
                                   ingot_error* error) {
  return dequantize_into(blocks, size_bytes, dst, element_count, error,
                         [&](auto source, auto halves) {
                           return dequantize_to_f16(static_cast<TensorType>(type), source, halves,
                                                    endian_of(is_big_endian));
                         });
}

ingot_code ingot_dequantize_to_bf16(uint32_t type, const void* blocks, size_t size_bytes,
                                    uint16_t* dst, size_t element_count, uint32_t is_big_endian,
                                    ingot_error* error) {
  return dequantize_into(blocks, size_bytes, dst, element_count, error,
                         [&](auto source, auto halves) {
                           return dequantize_to_bf16(static_cast<TensorType>(type), source, halves,
                                                     endian_of(is_big_endian));
                         });
}

ingot_code ingot_dequantize_rows(const ingot_model* model, uint64_t tensor, uint64_t first_row,
                                 uint64_t row_count, float* dst, size_t element_count,
                                 ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(model != nullptr, "model"));
    const std::span<const TensorInfo> tensors = model->model.tensors();
    INGOT_TRY_VOID(capi::require_below(tensor, tensors.size(), "tensor"));
    INGOT_TRY(const auto floats, array_of(dst, element_count, "dst"));
    return model->model.dequantize_rows(tensors[to_size(tensor)], first_row, row_count, floats);
  });
}

ingot_code ingot_quantize(uint32_t type, const float* src, size_t element_count,
                          size_t row_elements, const float* weights, void* blocks,
                          size_t size_bytes, uint32_t is_big_endian, ingot_error* error) {
  const ingot_quantize_options options = {.struct_size = sizeof options,
                                          .weights = weights,
                                          .effort = INGOT_EFFORT_REFERENCE,
                                          .is_big_endian = is_big_endian};
  return ingot_quantize_with(type, src, element_count, row_elements, blocks, size_bytes, &options,
                             error);
}

ingot_code ingot_quantize_with(uint32_t type, const float* src, size_t element_count,
                               size_t row_elements, void* blocks, size_t size_bytes,
                               const ingot_quantize_options* options, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY(const ingot_quantize_options given,
              capi::known_options(options, first_quantize_options_size));
    if (given.effort > INGOT_EFFORT_AUTO) {
      return fail(Errc::invalid_argument, "effort", std::to_string(given.effort));
    }
    INGOT_TRY(const auto floats, array_of(src, element_count, "src"));
    INGOT_TRY(const auto destination,
              array_of(static_cast<std::byte*>(blocks), size_bytes, "blocks"));
    const std::size_t weight_count = given.weights != nullptr ? row_elements : 0;
    return quantize(static_cast<TensorType>(type), floats, row_elements, destination,
                    {.importance = {given.weights, weight_count},
                     .byte_order = endian_of(given.is_big_endian),
                     .effort = static_cast<Effort>(given.effort)});
  });
}

ingot_code ingot_swap_byte_order(uint32_t type, void* blocks, size_t size_bytes,
                                 ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY(const auto bytes, array_of(static_cast<std::byte*>(blocks), size_bytes, "blocks"));
    return swap_byte_order(static_cast<TensorType>(type), bytes);
  });
}
