// SPDX-License-Identifier: MIT
#include "check/data_scan.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ingot/parallel.hpp"
#include "work/threads/shared_progress.hpp"

namespace ingot::check {
namespace {

/// Bytes of one read: they stay in the second cache, and the system call costs little.
constexpr std::size_t buffer_bytes = std::size_t{256} << 10;

/// Bytes of a tensor that one thread takes at a time, at least.
constexpr std::uint64_t least_part_bytes = std::uint64_t{4} << 20;

/// Parts of one tensor, at most: their results are kept.
constexpr std::uint64_t max_parts = 4096;

/// Consecutive whole blocks of one tensor, and what was found in them.
struct Part {
  std::size_t tensor = 0;
  std::uint64_t first_byte = 0;
  std::uint64_t size_bytes = 0;
  TensorScan found;
};

/// The same for tensors of one type and size, so that digests of parts can be compared.
std::uint64_t part_bytes_of(const TensorInfo& tensor, std::uint64_t block_bytes) noexcept {
  const std::uint64_t wanted = std::max(least_part_bytes, tensor.size_bytes / max_parts + 1);
  return (wanted + block_bytes - 1) / block_bytes * block_bytes;
}

bool is_zero(std::span<const std::byte> bytes) noexcept {
  // Each byte equals the next one, and the first is zero.
  return bytes.empty() || (bytes[0] == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

class PartScanner {
 public:
  PartScanner(const Model& model, const TensorInfo& tensor)
      : model_(model),
        tensor_(tensor),
        type_(find_type(tensor.type)),
        byte_order_(model.files()[tensor.shard].byte_order) {}

  Result<void> scan(Part& part) {
    // Each thread keeps one: a new one for each part would be unmapped and cleared again and again.
    thread_local std::vector<std::byte> buffer;
    buffer.resize(buffer_bytes);
    const std::uint64_t block_bytes = type_ != nullptr ? type_->block_bytes : 1;
    const std::uint64_t piece_bytes = buffer_bytes / block_bytes * block_bytes;
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    part.found.is_all_zero = true;
    for (std::uint64_t done = 0; done < part.size_bytes;) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, part.size_bytes - done));
      const std::uint64_t first = part.first_byte + done;
      INGOT_TRY(const std::span<const std::byte> piece,
                model_.fetch(tensor_, first, std::span(buffer).first(size)));
      XXH3_128bits_update(&state, piece.data(), piece.size());
      part.found.is_all_zero = part.found.is_all_zero && is_zero(piece);
      look(piece, first, part.found);
      done += size;
    }
    const XXH128_hash_t digest = XXH3_128bits_digest(&state);
    part.found.digest[0] = digest.low64;
    part.found.digest[1] = digest.high64;
    return {};
  }

 private:
  void look(std::span<const std::byte> piece, std::uint64_t first_byte, TensorScan& found) const {
    if (type_ == nullptr) return;
    if (tensor_.type == TensorType::q4_0 && first_byte == 0) count_levels(piece, found);
    const BlockScan scan = scan_blocks(tensor_.type, byte_order_, piece);
    if (scan.bad_count == 0) return;
    if (found.bad_count == 0) found.first_bad_offset = first_byte + scan.first_bad_offset;
    found.bad_count += scan.bad_count;
  }

  /// Levels of the first blocks of Q4_0, for `lattice_rounded`.
  void count_levels(std::span<const std::byte> piece, TensorScan& found) const noexcept {
    const std::size_t block_bytes = type_->block_bytes;
    std::array<std::uint32_t, 16> counts = {};
    for (std::size_t i = 0; i < std::min(piece.size(), 2048 * block_bytes); ++i) {
      if (i % block_bytes < 2) continue;  // the scale; each other byte has two codes
      ++counts[std::to_integer<std::size_t>(piece[i] & std::byte{15})];
      ++counts[std::to_integer<std::size_t>(piece[i] >> 4)];
    }
    // Code 8 is the level 0.
    found.levels_of_four = counts[4] + counts[12];
    found.levels_beside = counts[3] + counts[5] + counts[11] + counts[13];
  }

  const Model& model_;
  const TensorInfo& tensor_;
  const TensorTypeInfo* type_;
  Endian byte_order_;
};

using Tensors = std::span<const TensorInfo* const>;

std::vector<Part> divide(Tensors tensors) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorInfo& tensor = *tensors[i];
    const TensorTypeInfo* type = find_type(tensor.type);
    const std::uint64_t part_bytes = part_bytes_of(tensor, type != nullptr ? type->block_bytes : 1);
    for (std::uint64_t first = 0; first < tensor.size_bytes; first += part_bytes) {
      Part part;
      part.tensor = i;
      part.first_byte = first;
      part.size_bytes = std::min(part_bytes, tensor.size_bytes - first);
      parts.push_back(part);
    }
  }
  return parts;
}

/// Adds the parts of each tensor up, in order.
std::vector<TensorScan> unite(Tensors tensors, std::span<const Part> parts) {
  std::vector<TensorScan> scans(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) scans[i].tensor = tensors[i];
  for (const Part& part : parts) {
    TensorScan& scan = scans[part.tensor];
    scan.is_all_zero = part.found.is_all_zero && (part.first_byte == 0 || scan.is_all_zero);
    if (part.found.bad_count != 0 && scan.bad_count == 0) {
      scan.first_bad_offset = part.found.first_bad_offset;
    }
    scan.bad_count += part.found.bad_count;
    scan.levels_of_four += part.found.levels_of_four;
    scan.levels_beside += part.found.levels_beside;
    const std::uint64_t both[4] = {scan.digest[0], scan.digest[1], part.found.digest[0],
                                   part.found.digest[1]};
    const XXH128_hash_t digest = XXH3_128bits(both, sizeof both);
    scan.digest[0] = digest.low64;
    scan.digest[1] = digest.high64;
  }
  return scans;
}

}  // namespace

Result<std::vector<TensorScan>> scan_tensors(const Model& model, Tensors tensors,
                                             const CheckOptions& options) {
  std::vector<Part> parts = divide(tensors);
  SharedProgress progress(options.progress);
  const auto scan_part = [&](std::uint64_t at, std::uint64_t) -> Result<void> {
    Part& part = parts[static_cast<std::size_t>(at)];
    INGOT_TRY_VOID(PartScanner(model, *tensors[part.tensor]).scan(part));
    return progress.add(part.size_bytes);
  };
  INGOT_TRY_VOID(spread(parts.size(), 1, options.thread_count, scan_part));
  return unite(tensors, parts);
}

Result<void> scan_data(Inspection& inspection, const CheckOptions& options) {
  std::vector<const TensorInfo*> tensors;
  for (const TensorInfo& tensor : inspection.model().tensors()) tensors.push_back(&tensor);
  Result<std::vector<TensorScan>> scans = scan_tensors(inspection.model(), tensors, options);
  if (scans) {
    inspection.scans = *std::move(scans);
    return {};
  }
  if (scans.error().code != Errc::not_mapped) return fail(std::move(scans).error());
  inspection.unreadable = scans.error().detail;
  return {};
}

}  // namespace ingot::check
