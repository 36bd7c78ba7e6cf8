// SPDX-License-Identifier: MIT
// Finds the tokens that merging makes of their own text.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ingot/tokenizer.hpp"

namespace ingot::tokenizer {

/// Nearly all tokens are, but only merging tells. The answer is found when a token is first needed
/// and kept: all threads find the same one, so it does not matter which writes it.
class WholeTokens {
 public:
  enum class Answer : std::uint8_t { open, yes, no };

  explicit WholeTokens(std::size_t token_count)
      : answers_(new std::atomic<Answer>[token_count]()) {}

  [[nodiscard]] Answer operator[](TokenId id) const noexcept {
    return answers_[static_cast<std::size_t>(id)].load(std::memory_order_relaxed);
  }
  void set(TokenId id, bool is_whole) const noexcept {
    answers_[static_cast<std::size_t>(id)].store(is_whole ? Answer::yes : Answer::no,
                                                 std::memory_order_relaxed);
  }

 private:
  std::unique_ptr<std::atomic<Answer>[]> answers_;
};

}  // namespace ingot::tokenizer
