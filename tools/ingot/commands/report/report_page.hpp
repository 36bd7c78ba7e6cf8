// SPDX-License-Identifier: MIT
// The page of `ingot report` without its title and its data; made from report/ by the build.
#pragma once

#include <string_view>

namespace ingot::cli {

extern const std::string_view page_head;    ///< HTML; the title follows
extern const std::string_view page_middle;  ///< HTML; JSON follows, without `<`
extern const std::string_view page_tail;    ///< HTML

}  // namespace ingot::cli
