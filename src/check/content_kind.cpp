// SPDX-License-Identifier: MIT
// The kind of a file by its first bytes: models, and what people save under the name of one.
#include <algorithm>
#include <string_view>

#include "base/ascii.hpp"
#include "base/byte_order.hpp"
#include "ingot/check.hpp"

namespace ingot {
namespace {

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view description;
  bool is_model = false;  ///< It is a model, or what a model is kept in.
};

using namespace std::string_view_literals;

// Longer ones before those that they begin with.
constexpr Signature signatures[] = {
    {0, "GGUF"sv, "a GGUF file", true},
    {0, "FUGG"sv, "a big-endian GGUF file with the old magic", true},
    {0, "version https://git-lfs"sv, "a Git LFS pointer: the file itself was not fetched", true},
    {0, "tjgg"sv, "a GGJT file, older than GGUF: convert the original model again", true},
    {0, "fmgg"sv, "a GGMF file, older than GGUF: convert the original model again", true},
    {0, "lmgg"sv, "a GGML file, older than GGUF: convert the original model again", true},
    {0, "algg"sv, "a GGLA adapter, older than GGUF: convert it again", true},
    {0, "ggjt"sv, "a GGJT file, older than GGUF: convert the original model again", true},
    {0, "ggmf"sv, "a GGMF file, older than GGUF: convert the original model again", true},
    {0, "ggml"sv, "a GGML file, older than GGUF: convert the original model again", true},
    {0, "BUMPWGT"sv, "a bump file: `ingot convert` reads it", true},
    {0, "PK\x03\x04"sv, "a zip archive, such as a PyTorch checkpoint or a file of NumPy (.npz)",
     true},
    {0, "PK\x05\x06"sv, "an empty zip archive"},
    {0, "7z\xBC\xAF\x27\x1C"sv, "a 7-Zip archive"},
    {0, "Rar!\x1A\x07"sv, "a RAR archive"},
    {0, "\x1F\x8B"sv, "a gzip archive: unpack it first"},
    {0, "\x28\xB5\x2F\xFD"sv, "a zstd archive: unpack it first"},
    {0, "\xFD\x37zXZ\0"sv, "an xz archive: unpack it first"},
    {0, "BZh"sv, "a bzip2 archive: unpack it first"},
    {0, "\x93NUMPY"sv, "a NumPy array", true},
    {0, "\x80\x02"sv, "a Python pickle, such as an old PyTorch checkpoint", true},
    {0, "\x80\x03"sv, "a Python pickle, such as an old PyTorch checkpoint", true},
    {0, "\x80\x04"sv, "a Python pickle, such as an old PyTorch checkpoint", true},
    {0, "\x80\x05"sv, "a Python pickle, such as an old PyTorch checkpoint", true},
    {0, "\x89HDF\r\n"sv, "an HDF5 file, such as a Keras model", true},
    {0, "\x89PNG"sv, "a PNG image"},
    {0, "\xFF\xD8\xFF"sv, "a JPEG image"},
    {0, "%PDF"sv, "a PDF document"},
    {0, "\x7F\x45LF"sv, "a program (ELF)"},
    {0, "MZ"sv, "a program for Windows"},
    {0, "#!"sv, "a script"},
    {0, "SQLite format 3"sv, "an SQLite database"},
    {4, "TFL3"sv, "a TensorFlow Lite model", true},
    {257, "ustar"sv, "a tar archive: unpack it first"},
};

// Compared without regard to case, after blanks.
constexpr Signature text_beginnings[] = {
    {0, "<!doctype html"sv, "an HTML page: the download gave a page instead of the file"},
    {0, "<html"sv, "an HTML page: the download gave a page instead of the file"},
    {0, "<?xml"sv, "an XML document, such as an error of a storage service"},
    {0, "<error"sv, "an XML document, such as an error of a storage service"},
    {0, "entry not found"sv, "the message of a server that there is no such file"},
    {0, "not found"sv, "the message of a server that there is no such file"},
    {0, "access to model"sv, "the message of a server that access is restricted"},
    {0, "invalid username"sv, "the message of a server that a login is needed"},
    {0, "unauthorized"sv, "the message of a server that a login is needed"},
    {0, "{{"sv, "a template, such as Ollama keeps beside a model"},
    {0, "{%"sv, "a template, such as one for chats"},
    {0, "{"sv, "a JSON document, such as a configuration or the error of a server"},
};

bool begins_with(std::string_view text, std::string_view beginning) noexcept {
  return text.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), text.begin(),
                    [](char a, char b) { return a == lower_case(b); });
}

std::string_view identify_text(std::string_view text) noexcept {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  for (const Signature& signature : text_beginnings) {
    if (begins_with(text, signature.bytes)) return signature.description;
  }
  return {};
}

/// A safetensors file begins with the length of its JSON header.
bool is_safetensors(std::span<const std::byte> head, std::uint64_t file_bytes) noexcept {
  if (head.size() < 10 || head[8] != std::byte{'{'}) return false;
  const auto header_bytes = load_little<std::uint64_t>(head.data());
  return header_bytes >= 2 && header_bytes <= file_bytes - 8;
}

/// The row of what the file begins with; nullptr if there is none.
const Signature* find_signature(std::string_view text) noexcept {
  for (const Signature& signature : signatures) {
    const std::size_t offset = std::min(signature.offset, text.size());
    if (text.substr(offset).starts_with(signature.bytes)) return &signature;
  }
  return nullptr;
}

std::string_view text_of(std::span<const std::byte> head) noexcept {
  return {reinterpret_cast<const char*>(head.data()), head.size()};
}

}  // namespace

bool is_model_content(std::span<const std::byte> head, std::uint64_t file_bytes) noexcept {
  const Signature* signature = find_signature(text_of(head));
  return signature != nullptr ? signature->is_model : is_safetensors(head, file_bytes);
}

std::string_view identify_content(std::span<const std::byte> head,
                                  std::uint64_t file_bytes) noexcept {
  if (head.empty()) return file_bytes == 0 ? "empty" : std::string_view{};
  if (const Signature* signature = find_signature(text_of(head))) return signature->description;
  if (is_safetensors(head, file_bytes)) return "a safetensors file: `ingot convert` reads it";
  const bool is_zero =
      std::ranges::all_of(head, [](std::byte byte) { return byte == std::byte{0}; });
  if (is_zero) return "all zeros: space was reserved, but the download never ran";
  return identify_text(text_of(head));
}

}  // namespace ingot
