// SPDX-License-Identifier: MIT
// When memory runs out, at any point, the functions say so and nothing else happens.
#include <cstring>
#include <string>

#include "capi/core/sample_bytes.hpp"
#include "support/watched_memory.hpp"

namespace ingot::test {
namespace {

/// Calls `function(error)` with room for 0, 1, 2, ... allocations, until it no longer runs out of
/// memory, and returns what it then says.
template <class Function>
ingot_code call_with_scarce_memory(Function&& function) {
  for (int room = 0; room < 10'000; ++room) {
    ingot_error error = untouched_error();
    allocations_left = room;
    const ingot_code code = function(&error);
    allocations_left = -1;
    if (code != INGOT_ERROR_OUT_OF_MEMORY) return code;
    EXPECT_EQ(error.code, INGOT_ERROR_OUT_OF_MEMORY);
    EXPECT_STREQ(error.message, ingot_code_sentence(INGOT_ERROR_OUT_OF_MEMORY));
  }
  ADD_FAILURE() << "it never ends";
  return INGOT_ERROR_OUT_OF_MEMORY;
}

TEST(CapiMemory, Opening) {
  const Bytes bytes = sample_bytes();
  ingot_model* model = nullptr;
  EXPECT_EQ(call_with_scarce_memory([&](ingot_error* e) {
              return ingot_open_memory(bytes.data(), bytes.size(), nullptr, &model, e);
            }),
            INGOT_OK);
  ASSERT_NE(model, nullptr);
  ingot_close(model);
}

TEST(CapiMemory, OpeningByCallback) {
  Bytes bytes = sample_bytes();
  const ingot_read_function read = [](void* user, std::uint64_t file_offset, void* destination,
                                      std::size_t size_bytes) {
    std::memcpy(destination, static_cast<const std::byte*>(user) + file_offset, size_bytes);
    return 0;
  };
  ingot_model* model = nullptr;
  EXPECT_EQ(call_with_scarce_memory([&](ingot_error* e) {
              return ingot_open_callback(bytes.size(), read, bytes.data(), nullptr, &model, e);
            }),
            INGOT_OK);
  ASSERT_NE(model, nullptr);
  ingot_close(model);
}

TEST(CapiMemory, OpeningAPathThatIsNotThere) {
  ingot_model* model = nullptr;
  EXPECT_EQ(call_with_scarce_memory([&](ingot_error* e) {
              return ingot_open("/no/such/file/whose/name/is/long.gguf", nullptr, &model, e);
            }),
            INGOT_ERROR_IO_ERROR);
  EXPECT_EQ(model, nullptr);
}

class CapiMemorySample : public SampleTest {};

TEST_F(CapiMemorySample, IndexOfStrings) {
  const ingot_value array = value("array.strings");
  ingot_value element = {};
  EXPECT_EQ(call_with_scarce_memory([&](ingot_error* e) {
              const ingot_code code = ingot_value_element(&array, 2, &element, e);
              EXPECT_EQ(ingot_value_type(&element), code == INGOT_OK ? INGOT_VALUE_STRING : -1);
              return code;
            }),
            INGOT_OK);
}

TEST_F(CapiMemorySample, WhatIsThereNeedsNone) {
  const ingot_value array = value("array.strings");
  allocations_left = 0;
  ingot_string texts[3];
  ingot_tensor_info info = {};
  info.struct_size = sizeof info;
  std::uint64_t number = 0;
  const bool is_right = ingot_value_copy_strings(&array, 0, 3, texts, nullptr) == INGOT_OK &&
                        ingot_get_u64(model(), "number.u8", &number, nullptr) == INGOT_OK &&
                        ingot_find_tensor(model(), "empty") == 2 &&
                        ingot_get_tensor_info(model(), 1, &info, nullptr) == INGOT_OK;
  allocations_left = -1;
  EXPECT_TRUE(is_right);
}

TEST_F(CapiMemorySample, Errors) {
  std::uint64_t number = 0;
  EXPECT_EQ(call_with_scarce_memory([&](ingot_error* e) {
              return ingot_get_u64(model(), "a.key.that.is.not.in.this.model", &number, e);
            }),
            INGOT_ERROR_KEY_NOT_FOUND);
  EXPECT_EQ(call_with_scarce_memory([&](ingot_error* e) {
              return ingot_get_u64(model(), "array.strings", &number, e);
            }),
            INGOT_ERROR_WRONG_TYPE);
}

TEST(CapiMemory, Escaping) {
  const std::string text(100, 'x');
  char buffer[200] = "";
  allocations_left = 0;
  const ingot_code code = ingot_escape({text.data(), text.size()}, buffer, sizeof buffer);
  allocations_left = -1;
  EXPECT_EQ(code, INGOT_ERROR_OUT_OF_MEMORY);
  EXPECT_STREQ(buffer, "");
}

}  // namespace
}  // namespace ingot::test
