// SPDX-License-Identifier: MIT
// What is in the weights, in the padding and after the end.
#include <cmath>
#include <limits>

#include "corpus/outcomes.hpp"

namespace ingot::test {
namespace {

/// A tensor of one block of `type`, zero but for a field.
template <class Word>
Bytes with_field(Format format, TensorType type, std::size_t offset, Word word) {
  const TensorTypeInfo& info = *find_type(type);
  GgufBuilder file = start(format);
  file.pair("general.quantization_version", std::uint32_t{2});
  file.tensor("t", {info.block_elements}, type, 0).pad_to(32);
  for (std::size_t i = 0; i < offset; ++i) file.u8(0);
  file.number(word);
  for (std::size_t i = offset + sizeof word; i < info.block_bytes; ++i) file.u8(0);
  return file.pad_to(32).bytes();
}

struct HalfField {
  TensorType type;
  std::size_t offset;
};

void add_scales(OutcomeCorpus& corpus) {
  const HalfField halves[] = {
      {TensorType::f16, 0},    {TensorType::q4_0, 0},   {TensorType::q4_1, 0},
      {TensorType::q4_1, 2},   {TensorType::q5_0, 0},   {TensorType::q5_1, 0},
      {TensorType::q5_1, 2},   {TensorType::q8_0, 0},   {TensorType::q8_1, 0},
      {TensorType::q2_k, 80},  {TensorType::q2_k, 82},  {TensorType::q3_k, 108},
      {TensorType::q4_k, 0},   {TensorType::q4_k, 2},   {TensorType::q5_k, 0},
      {TensorType::q5_k, 2},   {TensorType::q6_k, 208}, {TensorType::iq2_xxs, 0},
      {TensorType::iq2_xs, 0}, {TensorType::iq2_s, 0},  {TensorType::iq3_xxs, 0},
      {TensorType::iq3_s, 0},  {TensorType::iq1_s, 0},  {TensorType::iq4_nl, 0},
      {TensorType::iq4_xs, 0}, {TensorType::tq1_0, 52}, {TensorType::tq2_0, 64},
      {TensorType::q1_0, 0},   {TensorType::q2_0, 0}};
  constexpr std::uint16_t half_infinity = 0x7C00;
  constexpr std::uint16_t half_nan = 0xFE00;
  constexpr std::uint16_t half_max = 0x7BFF;
  for (const HalfField& half : halves) {
    const std::string name =
        std::string(find_type(half.type)->name) + "_" + std::to_string(half.offset);
    corpus.warned("scale_infinite_" + name, with_field(v3, half.type, half.offset, half_infinity));
    corpus.warned("scale_nan_big_" + name, with_field(v3_big, half.type, half.offset, half_nan));
    corpus.clean("scale_largest_" + name, with_field(v3, half.type, half.offset, half_max));
  }
  for (const Format format : {v3, v3_big}) {
    const std::string name = format_name(format);
    const auto field = [&](TensorType type, std::size_t offset, auto word) {
      return with_field(format, type, offset, word);
    };
    corpus.warned("f32_nan_" + name, field(TensorType::f32, 0, std::nanf("")));
    corpus.warned("f32_infinity_" + name,
                  field(TensorType::f32, 0, -std::numeric_limits<float>::infinity()));
    corpus.clean("f32_max_" + name, field(TensorType::f32, 0, std::numeric_limits<float>::max()));
    corpus.warned("f64_nan_" + name, field(TensorType::f64, 0, std::nan("")));
    corpus.clean("f64_max_" + name, field(TensorType::f64, 0, std::numeric_limits<double>::max()));
    corpus.warned("bf16_nan_" + name, field(TensorType::bf16, 0, std::uint16_t{0x7FC0}));
    corpus.clean("bf16_max_" + name, field(TensorType::bf16, 0, std::uint16_t{0x7F7F}));
    corpus.warned("q8_k_infinity_" + name,
                  field(TensorType::q8_k, 0, std::numeric_limits<float>::infinity()));
    corpus.clean("q8_k_large_" + name, field(TensorType::q8_k, 0, 1e36F));
    corpus.warned("iq1_m_infinity_" + name,
                  field(TensorType::iq1_m, 52,
                        format.byte_order == Endian::little ? std::uint32_t{0x7000C000}
                                                            : std::uint32_t{0xC0007000}));
    corpus.clean("i64_all_ones_" + name, field(TensorType::i64, 0, ~std::uint64_t{0}));
  }
  corpus.warned("mxfp4_scale_nan", with_field(v3, TensorType::mxfp4, 0, std::uint8_t{0xFF}));
  corpus.clean("mxfp4_scale_wild", with_field(v3, TensorType::mxfp4, 0, std::uint8_t{0xFE}));
  corpus.warned("mxfp4_overflow", with_field(v3, TensorType::mxfp4, 0, std::uint16_t{0x07FE}));
  for (const std::size_t at : {0u, 3u}) {
    corpus.warned("nvfp4_scale_nan_" + std::to_string(at),
                  with_field(v3, TensorType::nvfp4, at, std::uint8_t{0x7F}));
    corpus.clean("nvfp4_scale_largest_" + std::to_string(at),
                 with_field(v3, TensorType::nvfp4, at, std::uint8_t{0x7E}));
  }
}

void add_fillers(OutcomeCorpus& corpus) {
  const auto bytes_tensor = [](std::size_t data_bytes) {
    GgufBuilder file = start();
    return file.tensor("t", {data_bytes}, TensorType::i8, 0).pad_to(32).data(data_bytes);
  };
  corpus.clean("end_without_padding", bytes_tensor(33).bytes());
  corpus.clean("end_with_some_padding", bytes_tensor(33).u8(0).u8(0).bytes());
  corpus.clean("end_with_padding", bytes_tensor(33).pad_to(32).bytes());
  corpus.warned("end_padding_not_zero", bytes_tensor(33).u8(1).pad_to(32).bytes());
  corpus.warned("end_one_byte_more", bytes_tensor(32).u8(0).bytes());
  corpus.warned("end_4_kib_more", bytes_tensor(32).data(4096).bytes());
  corpus.warned("end_zip", bytes_tensor(32).raw("PK\x05\x06").data(18).bytes());
  GgufBuilder twice = bytes_tensor(32);
  for (const std::byte byte : with_floats(start())) twice.u8(std::to_integer<std::uint8_t>(byte));
  corpus.warned("end_second_model", twice.bytes());
  corpus.warned("end_of_metadata", start().data(64).bytes());
  corpus.clean("end_of_metadata_padded", start().pad_to(32).bytes());
  GgufBuilder dirty = start();
  dirty.tensor("t", {8}, TensorType::f32, 0);
  while (dirty.size() % 32 != 0) dirty.u8(0xAA);
  corpus.warned("padding_before_data", dirty.data(32).bytes());
  const auto gap = [](std::uint8_t filler) {
    GgufBuilder file = start();
    file.tensor("a", {8}, TensorType::f32, 0).tensor("b", {8}, TensorType::f32, 96).pad_to(32);
    file.data(32);
    for (int i = 0; i < 64; ++i) file.u8(i == 63 ? filler : 0);
    return file.data(32).bytes();
  };
  corpus.clean("gap_of_zeros", gap(0));
  corpus.warned("gap_with_a_byte", gap(1));
}

}  // namespace

void add_data_outcomes(OutcomeCorpus& corpus) {
  add_scales(corpus);
  add_fillers(corpus);
}

}  // namespace ingot::test
