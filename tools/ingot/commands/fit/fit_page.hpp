// SPDX-License-Identifier: MIT
// An estimate for people: the verdict, what to do, bars, and the terms.
#pragma once

#include <string_view>

#include "cli/console.hpp"
#include "commands/fit/fit_result.hpp"

namespace ingot::cli {

/// The verdict for people, and its colour.
[[nodiscard]] std::string_view word_of(Verdict verdict);
[[nodiscard]] Style style_of(Verdict verdict);

void print_fit_page(Console& console, const FitResult& result);

}  // namespace ingot::cli
