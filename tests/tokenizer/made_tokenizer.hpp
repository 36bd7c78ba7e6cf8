// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/vocabulary_sketch.hpp"

namespace ingot::test {

/// The letter for a space in the pieces of SentencePiece: U+2581.
inline const std::string metaspace = "\xE2\x96\x81";

[[nodiscard]] inline Tokenizer made(const VocabularySketch& sketch) {
  auto tokenizer = sketch.make();
  EXPECT_TRUE(tokenizer.has_value()) << (tokenizer ? "" : tokenizer.error().message());
  return *std::move(tokenizer);
}

}  // namespace ingot::test
