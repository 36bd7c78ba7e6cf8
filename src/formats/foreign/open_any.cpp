// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "formats/foreign/reader.hpp"
#include "ingot/interop.hpp"
#include "ingot/source.hpp"

namespace ingot {
namespace interop {
namespace {

bool is_gguf(const Probe& probe) {
  if (probe.first_bytes.size() < 4) return false;
  return std::memcmp(probe.first_bytes.data(), "GGUF", 4) == 0 ||
         std::memcmp(probe.first_bytes.data(), "FUGG", 4) == 0;
}

Result<OpenedModel> open_gguf(const std::string& path, const OpenAnyOptions& options) {
  INGOT_TRY(Model model, Model::open(path, options.gguf));
  return OpenedModel{std::move(model), FileFormat::gguf};
}

struct Reading {
  FileFormat format;
  FormatReader reader;
};

/// The reader that recognises a file or folder; nullptr if there is none.
const Reading* find_reader(const std::string& path) {
  // They are made when they are first needed: the rows are constants of other files.
  static const std::array<Reading, file_formats.size()> readings = {{
#define INGOT_FORMAT(enumerator, name, ending, reader, writer) {FileFormat::enumerator, reader},
#include "ingot/formats.def"
#undef INGOT_FORMAT
  }};
  std::array<std::byte, 16> first{};
  Probe probe{path, false, {}};
  std::error_code ignored;
  probe.is_folder = std::filesystem::is_directory(path, ignored);
  if (!probe.is_folder) {
    const Result<std::unique_ptr<Source>> source = read_file(path);
    if (!source) return nullptr;
    const auto count = std::min<std::uint64_t>(first.size(), (*source)->size_bytes());
    probe.first_bytes = std::span(first).first(static_cast<std::size_t>(count));
    if (!(*source)->read(0, std::span(first).first(probe.first_bytes.size()))) return nullptr;
  }
  for (const Reading& reading : readings) {
    const FormatReader& reader = reading.reader;
    if (reader.recognises != nullptr && reader.recognises(probe)) return &reading;
  }
  return nullptr;
}

}  // namespace

constinit const FormatReader gguf_reader{is_gguf, open_gguf};

}  // namespace interop

std::string_view name_of(FileFormat format) noexcept {
  for (const FileFormatInfo& info : file_formats) {
    if (info.format == format) return info.name;
  }
  return {};
}

std::optional<FileFormat> format_by_ending(std::string_view path) noexcept {
  for (const FileFormatInfo& info : file_formats) {
    if (path.ends_with(info.ending)) return info.format;
  }
  return std::nullopt;
}

std::optional<FileFormat> detect_format(const std::string& path) {
  const interop::Reading* row = interop::find_reader(path);
  return row != nullptr ? std::optional(row->format) : std::nullopt;
}

Result<OpenedModel> open_any(const std::string& path, const OpenAnyOptions& options) {
  // What is GGUF, nearly always, is not looked at twice.
  Result<OpenedModel> gguf = interop::open_gguf(path, options);
  if (gguf) return gguf;
  const interop::Reading* row = interop::find_reader(path);
  // What nobody knows is refused in the words that GGUF files are refused in.
  if (row == nullptr || row->format == FileFormat::gguf) return gguf;
  return row->reader.open(path, options);
}

}  // namespace ingot
