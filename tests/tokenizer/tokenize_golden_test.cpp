// SPDX-License-Identifier: MIT
// Every row of the golden data: ids, texts, special tokens and the end of generation.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ingot/tokenizer.hpp"
#include "support/shared_files.hpp"

namespace ingot {
namespace {

using Json = nlohmann::json;

Json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

std::string bytes_of_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

/// A text of the golden files: a string, {"text": ...} or {"hex": ...}.
std::string text_of(const Json& text) {
  if (text.is_string()) return text.get<std::string>();
  return text.contains("hex") ? bytes_of_hex(text["hex"]) : text["text"].get<std::string>();
}

/// Ids, or {"reference_throws": true, "ids": ...}.
std::vector<TokenId> ids_of(const Json& ids) {
  return (ids.is_object() ? ids["ids"] : ids).get<std::vector<TokenId>>();
}

void check_information(const Tokenizer& tokenizer, const Json& info) {
  for (std::size_t i = 0; i < special_token_count; ++i) {
    const auto special = static_cast<SpecialToken>(i);
    EXPECT_EQ(tokenizer.special(special), info[std::string(name_of(special))]) << name_of(special);
  }
  const auto ends = tokenizer.end_of_generation();
  EXPECT_EQ(std::vector(ends.begin(), ends.end()), info["eog"].get<std::vector<TokenId>>());
  EXPECT_EQ(tokenizer.flags().cleans_spaces, info["clean"].get<bool>());
  EXPECT_EQ(tokenizer.flags().adds_bos, info["add_bos"].get<bool>());
  EXPECT_EQ(tokenizer.flags().adds_eos, info["add_eos"].get<bool>());
  EXPECT_EQ(tokenizer.flags().has_space_prefix, info["space_prefix"].get<bool>());
  EXPECT_EQ(tokenizer.flags().removes_extra_spaces, info["rmws"].get<bool>());
}

/// A row: the ids with (add_special, parse_special) = 00, 01, 10, 11; then the text of the last
/// with (remove_special, show_special) = 00, 01, 10, 11.
void check_row(const Tokenizer& tokenizer, const std::string& text, const Json& row,
               std::size_t first) {
  for (std::size_t flags = 0; flags < 4; ++flags) {
    const EncodeOptions options{.add_special = (flags & 2) != 0, .parse_special = (flags & 1) != 0};
    const std::vector<TokenId> expected = ids_of(row[first + flags]);
    const auto ids = tokenizer.encode(text, options);
    ASSERT_TRUE(ids.has_value()) << ids.error().message();
    EXPECT_EQ(*ids, expected) << "flags " << flags;
    const auto with_ranges = tokenizer.encode_with_offsets(text, options);
    ASSERT_TRUE(with_ranges.has_value());
    EXPECT_EQ(with_ranges->ids, expected);
    ASSERT_EQ(with_ranges->ranges.size(), expected.size());
    for (const ByteRange& range : with_ranges->ranges) {
      EXPECT_LE(range.begin, range.end);
      EXPECT_LE(range.end, text.size());
    }
  }
  for (std::size_t flags = 0; flags < 4; ++flags) {
    const DecodeOptions options{.remove_special = (flags & 2) != 0,
                                .show_special = (flags & 1) != 0};
    const auto decoded = tokenizer.decode(ids_of(row[first + 3]), options);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
    EXPECT_EQ(*decoded, text_of(row[first + 4 + flags])) << "flags " << flags;
  }
}

class TokenizeGolden : public test::SharedFilesTest {
 protected:
  void check(const std::filesystem::path& golden, const std::filesystem::path& models) {
    require_files(golden);
    if (IsSkipped() || HasFatalFailure()) return;
    const Json data = read_json(golden);
    for (const auto& [name, file] : data["files"].items()) {
      SCOPED_TRACE(name);
      const auto model = Model::open((models / name).string());
      ASSERT_TRUE(model.has_value()) << model.error().message();
      const auto tokenizer = Tokenizer::make(*model);
      ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message();
      check_information(*tokenizer, file["info"]);
      std::size_t number = 0;
      for (const Json& row : file["cases"]) {
        SCOPED_TRACE("row " + std::to_string(number));
        const bool has_own_text = !data.contains("strings");
        const std::string text = text_of(has_own_text ? row[0] : data["strings"][number]);
        check_row(*tokenizer, text, row, has_own_text ? 1 : 0);
        ++number;
      }
    }
  }
};

TEST_F(TokenizeGolden, RealVocabularies) {
  check(test::shared_folder() / "golden/text/tokenize.json", test::shared_folder() / "models");
}

TEST_F(TokenizeGolden, SyntheticVocabularies) {
  const auto folder = test::shared_folder() / "golden/text";
  check(folder / "synthetic.json", folder / "synthetic");
}

}  // namespace
}  // namespace ingot
