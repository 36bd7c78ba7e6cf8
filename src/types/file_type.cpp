// SPDX-License-Identifier: MIT
#include "ingot/types.hpp"

namespace ingot {

std::string_view file_type_name(std::uint64_t file_type) noexcept {
  constexpr std::uint64_t guessed_flag = 1024;  // set by tools that infer the mixture
  switch (file_type & ~guessed_flag) {
#define INGOT_FILE_TYPE(number, label) \
  case number:                         \
    return label;
#include "ingot/file_types.def"
#undef INGOT_FILE_TYPE
    default:
      return {};
  }
}

}  // namespace ingot
