// SPDX-License-Identifier: MIT
// A model file, opened by its path as readers see it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ingot/error.hpp"
#include "ingot/source.hpp"

namespace ingot {

/// A file opened for reading: through its journal, if an edit of it was cut off.
struct OpenedFile {
  std::unique_ptr<Source> source;
  bool is_restored = false;
  std::optional<Error> notice;
};
[[nodiscard]] Result<OpenedFile> open_file(const std::string& path, bool is_mapped);

}  // namespace ingot
