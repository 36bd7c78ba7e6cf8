// SPDX-License-Identifier: MIT
#include "formats/ggml/ggml_header.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/checked.hpp"
#include "formats/foreign/file_cursor.hpp"

namespace ingot::formats {
namespace {

constexpr std::array formats = {
    GgmlFormat{"lmgg", "GGML", false, false},
    GgmlFormat{"fmgg", "GGMF", true, false},
    GgmlFormat{"tjgg", "GGJT", true, true},
};

constexpr std::uint32_t newest_version = 3;   // the newest GGJT; GGMF has only version 1
constexpr std::uint32_t longest_text = 4095;  // bytes of a token or a name
constexpr std::uint32_t most_dimensions = 4;
constexpr std::uint64_t data_alignment = 32;

Failure ggml_invalid_at(std::uint64_t file_offset, std::string subject, std::string detail) {
  return fail(Errc::ggml_invalid, file_offset, std::move(subject), std::move(detail));
}

/// Whether the blocks of a type are today's. GGJT 2 changed the order of codes within a block and
/// GGJT 3 the scales of three types from F32 to F16; K types came after.
bool has_present_layout(TensorType type, const GgmlHeader& header) noexcept {
  if (type == TensorType::f32 || type == TensorType::f16) return true;
  if (!header.format->is_aligned || header.version < 2) return false;
  return header.version > 2 ||
         (type != TensorType::q4_0 && type != TensorType::q4_1 && type != TensorType::q8_0);
}

class Parser {
 public:
  Parser(const Source& source, const Limits& limits)
      : limits_(limits), cursor_(source, Errc::ggml_invalid) {}

  Result<GgmlHeader> run() {
    INGOT_TRY_VOID(read_numbers());
    INGOT_TRY_VOID(read_tokens());
    while (cursor_.remaining() > 0) INGOT_TRY_VOID(read_tensor());
    return std::move(header_);
  }

 private:
  Result<void> read_numbers() {
    std::array<std::byte, 4> magic;
    INGOT_TRY_VOID(cursor_.read(magic, "magic"));
    header_.format = find_ggml_format(magic);
    if (header_.format == nullptr)
      return ggml_invalid_at(0, "magic", "it is not GGML, GGMF or GGJT");
    if (header_.format->has_version) {
      INGOT_TRY(header_.version, cursor_.read_u32("version"));
      const std::uint32_t newest = header_.format->is_aligned ? newest_version : 1;
      if (header_.version < 1 || header_.version > newest) {
        return ggml_invalid_at(4, "version", "found " + std::to_string(header_.version));
      }
    }
    INGOT_TRY(token_count_, cursor_.read_u32("n_vocab"));
    INGOT_TRY(header_.embedding, cursor_.read_u32("n_embd"));
    INGOT_TRY_VOID(cursor_.read_u32("n_mult"));  // the size of w1 follows from its shape
    INGOT_TRY(header_.heads, cursor_.read_u32("n_head"));
    INGOT_TRY(header_.layers, cursor_.read_u32("n_layer"));
    INGOT_TRY_VOID(cursor_.read_u32("n_rot"));
    INGOT_TRY(header_.file_type, cursor_.read_u32("ftype"));
    if (header_.heads == 0 || header_.embedding % header_.heads != 0) {
      return ggml_invalid_at(cursor_.position(), "n_head",
                             std::to_string(header_.heads) + " heads for a width of " +
                                 std::to_string(header_.embedding));
    }
    return check_file_type();
  }

  Result<void> check_file_type() {
    const FileTypeInfo* info = find_file_type(header_.file_type);
    if (info == nullptr) {
      return ggml_invalid_at(cursor_.position() - 4, "ftype",
                             "found " + std::to_string(header_.file_type));
    }
    return check_layout(info->weights, cursor_.position() - 4, "ftype");
  }

  Result<void> check_layout(TensorType type, std::uint64_t file_offset, std::string subject) {
    if (has_present_layout(type, header_)) return {};
    return fail(Errc::ggml_layout, file_offset, std::move(subject),
                std::string(find_type(type)->name) + " in " + header_.format->name + " version " +
                    std::to_string(header_.version));
  }

  Result<void> read_tokens() {
    const std::uint64_t least_bytes = header_.format->has_version ? 8 : 4;
    if (token_count_ > cursor_.remaining() / least_bytes) {
      return ggml_invalid_at(cursor_.position(), "n_vocab",
                             std::to_string(token_count_) + " tokens do not fit the file");
    }
    if (token_count_ > limits_.max_keys) {
      return fail(Errc::limit_exceeded, "n_vocab", std::to_string(token_count_) + " tokens");
    }
    header_.tokens.resize(token_count_);
    for (GgmlToken& token : header_.tokens) {
      INGOT_TRY(token.text, read_text("token"));
      if (!header_.format->has_version) continue;
      INGOT_TRY(token.score, cursor_.read_f32("score"));
    }
    return {};
  }

  Result<std::string> read_text(const char* field) {
    const std::uint64_t begin = cursor_.position();
    INGOT_TRY(const std::uint32_t length, cursor_.read_u32(field));
    if (length > longest_text) return too_long(begin, field, length);
    return cursor_.read_text(length, field);
  }

  static Failure too_long(std::uint64_t begin, const char* field, std::uint32_t length) {
    return ggml_invalid_at(
        begin, field, std::to_string(length) + " bytes; at most " + std::to_string(longest_text));
  }

  Result<void> read_tensor() {
    const std::uint64_t begin = cursor_.position();
    if (header_.tensors.size() == limits_.max_tensors) {
      return fail(Errc::limit_exceeded, begin, "tensors", "more than the limit");
    }
    GgmlTensor tensor;
    INGOT_TRY(const std::uint32_t dimensions, cursor_.read_u32("dimensions"));
    INGOT_TRY(const std::uint32_t name_bytes, cursor_.read_u32("bytes of a name"));
    INGOT_TRY(const std::uint32_t type, cursor_.read_u32("type"));
    if (dimensions == 0 || dimensions > most_dimensions) {
      return ggml_invalid_at(begin, "dimensions",
                             "found " + std::to_string(dimensions) + "; 1 to 4");
    }
    if (name_bytes > longest_text) return too_long(begin + 4, "name", name_bytes);
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      INGOT_TRY(const std::uint32_t length, cursor_.read_u32("shape"));
      tensor.shape.push_back(length);
    }
    INGOT_TRY(tensor.name, cursor_.read_text(name_bytes, "name"));
    tensor.type = static_cast<TensorType>(type);
    INGOT_TRY_VOID(skip_data(tensor, begin));
    header_.tensors.push_back(std::move(tensor));
    return {};
  }

  /// Goes to the end of a tensor's data, which has to be in the file.
  Result<void> skip_data(GgmlTensor& tensor, std::uint64_t begin) {
    const TensorTypeInfo* info = find_type(tensor.type);
    if (info == nullptr) {
      return ggml_invalid_at(begin + 8, tensor.name,
                             "type " + std::to_string(static_cast<std::uint32_t>(tensor.type)));
    }
    INGOT_TRY_VOID(check_layout(tensor.type, begin, tensor.name));
    const Result<TensorSize> size = size_of_tensor(tensor.type, tensor.shape);
    if (!size) return fail(size.error().code, begin, tensor.name, size.error().detail);
    if (header_.format->is_aligned) {
      const auto aligned = checked_align_up(cursor_.position(), data_alignment);
      cursor_.skip(std::min(cursor_.remaining(), *aligned - cursor_.position()));
    }
    tensor.file_offset = cursor_.position();
    if (size->bytes > cursor_.remaining()) {
      return fail(Errc::truncated, tensor.file_offset, tensor.name,
                  std::to_string(cursor_.remaining()) + " of " + std::to_string(size->bytes) +
                      " bytes are there");
    }
    cursor_.skip(size->bytes);
    return {};
  }

  const Limits& limits_;
  FileCursor cursor_;
  std::uint32_t token_count_ = 0;
  GgmlHeader header_;
};

}  // namespace

const GgmlFormat* find_ggml_format(std::span<const std::byte> first_bytes) noexcept {
  if (first_bytes.size() < 4) return nullptr;
  const auto found = std::ranges::find_if(formats, [&](const GgmlFormat& format) {
    return std::memcmp(first_bytes.data(), format.magic, 4) == 0;
  });
  return found != formats.end() ? &*found : nullptr;
}

Result<GgmlHeader> read_ggml_header(const Source& source, const Limits& limits) {
  return Parser(source, limits).run();
}

}  // namespace ingot::formats
