// SPDX-License-Identifier: MIT
// The position of an importance matrix's values in its files.
#pragma once

#include <bit>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/byte_order.hpp"
#include "ingot/imatrix.hpp"
#include "ingot/model.hpp"

namespace ingot::formats {

/// An open file of either format.
struct ImatrixFile {
  std::unique_ptr<Source> source;  // legacy
  std::optional<Model> model;      // GGUF
  bool is_swapped = false;         // numbers are in the other byte order than this machine's

  [[nodiscard]] Result<void> read(std::uint64_t file_offset, std::span<std::byte> dst) const;
  [[nodiscard]] Result<void> read_doubles(std::uint64_t file_offset, std::span<double> dst) const;
  /// Floats, in this machine's byte order.
  [[nodiscard]] Result<void> read_floats(std::uint64_t file_offset, std::span<float> dst) const;
};

/// The entry of one file for one tensor.
struct ImatrixPart {
  std::shared_ptr<const ImatrixFile> file;
  std::uint64_t values_offset = 0;
  std::uint64_t value_count = 0;
  std::uint64_t counts_offset = 0;  // GGUF: floats, one for each expert
  std::uint64_t expert_count = 1;
  bool is_legacy = false;
  std::int32_t calls = 0;  // legacy: chunks; the stored value is the mean times this
  std::uint64_t moments_offset = 0;
  std::uint64_t moment_columns = 0;  // 0: no second moments
  // Exact sums: for all values a multiple of 2^-8, then for all one of 2^-40 (doubles).
  std::optional<std::uint64_t> exact_offset = {};
};

/// Whether all files have exact sums.
[[nodiscard]] inline bool are_exact(const std::vector<ImatrixPart>& parts) noexcept {
  for (const ImatrixPart& part : parts) {
    if (!part.exact_offset) return false;
  }
  return true;
}

struct ImatrixItem {
  ImatrixEntry entry;
  std::vector<ImatrixPart> parts;
};

/// The content of a file, from the reader of its format.
struct ImatrixContent {
  ImatrixFormat format = ImatrixFormat::gguf;
  std::vector<ImatrixItem> items;  // items in any order
  std::vector<std::string> datasets;
  std::uint64_t chunk_count = 0;
  std::uint64_t chunk_size = 0;
};

/// Tokens of a chunk, of which a file may state the number: the default is that of the tool that
/// collects them.
[[nodiscard]] inline std::uint64_t chunk_tokens(std::uint64_t stated) noexcept {
  return stated > 0 ? stated : 512;
}

/// Numbers of the other byte order.
template <class Number>
void swap_bytes(std::span<Number> numbers) noexcept {
  using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  for (Number& number : numbers) {
    number = std::bit_cast<Number>(byteswap(std::bit_cast<Bits>(number)));
  }
}

/// The most entries; no model has as many tensors. It bounds the memory that a hostile file can
/// take.
inline constexpr std::size_t max_imatrix_entries = std::size_t{1} << 18;
/// Longest name of a tensor in a legacy file, far above that of any model.
inline constexpr std::uint32_t max_imatrix_name_bytes = 1024;

enum class ImatrixReading : std::uint8_t {
  means,
  sums,   ///< sums over tokens
  stored  ///< as stored, if there is one file
};

/// Columns of one tensor, over all files. `chunk_size` 0: unknown.
[[nodiscard]] Result<void> read_imatrix(const std::vector<ImatrixPart>& parts,
                                        const std::string& name, std::uint64_t chunk_size,
                                        std::uint64_t first, std::span<float> dst,
                                        ImatrixReading reading);

/// The sums of both exact parts over all files, for some values; doubles add them up exactly.
/// Errc::imatrix_invalid if those of a file are beyond the limits, or do not make up its sum.
[[nodiscard]] Result<void> read_exact_sums(const std::vector<ImatrixPart>& parts,
                                           const std::string& name, std::uint64_t first,
                                           std::span<double> coarse, std::span<double> fine);

/// Fails with Errc::invalid_argument if sums over so many tokens, or as large, may be rounded.
[[nodiscard]] Result<void> check_exact_limits(const std::vector<double>& counts,
                                              std::span<const double> coarse,
                                              const std::string& name);

/// Fails as read_exact_sums does.
[[nodiscard]] Result<void> check_exact_sums(const ImatrixPart& part, const std::string& name);

/// Columns of a block of the moments that several files have in common; 0: none.
[[nodiscard]] std::uint64_t common_moment_columns(const std::vector<ImatrixPart>& parts) noexcept;

/// Fails with Errc::imatrix_invalid if a second moment is not finite, or negative for a column with
/// itself.
[[nodiscard]] Result<void> check_moments(const ImatrixPart& part, const std::string& name);

[[nodiscard]] Result<ImatrixContent> parse_legacy_imatrix(std::shared_ptr<ImatrixFile> file);
[[nodiscard]] Result<ImatrixContent> parse_gguf_imatrix(std::shared_ptr<ImatrixFile> file);

}  // namespace ingot::formats

namespace ingot {

struct ImportanceMatrix::State {
  ImatrixFormat format = ImatrixFormat::gguf;
  std::vector<ImatrixEntry> entries;  // entries by name
  // Parts of each entry, in the order of the files.
  std::vector<std::vector<formats::ImatrixPart>> parts;
  std::vector<std::string> datasets;
  std::uint64_t chunk_count = 0;
  std::uint64_t chunk_size = 0;

  /// The entry of a name; nullptr if there is none.
  [[nodiscard]] const ImatrixEntry* find(std::string_view name) const noexcept;
  [[nodiscard]] const std::vector<formats::ImatrixPart>* parts_of(const ImatrixEntry& entry) const;
  /// Moves all entries out, and back in, in any order.
  [[nodiscard]] std::vector<formats::ImatrixItem> release();
  void assign(std::vector<formats::ImatrixItem> items);
};

}  // namespace ingot
