// SPDX-License-Identifier: MIT
// Property: a header that opened and is written again holds the same; it is the same bytes unless
// the file had a quirk; and it survives every other version and byte order that can hold it.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "support/model_checks.hpp"

namespace {

using namespace ingot;

constexpr OpenOptions lenient{.is_lenient = true};
/// Padding to a larger alignment would take more time than all the rest.
constexpr std::uint64_t max_alignment = 4096;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Whether writing repairs something: see serialise_header.
bool has_quirk(const Model& model, std::span<const std::byte> file) {
  const ModelFile& described = model.files()[0];
  const std::uint64_t padding_end = std::min(described.data_offset, described.file_bytes);
  const auto padding = file.subspan(described.header_bytes, padding_end - described.header_bytes);
  return described.has_old_magic || !model.notices().empty() ||
         std::any_of(padding.begin(), padding.end(),
                     [](std::byte value) { return value != std::byte{0}; });
}

/// Opens a header that `model` was written as; `file` receives it and as much room as the data of
/// the original takes.
Result<Model> open_again(std::span<const std::byte> header, const Model& model,
                         std::vector<std::byte>& file) {
  const ModelFile& original = model.files()[0];
  const bool has_data = original.file_bytes > original.data_offset;
  file.reserve(header.size() + (has_data ? original.file_bytes - original.data_offset : 0));
  file.assign(header.begin(), header.end());
  file.resize(file.capacity());
  return Model::open_memory(file, lenient);
}

/// Writes `model` in a format and checks that this holds the same; nothing if the format cannot.
std::vector<std::byte> convert(const Model& model, WriteFormat format) {
  Result<std::vector<std::byte>> header = serialise_header(model, 0, format);
  if (!header) {
    require(header.error().code == Errc::version_cannot_hold);
    return {};
  }
  std::vector<std::byte> file;
  const Result<Model> again = open_again(*header, model, file);
  require(again.has_value() && test::find_difference(model, *again).empty());
  return *std::move(header);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  const Result<Model> model = Model::open_memory(file, lenient);
  if (!model || model->files()[0].alignment > max_alignment) return 0;
  const ModelFile& described = model->files()[0];
  const WriteFormat own{described.version, described.byte_order};

  const std::vector<std::byte> same = convert(*model, own);
  if (same.empty()) {
    require(own.version == 1);  // with values that came only with version 2
    return 0;
  }
  if (!has_quirk(*model, file)) {
    const auto header_bytes = static_cast<std::ptrdiff_t>(described.header_bytes);
    require(std::equal(same.begin(), same.begin() + header_bytes, file.begin(),
                       file.begin() + header_bytes));
  }

  constexpr WriteFormat formats[] = {{1, Endian::little}, {2, Endian::little}, {3, Endian::big}};
  for (const WriteFormat format : formats) {
    const std::vector<std::byte> other = convert(*model, format);
    if (other.empty()) continue;
    std::vector<std::byte> other_file;
    const Result<Model> there = open_again(other, *model, other_file);
    require(there && convert(*there, own) == same);  // and back again
  }
  return 0;
}
