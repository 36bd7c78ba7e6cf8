// SPDX-License-Identifier: MIT
// What a catalogue keeps of a model: the rows of its files.
#pragma once

#include <cstdint>
#include <functional>
#include <ingot/check.hpp>
#include <ingot/model.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands/catalog/catalog_file.hpp"

namespace ingot::cli {

/// A model that is read as one: a file, or a set of shards.
struct CatalogUnit {
  std::string path;  ///< The absolute path of the first file, or its reference.
  std::string reference =
      {};  ///< The reference with its commit, of a model on a server; else empty.
  std::vector<std::string> files = {};  ///< The files of this system.
  std::uint64_t size_bytes = 0;         ///< Of all files.
  /// A text that is another one when the files are: sizes, times and numbers of the files, or their
  /// digests on the server, and the version of this program, whose rules make the findings.
  std::string state = {};
  bool with_digests = false;
};

/// The rows of one file. The first cell of each is for the id of the file, which it gets when it is
/// written; but for texts, which files share.
struct FileRows {
  std::string path;
  std::string state;
  bool has_digests = false;
  Row file = {};
  std::vector<Row> keys = {};
  std::vector<Row> tensors = {};
  std::vector<Row> findings = {};
  std::vector<Row> texts = {};
};

using OpenUnit = std::function<Result<Model>(const CatalogUnit& unit, bool is_lenient)>;

/// Reads a model and checks it. A file that is refused or cannot be read has rows, too: `verdict`
/// and the finding say so. Thread-safe, if `open` is.
///
/// @return  Errc::interrupted alone.
[[nodiscard]] Result<std::vector<FileRows>> read_unit(const CatalogUnit& unit,
                                                      const OpenUnit& open);

}  // namespace ingot::cli
