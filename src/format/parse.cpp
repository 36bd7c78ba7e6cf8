// SPDX-License-Identifier: MIT
#include "format/parse.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "format/cursor.hpp"
#include "format/expected_header.hpp"
#include "format/magic.hpp"
#include "format/tensor_layout.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"

namespace ingot::format {
namespace {

constexpr std::uint64_t max_key_bytes = 65535;
constexpr std::uint64_t max_lenient_name_bytes = 65535;
constexpr std::uint32_t max_lenient_dimensions = 8;
/// Stepping over fewer strings again takes no longer than looking for them.
constexpr std::uint64_t least_known_strings = 1000;

std::string found(std::uint64_t number) { return "found " + std::to_string(number); }

/// Whether a name denotes the same thing to every reader.
bool is_identifier(std::string_view name) noexcept {
  return is_utf8(name) && name.find('\0') == std::string_view::npos;
}

class Parser {
 public:
  Parser(std::span<const std::byte> prefix, const ParseOptions& options)
      : options_(options),
        // Beyond the limit nothing is read, so that a header cannot grow without bound.
        prefix_bytes_(std::min<std::uint64_t>(prefix.size(), options.limits.max_header_bytes)),
        cursor_(prefix.first(prefix_bytes_), options.file_bytes) {
    structure_.context = std::make_unique<detail::ValueContext>();
    structure_.context->file_begin = prefix.data();
  }

  Result<Parsed> run() {
    const Result<void> parsed = parse_all();
    if (parsed) return Parsed{std::move(structure_), 0, 0};
    if (!cursor_.has_failed() || cursor_.is_file_truncated()) return fail(parsed.error());
    if (cursor_.missing_bytes() > options_.limits.max_header_bytes - prefix_bytes_) {
      return fail(Errc::limit_exceeded, cursor_.position(), parsed.error().subject,
                  "the header is longer than " + std::to_string(options_.limits.max_header_bytes) +
                      " bytes");
    }
    const std::uint64_t missing_bytes = cursor_.missing_bytes();
    const std::uint64_t most_bytes =
        std::min(options_.limits.max_header_bytes, options_.file_bytes) - prefix_bytes_;
    return Parsed{
        {}, missing_bytes, expected_bytes(progress(), std::max(most_bytes, missing_bytes))};
  }

 private:
  [[nodiscard]] HeaderProgress progress() const;
  Result<void> parse_all();
  Result<void> parse_counts();
  Result<void> parse_key_value();
  Result<std::string_view> parse_key();
  Result<Value> parse_value(std::string_view key);
  Result<Value> parse_string(std::string_view key);
  Result<Value> parse_array(std::string_view key);
  Result<void> skip_array_content(std::string_view key, ValueType element_type,
                                  std::uint64_t count);
  Result<ValueType> parse_value_type(std::string_view key);
  Result<void> check_bools(std::string_view key, std::span<const std::byte> bools) const;
  Result<void> parse_tensors();
  Result<void> parse_tensor();
  Result<void> index_tensor(std::uint64_t position);
  Result<void> parse_tensor_name(TensorInfo& tensor);
  Result<void> parse_shape(TensorInfo& tensor);
  Result<void> set_size(TensorInfo& tensor, std::uint64_t type_offset) const;

  /// The error of a field that the bytes at hand do not hold.
  [[nodiscard]] Failure ends_early(std::string_view subject) const {
    return fail(Errc::truncated, cursor_.position(), std::string(subject),
                std::to_string(cursor_.missing_bytes()) + " more bytes are needed here");
  }
  /// Elements lose a trailing NUL when they are read; here it is only noticed that one will.
  void look_for_stripped_nul(const std::byte* strings, std::uint64_t count) noexcept {
    const detail::ValueEncoding& encoding = structure_.context->encoding;
    if (!encoding.strips_nul) return;
    for (; count != 0 && !structure_.has_stripped_nul; --count) {
      const std::uint64_t length_bytes = encoding.load_count(strings);
      strings += encoding.count_bytes();
      structure_.has_stripped_nul = encoding.text(strings, length_bytes).size() != length_bytes;
      strings += length_bytes;
    }
  }
  /// Strips what old writers counted as part of a string.
  std::string_view strip(std::string_view text) {
    const std::string_view stripped = structure_.context->encoding.text(
        reinterpret_cast<const std::byte*>(text.data()), text.size());
    if (stripped.size() != text.size()) structure_.has_stripped_nul = true;
    return stripped;
  }

  ParseOptions options_;
  std::uint64_t prefix_bytes_;
  Cursor cursor_;
  Structure structure_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t key_count_ = 0;
  bool are_counts_known_ = false;
  /// The names of the last tensors wait for their slots of the index, which the cache fetches
  /// meanwhile: the index of 100,000 names is larger than most caches.
  struct UnindexedName {
    std::uint64_t hash = 0;
    std::uint64_t info_offset = 0;
  };
  std::array<UnindexedName, 16> unindexed_;
  /// The array of strings that was cut off, if one was: its key, and what was stepped over.
  std::string_view cut_array_;
  std::uint64_t cut_array_left_ = 0;
  SkippedStrings cut_array_skipped_;
};

HeaderProgress Parser::progress() const {
  HeaderProgress progress;
  progress.missing_bytes = cursor_.missing_bytes();
  if (!are_counts_known_) return progress;
  const std::uint64_t keys_read = structure_.metadata.size();
  progress.keys_left = key_count_ - std::min(key_count_, keys_read + 1);
  progress.tensors_read = structure_.tensors.size();
  progress.tensors_left = tensor_count_ - progress.tensors_read;
  if (keys_read == key_count_) {
    progress.infos_read_bytes = cursor_.position() - structure_.infos_offset;
  }
  progress.strings_left = cut_array_left_;
  progress.strings_read = cut_array_skipped_.count;
  progress.strings_read_bytes = cut_array_skipped_.size_bytes;
  if (cut_array_ != keys::tokenizer_ggml_tokens || progress.keys_left < 2) return progress;
  const auto value_of = [this](std::string_view key) -> const Value* {
    const auto position = structure_.key_index.find(
        key, [this](std::uint32_t at) { return structure_.metadata[at].key; });
    return position ? &structure_.metadata[*position].value : nullptr;
  };
  progress.has_token_types = value_of(keys::tokenizer_ggml_token_type) == nullptr;
  const Value* const kind = value_of(keys::tokenizer_ggml_model);
  progress.has_merges = kind != nullptr && kind->get<std::string_view>() == "gpt2" &&
                        value_of(keys::tokenizer_ggml_merges) == nullptr;
  return progress;
}

Result<void> Parser::parse_all() {
  INGOT_TRY(const Magic magic, read_magic(cursor_));
  structure_.version = magic.version;
  structure_.byte_order = magic.byte_order;
  structure_.has_old_magic = magic.is_old;
  structure_.context->encoding = encoding_of(magic.version, magic.byte_order);
  cursor_.set_swapped(structure_.context->encoding.is_swapped);
  cursor_.set_narrow_counts(structure_.context->encoding.has_narrow_counts);

  INGOT_TRY_VOID(parse_counts());
  structure_.metadata.reserve(key_count_);
  structure_.key_index.reserve(key_count_);
  for (std::uint64_t i = 0; i < key_count_; ++i) INGOT_TRY_VOID(parse_key_value());
  INGOT_TRY(structure_.alignment, alignment_of(structure_, options_.is_lenient));

  structure_.infos_offset = cursor_.position();
  structure_.tensors.reserve(tensor_count_);
  structure_.tensor_index.reserve(tensor_count_);
  // Reserved once, so that the shapes never move; memory that is not used is never touched.
  structure_.dimensions.reserve(tensor_count_ *
                                (options_.is_lenient ? max_lenient_dimensions : max_dimensions));
  INGOT_TRY_VOID(parse_tensors());

  structure_.header_bytes = cursor_.position();
  structure_.data_offset = *checked_align_up(structure_.header_bytes, structure_.alignment);
  return check_layout(structure_, options_.file_bytes);
}

Result<void> Parser::parse_counts() {
  const std::uint64_t counts_offset = cursor_.position();
  tensor_count_ = cursor_.count();
  key_count_ = cursor_.count();
  if (cursor_.has_failed()) return ends_early("header");
  are_counts_known_ = true;

  const Limits& limits = options_.limits;
  // The smallest entries that can exist: an empty name (a key has at least one byte) and no
  // dimension or a one-byte value.
  const std::uint64_t min_key_bytes = cursor_.count_bytes() + 1 + 4 + 1;
  const std::uint64_t min_tensor_bytes = cursor_.count_bytes() + 4 + 4 + 8;
  const std::uint64_t left = cursor_.file_remaining();
  if (tensor_count_ > left / min_tensor_bytes) {
    return fail(Errc::count_exceeds_file, counts_offset, "tensor count", found(tensor_count_));
  }
  if (key_count_ > left / min_key_bytes) {
    return fail(Errc::count_exceeds_file, counts_offset + cursor_.count_bytes(), "key count",
                found(key_count_));
  }
  if (tensor_count_ > limits.max_tensors) {
    return fail(Errc::limit_exceeded, counts_offset, "tensor count", found(tensor_count_));
  }
  if (key_count_ > limits.max_keys) {
    return fail(Errc::limit_exceeded, counts_offset + cursor_.count_bytes(), "key count",
                found(key_count_));
  }
  return {};
}

Result<void> Parser::parse_key_value() {
  const std::uint64_t key_offset = cursor_.position();
  INGOT_TRY(const std::string_view key, parse_key());
  INGOT_TRY(const Value value, parse_value(key));
  const auto position = static_cast<std::uint32_t>(structure_.metadata.size());
  structure_.metadata.push_back({key, value});
  const auto duplicate = structure_.key_index.insert(
      position, [this](std::uint32_t at) { return structure_.metadata[at].key; });
  if (duplicate) {
    return fail(
        Errc::key_duplicate, key_offset, std::string(key),
        "it is entry " + std::to_string(*duplicate) + " and entry " + std::to_string(position));
  }
  return {};
}

Result<std::string_view> Parser::parse_key() {
  const std::uint64_t key_offset = cursor_.position();
  const std::uint64_t length_bytes = cursor_.count();
  if (cursor_.has_failed()) return ends_early("key");
  if (length_bytes > max_key_bytes) {
    return fail(Errc::key_too_long, key_offset, "key", found(length_bytes));
  }
  const std::string_view key = strip(cursor_.take_text(length_bytes));
  if (cursor_.has_failed()) return ends_early("key");
  if (key.empty()) return fail(Errc::key_empty, key_offset, "key");
  if (!is_identifier(key)) return fail(Errc::key_invalid, key_offset, std::string(key));
  return key;
}

Result<ValueType> Parser::parse_value_type(std::string_view key) {
  const std::uint64_t type_offset = cursor_.position();
  const std::uint32_t type = cursor_.u32();
  if (cursor_.has_failed()) return ends_early(key);
  if (type >= value_type_count) {
    return fail(Errc::value_type_unknown, type_offset, std::string(key), found(type));
  }
  return static_cast<ValueType>(type);
}

Result<Value> Parser::parse_value(std::string_view key) {
  INGOT_TRY(const ValueType type, parse_value_type(key));
  if (type == ValueType::string) return parse_string(key);
  if (type == ValueType::array) return parse_array(key);
  const std::span<const std::byte> bytes = cursor_.take(size_bytes_of(type));
  if (cursor_.has_failed()) return ends_early(key);
  if (type == ValueType::boolean) INGOT_TRY_VOID(check_bools(key, bytes));
  return structure_.context->make(type, type, bytes.data(), bytes.size(), 1);
}

Result<Value> Parser::parse_string(std::string_view key) {
  const std::uint64_t length_offset = cursor_.position();
  const std::uint64_t length_bytes = cursor_.count();
  if (length_bytes > options_.limits.max_string_bytes && length_bytes <= cursor_.file_remaining()) {
    return fail(Errc::limit_exceeded, length_offset, std::string(key), found(length_bytes));
  }
  const std::string_view text = strip(cursor_.take_text(length_bytes));
  if (cursor_.has_failed()) return ends_early(key);
  return structure_.context->make(ValueType::string, ValueType::string,
                                  reinterpret_cast<const std::byte*>(text.data()), text.size(), 1);
}

Result<Value> Parser::parse_array(std::string_view key) {
  INGOT_TRY(ValueType element_type, parse_value_type(key));
  const ValueType outer_type = element_type;
  std::uint64_t count = cursor_.count();
  if (cursor_.has_failed()) return ends_early(key);
  const std::uint64_t outer_count = count;
  const std::byte* const content = cursor_.data();

  // Arrays that are not finished yet, outermost first: how many of their elements are to come.
  std::array<std::uint64_t, detail::max_array_depth> arrays_left;
  std::size_t open_arrays = 0;
  for (;;) {
    const std::size_t depth = open_arrays + 1;
    if (depth > std::min<std::size_t>(options_.limits.max_depth, detail::max_array_depth)) {
      return fail(Errc::nesting_too_deep, cursor_.position(), std::string(key),
                  "more than " + std::to_string(depth - 1) + " levels");
    }
    INGOT_TRY_VOID(skip_array_content(key, element_type, count));
    if (element_type == ValueType::array && count != 0) arrays_left[open_arrays++] = count;
    while (open_arrays != 0 && arrays_left[open_arrays - 1] == 0) --open_arrays;
    if (open_arrays == 0) break;
    --arrays_left[open_arrays - 1];
    INGOT_TRY(element_type, parse_value_type(key));
    count = cursor_.count();
    if (cursor_.has_failed()) return ends_early(key);
  }
  return structure_.context->make(ValueType::array, outer_type, content,
                                  static_cast<std::uint64_t>(cursor_.data() - content),
                                  outer_count);
}

/// Checks and steps over the elements of one array; of an array of arrays only the count is checked
/// here, its elements are the caller's.
Result<void> Parser::skip_array_content(std::string_view key, ValueType element_type,
                                        std::uint64_t count) {
  const std::uint64_t content_offset = cursor_.position();
  std::uint64_t min_element_bytes = size_bytes_of(element_type);
  if (element_type == ValueType::string) min_element_bytes = cursor_.count_bytes();
  if (element_type == ValueType::array) min_element_bytes = 4 + cursor_.count_bytes();
  if (count > cursor_.file_remaining() / min_element_bytes) {
    return fail(Errc::count_exceeds_file, content_offset - cursor_.count_bytes(), std::string(key),
                found(count));
  }
  if (count > options_.limits.max_array_elements) {
    return fail(Errc::limit_exceeded, content_offset - cursor_.count_bytes(), std::string(key),
                found(count) + " elements");
  }
  if (element_type == ValueType::array) return {};
  if (element_type == ValueType::string) {
    const std::byte* const strings = cursor_.data();
    SkippedStrings none;
    SkippedStrings& skipped =
        options_.known_strings != nullptr && count >= least_known_strings
            ? options_.known_strings->try_emplace(content_offset).first->second
            : none;
    if (!cursor_.skip_strings(count, options_.limits.max_string_bytes, skipped)) {
      return fail(Errc::limit_exceeded, cursor_.position(), std::string(key), "a long string");
    }
    if (cursor_.has_failed()) {
      cut_array_ = key;
      cut_array_left_ = count - skipped.count;
      cut_array_skipped_ = skipped;
      return ends_early(key);
    }
    look_for_stripped_nul(strings, count);
    return {};
  }
  const std::span<const std::byte> elements = cursor_.take(count * min_element_bytes);
  if (cursor_.has_failed()) return ends_early(key);
  if (element_type == ValueType::boolean) return check_bools(key, elements);
  return {};
}

Result<void> Parser::check_bools(std::string_view key, std::span<const std::byte> bools) const {
  if (options_.is_lenient) return {};
  std::byte seen{0};  // all bits of all bytes, without a branch for each
  for (const std::byte value : bools) seen |= value;
  if ((seen & ~std::byte{1}) == std::byte{0}) return {};
  const auto bad = std::find_if(bools.begin(), bools.end(),
                                [](std::byte value) { return value > std::byte{1}; });
  return fail(Errc::bool_invalid,
              static_cast<std::uint64_t>(&*bad - structure_.context->file_begin), std::string(key),
              found(std::to_integer<std::uint64_t>(*bad)));
}

Result<void> Parser::parse_tensors() {
  std::uint64_t indexed = 0;
  for (std::uint64_t i = 0; i < tensor_count_; ++i) {
    if (i - indexed == unindexed_.size()) INGOT_TRY_VOID(index_tensor(indexed++));
    if (const Result<void> parsed = parse_tensor(); !parsed) {
      // A name that an earlier tensor repeats is the first fault.
      while (indexed < i) INGOT_TRY_VOID(index_tensor(indexed++));
      return parsed;
    }
  }
  while (indexed < tensor_count_) INGOT_TRY_VOID(index_tensor(indexed++));
  return {};
}

Result<void> Parser::parse_tensor() {
  const std::uint64_t info_offset = cursor_.position();
  const std::size_t position = structure_.tensors.size();
  TensorInfo& tensor = structure_.tensors.emplace_back();
  INGOT_TRY_VOID(parse_tensor_name(tensor));
  unindexed_[position % unindexed_.size()] = {structure_.tensor_index.prepare(tensor.name),
                                              info_offset};
  INGOT_TRY_VOID(parse_shape(tensor));
  const std::uint64_t type_offset = cursor_.position();
  tensor.type = static_cast<TensorType>(cursor_.u32());
  tensor.data_offset = cursor_.u64();
  if (cursor_.has_failed()) return ends_early(tensor.name);
  INGOT_TRY_VOID(set_size(tensor, type_offset));
  if (tensor.data_offset % structure_.alignment != 0) {
    return fail(
        Errc::offset_unaligned, type_offset + 4, std::string(tensor.name),
        found(tensor.data_offset) + ", the alignment is " + std::to_string(structure_.alignment));
  }
  return {};
}

Result<void> Parser::index_tensor(std::uint64_t position) {
  const UnindexedName& name = unindexed_[position % unindexed_.size()];
  const auto duplicate = structure_.tensor_index.insert(
      static_cast<std::uint32_t>(position), name.hash,
      [this](std::uint32_t at) { return structure_.tensors[at].name; });
  if (duplicate) {
    return fail(
        Errc::tensor_duplicate, name.info_offset, std::string(structure_.tensors[position].name),
        "it is tensor " + std::to_string(*duplicate) + " and tensor " + std::to_string(position));
  }
  return {};
}

Result<void> Parser::parse_tensor_name(TensorInfo& tensor) {
  const std::uint64_t name_offset = cursor_.position();
  const std::uint64_t length_bytes = cursor_.count();
  if (cursor_.has_failed()) return ends_early("tensor name");
  if (length_bytes > max_lenient_name_bytes + 1) {
    return fail(Errc::limit_exceeded, name_offset, "tensor name", found(length_bytes) + " bytes");
  }
  const std::string_view name = strip(cursor_.take_text(length_bytes));
  if (cursor_.has_failed()) return ends_early("tensor name");
  if (!is_identifier(name)) {
    return fail(Errc::tensor_name_invalid, name_offset, std::string(name));
  }
  if (name.size() > max_lenient_name_bytes) {
    return fail(Errc::limit_exceeded, name_offset, "tensor name", found(name.size()) + " bytes");
  }
  if (name.size() > max_name_bytes && !options_.is_lenient) {
    return fail(Errc::tensor_name_too_long, name_offset, std::string(name), found(name.size()));
  }
  tensor.name = name;
  return {};
}

Result<void> Parser::parse_shape(TensorInfo& tensor) {
  const std::uint64_t count_offset = cursor_.position();
  const std::uint32_t dimension_count = cursor_.u32();
  if (dimension_count > max_lenient_dimensions) {
    return fail(Errc::dimension_count_invalid, count_offset, std::string(tensor.name),
                found(dimension_count));
  }
  if (dimension_count > max_dimensions && !options_.is_lenient) {
    return fail(Errc::too_many_dimensions, count_offset, std::string(tensor.name),
                found(dimension_count));
  }
  const std::size_t first = structure_.dimensions.size();
  for (std::uint32_t i = 0; i < dimension_count; ++i) {
    structure_.dimensions.push_back(cursor_.count());
  }
  tensor.shape = {structure_.dimensions.data() + first, dimension_count};
  return {};
}

Result<void> Parser::set_size(TensorInfo& tensor, std::uint64_t type_offset) const {
  if (find_type(tensor.type) == nullptr && !options_.is_lenient) {
    const std::string_view removed = removed_type_name(tensor.type);
    const auto id = static_cast<std::uint32_t>(tensor.type);
    return removed.empty()
               ? fail(Errc::tensor_type_unknown, type_offset, std::string(tensor.name), found(id))
               : fail(Errc::tensor_type_removed, type_offset, std::string(tensor.name),
                      found(id) + ", once " + std::string(removed));
  }
  Result<TensorSize> size = size_of_tensor(tensor.type, tensor.shape);
  if (!size) {
    return fail(size.error().code, type_offset, std::string(tensor.name), size.error().detail);
  }
  tensor.element_count = size->elements;
  tensor.size_bytes = size->bytes;
  return {};
}

}  // namespace

Result<Parsed> parse(std::span<const std::byte> prefix, const ParseOptions& options) {
  return Parser(prefix, options).run();
}

}  // namespace ingot::format
