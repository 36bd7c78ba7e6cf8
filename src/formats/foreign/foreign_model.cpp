// SPDX-License-Identifier: MIT
#include "formats/foreign/foreign_model.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/messages.hpp"

namespace ingot::formats {
namespace {

/// Bytes of the GGUF file that are bytes, or decoded bytes, of another one.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t size_bytes = 0;
  std::size_t file = 0;
  std::uint64_t file_offset = 0;
  const std::uint16_t* byte_values = nullptr;
};

/// A GGUF file that exists only as its header and a list of places.
class SplicedSource final : public Source {
 public:
  SplicedSource(std::vector<std::byte> header, std::vector<Extent> extents,
                std::vector<std::unique_ptr<Source>> files, std::uint64_t size_bytes)
      : header_(std::move(header)),
        extents_(std::move(extents)),
        files_(std::move(files)),
        size_bytes_(size_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    if (file_offset > size_bytes_ || destination.size() > size_bytes_ - file_offset) {
      return fail(Errc::truncated, file_offset, {});
    }
    if (file_offset < header_.size()) {
      const auto at = static_cast<std::size_t>(file_offset);
      const std::size_t count = std::min(destination.size(), header_.size() - at);
      std::memcpy(destination.data(), &header_[at], count);
      destination = destination.subspan(count);
      file_offset += count;
    }
    auto extent = extent_at(file_offset);
    while (!destination.empty()) {
      const std::uint64_t next = extent == extents_.end() ? size_bytes_ : extent->begin;
      if (file_offset < next) {  // padding
        const std::size_t count = smaller(destination.size(), next - file_offset);
        std::memset(destination.data(), 0, count);
        destination = destination.subspan(count);
        file_offset += count;
        continue;
      }
      const std::uint64_t within = file_offset - extent->begin;
      const std::size_t count = smaller(destination.size(), extent->size_bytes - within);
      INGOT_TRY_VOID(read_extent(*extent, within, destination.first(count)));
      destination = destination.subspan(count);
      file_offset += count;
      ++extent;
    }
    return {};
  }

  [[nodiscard]] std::optional<Origin> origin(std::uint64_t file_offset) const noexcept override {
    auto extent = extent_at(file_offset);
    // Tensors without data have their place as well: before one that begins there, or at the end.
    if (extent == extents_.end() || extent->begin > file_offset) {
      if (extent == extents_.begin()) return std::nullopt;
      --extent;
      if (extent->size_bytes > 0 || extent->begin != file_offset) return std::nullopt;
    }
    const std::uint64_t within = file_offset - extent->begin;
    const std::uint64_t stored = extent->byte_values != nullptr ? within / 2 : within;
    return Origin{extent->file, extent->file_offset + stored};
  }

 private:
  /// The extent that a byte lies in, or the next one.
  [[nodiscard]] std::vector<Extent>::const_iterator extent_at(std::uint64_t file_offset) const {
    return std::ranges::partition_point(extents_, [&](const Extent& place) {
      return place.begin + place.size_bytes <= file_offset;
    });
  }

  static std::size_t smaller(std::size_t a, std::uint64_t b) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(a, b));
  }

  Result<void> read_extent(const Extent& extent, std::uint64_t within,
                           std::span<std::byte> destination) const {
    const Source& file = *files_[extent.file];
    if (extent.byte_values == nullptr) return file.read(extent.file_offset + within, destination);
    std::array<std::byte, 4096> stored;
    while (!destination.empty()) {
      // There are two bytes for each stored one; the first or the last may be wanted only in half.
      const std::uint64_t element = within / 2;
      const std::size_t skipped = within % 2;
      const std::size_t count = std::min(stored.size(), (destination.size() + skipped + 1) / 2);
      INGOT_TRY_VOID(file.read(extent.file_offset + element, std::span(stored).first(count)));
      const std::size_t size = std::min(destination.size(), 2 * count - skipped);
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t byte = i + skipped;
        const std::uint16_t value = extent.byte_values[std::to_integer<unsigned>(stored[byte / 2])];
        destination[i] = static_cast<std::byte>(byte % 2 == 0 ? value & 0xFF : value >> 8);
      }
      destination = destination.subspan(size);
      within += size;
    }
    return {};
  }

  std::vector<std::byte> header_;
  std::vector<Extent> extents_;  // sorted by their begin
  std::vector<std::unique_ptr<Source>> files_;
  std::uint64_t size_bytes_;
};

Result<void> check_place(const ForeignTensor& tensor, std::uint64_t size_bytes,
                         const Source& file) {
  const std::uint64_t stored = tensor.byte_values != nullptr ? size_bytes / 2 : size_bytes;
  const std::uint64_t file_bytes = file.size_bytes();
  if (tensor.file_offset > file_bytes || stored > file_bytes - tensor.file_offset) {
    return fail(Errc::tensor_outside_file, tensor.file_offset, tensor.name);
  }
  return {};
}

}  // namespace

Result<Model> make_foreign_model(ModelWriter keys, std::span<const ForeignTensor> tensors,
                                 std::vector<std::unique_ptr<Source>> files,
                                 const OpenOptions& options) {
  for (const ForeignTensor& tensor : tensors) {
    INGOT_TRY_VOID(keys.add_tensor(tensor.name, tensor.type, tensor.shape, {}));
  }
  INGOT_TRY(std::vector<std::byte> header, keys.serialise_header({.is_lenient = true}));
  std::vector<Extent> extents;
  std::uint64_t end = header.size();
  for (const ForeignTensor& tensor : tensors) {
    INGOT_TRY(const TensorSize size,
              with_subject(tensor.name, size_of_tensor(tensor.type, tensor.shape)));
    const std::uint64_t size_bytes = size.bytes;
    INGOT_TRY_VOID(check_place(tensor, size_bytes, *files[tensor.file]));
    extents.push_back({end, size_bytes, tensor.file, tensor.file_offset, tensor.byte_values});
    end =
        *checked_align_up(end + size_bytes, default_alignment);  // the header was made: it all fits
  }
  OpenOptions lenient = options;
  lenient.is_lenient = true;
  return Model::open_source(
      std::make_unique<SplicedSource>(std::move(header), std::move(extents), std::move(files), end),
      lenient);
}

}  // namespace ingot::formats
