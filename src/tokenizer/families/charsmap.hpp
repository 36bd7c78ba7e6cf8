// SPDX-License-Identifier: MIT
// The normalizer of SentencePiece: texts and what replaces them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"

namespace ingot::tokenizer {

/// A double array (the layout of Darts-clone) over the texts, and the replacements, each ended by a
/// NUL. All of it comes from a file: every step is checked.
class Charsmap {
 public:
  Charsmap() = default;
  /// @param bytes  of `tokenizer.ggml.precompiled_charsmap`; none for a map without texts.
  /// @return       Errc::tokenizer_invalid if the sizes in it do not fit.
  [[nodiscard]] static Result<Charsmap> make(std::string_view bytes);

  struct Match {
    std::size_t size_bytes = 0;  ///< 0 if the text begins with none of the map's texts
    std::string_view replacement;
  };
  /// The longest text of the map that `text` begins with.
  [[nodiscard]] Match find(std::string_view text) const noexcept;

  /// Whether a text of the map may begin with a byte.
  [[nodiscard]] bool can_begin_with(char byte) const noexcept;
  /// Whether no text of the map begins with an ASCII character that another one follows, and none
  /// is the character itself.
  [[nodiscard]] bool leaves_before_ascii(char ascii) const noexcept;

 private:
  /// The state of a walk over a text, and the result of its last byte.
  struct Step {
    bool is_possible = false;
    bool has_value = false;
    std::uint32_t place = 0;
  };
  [[nodiscard]] Step first_step() const noexcept;
  [[nodiscard]] Step next(const Step& step, unsigned char byte) const noexcept;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace ingot::tokenizer
