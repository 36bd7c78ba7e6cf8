// SPDX-License-Identifier: MIT
// Names, shapes, types and places of tensors.
#include "corpus/outcomes.hpp"

namespace ingot::test {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t power(unsigned exponent) { return std::uint64_t{1} << exponent; }

TensorType id(std::uint32_t number) { return static_cast<TensorType>(number); }

void add_names(OutcomeCorpus& corpus) {
  const auto named = [](std::string_view name) {
    return with_one(start(), name, {8}, TensorType::f32);
  };
  const auto exact = [](std::string_view name) {
    return with_one(start(), name, {16}, TensorType::f32);
  };
  static_cast<void>(named);
  for (const auto& [what, name] : std::initializer_list<std::pair<const char*, std::string_view>>{
           {"usual", "blk.0.attn_q.weight"},
           {"slash", "encoder/block_000/layer"},
           {"unicode", "\xD0\xB1\xD0\xBB\xD0\xBE\xD0\xBA.0"},
           {"colon", "layer:0"}}) {
    corpus.clean(std::string("name_") + what, exact(name));
  }
  corpus.clean("name_64", exact(std::string(64, 'n')));
  for (const auto& [what, name] : std::initializer_list<std::pair<const char*, std::string_view>>{
           {"empty", ""},
           {"dot", "."},
           {"up", "../../x"},
           {"etc", "/etc/passwd"},
           {"dev", "/dev/null"},
           {"windows", "C:\\x"},
           {"option", "-rf"},
           {"format", "%s%n"},
           {"shell", "$(reboot)"},
           {"quote", "a'b"},
           {"newline", "a\nb"},
           {"escape", "\x1b[31m"},
           {"bidi", "blk\xE2\x80\xAE.0"},
           {"space", "a b"},
           {"html", "<img src=x>"}}) {
    corpus.warned(std::string("name_") + what, exact(name));
  }
  corpus.refused("name_65", exact(std::string(65, 'n')));
  corpus.refused("name_65536", exact(std::string(65536, 'n')));
  corpus.refused("name_nul", exact("a\0b"sv));
  corpus.refused("name_not_utf8", exact("\xFF\xFE"));
  for (const std::uint64_t length : {power(31), power(32), power(63), ~std::uint64_t{0}}) {
    corpus.refused("name_length_" + std::to_string(length),
                   start().set_counts(1, 1).count(length).data(64).bytes());
  }
  const auto two = [](std::string_view first, std::string_view second) {
    GgufBuilder file = start();
    file.tensor(first, {8}, TensorType::f32, 0).tensor(second, {8}, TensorType::f32, 32);
    return file.pad_to(32).data(64).bytes();
  };
  corpus.refused("name_twice", two("t", "t"));
  corpus.refused("name_twice_for_c", two("t", "t\0x"sv));
  corpus.clean("name_differs_in_case", two("t", "T"));
  GgufBuilder many = start();
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    many.tensor("t" + std::to_string(i), {8}, TensorType::f32, 32 * i);
  }
  corpus.clean("names_10000", many.pad_to(32).data(320'000).bytes());
}

void add_shapes(OutcomeCorpus& corpus) {
  using Shape = std::vector<std::uint64_t>;
  const auto shaped = [](const Shape& shape, TensorType type = TensorType::f32) {
    return with_one(start(), "t", shape, type, 0, 64);
  };
  corpus.clean("shape_4_dimensions", shaped({2, 2, 2, 2}));
  corpus.clean("shape_ones", shaped({16, 1, 1, 1}));
  corpus.warned("shape_no_dimension", with_one(start(), "t", {}, TensorType::f32, 0, 4));
  for (const Shape& shape : {Shape{0}, Shape{0, 4}, Shape{4, 0}, Shape{1, 1, 1, 0}}) {
    std::string name = "shape_zero";
    for (const std::uint64_t dimension : shape) name += "_" + std::to_string(dimension);
    corpus.warned(name, with_one(start(), "t", shape, TensorType::f32, 0, 0));
  }
  for (const std::uint32_t count : {5u, 8u}) {
    corpus.refused("shape_dimensions_" + std::to_string(count), shaped(Shape(count, 1)));
  }
  for (const std::uint32_t count : {9u, 255u, 0x10000u, 0x80000000u, 0xFFFFFFFFu}) {
    corpus.refused("shape_dimensions_" + std::to_string(count),
                   start().set_counts(1, 1).text("t").u32(count).data(256).bytes());
  }
  const std::pair<const char*, Shape> overflows[] = {
      {"2p32_2p32", {power(32), power(32)}},
      {"2p31_2p32", {power(31), power(32)}},
      {"2p63", {power(63)}},
      {"2p63_minus_1", {power(63) - 1}},
      {"max", {~std::uint64_t{0}}},
      {"max_2", {~std::uint64_t{0}, 2}},
      {"3_third", {3, 6148914691236517206}},
      {"2p62_2p62_0", {power(62), power(62), 0}},
      {"2p32_2p32_0", {power(32), power(32), 0}},
      {"2p16_four_times", {power(16), power(16), power(16), power(16)}},
      {"large", {4, 1073741823, 1073741825}},
  };
  for (const auto& [name, shape] : overflows) {
    for (const TensorType type : {TensorType::i8, TensorType::f32, TensorType::f64}) {
      corpus.refused(std::string("shape_") + name + "_" + std::string(find_type(type)->name),
                     shaped(shape, type));
    }
  }
  corpus.refused("shape_v1_max",
                 with_one(start(v1), "t", {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, TensorType::f32));
}

void add_types(OutcomeCorpus& corpus) {
  for (const TensorTypeInfo& info : live_tensor_types) {
    const std::string name(info.name);
    for (const Format format : {v3, v3_big}) {
      GgufBuilder file = start(format);
      file.pair("general.quantization_version", std::uint32_t{2});
      file.tensor("t", {info.block_elements}, info.type, 0).pad_to(32);
      for (std::uint32_t i = 0; i < info.block_bytes; ++i) file.u8(0);
      corpus.clean("type_" + name + "_" + format_name(format), file.pad_to(32).bytes());
    }
    if (info.block_elements == 1) continue;
    corpus.refused("row_short_of_" + name,
                   with_one(start(), "t", {info.block_elements - 1, 2}, info.type, 0, 1024));
    corpus.refused("row_beyond_" + name,
                   with_one(start(), "t", {info.block_elements + 1}, info.type, 0, 1024));
    corpus.refused("row_of_none_" + name, with_one(start(), "t", {}, info.type, 0, 1024));
  }
  for (const std::uint32_t type :
       {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u, 43u, 64u, 100u, 999u, 0x80000000u, 0xFFFFFFFFu}) {
    corpus.refused("type_" + std::to_string(type), with_one(start(), "t", {32}, id(type)));
  }
}

void add_places(OutcomeCorpus& corpus) {
  const auto placed = [](std::uint64_t offset, std::size_t bytes = 64) {
    return with_one(start(), "t", {8}, TensorType::f32, offset, bytes);
  };
  for (const std::uint64_t offset :
       {std::uint64_t{1}, std::uint64_t{16}, std::uint64_t{31}, std::uint64_t{33}, power(63) + 1}) {
    corpus.refused("place_unaligned_" + std::to_string(offset), placed(offset));
  }
  for (const std::uint64_t offset : {std::uint64_t{64}, std::uint64_t{96}, power(32), power(62),
                                     power(63), ~std::uint64_t{0} - 31, ~std::uint64_t{0} - 1023}) {
    corpus.refused("place_outside_" + std::to_string(offset), placed(offset));
  }
  const auto two = [](std::uint64_t first, std::uint64_t second, std::size_t data = 256) {
    GgufBuilder file = start();
    file.tensor("a", {16}, TensorType::f32, first).tensor("b", {16}, TensorType::f32, second);
    file.pad_to(32);
    for (std::size_t i = 0; i < data; ++i) file.u8(0);
    return file.bytes();
  };
  corpus.clean("place_in_order", two(0, 64, 128));
  corpus.clean("place_other_order", two(64, 0, 128));
  corpus.clean("place_gap", two(0, 192));
  corpus.clean("place_gap_first", two(64, 128, 192));
  corpus.refused("place_same", two(0, 0));
  corpus.refused("place_overlap_half", two(0, 32));
  corpus.refused("place_overlap_behind", two(32, 0));
  corpus.refused("place_second_outside", two(0, 256));
  corpus.refused("place_second_cut", two(0, 224));
  GgufBuilder amplified = start();
  for (int i = 0; i < 300; ++i) {
    amplified.tensor("t" + std::to_string(i), {1024}, TensorType::f32, 0);
  }
  corpus.refused("place_300_times_the_same", amplified.pad_to(32).data(4096).bytes());
}

}  // namespace

void add_tensor_outcomes(OutcomeCorpus& corpus) {
  add_names(corpus);
  add_shapes(corpus);
  add_types(corpus);
  add_places(corpus);
}

}  // namespace ingot::test
