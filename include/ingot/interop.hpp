// SPDX-License-Identifier: MIT
// Models in other file formats (target ingot::convert).
//
// A file of another format opens as a Model: its content becomes keys and tensors, and its data is
// read, and decoded where GGUF has no such type, on demand. So every function for a Model works on
// these files too.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"

namespace ingot {

/// The formats of formats.def.
enum class FileFormat : std::uint8_t {
#define INGOT_FORMAT(enumerator, name, ending, reader, writer) enumerator,
#include "ingot/formats.def"
};

/// One row of formats.def.
struct FileFormatInfo {
  FileFormat format;
  std::string_view name;    ///< "safetensors"
  std::string_view ending;  ///< ".safetensors"
  bool is_written;          ///< Whether plan_conversion writes it.
};

inline constexpr std::array file_formats = {
#define INGOT_FORMAT(enumerator, name, ending, reader, writer) \
  FileFormatInfo{FileFormat::enumerator, name, ending, std::string_view(#writer) != "no_writer"},
#include "ingot/formats.def"
};

[[nodiscard]] INGOT_EXPORT std::string_view name_of(FileFormat format) noexcept;

/// The format whose files end like `path`; nothing if there is none.
[[nodiscard]] INGOT_EXPORT std::optional<FileFormat> format_by_ending(
    std::string_view path) noexcept;

/// A property of a file of another format that is no key of the model, such as its dialect.
struct FileFact {
  std::string name;
  std::string value;  ///< May hold text of the file: not escaped.
};

/// A model, whatever it was stored as.
struct OpenedModel {
  Model model;
  FileFormat format = FileFormat::gguf;
  std::uint64_t file_bytes = 0;  ///< The size of all files together; 0 for GGUF: see Model::files.
  std::vector<FileFact> facts = {};
  std::vector<std::string> paths = {};  ///< The files; empty for GGUF: see Model::files.
  /// The offset of each file's data, after its header (for bump: after its dtype table, if it has
  /// one); empty for GGUF.
  std::vector<std::uint64_t> data_offsets = {};
};

/// Receives, while a checksum is verified, the bytes done and the total; false ends the work with
/// Errc::interrupted.
using OpenProgress = std::function<bool(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

/// Facts of a LLaMA model that GGML files, which are older than GGUF, do not hold.
struct GgmlOptions {
  std::uint32_t context = 2048;       ///< Tokens; 4096 for Llama 2.
  std::uint32_t heads_per_group = 1;  ///< Query heads for a head of keys; 8 for Llama 2 70B.
  float rms_epsilon = 5e-6f;          ///< 1e-5 for Llama 2.
};

struct OpenAnyOptions {
  OpenOptions gguf = {};  ///< `limits` and `is_lenient` count for every format.
  OpenProgress progress = {};
  GgmlOptions ggml = {};
};

/// The format of a file by its first bytes, or of a folder by its files; nothing if it cannot be
/// read, or no reader of formats.def recognises it.
[[nodiscard]] INGOT_EXPORT std::optional<FileFormat> detect_format(const std::string& path);

/// Opens a model in any format that formats.def has a reader for; the content decides which.
/// `path` may be a folder, or an index, of safetensors shards.
///
/// GGUF is opened as Model::open does. The checksum of a bump file is verified, which reads all of
/// it: Errc::checksum_mismatch, unless `is_lenient`. Files that are not GGUF are read with pread,
/// and memory is bounded by their headers.
///
/// The model of a foreign file looks like little-endian GGUF of version 3, which exists nowhere:
/// its file offsets are those of that GGUF file, and `Model::origin` gives the real place of a
/// byte, among `paths`.
[[nodiscard]] INGOT_EXPORT Result<OpenedModel> open_any(const std::string& path,
                                                        const OpenAnyOptions& options = {});

/// Opens a file or folder of a store. `OpenedModel::paths` lists its files.
[[nodiscard]] INGOT_EXPORT Result<OpenedModel> open_any(const Store& store, const std::string& name,
                                                        const OpenAnyOptions& options = {});

}  // namespace ingot
