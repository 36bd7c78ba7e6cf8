// SPDX-License-Identifier: MIT
#include "ingot/npy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace ingot::test {
namespace {

TEST(NpyDescriptor, NamesWhatNumpyHas) {
  const std::map<TensorType, std::string_view> names = {
      {TensorType::f32, "<f4"}, {TensorType::f16, "<f2"}, {TensorType::f64, "<f8"},
      {TensorType::i8, "|i1"},  {TensorType::i16, "<i2"}, {TensorType::i32, "<i4"},
      {TensorType::i64, "<i8"}};
  for (const TensorTypeInfo& info : live_tensor_types) {
    const auto found = names.find(info.type);
    EXPECT_EQ(npy_descriptor(info.type), found == names.end() ? "" : found->second) << info.name;
  }
}

TEST(NpyHeader, HasTheShapeInNumpysOrderAndWholeLines) {
  const std::array<std::uint64_t, 3> shape = {2, 3, 4};
  const std::string header = npy_header("<f4", shape);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_NE(header.find("'shape': (4, 3, 2), }"), std::string::npos);
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(npy_header("<f4", std::span(shape).first(1)).find("(2,)"), std::string::npos);
  EXPECT_NE(npy_header("<f4", {}).find("()"), std::string::npos);
}

}  // namespace
}  // namespace ingot::test
