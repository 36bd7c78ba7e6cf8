// SPDX-License-Identifier: MIT
#include "formats/bump/bump_checksum.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/byte_order.hpp"
#include "base/hexadecimal.hpp"
#include "ingot/digest.hpp"
#include "io/source_pieces.hpp"

namespace ingot::formats {
namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;

/// The magic behind the description; the description's size in 8 bytes and its SHA-256 follow.
constexpr std::string_view footer_magic = "BUMPV5MD";
constexpr std::uint64_t footer_bytes = 48;

Result<std::string> digest_of_range(const Source& file, std::uint64_t begin, std::uint64_t end,
                                    const OpenProgress& progress) {
  Digest digest(DigestAlgorithm::sha256);
  INGOT_TRY(const bool is_whole, io::read_pieces(
                                     file, begin, end - begin,
                                     [&](std::span<const std::byte> bytes, std::uint64_t done) {
                                       digest.update(bytes);
                                       return !progress ||
                                              progress(done + bytes.size(), end - begin);
                                     },
                                     piece_bytes));
  if (!is_whole) return fail(Errc::interrupted, {});
  return digest.finish();
}

}  // namespace

std::vector<std::byte> bytes_of_digits(std::string_view digits) {
  std::vector<std::byte> bytes;
  for (; digits.size() > 1; digits.remove_prefix(2)) {
    bytes.push_back(static_cast<std::byte>(*byte_of_hexadecimal(digits.substr(0, 2))));
  }
  return bytes;
}

Result<std::uint64_t> find_bump_payload_end(const Source& file, std::uint32_t version) {
  const std::uint64_t file_bytes = file.size_bytes();
  if (version < 5) return file_bytes;
  if (file_bytes < bump_header_bytes + footer_bytes) {
    return fail(Errc::truncated, file_bytes, "footer");
  }
  const std::uint64_t footer = file_bytes - footer_bytes;
  std::array<std::byte, footer_bytes> bytes;
  INGOT_TRY_VOID(file.read(footer, bytes));
  if (std::memcmp(bytes.data(), footer_magic.data(), footer_magic.size()) != 0) {
    return fail(Errc::truncated, footer, "footer", "it does not begin with BUMPV5MD");
  }
  const auto size = load_little<std::uint64_t>(&bytes[footer_magic.size()]);
  if (size > footer - bump_header_bytes) {
    return fail(Errc::bump_header_invalid, footer + 8, "footer", "a size larger than the file");
  }
  INGOT_TRY(const std::string digest, digest_of_range(file, footer - size, footer, {}));
  if (!std::ranges::equal(bytes_of_digits(digest), std::span(bytes).subspan(16))) {
    return fail(Errc::checksum_mismatch, footer + 16, "footer");
  }
  return footer - size;
}

Result<std::string> verify_bump_checksum(const Source& file, const BumpHeaderBytes& header,
                                         const BumpFile& bump, bool is_lenient,
                                         const OpenProgress& progress) {
  INGOT_TRY(const std::string digest,
            digest_of_range(file, bump.payload_begin, bump.payload_end, progress));
  const std::vector<std::byte> computed = bytes_of_digits(digest);
  // Some writers of version 4 have two numbers of their tokenizer before the checksum.
  for (const std::size_t offset : {bump_checksum_offset(bump.header.version), std::size_t{0x58}}) {
    const auto stored = std::span(header).subspan(offset, bump_checksum_bytes);
    if (std::ranges::equal(computed, stored)) return digest;
    if (bump.header.version < 4) break;
  }
  if (is_lenient) return "wrong: the data has " + digest;
  return fail(Errc::checksum_mismatch, bump_checksum_offset(bump.header.version), "checksum",
              "the data has " + digest);
}

}  // namespace ingot::formats
