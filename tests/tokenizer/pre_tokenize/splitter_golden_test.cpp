// SPDX-License-Identifier: MIT
// Every expression list against the golden splits.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ingot/tokenizer.hpp"
#include "support/shared_files.hpp"
#include "tokenizer/pre_tokenize/pre_tokenizer.hpp"
#include "tokenizer/pre_tokenize/splitter.hpp"

namespace ingot {
namespace {

using Json = nlohmann::json;

class SplitterGolden : public test::SharedFilesTest {};

TEST_F(SplitterGolden, PiecesHaveTheGoldenLengths) {
  const auto folder = test::shared_folder() / "golden/text";
  require_files(folder);
  if (IsSkipped() || HasFatalFailure()) return;
  std::ifstream splits_file(folder / "pretokenize.json");
  std::ifstream names_file(folder / "pretokenizers.json");
  const Json golden = Json::parse(splits_file);
  const Json names = Json::parse(names_file)["names"];
  std::size_t checked = 0;
  for (const auto& [name, properties] : names.items()) {
    SCOPED_TRACE(name);
    const tokenizer::PreTokenizer* pre = tokenizer::find_pre_tokenizer(name);
    ASSERT_NE(pre, nullptr);
    const auto splitter = tokenizer::Splitter::make(pre->expressions);
    ASSERT_TRUE(splitter.has_value()) << splitter.error().message();
    for (const Json& list : golden["splits"]) {
      const auto types = list["types"].get<std::vector<std::string>>();
      const auto type = properties["type"].get<std::string>();
      if (std::find(types.begin(), types.end(), type) == types.end()) continue;
      ++checked;
      for (std::size_t i = 0; i < golden["strings"].size(); ++i) {
        const auto text = golden["strings"][i].get<std::string>();
        std::vector<std::size_t> lengths;
        splitter->split(text, [&](std::string_view piece) { lengths.push_back(piece.size()); });
        EXPECT_EQ(lengths, list["lengths"][i].get<std::vector<std::size_t>>()) << text;
      }
    }
  }
  EXPECT_EQ(checked, known_pre_tokenizers().size());
}

}  // namespace
}  // namespace ingot
