// SPDX-License-Identifier: MIT
// Property: any bytes are refused with an ordinary error or open as a consistent model; and a
// parser that is given them piece by piece comes to the same answer.
//
// The last byte, which is part of the file all the same, chooses how it is read; so every GGUF file
// is an input, and appending bytes to it changes only that.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "format/parse.hpp"
#include "ingot/model.hpp"
#include "support/model_checks.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Choice {
  bool is_lenient;
  bool has_small_limits;
  std::size_t first_piece_bytes;

  explicit Choice(std::uint8_t byte)
      : is_lenient((byte & 1) != 0),
        has_small_limits((byte & 2) != 0),
        first_piece_bytes(byte / 4) {}

  [[nodiscard]] Limits limits() const {
    if (!has_small_limits) return {};
    return {.max_header_bytes = 300,
            .max_keys = 4,
            .max_tensors = 2,
            .max_string_bytes = 8,
            .max_array_elements = 4,
            .max_depth = 2};
  }
};

/// Parses ever more of the file, at least as much as the parser asks for, until it knows.
Result<format::Parsed> parse_in_pieces(std::span<const std::byte> file,
                                       const format::ParseOptions& options,
                                       std::size_t piece_bytes) {
  for (;;) {
    piece_bytes = std::min(piece_bytes, file.size());
    Result<format::Parsed> parsed = format::parse(file.first(piece_bytes), options);
    if (!parsed || parsed->is_complete()) return parsed;
    // It never asks for more than there is.
    require(parsed->missing_bytes <= file.size() - piece_bytes);
    piece_bytes = std::max<std::size_t>(piece_bytes + parsed->missing_bytes, 2 * piece_bytes);
  }
}

void require_same(const Result<format::Parsed>& a, const Result<format::Parsed>& b) {
  require(a.has_value() == b.has_value());
  if (!a) {
    return require(a.error().code == b.error().code &&
                   a.error().file_offset == b.error().file_offset &&
                   a.error().subject == b.error().subject && a.error().detail == b.error().detail);
  }
  const format::Structure& left = a->structure;
  const format::Structure& right = b->structure;
  require(left.header_bytes == right.header_bytes && left.data_offset == right.data_offset &&
          left.infos_offset == right.infos_offset && left.alignment == right.alignment &&
          left.dimensions == right.dimensions && left.metadata.size() == right.metadata.size() &&
          left.tensors.size() == right.tensors.size());
  for (std::size_t i = 0; i < left.tensors.size(); ++i) {
    require(left.tensors[i].name == right.tensors[i].name &&
            left.tensors[i].size_bytes == right.tensors[i].size_bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  const Choice choice(size == 0 ? 0 : data[size - 1]);
  const format::ParseOptions options{
      .is_lenient = choice.is_lenient, .limits = choice.limits(), .file_bytes = file.size()};

  const Result<format::Parsed> whole = format::parse(file, options);
  require(whole ? whole->is_complete() : whole.error().code != Errc::internal);
  require_same(whole, parse_in_pieces(file, options, choice.first_piece_bytes));

  const Result<Model> model =
      Model::open_memory(file, {.is_lenient = choice.is_lenient, .limits = choice.limits()});
  require(model.has_value() == whole.has_value());
  if (model) require(test::find_inconsistency(*model).empty());
  return 0;
}
