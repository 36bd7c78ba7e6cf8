// SPDX-License-Identifier: MIT
// Tensors: their table and their data.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "capi/core/sample_bytes.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CapiTensors : public SampleTest {
 protected:
  [[nodiscard]] ingot_tensor_info info(std::uint64_t index) const {
    ingot_tensor_info result = {};
    result.struct_size = sizeof result;
    expect_code(INGOT_OK,
                [&](ingot_error* e) { return ingot_get_tensor_info(model(), index, &result, e); });
    return result;
  }
};

TEST_F(CapiTensors, InfosAreThoseOfTheFile) {
  const std::uint64_t data_offset = bytes().size() - sample_data_bytes;
  ASSERT_EQ(ingot_tensor_count(model()), sample_tensor_count);
  const ingot_tensor_info plain = info(0);
  EXPECT_EQ(view(plain.name), "token.weight");
  EXPECT_EQ(plain.type, static_cast<std::uint32_t>(INGOT_TYPE_F32));
  EXPECT_EQ(plain.dimension_count, 2U);
  EXPECT_THAT(plain.dimensions, ElementsAre(4, 2, 1, 1, 1, 1, 1, 1));
  EXPECT_EQ(plain.element_count, 8U);
  EXPECT_EQ(plain.size_bytes, 32U);
  EXPECT_EQ(plain.data_offset, 0U);
  EXPECT_EQ(plain.file_offset, data_offset);
  EXPECT_EQ(plain.file, 0U);

  const ingot_tensor_info blocks = info(1);
  EXPECT_EQ(view(blocks.name), "layer.weight");
  EXPECT_EQ(blocks.type, static_cast<std::uint32_t>(INGOT_TYPE_Q4_0));
  EXPECT_EQ(blocks.size_bytes, 18U);
  EXPECT_EQ(blocks.data_offset, 32U);
  EXPECT_EQ(blocks.file_offset, data_offset + 32);

  const ingot_tensor_info empty = info(2);
  EXPECT_THAT(empty.dimensions, ElementsAre(0, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_EQ(empty.element_count, 0U);
  EXPECT_EQ(empty.size_bytes, 0U);
}

TEST_F(CapiTensors, IndexesAndNamesFindEachOther) {
  for (std::uint64_t i = 0; i < sample_tensor_count; ++i) {
    const ingot_string name = info(i).name;
    EXPECT_EQ(ingot_find_tensor_string(model(), name), static_cast<int64_t>(i));
    EXPECT_EQ(ingot_find_tensor(model(), std::string(view(name)).c_str()), static_cast<int64_t>(i));
  }
  EXPECT_EQ(ingot_find_tensor(model(), "absent"), -1);
  EXPECT_EQ(ingot_find_tensor(model(), ""), -1);
  EXPECT_EQ(ingot_find_tensor(model(), nullptr), -1);
  EXPECT_EQ(ingot_find_tensor(nullptr, "empty"), -1);
  EXPECT_EQ(ingot_find_tensor_string(model(), {"empty2", 5}), 2);
  EXPECT_EQ(ingot_find_tensor_string(model(), {nullptr, 0}), -1);
  EXPECT_EQ(ingot_find_tensor_string(nullptr, {"empty", 5}), -1);
  EXPECT_EQ(ingot_tensor_count(nullptr), 0U);
}

TEST_F(CapiTensors, InfoRefusesNullAndWrongIndexes) {
  ingot_tensor_info result = {};
  result.struct_size = sizeof result;
  const ingot_tensor_info before = result;
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_get_tensor_info(nullptr, 0, &result, e); });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_get_tensor_info(model(), 0, nullptr, e); });
  for (const std::uint64_t index : {sample_tensor_count, UINT64_MAX}) {
    const ingot_error error = expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE, [&](ingot_error* e) {
      return ingot_get_tensor_info(model(), index, &result, e);
    });
    EXPECT_THAT(std::string(error.message), HasSubstr(std::to_string(index)));
  }
  EXPECT_EQ(std::memcmp(&result, &before, sizeof result), 0);
}

TEST_F(CapiTensors, InfoOfOtherVersions) {
  ingot_tensor_info shorter = {};
  shorter.struct_size = offsetof(ingot_tensor_info, file);
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_get_tensor_info(model(), 0, &shorter, e); });
  EXPECT_EQ(shorter.size_bytes, 0U);

  struct {
    ingot_tensor_info known = {};
    std::uint64_t later = 42;
  } longer;
  longer.known.struct_size = sizeof longer;
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_get_tensor_info(model(), 0, &longer.known, e); });
  EXPECT_EQ(longer.known.struct_size, sizeof longer);
  EXPECT_EQ(longer.known.size_bytes, 32U);
  EXPECT_EQ(longer.later, 42U);
}

TEST_F(CapiTensors, DataIsInPlace) {
  const void* data = nullptr;
  std::size_t size_bytes = 0;
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_tensor_data(model(), 1, &data, &size_bytes, e); });
  EXPECT_EQ(data, bytes().data() + info(1).file_offset);
  EXPECT_EQ(size_bytes, 18U);
  EXPECT_EQ(ingot_tensor_data(model(), 1, nullptr, nullptr, nullptr), INGOT_OK);

  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_tensor_data(model(), 2, &data, &size_bytes, e); });
  EXPECT_EQ(data, nullptr);
  EXPECT_EQ(size_bytes, 0U);
}

TEST_F(CapiTensors, DataRefusesNullAndWrongIndexes) {
  const void* data = this;
  std::size_t size_bytes = 77;
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_tensor_data(nullptr, 0, &data, &size_bytes, e); });
  for (const std::uint64_t index : {sample_tensor_count, UINT64_MAX}) {
    expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE, [&](ingot_error* e) {
      return ingot_tensor_data(model(), index, &data, &size_bytes, e);
    });
  }
  EXPECT_EQ(data, this);
  EXPECT_EQ(size_bytes, 77U);
}

TEST_F(CapiTensors, ReadAnyPart) {
  for (std::uint64_t offset = 0; offset <= 18; ++offset) {
    for (std::size_t size = 0; size <= 18 - offset; ++size) {
      std::vector<std::uint8_t> part(size + 1, 0xA5);
      expect_code(INGOT_OK, [&](ingot_error* e) {
        return ingot_read_tensor(model(), 1, offset, part.data(), size, e);
      });
      for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(part[i], 33 + offset + i);
      EXPECT_EQ(part[size], 0xA5);
    }
  }
  EXPECT_EQ(ingot_read_tensor(model(), 1, 18, nullptr, 0, nullptr), INGOT_OK);
  EXPECT_EQ(ingot_read_tensor(model(), 2, 0, nullptr, 0, nullptr), INGOT_OK);
}

TEST_F(CapiTensors, ReadRefusesWhatIsOutside) {
  std::uint8_t part[40] = {0xA5};
  const struct {
    std::uint64_t offset_bytes;
    std::size_t size_bytes;
  } rows[] = {{0, 19}, {18, 1}, {19, 0}, {UINT64_MAX, 1}, {1, SIZE_MAX}, {UINT64_MAX, SIZE_MAX}};
  for (const auto& row : rows) {
    const ingot_error error = expect_code(INGOT_ERROR_SIZE_MISMATCH, [&](ingot_error* e) {
      return ingot_read_tensor(model(), 1, row.offset_bytes, part, row.size_bytes, e);
    });
    EXPECT_THAT(std::string(error.message), HasSubstr("layer.weight"));
  }
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_read_tensor(nullptr, 1, 0, part, 1, e); });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_read_tensor(model(), 1, 0, nullptr, 1, e); });
  for (const std::uint64_t index : {sample_tensor_count, UINT64_MAX}) {
    expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE,
                [&](ingot_error* e) { return ingot_read_tensor(model(), index, 0, part, 1, e); });
  }
  EXPECT_EQ(part[0], 0xA5);
}

}  // namespace
}  // namespace ingot::test
