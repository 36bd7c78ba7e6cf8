// SPDX-License-Identifier: MIT
// Constants, names and text; the layout of the structs.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>

#include "capi/core/sample_bytes.hpp"
#include "ingot/error.hpp"
#include "ingot/text.hpp"
#include "ingot/types.hpp"

namespace ingot::test {
namespace {

std::string to_upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Programs that were compiled long ago rely on these.
static_assert(INGOT_OK == 0 && INGOT_ERROR_INTERNAL == 1 && INGOT_ERROR_TRUNCATED == 10);
static_assert(INGOT_ERROR_KEY_NOT_FOUND == 50 && INGOT_ERROR_INVALID_ARGUMENT == 57);
static_assert(INGOT_TYPE_F32 == 0 && INGOT_TYPE_Q4_K == 12 && INGOT_TYPE_BF16 == 30);
static_assert(INGOT_VALUE_UINT8 == 0 && INGOT_VALUE_BOOL == 7 && INGOT_VALUE_FLOAT64 == 12);
static_assert(INGOT_ABI_VERSION == 1);

// So do they on the layout of structs that cannot grow, and on the beginning of those that can.
static_assert(sizeof(ingot_error) == 1024 && offsetof(ingot_error, message) == 16);
static_assert(sizeof(ingot_value) == 64);
static_assert(sizeof(void*) != 8 ||
              (sizeof(ingot_string) == 16 && offsetof(ingot_open_options, uses_index) == 64 &&
               offsetof(ingot_open_options, max_header_bytes) == 24 &&
               sizeof(ingot_file_info) == 88 && offsetof(ingot_file_info, alignment) == 32 &&
               sizeof(ingot_tensor_info) == 136 && offsetof(ingot_tensor_info, dimensions) == 32 &&
               offsetof(ingot_tensor_info, element_count) == 96));

TEST(CapiVersion, IsThatOfTheHeaders) {
  EXPECT_EQ(ingot_abi_version(), static_cast<std::uint32_t>(INGOT_ABI_VERSION));
  EXPECT_STREQ(ingot_version(), INGOT_VERSION_STRING);
}

struct CodeRow {
  Errc code;
  ingot_code number;
  std::string constant;
};

const CodeRow code_rows[] = {
#define INGOT_ERROR(number, name, constant, category, sentence) \
  {Errc::name, INGOT_ERROR_##constant, #constant},
#include "ingot/errors.def"
};

TEST(CapiCodes, AreThoseOfTheTable) {
  for (const CodeRow& row : code_rows) {
    SCOPED_TRACE(row.constant);
    EXPECT_EQ(row.number, static_cast<ingot_code>(row.code));
    EXPECT_EQ(row.constant, to_upper(std::string(name_of(row.code))));
    EXPECT_EQ(ingot_code_name(row.number), name_of(row.code));
    EXPECT_EQ(ingot_code_sentence(row.number), sentence_of(row.code));
    EXPECT_EQ(ingot_code_category(row.number), static_cast<int32_t>(category_of(row.code)));
  }
  EXPECT_EQ(ingot_code_category(INGOT_ERROR_TRUNCATED), INGOT_CATEGORY_INPUT);
  EXPECT_EQ(ingot_code_category(INGOT_ERROR_BOOL_INVALID), INGOT_CATEGORY_LENIENT);
  EXPECT_EQ(ingot_code_category(INGOT_ERROR_WRONG_TYPE), INGOT_CATEGORY_USAGE);
  EXPECT_EQ(ingot_code_category(INGOT_ERROR_IO_ERROR), INGOT_CATEGORY_SYSTEM);
  EXPECT_EQ(ingot_code_category(INGOT_ERROR_SHARD_MISSING), INGOT_CATEGORY_NOTICE);
}

TEST(CapiCodes, OkAndUnknownNumbersHaveNamesToo) {
  EXPECT_STREQ(ingot_code_name(INGOT_OK), "ok");
  EXPECT_STREQ(ingot_code_sentence(INGOT_OK), "");
  EXPECT_EQ(ingot_code_category(INGOT_OK), -1);
  for (const ingot_code unknown : {-1, 9, 100'000, INT32_MAX, INT32_MIN}) {
    EXPECT_STREQ(ingot_code_name(unknown), "unknown");
    EXPECT_STREQ(ingot_code_sentence(unknown), "");
    EXPECT_EQ(ingot_code_category(unknown), -1);
  }
}

TEST(CapiTypes, TensorTypesAreThoseOfTheTable) {
  for (const TensorTypeInfo& info : live_tensor_types) {
    SCOPED_TRACE(info.name);
    const auto id = static_cast<std::uint32_t>(info.type);
    EXPECT_EQ(ingot_type_name(id), info.name);
    EXPECT_EQ(ingot_type_block_elements(id), info.block_elements);
    EXPECT_EQ(ingot_type_block_bytes(id), info.block_bytes);
    EXPECT_EQ(ingot_find_type(std::string(info.name).c_str()), id);
  }
  EXPECT_EQ(ingot_find_type("q4_k"), INGOT_TYPE_Q4_K);
  EXPECT_EQ(ingot_find_type("Q4_2"), -1);
  EXPECT_EQ(ingot_find_type(""), -1);
  EXPECT_EQ(ingot_find_type(nullptr), -1);
}

TEST(CapiTypes, RemovedAndUnknownTensorTypesHaveNoSize) {
  EXPECT_STREQ(ingot_type_name(4), "Q4_2");
  EXPECT_EQ(ingot_type_block_elements(4), 0U);
  EXPECT_EQ(ingot_type_block_bytes(4), 0U);
  for (const std::uint32_t unknown : {43U, 1000U, UINT32_MAX}) {
    EXPECT_EQ(ingot_type_name(unknown), nullptr);
    EXPECT_EQ(ingot_type_block_elements(unknown), 0U);
    EXPECT_EQ(ingot_type_block_bytes(unknown), 0U);
  }
}

TEST(CapiTypes, ValueTypesAreThoseOfTheTable) {
  for (std::uint32_t id = 0; id < value_type_count; ++id) {
    EXPECT_EQ(ingot_value_type_name(id), name_of(static_cast<ValueType>(id)));
    EXPECT_EQ(ingot_value_type_bytes(id), size_bytes_of(static_cast<ValueType>(id)));
  }
  for (const std::uint32_t unknown : {value_type_count, UINT32_MAX}) {
    EXPECT_EQ(ingot_value_type_name(unknown), nullptr);
    EXPECT_EQ(ingot_value_type_bytes(unknown), 0U);
  }
}

TEST(CapiTypes, FileTypeNamesEndInNul) {
  for (std::uint64_t number = 0; number < 2048; ++number) {
    const std::string_view name = file_type_name(number);
    if (name.empty()) {
      EXPECT_EQ(ingot_file_type_name(number), nullptr);
    } else {
      EXPECT_EQ(ingot_file_type_name(number), name);
    }
  }
  EXPECT_STREQ(ingot_file_type_name(15), "Q4_K_M");
  EXPECT_EQ(ingot_file_type_name(UINT64_MAX), nullptr);
}

ingot_string to_c(std::string_view text) { return {text.data(), text.size()}; }

TEST(CapiEscape, MakesTextSafe) {
  char buffer[100];
  EXPECT_EQ(ingot_escape(to_c(wild_text), buffer, sizeof buffer), INGOT_OK);
  EXPECT_EQ(buffer, escape(wild_text));
  EXPECT_EQ(std::string_view(buffer).find('\x1b'), std::string_view::npos);
  EXPECT_EQ(ingot_escape(to_c(""), buffer, sizeof buffer), INGOT_OK);
  EXPECT_STREQ(buffer, "");
  EXPECT_EQ(ingot_escape({nullptr, 0}, buffer, sizeof buffer), INGOT_OK);
  EXPECT_STREQ(buffer, "");
}

TEST(CapiEscape, CutsBetweenCharacters) {
  const std::string_view text = "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC";  // three euro signs
  for (std::size_t size = 1; size <= text.size() + 2; ++size) {
    SCOPED_TRACE(size);
    std::vector<char> buffer(size + 1, 'x');
    EXPECT_EQ(ingot_escape(to_c(text), buffer.data(), size), INGOT_OK);
    const std::string_view shown = buffer.data();
    EXPECT_LT(shown.size(), size);
    EXPECT_TRUE(is_utf8(shown));
    EXPECT_EQ(shown == text, size > text.size());
    if (size >= 4 && shown != text) {
      EXPECT_EQ(shown.substr(shown.size() - 3), "...");
    }
    EXPECT_EQ(buffer[size], 'x');
  }
}

TEST(CapiEscape, LooksOnlyAtWhatItCanShow) {
  // The rest of this text is not there: reading it would be a crash.
  const std::vector<char> text(16, 'y');
  char buffer[16];
  EXPECT_EQ(ingot_escape({text.data(), SIZE_MAX / 2}, buffer, sizeof buffer), INGOT_OK);
  EXPECT_STREQ(buffer, "yyyyyyyyyyyy...");
}

TEST(CapiEscape, RefusesNull) {
  char buffer[4] = "abc";
  EXPECT_EQ(ingot_escape(to_c("text"), nullptr, 4), INGOT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_escape(to_c("text"), buffer, 0), INGOT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_escape({nullptr, 1}, buffer, sizeof buffer), INGOT_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(buffer, "abc");
}

}  // namespace
}  // namespace ingot::test
