// SPDX-License-Identifier: MIT
// Known architectures: the tensors that their layers have.
#pragma once

#include <string_view>

namespace ingot::check {

/// One architecture. Tensors are listed without `blk.N.` and without `.weight`: groups between
/// blanks, each of which has to be there; `a+b` are several tensors, `x|y` are alternatives.
struct Architecture {
  std::string_view name = {};   ///< Empty if only the name is known.
  bool has_attention = true;    ///< Without, head counts may be 0.
  std::string_view whole = {};  ///< Of the model; empty if not known.
  std::string_view layer = {};  ///< Of each layer; empty if not known, or if layers differ.
};

/// nullptr if the architecture is not known.
[[nodiscard]] const Architecture* find_architecture(std::string_view name);

}  // namespace ingot::check
