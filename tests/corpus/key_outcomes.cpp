// SPDX-License-Identifier: MIT
// Keys, values, arrays and the alignment.
#include <cmath>
#include <limits>

#include "corpus/outcomes.hpp"

namespace ingot::test {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t huge_counts[] = {
    std::uint64_t{1} << 32, std::uint64_t{1} << 59, std::uint64_t{1} << 60,
    std::uint64_t{1} << 61, std::uint64_t{1} << 62, (std::uint64_t{1} << 62) + 1,
    std::uint64_t{1} << 63, ~std::uint64_t{0} - 7,  ~std::uint64_t{0}};

void add_keys(OutcomeCorpus& corpus) {
  const auto with_key = [](std::string_view key) { return with_floats(start().pair(key, true)); };
  corpus.clean("key_one_segment", with_key("key"));
  corpus.clean("key_digits", with_key("a.0.b_1"));
  corpus.clean("key_65535", with_key(std::string(65535, 'k')));
  for (const auto& [what, key] : std::initializer_list<std::pair<const char*, std::string_view>>{
           {"upper", "test.Key"},
           {"dash", "test.my-key"},
           {"space", "test.my key"},
           {"dot_first", ".test"},
           {"dot_last", "test."},
           {"dots", "test..key"},
           {"dot", "."},
           {"newline", "test\ngeneral.name"},
           {"escape", "test.\x1b[2J"},
           {"not_ascii", "test.schl\xC3\xBCssel"},
           {"cyrillic", "general.\xD0\xB0rchitecture"},
           {"bidi",
            "test.\xE2\x80\xAE"
            "abc"},
           {"zero_width", "general.architecture\xE2\x80\x8B"},
           {"slash", "test/../x"},
           {"percent", "test.%s%n"},
           {"html", "<script>alert(1)</script>"},
           {"case", "General.Architecture"}}) {
    corpus.warned(std::string("key_") + what, with_key(key));
  }
  corpus.refused("key_empty", with_key(""));
  corpus.refused("key_not_utf8", with_key("a\xFF"));
  corpus.refused("key_surrogate", with_key("a\xED\xA0\x80"));
  corpus.refused("key_overlong", with_key("a\xC0\xAF"));
  corpus.refused("key_nul", with_key("general.architecture\0x"sv));
  corpus.refused("key_nul_at_end", with_key("a\0"sv));
  corpus.refused("key_65536", with_key(std::string(65536, 'k')));
  corpus.refused("key_twice", with_floats(start().pair("a", true).pair("a", true)));
  corpus.refused("key_twice_other_type", with_floats(start().pair("a", true).pair("a", "x")));
  corpus.refused("key_architecture_twice", with_floats(start().pair("general.architecture", "x")));
  corpus.warned("key_nul_at_end_v1", with_floats(start(v1).pair("a\0"sv, true)));
  corpus.warned("key_nul_at_end_v2", with_floats(start(v2).pair("a\0"sv, true)));
  corpus.refused("key_same_without_nul_v2",
                 with_floats(start(v2).pair("a\0"sv, true).pair("a", true)));
  for (const std::uint64_t length : huge_counts) {
    corpus.refused("key_length_" + std::to_string(length),
                   start().set_counts(0, 2).count(length).data(64).bytes());
    corpus.refused("string_length_" + std::to_string(length),
                   start().key("a", ValueType::string).count(length).data(64).bytes());
  }
}

void add_values(OutcomeCorpus& corpus) {
  const auto with_type = [](std::uint32_t type) {
    return start().key("a", static_cast<ValueType>(type)).data(64).bytes();
  };
  for (const std::uint32_t type : {13u, 14u, 255u, 0x80000000u, 0xFFFFFFFFu}) {
    // The builder writes types of one byte's range; wider ones are written by hand.
    if (type < 256) corpus.refused("value_type_" + std::to_string(type), with_type(type));
    corpus.refused("value_type_wide_" + std::to_string(type),
                   start().set_counts(0, 2).text("a").u32(type).data(64).bytes());
    corpus.refused("element_type_" + std::to_string(type),
                   start().set_counts(0, 2).text("a").u32(9).u32(type).u64(0).data(64).bytes());
  }
  const auto with = [](auto value) { return with_floats(start().pair("test.a", value)); };
  corpus.clean("value_u64_max", with(std::numeric_limits<std::uint64_t>::max()));
  corpus.clean("value_i64_min", with(std::numeric_limits<std::int64_t>::min()));
  corpus.clean("value_f32_denormal", with(std::numeric_limits<float>::denorm_min()));
  corpus.clean("value_f64_max", with(std::numeric_limits<double>::max()));
  corpus.clean("value_minus_zero", with(-0.0F));
  corpus.warned("value_f32_nan", with(std::nanf("")));
  corpus.warned("value_f32_infinity", with(std::numeric_limits<float>::infinity()));
  corpus.warned("value_f64_minus_infinity", with(-std::numeric_limits<double>::infinity()));
  corpus.clean("value_string_empty", with(""sv));
  corpus.clean("value_string_1_mib", with(std::string_view(std::string(1 << 20, 'x'))));
  corpus.clean("value_string_unicode", with("\xE6\xA8\xA1\xE5\x9E\x8B \xF0\x9F\xA6\x99"sv));
  corpus.clean("value_string_lines", with("a\n\tb\r\n"sv));
  corpus.warned("value_string_not_utf8", with("caf\xC3"sv));
  corpus.warned("value_string_above_unicode", with("\xF4\x90\x80\x80"sv));
  corpus.warned("value_string_escape", with("\x1b[2J\x1b[1;1H"sv));
  corpus.warned("value_string_nul", with("a\0b"sv));
  corpus.warned("value_string_bidi", with("a\xE2\x80\xAE"
                                          "b"sv));
  corpus.warned("value_string_c1", with("a\xC2\x9B"
                                        "2Jb"sv));
  for (const unsigned flag : {2u, 127u, 255u}) {
    corpus.refused(
        "bool_" + std::to_string(flag),
        with_floats(start().key("a", ValueType::boolean).u8(static_cast<std::uint8_t>(flag))));
    corpus.refused("bool_element_" + std::to_string(flag),
                   with_floats(start()
                                   .array_key("a", ValueType::boolean, 2)
                                   .u8(1)
                                   .u8(static_cast<std::uint8_t>(flag))));
  }
  corpus.warned("value_u64_in_v1", with_floats(start(v1).pair("test.a", std::uint64_t{5})));
}

/// An array in `depth` levels; the innermost holds one byte, or nothing.
GgufBuilder nested(std::uint32_t depth, std::uint64_t innermost = 1) {
  GgufBuilder file = start();
  file.array_key("deep", depth == 1 ? ValueType::uint8 : ValueType::array,
                 depth == 1 ? innermost : 1);
  for (std::uint32_t level = 2; level < depth; ++level) file.array(ValueType::array, 1);
  if (depth > 1) file.array(ValueType::uint8, innermost);
  return innermost == 1 ? file.u8(7) : file;
}

void add_arrays(OutcomeCorpus& corpus) {
  for (std::uint32_t type = 0; type < value_type_count; ++type) {
    const auto element = static_cast<ValueType>(type);
    const std::string name(name_of(element));
    corpus.clean("array_empty_of_" + name, with_floats(start().array_key("a", element, 0)));
    for (const std::uint64_t count : huge_counts) {
      if (type % 3 != 0 && count % 2 == 0 && count != std::uint64_t{1} << 61) continue;
      corpus.refused("array_" + name + "_" + std::to_string(count),
                     start().array_key("a", element, count).data(64).bytes());
    }
  }
  corpus.refused("array_one_byte_too_long",
                 start().array_key("a", ValueType::uint8, 65).data(64).bytes());
  corpus.clean("array_to_the_end", start().array_key("a", ValueType::uint8, 64).data(64).bytes());
  corpus.refused("array_500_million_strings",
                 start().array_key("a", ValueType::string, 500'000'000).data(64).bytes());
  corpus.refused(
      "array_second_string_too_long",
      start().array_key("a", ValueType::string, 2).text("x").count(1000).data(8).bytes());
  for (const std::uint32_t depth : {1u, 2u, 3u, 8u, 32u, 63u, 64u}) {
    corpus.clean("nested_" + std::to_string(depth), with_floats(nested(depth)));
    corpus.clean("nested_empty_" + std::to_string(depth), with_floats(nested(depth, 0)));
  }
  for (const std::uint32_t depth : {65u, 66u, 1000u, 100'000u}) {
    corpus.refused("nested_" + std::to_string(depth), nested(depth).bytes());
    corpus.refused("nested_empty_" + std::to_string(depth), nested(depth, 0).bytes());
  }
  GgufBuilder bomb = start();
  bomb.array_key("bomb", ValueType::array, std::uint64_t{1} << 32);
  for (int i = 0; i < 20; ++i) bomb.array(ValueType::array, std::uint64_t{1} << 32);
  corpus.refused("nested_bomb", bomb.bytes());
  GgufBuilder many = start();
  for (int i = 0; i < 20'000; ++i) many.pair("test.k" + std::to_string(i), std::uint8_t{1});
  corpus.clean("keys_20000", with_floats(many));
}

void add_alignments(OutcomeCorpus& corpus) {
  const auto aligned = [](std::uint32_t alignment) {
    return with_floats(start().pair("general.alignment", alignment),
                       alignment == 0 ? 1 : alignment);
  };
  for (const std::uint32_t good : {8u, 16u, 32u, 64u, 256u, 4096u, 65536u}) {
    corpus.clean("alignment_" + std::to_string(good), aligned(good));
  }
  for (const std::uint32_t odd : {24u, 40u, 48u, 1000u}) {
    corpus.warned("alignment_" + std::to_string(odd), aligned(odd));
  }
  for (const std::uint32_t bad : {0u, 1u, 2u, 3u, 4u, 7u, 12u, 13u, 33u}) {
    corpus.refused("alignment_" + std::to_string(bad), aligned(bad));
  }
  for (const std::uint32_t large : {0x80000000u, 0x80000008u, 0xFFFFFFF8u}) {
    const GgufBuilder file = start().pair("general.alignment", large);
    corpus.warned("alignment_alone_" + std::to_string(large), file.bytes());
    corpus.refused("alignment_with_data_" + std::to_string(large), with_floats(file));
  }
  corpus.refused("alignment_max", start().pair("general.alignment", 0xFFFFFFFFu).bytes());
  const auto typed = [](auto value) {
    return with_floats(start().pair("general.alignment", value));
  };
  corpus.refused("alignment_i32", typed(std::int32_t{32}));
  corpus.refused("alignment_u64", typed(std::uint64_t{32}));
  corpus.refused("alignment_u16", typed(std::uint16_t{32}));
  corpus.refused("alignment_f32", typed(32.0F));
  corpus.refused("alignment_string", typed("32"));
  corpus.refused("alignment_bool", typed(true));
}

}  // namespace

void add_key_outcomes(OutcomeCorpus& corpus) {
  add_keys(corpus);
  add_values(corpus);
  add_arrays(corpus);
  add_alignments(corpus);
}

}  // namespace ingot::test
