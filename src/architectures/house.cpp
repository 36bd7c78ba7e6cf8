// SPDX-License-Identifier: MIT
// The files of rows, cut into statements.
#include <algorithm>

#include "architectures/row_text.hpp"

namespace ingot::architectures {
House::House(std::span<const RowText> texts) {
  Block* block = nullptr;
  for (const RowText& text : texts) {
    block = nullptr;
    std::size_t line = 2;  // the text begins behind R"row(
    for (std::string_view rest = text.text; !rest.empty(); ++line) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view whole = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      std::string_view statement = trimmed(whole.substr(0, whole.find('#')));
      if (statement.empty()) continue;
      const Statement at{text.file, line, statement};
      const auto refuse = [&](std::string_view sentence) {
        faults_.push_back(std::string(at.file) + ":" + std::to_string(line) + ": " +
                          std::string(sentence) + ": " + std::string(at.text));
      };
      const std::string_view word = take_word(statement);
      if (word == "group" || word == "architecture") {
        const auto [place, is_new] = blocks_.try_emplace(
            statement, Block{word == "architecture", statements_.size(), statements_.size()});
        block = &place->second;
        if (!is_new)
          refuse("there are two of this name");
        else if (block->is_row)
          names_.push_back(statement);
        continue;
      }
      if (block == nullptr) {
        refuse("the statement is in no group and no row");
        continue;
      }
      statements_.push_back(at);
      block->last = statements_.size();
    }
  }
  std::ranges::sort(names_);
}

const House& house() {
  static constexpr RowText texts[] = {
#include "architectures/rows/all.def"
  };
  static const House result(texts);
  return result;
}

}  // namespace ingot::architectures
