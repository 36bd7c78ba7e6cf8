// SPDX-License-Identifier: MIT
// A file that is written in several runs of a program, beside the place where it will be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "io/file_descriptor.hpp"

namespace ingot::io {

/// Whether the notes go when the file gets its name.
enum class Notes { go, stay };

/// The file and notes about it, under names that everybody can foresee (own_file.hpp), locked for
/// this process. Movable. `write` and `read` may be called from several threads.
class INGOT_EXPORT StagedFile {
 public:
  /// Opens what is there, or makes it. Errc::file_in_use if another process has it: "it is being
  /// `used`"; Errc::not_a_regular_file.
  [[nodiscard]] static Result<StagedFile> open(std::string path, std::string notes_path,
                                               const char* used);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& notes_path() const noexcept { return notes_path_; }
  /// Whether `open` made the file.
  [[nodiscard]] bool is_new() const noexcept { return is_new_; }
  [[nodiscard]] Result<std::uint64_t> size_bytes() const;

  [[nodiscard]] Result<void> clear() const;
  /// Claims room for the whole; where the file system cannot, looks whether the disk has it but for
  /// what is `there`.
  [[nodiscard]] Result<void> reserve(std::uint64_t size_bytes, std::uint64_t there_bytes) const;
  [[nodiscard]] Result<void> write(std::uint64_t file_offset,
                                   std::span<const std::byte> bytes) const;
  [[nodiscard]] Result<void> read(std::uint64_t file_offset, std::span<std::byte> bytes) const;

  /// Empty if there are none, or if they are longer.
  [[nodiscard]] Result<std::string> read_notes(std::uint64_t max_bytes);
  /// Opens them to be read and written in place, or makes them.
  [[nodiscard]] Result<FileDescriptor> open_notes();
  /// Replaces them at once, without a flush to the disk. One thread at a time.
  [[nodiscard]] Result<void> write_notes(std::string text);

  [[nodiscard]] Result<void> flush() const;
  /// Gives the file its name, with the owner and permissions of one that it replaces, and removes
  /// the notes unless they are to stay.
  [[nodiscard]] Result<void> give_name(const std::string& path, bool may_replace,
                                       Notes notes = Notes::go);
  /// Removes both, unless they are of another process meanwhile.
  void remove() const noexcept;

 private:
  StagedFile(std::string path, std::string notes_path)
      : path_(std::move(path)), notes_path_(std::move(notes_path)) {}

  std::string path_;
  std::string notes_path_;
  FileDescriptor file_;
  bool is_new_ = false;
  std::string notes_;       // as they were written last
  bool has_notes_ = false;  // at their name are ours, or none
};

}  // namespace ingot::io
