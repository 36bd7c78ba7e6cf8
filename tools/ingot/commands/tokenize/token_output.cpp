// SPDX-License-Identifier: MIT
#include "commands/tokenize/token_output.hpp"

#include <fmt/format.h>

#include <array>
#include <ingot/text.hpp>

namespace ingot::cli {
namespace {

/// Colours of tokens side by side.
constexpr std::array styles = {Style::accent, Style::warning, Style::second, Style::good};

}  // namespace

TokenOutput::TokenOutput(Console& console, const Tokenizer& tokenizer, TokenForm form)
    : console_(console),
      out_(console.out()),
      tokenizer_(tokenizer),
      form_(form),
      has_color_(console.paint(Style::accent, "x") != "x") {}

void TokenOutput::add(const TokenizedPart& part) {
  if (console_.is_json() && form_ != TokenForm::count) {
    ids_.insert(ids_.end(), part.ids.begin(), part.ids.end());
    for (const ByteRange& range : part.ranges) {
      begins_.push_back(part.begin + range.begin);
      ends_.push_back(part.begin + range.end);
    }
  } else if (form_ == TokenForm::ids) {
    add_ids(part);
  } else if (form_ == TokenForm::pieces) {
    add_pieces(part);
  } else if (form_ == TokenForm::offsets) {
    add_offsets(part);
  }
  count_ += part.ids.size();
}

void TokenOutput::add_ids(const TokenizedPart& part) {
  bool is_first = count_ == 0;
  for (const TokenId id : part.ids) {
    if (!is_first) out_.put(' ');
    is_first = false;
    const fmt::format_int digits(id);
    out_.write({digits.data(), digits.size()});
  }
}

void TokenOutput::add_pieces(const TokenizedPart& part) {
  std::uint64_t number = count_;
  for (const TokenId id : part.ids) {
    const std::string piece = tokenizer_.piece(id);
    if (has_color_) {
      out_.write(console_.paint(styles[number++ % styles.size()], escape(piece)));
      if (piece.ends_with('\n')) out_.put('\n');
    } else {
      out_.print("{}\n", escape(piece));
    }
  }
}

void TokenOutput::add_offsets(const TokenizedPart& part) {
  for (std::size_t i = 0; i < part.ids.size(); ++i) {
    const ByteRange range = part.ranges[i];
    out_.print("{}\t{}\t{}\t{}\n", part.ids[i], part.begin + range.begin, part.begin + range.end,
               escape(tokenizer_.piece(part.ids[i])));
  }
}

void TokenOutput::finish() {
  if (console_.is_json()) return finish_json();
  if (form_ == TokenForm::count) out_.print("{}\n", count_);
  const bool has_open_line = form_ == TokenForm::ids || (form_ == TokenForm::pieces && has_color_);
  if (has_open_line) out_.put('\n');
}

void TokenOutput::finish_json() {
  JsonStream json(out_);
  const auto object = json.object(Layout::line);
  if (form_ == TokenForm::count) return json.member("count", count_);
  json.values("ids", ids_);
  json.begin_array("pieces");
  for (const TokenId id : ids_) json.value(tokenizer_.piece(id));
  json.end();
  if (form_ == TokenForm::offsets) {
    const auto offsets = json.array("offsets");
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const auto range = json.array();
      json.value(begins_[i]);
      json.value(ends_[i]);
    }
  }
}

}  // namespace ingot::cli
