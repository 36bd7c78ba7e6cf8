// SPDX-License-Identifier: MIT
#include "format/magic.hpp"

#include <array>
#include <bit>
#include <string>
#include <string_view>

namespace ingot::format {
namespace {

constexpr bool is_little_host = std::endian::native == std::endian::little;

/// A format that is saved as .gguf by mistake, known by its first bytes.
struct Impostor {
  std::string_view begins_with;
  std::string_view description;
};
constexpr std::array impostors = {
    Impostor{"<!DO", "an HTML page"},
    Impostor{"<!do", "an HTML page"},
    Impostor{"<htm", "an HTML page"},
    Impostor{"<HTM", "an HTML page"},
    Impostor{"vers", "a Git LFS pointer; fetch the file it points to"},
    Impostor{"PK\x03\x04", "a zip archive, such as a PyTorch or NumPy file"},
    Impostor{"tjgg", "a GGJT file, older than GGUF"},
    Impostor{"fmgg", "a GGMF file, older than GGUF"},
    Impostor{"lmgg", "a GGML file, older than GGUF"},
    Impostor{"\x1F\x8B\x08", "a gzip archive"},
    Impostor{"\x28\xB5\x2F\xFD", "a zstd archive"},
    Impostor{"\x93NUM", "a NumPy array"},
};

Failure not_gguf(std::string_view magic) {
  std::string detail = "found \"" + std::string(magic) + "\"";
  for (const Impostor& impostor : impostors) {
    if (magic.starts_with(impostor.begins_with)) {
      detail += ", this looks like " + std::string(impostor.description);
      break;
    }
  }
  return fail(Errc::not_gguf, 0, "magic", std::move(detail));
}

Failure unsupported(std::uint32_t as_little, bool is_old) {
  const std::uint32_t as_big = byteswap(as_little);
  const bool is_big = is_old || ((as_little & 0xFFFF) == 0 && as_big < 0x10000);
  return fail(Errc::unsupported_version, 4, "version",
              is_big ? "found " + std::to_string(as_big) + " in big-endian order"
                     : "found " + std::to_string(as_little));
}

}  // namespace

Result<Magic> read_magic(Cursor& cursor) {
  const std::string_view magic = cursor.take_text(4);
  if (cursor.has_failed()) {
    return fail(Errc::truncated, 0, "magic",
                "the file has " + std::to_string(cursor.file_remaining()) + " bytes");
  }
  const bool is_old = magic == "FUGG";
  if (!is_old && magic != "GGUF") return not_gguf(magic);

  cursor.set_swapped(!is_little_host);
  const std::uint32_t as_little = cursor.u32();
  if (cursor.has_failed()) return fail(Errc::truncated, 4, "version");
  constexpr std::uint32_t version_3_swapped = 0x0300'0000;
  if (as_little == version_3_swapped) return Magic{3, Endian::big, is_old};
  if (is_old || as_little < 1 || as_little > 3) return unsupported(as_little, is_old);
  return Magic{as_little, Endian::little, false};
}

detail::ValueEncoding encoding_of(std::uint32_t version, Endian byte_order) noexcept {
  return {.is_swapped = (byte_order == Endian::little) != is_little_host,
          .has_narrow_counts = version == 1,
          .strips_nul = version < 3};
}

}  // namespace ingot::format
