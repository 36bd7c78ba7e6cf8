// SPDX-License-Identifier: MIT
#include "format/parse.hpp"

#include <array>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "format/expected_header.hpp"
#include "format/field.hpp"
#include "format/header_index.hpp"
#include "format/magic.hpp"
#include "format/tensor_table.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::format {
namespace {

constexpr std::uint64_t max_key_bytes = 65535;
/// For fewer strings, stepping over them again takes no longer than finding them in the map.
constexpr std::uint64_t least_known_strings = 1000;

class Parser {
 public:
  Parser(std::span<const std::byte> prefix, const ParseOptions& options)
      : options_(options),
        // The parser reads nothing beyond the limit, so that a header cannot grow without bound.
        prefix_bytes_(std::min<std::uint64_t>(prefix.size(), options.limits.max_header_bytes)),
        cursor_(prefix.first(to_size(prefix_bytes_)), options.file_bytes) {
    structure_.context = std::make_unique<detail::ValueContext>();
    structure_.context->file_begin = prefix.data();
  }

  /// Parses the records that an index points to.
  Result<Structure> run_indexed(const LayoutIndex& index, const HeaderParts& parts) {
    const auto contradicts = [&] {
      return fail(Errc::index_ignored, cursor_.position(), std::string(layout_index_key));
    };
    INGOT_TRY_VOID(parse_beginning());
    if (index.key_offsets.size() != key_count_) return contradicts();
    const bool is_all_there = parts.tail_offset <= parts.first_bytes;
    for (std::size_t i = 0; i < index.key_offsets.size(); ++i) {
      const std::uint64_t begin = index.key_offsets[i];
      const std::uint64_t end = index.end_of_key(i);
      const bool is_there = is_all_there || end <= parts.first_bytes || begin >= parts.tail_offset;
      if (!is_there || end - begin > most_indexed_record_bytes) {
        ++structure_.unread_keys;
        continue;
      }
      cursor_.move_to(begin, end);
      INGOT_TRY_VOID(parse_key_value());
      if (cursor_.position() != end) return contradicts();
    }
    INGOT_TRY(structure_.alignment, alignment_of(structure_, options_.is_lenient));
    structure_.infos_offset = index.infos_offset;
    cursor_.move_to(index.infos_offset, index.infos_end());
    INGOT_TRY_VOID(parse_tensor_infos(cursor_, options_, tensor_count_, structure_));
    structure_.header_bytes = cursor_.position();
    structure_.data_offset = *checked_align_up(structure_.header_bytes, structure_.alignment);
    if (structure_.header_bytes != index.infos_end() ||
        structure_.data_offset != index.data_offset) {
      return contradicts();
    }
    INGOT_TRY_VOID(check_layout(structure_, options_.file_bytes));
    structure_.is_indexed = true;
    return std::move(structure_);
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
  [[nodiscard]] HeaderProgress progress() const {
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
    expect_vocabulary(progress);
    return progress;
  }

  /// Notes which arrays usually follow the tokens of a vocabulary, as far as keys are left for
  /// them.
  void expect_vocabulary(HeaderProgress& progress) const {
    if (cut_array_ == keys::tokenizer_ggml_tokens) {
      progress.tokens_read = progress.strings_read;
      progress.tokens_read_bytes = progress.strings_read_bytes;
      progress.tokens = progress.strings_read + progress.strings_left;
    } else if (const Value* tokens = structure_.find(keys::tokenizer_ggml_tokens);
               tokens != nullptr && tokens->is_array()) {
      progress.tokens_read = progress.tokens = tokens->as_array().size();
      progress.tokens_read_bytes = tokens->as_array().bytes().size();
    }
    const Value* const kind = structure_.find(keys::tokenizer_ggml_model);
    const std::string_view family =
        kind == nullptr ? std::string_view{} : kind->get<std::string_view>().value_or("");
    std::uint64_t keys_left = progress.keys_left;
    const auto is_to_come = [&](std::string_view key) {
      const bool is_there = key == last_key_ || structure_.find(key) != nullptr;
      if (is_there || keys_left == 0) return false;
      --keys_left;
      return true;
    };
    progress.token_numbers += is_to_come(keys::tokenizer_ggml_token_type) ? 1u : 0u;
    const bool has_scores = family == "llama" || family == "t5";
    progress.token_numbers += has_scores && is_to_come(keys::tokenizer_ggml_scores) ? 1u : 0u;
    progress.has_merges = family == "gpt2" && is_to_come(keys::tokenizer_ggml_merges);
  }

  Result<void> parse_all() {
    INGOT_TRY_VOID(parse_beginning());
    for (std::uint64_t i = 0; i < key_count_; ++i) INGOT_TRY_VOID(parse_key_value());
    INGOT_TRY(structure_.alignment, alignment_of(structure_, options_.is_lenient));

    structure_.infos_offset = cursor_.position();
    INGOT_TRY_VOID(parse_tensor_infos(cursor_, options_, tensor_count_, structure_));

    structure_.header_bytes = cursor_.position();
    structure_.data_offset = *checked_align_up(structure_.header_bytes, structure_.alignment);
    return check_layout(structure_, options_.file_bytes);
  }

  /// Parses magic, version and counts.
  Result<void> parse_beginning() {
    INGOT_TRY(const Magic magic, read_magic(cursor_));
    structure_.version = magic.version;
    structure_.byte_order = magic.byte_order;
    structure_.has_old_magic = magic.is_old;
    structure_.context->encoding = encoding_of(magic.version, magic.byte_order);
    cursor_.set_swapped(structure_.context->encoding.is_swapped);
    cursor_.set_narrow_counts(structure_.context->encoding.has_narrow_counts);

    INGOT_TRY_VOID(parse_counts());
    structure_.metadata.reserve(to_size(key_count_));
    structure_.key_index.reserve(to_size(key_count_));
    return {};
  }

  Result<void> parse_counts() {
    const std::uint64_t counts_offset = cursor_.position();
    tensor_count_ = cursor_.count();
    key_count_ = cursor_.count();
    if (cursor_.has_failed()) return ends_early(cursor_, "header");
    are_counts_known_ = true;

    const Limits& limits = options_.limits;
    // The smallest entries that can exist: an empty name (a key has at least one byte) and no
    // dimension or a one-byte value.
    const std::uint64_t min_key_bytes = cursor_.count_bytes() + 1 + 4 + 1;
    const std::uint64_t min_tensor_bytes = cursor_.count_bytes() + 4 + 4 + 8;
    const std::uint64_t left = cursor_.file_remaining();
    const struct {
      const char* name;
      std::uint64_t number;
      std::uint64_t offset;
      std::uint64_t min_bytes;  // of one entry
      std::uint64_t limit;
    } counts[] = {
        {"tensor count", tensor_count_, counts_offset, min_tensor_bytes, limits.max_tensors},
        {"key count", key_count_, counts_offset + cursor_.count_bytes(), min_key_bytes,
         limits.max_keys},
    };
    for (const auto& count : counts) {
      if (count.number <= left / count.min_bytes) continue;
      return fail(Errc::count_exceeds_file, count.offset, count.name, found(count.number));
    }
    for (const auto& count : counts) {
      if (count.number <= count.limit) continue;
      return fail(Errc::limit_exceeded, count.offset, count.name, found(count.number));
    }
    return {};
  }

  Result<void> parse_key_value() {
    const std::uint64_t key_offset = cursor_.position();
    INGOT_TRY(const std::string_view key, parse_key());
    last_key_ = key;
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

  Result<std::string_view> parse_key() {
    const std::uint64_t key_offset = cursor_.position();
    const std::uint64_t length_bytes = cursor_.count();
    if (cursor_.has_failed()) return ends_early(cursor_, "key");
    if (length_bytes > max_key_bytes) {
      return fail(Errc::key_too_long, key_offset, "key", found(length_bytes));
    }
    const std::string_view key = strip(structure_, cursor_.take_text(length_bytes));
    if (cursor_.has_failed()) return ends_early(cursor_, "key");
    if (key.empty()) return fail(Errc::key_empty, key_offset, "key");
    if (!is_identifier(key)) return fail(Errc::key_invalid, key_offset, std::string(key));
    return key;
  }

  Result<Value> parse_value(std::string_view key) {
    INGOT_TRY(const ValueType type, parse_value_type(key));
    if (type == ValueType::string) return parse_string(key);
    if (type == ValueType::array) return parse_array(key);
    const std::span<const std::byte> bytes = cursor_.take(size_bytes_of(type));
    if (cursor_.has_failed()) return ends_early(cursor_, key);
    if (type == ValueType::boolean) INGOT_TRY_VOID(check_bools(key, bytes));
    return structure_.context->make(type, type, bytes.data(), bytes.size(), 1);
  }

  Result<Value> parse_string(std::string_view key) {
    const std::uint64_t length_offset = cursor_.position();
    const std::uint64_t length_bytes = cursor_.count();
    if (length_bytes > options_.limits.max_string_bytes &&
        length_bytes <= cursor_.file_remaining()) {
      return fail(Errc::limit_exceeded, length_offset, std::string(key), found(length_bytes));
    }
    const std::string_view text = strip(structure_, cursor_.take_text(length_bytes));
    if (cursor_.has_failed()) return ends_early(cursor_, key);
    return structure_.context->make(ValueType::string, ValueType::string,
                                    reinterpret_cast<const std::byte*>(text.data()), text.size(),
                                    1);
  }

  Result<Value> parse_array(std::string_view key) {
    INGOT_TRY(ValueType element_type, parse_value_type(key));
    const ValueType outer_type = element_type;
    std::uint64_t count = cursor_.count();
    if (cursor_.has_failed()) return ends_early(cursor_, key);
    const std::uint64_t outer_count = count;
    const std::byte* const content = cursor_.data();

    // The number of elements still to come in each unfinished array, outermost first.
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
      if (cursor_.has_failed()) return ends_early(cursor_, key);
    }
    return structure_.context->make(ValueType::array, outer_type, content,
                                    static_cast<std::uint64_t>(cursor_.data() - content),
                                    outer_count);
  }

  /// Checks and steps over the elements of one array; for an array of arrays it checks only the
  /// count, and the caller handles the elements.
  Result<void> skip_array_content(std::string_view key, ValueType element_type,
                                  std::uint64_t count) {
    const std::uint64_t content_offset = cursor_.position();
    std::uint64_t min_element_bytes = size_bytes_of(element_type);
    if (element_type == ValueType::string) min_element_bytes = cursor_.count_bytes();
    if (element_type == ValueType::array) min_element_bytes = 4 + cursor_.count_bytes();
    if (count > cursor_.file_remaining() / min_element_bytes) {
      return fail(Errc::count_exceeds_file, content_offset - cursor_.count_bytes(),
                  std::string(key), found(count));
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
        return ends_early(cursor_, key);
      }
      look_for_stripped_nul(strings, count);
      return {};
    }
    const std::span<const std::byte> elements = cursor_.take(count * min_element_bytes);
    if (cursor_.has_failed()) return ends_early(cursor_, key);
    if (element_type == ValueType::boolean) return check_bools(key, elements);
    return {};
  }

  Result<ValueType> parse_value_type(std::string_view key) {
    const std::uint64_t type_offset = cursor_.position();
    const std::uint32_t type = cursor_.u32();
    if (cursor_.has_failed()) return ends_early(cursor_, key);
    if (type >= value_type_count) {
      return fail(Errc::value_type_unknown, type_offset, std::string(key), found(type));
    }
    return static_cast<ValueType>(type);
  }

  Result<void> check_bools(std::string_view key, std::span<const std::byte> bools) const {
    if (options_.is_lenient) return {};
    std::byte seen{0};  // collects the bits of all bytes, without a branch for each
    for (const std::byte value : bools) seen |= value;
    if ((seen & ~std::byte{1}) == std::byte{0}) return {};
    const auto bad = std::find_if(bools.begin(), bools.end(),
                                  [](std::byte value) { return value > std::byte{1}; });
    return fail(Errc::bool_invalid,
                static_cast<std::uint64_t>(&*bad - structure_.context->file_begin),
                std::string(key), found(std::to_integer<std::uint64_t>(*bad)));
  }

  /// Notices an element with a trailing NUL, which it will lose when it is read.
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
  ParseOptions options_;
  std::uint64_t prefix_bytes_;
  Cursor cursor_;
  Structure structure_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t key_count_ = 0;
  bool are_counts_known_ = false;
  std::string_view last_key_;  ///< The last key that was read, even if its value was cut off.
  /// The array of strings that was cut off, if any: its key, and the strings stepped over.
  std::string_view cut_array_;
  std::uint64_t cut_array_left_ = 0;
  SkippedStrings cut_array_skipped_;
};

}  // namespace

Result<Structure> parse_indexed(const HeaderParts& parts, const LayoutIndex& index,
                                const ParseOptions& options) {
  return Parser(parts.header, options).run_indexed(index, parts);
}

Result<Parsed> parse(std::span<const std::byte> prefix, const ParseOptions& options) {
  return Parser(prefix, options).run();
}

}  // namespace ingot::format
