// SPDX-License-Identifier: MIT
#include "ingot/output_file.hpp"

#include <utility>

#include "io/atomic_file.hpp"

namespace ingot {

Result<OutputFile> OutputFile::create(const std::string& path, bool may_replace) {
  INGOT_TRY(io::AtomicFile file, io::AtomicFile::create(path, may_replace));
  return OutputFile(std::make_unique<io::AtomicFile>(std::move(file)));
}

OutputFile::OutputFile(std::unique_ptr<io::AtomicFile> file) noexcept : file_(std::move(file)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<void> OutputFile::reserve(std::uint64_t size_bytes) { return file_->reserve(size_bytes); }

Result<void> OutputFile::write(std::span<const std::byte> bytes) { return file_->write(bytes); }

Result<void> OutputFile::overwrite(std::uint64_t file_offset, std::span<const std::byte> bytes) {
  return file_->overwrite(file_offset, bytes);
}

Result<void> OutputFile::sync() { return file_->sync(); }

Result<void> OutputFile::commit() { return file_->commit(); }

}  // namespace ingot
