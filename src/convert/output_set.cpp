// SPDX-License-Identifier: MIT
#include "convert/output_set.hpp"

#include <utility>

namespace ingot::convert {
namespace {

/// A failure says which of the files it is about.
template <class T>
Result<T> named(Result<T> result, const std::string& path) {
  if (!result && result.error().subject.empty()) result.error().subject = path;
  return result;
}

}  // namespace

Result<OutputFile*> OutputSet::add(const std::string& path, std::uint64_t size_bytes) {
  INGOT_TRY(OutputFile file, named(OutputFile::create(path, may_replace_), path));
  INGOT_TRY_VOID(named(file.reserve(size_bytes), path));
  paths_.push_back(path);
  files_.push_back(std::move(file));
  return &files_.back();
}

Result<void> OutputSet::add_text(const std::string& path, std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  INGOT_TRY(OutputFile* const file, add(path, bytes.size()));
  return named(file->write(bytes), path);
}

Result<void> OutputSet::commit() {
  // The slow part first: between the first name and the last there is only a moment.
  for (std::size_t i = 0; i < files_.size(); ++i) {
    INGOT_TRY_VOID(named(files_[i].sync(), paths_[i]));
  }
  for (std::size_t i = 0; i < files_.size(); ++i) {
    INGOT_TRY_VOID(named(files_[i].commit(), paths_[i]));
  }
  return {};
}

}  // namespace ingot::convert
