// SPDX-License-Identifier: MIT
// The includes of the C++ in the documentation, and the check of its results.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ingot/check.hpp>
#include <ingot/convert.hpp>
#include <ingot/diff.hpp>
#include <ingot/ingot.hpp>
#include <ingot/interop.hpp>
#include <ingot/quantize_model.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace ingot::test {

/// Ends the program if what a block of documentation has computed is an error.
template <class T>
void require(const Result<T>& result, const char* place) {
  if (result) return;
  std::fprintf(stderr, "%s: %s\n", place, result.error().message().c_str());
  std::exit(1);
}
template <class T>
void require(const T&, const char*) {}

/// Runs every block; made of the pages by scripts/extract_blocks.py.
void run_blocks();

}  // namespace ingot::test
