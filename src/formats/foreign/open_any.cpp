// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>

#include "formats/foreign/reader.hpp"
#include "ingot/interop.hpp"
#include "ingot/source.hpp"
#include "ingot/store.hpp"
#include "io/folder_watch.hpp"

namespace ingot {
namespace formats {
namespace {

bool is_gguf(const Probe& probe) {
  if (probe.first_bytes.size() < 4) return false;
  return std::memcmp(probe.first_bytes.data(), "GGUF", 4) == 0 ||
         std::memcmp(probe.first_bytes.data(), "FUGG", 4) == 0;
}

Result<OpenedModel> open_gguf(const Store& store, const std::string& name,
                              const OpenAnyOptions& options) {
  INGOT_TRY(Model model, Model::open(store, name, options.gguf));
  return OpenedModel{std::move(model), FileFormat::gguf};
}

struct Reading {
  FileFormat format;
  FormatReader reader;
};

/// The reader that recognises a file or folder; nullptr if there is none.
const Reading* find_reader(const Store& store, const std::string& name) {
  // They are made when they are first needed: the rows are constants of other files.
  static const std::array<Reading, file_formats.size()> readings = {{
#define INGOT_FORMAT(enumerator, name, ending, reader, writer) {FileFormat::enumerator, reader},
#include "ingot/formats.def"
  }};
  std::array<std::byte, 16> first{};
  Probe probe{name, false, {}};
  const Result<std::unique_ptr<Source>> source = store.open(name);
  if (source) {
    const auto count = std::min<std::uint64_t>(first.size(), (*source)->size_bytes());
    probe.first_bytes = std::span(first).first(static_cast<std::size_t>(count));
    if (!(*source)->read(0, std::span(first).first(probe.first_bytes.size()))) return nullptr;
  } else {
    // The folder without a name is that of the process, which no model is meant by.
    const bool is_named = !name.empty() || &store != &file_system();
    probe.is_folder = is_named && store.list(name).has_value();
    if (!probe.is_folder) return nullptr;
  }
  for (const Reading& reading : readings) {
    const FormatReader& reader = reading.reader;
    if (reader.recognises != nullptr && reader.recognises(probe)) return &reading;
  }
  return nullptr;
}

}  // namespace

constinit const FormatReader gguf_reader{is_gguf, open_gguf};

}  // namespace formats

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
  const formats::Reading* row = formats::find_reader(file_system(), path);
  return row != nullptr ? std::optional(row->format) : std::nullopt;
}

Result<OpenedModel> open_any(const std::string& path, const OpenAnyOptions& options) {
  return open_any(file_system(), path, options);
}

Result<OpenedModel> open_any(const Store& store, const std::string& name,
                             const OpenAnyOptions& options) {
  // GGUF, the usual case, takes the short way.
  Result<OpenedModel> gguf = formats::open_gguf(store, name, options);
  if (gguf) return gguf;
  const auto open_foreign = [&]() -> Result<OpenedModel> {
    const formats::Reading* row = formats::find_reader(store, name);
    // Unknown formats fail with the GGUF parser's error.
    if (row == nullptr || row->format == FileFormat::gguf) return fail(gguf.error());
    return row->reader.open(store, name, options);
  };
  const auto not_known = [](const auto&) { return false; };
  return &store == &file_system() ? io::open_settled(name, open_foreign, not_known)
                                  : open_foreign();
}

}  // namespace ingot
