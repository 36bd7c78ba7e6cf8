// SPDX-License-Identifier: MIT
#include "formats/bump/bump_texts.hpp"

#include <gmock/gmock.h>

namespace ingot::formats {
namespace {

TEST(BumpTexts, FloatsAreWrittenAsPythonWritesThem) {
  const std::pair<double, const char*> numbers[] = {
      {1e-5, "1e-05"},
      {1e-6F, "9.999999974752427e-07"},
      {0.0001, "0.0001"},
      {0.00012345, "0.00012345"},
      {10000.0, "10000.0"},
      {500000.0, "500000.0"},
      {0.0, "0.0"},
      {1.0, "1.0"},
      {-2.5, "-2.5"},
      {123.456, "123.456"},
      {1e15, "1000000000000000.0"},
      {1.5e15, "1500000000000000.0"},
      {1e16, "1e+16"},
      {1.25e16, "1.25e+16"},
      {1e100, "1e+100"},
      {1e-100, "1e-100"},
      {-0.00015, "-0.00015"},
      {5e-324, "5e-324"},
  };
  for (const auto& [number, text] : numbers) EXPECT_EQ(python_float(number), text);
}

TEST(BumpTexts, NamesAreEscapedAsPythonEscapesThem) {
  BumpPlan plan;
  plan.architecture = "a\"\\\n\x1b\x7f\xC3\xA9\xF0\x9F\x98\x80\xFF";
  EXPECT_THAT(
      bump_config_text(plan),
      testing::HasSubstr(R"("model_type": "a\"\\\n\u001b\u007f\u00e9\ud83d\ude00\ufffd",)"));
}

}  // namespace
}  // namespace ingot::formats
