// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <utility>

#include "ingot/estimate.hpp"

namespace ingot {
namespace {

/// No file is as large, so the data that an honest table promises is within it.
constexpr std::uint64_t pretended_bytes = std::uint64_t{1} << 60;

/// Nothing in a header can be larger than the file; so limits of its size keep what is allocated in
/// bounds although the pretended size does not.
Limits limits_within(Limits limits, std::uint64_t present_bytes) noexcept {
  limits.max_header_bytes = std::min(limits.max_header_bytes, present_bytes);
  limits.max_keys = std::min(limits.max_keys, present_bytes / 10);
  limits.max_tensors = std::min(limits.max_tensors, present_bytes / 20);
  limits.max_string_bytes = std::min(limits.max_string_bytes, present_bytes);
  limits.max_array_elements = std::min(limits.max_array_elements, present_bytes);
  return limits;
}

/// Reads what is there, and zeros where the file ends within the piece.
bool read_present(const Source& source, std::uint64_t file_offset,
                  std::span<std::byte> destination) {
  const std::uint64_t size_bytes = source.size_bytes();
  if (file_offset >= size_bytes) return destination.empty();
  const auto present = static_cast<std::size_t>(
      std::min<std::uint64_t>(destination.size(), size_bytes - file_offset));
  std::fill(destination.begin() + static_cast<std::ptrdiff_t>(present), destination.end(),
            std::byte{0});
  return source.read(file_offset, destination.first(present)).has_value();
}

}  // namespace

Result<Model> open_header(const std::string& path, const OpenOptions& options) {
  INGOT_TRY(std::unique_ptr<Source> opened, read_file(path));
  const std::shared_ptr<const Source> source = std::move(opened);
  OpenOptions changed = options;
  changed.with_shards = false;
  changed.limits = limits_within(options.limits, source->size_bytes());
  const auto read = [source](std::uint64_t offset, std::span<std::byte> destination) {
    return read_present(*source, offset, destination);
  };
  INGOT_TRY(Model model, Model::open_source(read_through(pretended_bytes, read), changed));
  if (model.files()[0].header_bytes > source->size_bytes()) {
    return fail(Errc::truncated, source->size_bytes(), path, "the file ends within its header");
  }
  return model;
}

}  // namespace ingot
