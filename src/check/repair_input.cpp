// SPDX-License-Identifier: MIT
#include "check/repair_input.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_order.hpp"
#include "check/pretended_source.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::check {
namespace {

/// A file in which four bytes are others.
class PatchedSource final : public Source {
 public:
  PatchedSource(std::unique_ptr<Source> source, std::uint64_t offset, std::uint32_t word,
                bool is_swapped) noexcept
      : source_(std::move(source)), offset_(offset) {
    store(word_, word, is_swapped);
  }

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return source_->size_bytes(); }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    INGOT_TRY_VOID(source_->read(file_offset, destination));
    for (std::uint64_t i = 0; i < sizeof word_; ++i) {
      if (offset_ + i < file_offset || offset_ + i - file_offset >= destination.size()) continue;
      destination[static_cast<std::size_t>(offset_ + i - file_offset)] = word_[i];
    }
    return {};
  }

 private:
  std::unique_ptr<Source> source_;
  std::uint64_t offset_;
  std::byte word_[4];
};

/// Whether the words of a file are in the other byte order than this machine's; nothing if it is no
/// GGUF file.
std::optional<bool> is_swapped_file(const Source& source) {
  std::byte head[8];
  if (source.size_bytes() < sizeof head || !source.read(0, head)) return std::nullopt;
  const bool is_big = load_little<std::uint32_t>(head + 4) == 0x0300'0000;
  return is_big == (std::endian::native == std::endian::little);
}

/// Opens the file with `word` in place of the four bytes at `offset`.
Result<Model> open_patched(const std::string& path, std::uint64_t offset, std::uint32_t word,
                           bool is_lenient) {
  INGOT_TRY(std::unique_ptr<Source> source, read_file(path));
  const std::optional<bool> is_swapped = is_swapped_file(*source);
  if (!is_swapped) return fail(Errc::not_gguf, path);
  return Model::open_source(
      std::make_unique<PatchedSource>(std::move(source), offset, word, *is_swapped),
      {.access = FileAccess::read, .is_lenient = is_lenient, .with_shards = false});
}

RepairInput whole(Model model, bool is_lenient) {
  const std::uint64_t present_bytes = model.files()[0].file_bytes;
  return {.model = std::move(model),
          .present_bytes = present_bytes,
          .is_lenient = is_lenient,
          .steps = {}};
}

/// Where the value of `general.alignment` is, by its key: a model that does not open cannot be
/// asked. Bytes that look like the key may stand in another value, so the opened model is compared.
std::optional<std::uint64_t> find_alignment_value(const std::string& path, bool has_narrow_counts,
                                                  bool is_swapped) {
  constexpr std::uint64_t max_bytes = std::uint64_t{64} << 20;
  Result<std::unique_ptr<Source>> source = read_file(path);
  if (!source) return std::nullopt;
  std::vector<std::byte> header(
      static_cast<std::size_t>(std::min((*source)->size_bytes(), max_bytes)));
  if (!(*source)->read(0, header)) return std::nullopt;
  std::byte number[8];
  std::string wanted;
  const auto append = [&](std::size_t size) {
    wanted.append(reinterpret_cast<const char*>(number), size);
  };
  if (has_narrow_counts) {
    store<std::uint32_t>(number, keys::general_alignment.size(), is_swapped);
  } else {
    store<std::uint64_t>(number, keys::general_alignment.size(), is_swapped);
  }
  append(has_narrow_counts ? 4 : 8);
  wanted += keys::general_alignment;
  store<std::uint32_t>(number, static_cast<std::uint32_t>(ValueType::uint32), is_swapped);
  append(4);
  const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
  const std::size_t at = text.find(wanted);
  return at == std::string_view::npos ? std::nullopt : std::optional(at + wanted.size());
}

bool is_about_alignment(Errc code) noexcept {
  return code == Errc::alignment_invalid || code == Errc::alignment_wrong_type ||
         code == Errc::offset_unaligned || code == Errc::tensor_outside_file ||
         code == Errc::tensor_overlap;
}

RepairStep alignment_step() {
  return {"data lies as if the alignment were 32; the key says so now",
          std::string(keys::general_alignment),
          {}};
}

/// Writers that ignore `general.alignment` align to 32 in any case; then nothing is where it
/// should be. And some store it as an int32.
std::optional<RepairInput> open_with_default_alignment(const std::string& path, const Error& error,
                                                       bool is_lenient) {
  if (!is_about_alignment(error.code)) return std::nullopt;
  const Result<std::unique_ptr<Source>> source = read_file(path);
  if (!source) return std::nullopt;
  const std::optional<bool> is_swapped = is_swapped_file(**source);
  if (!is_swapped) return std::nullopt;
  const auto word_at = [&](std::uint64_t offset) -> std::optional<std::uint32_t> {
    std::byte word[4];
    if (!(*source)->read(offset, word)) return std::nullopt;
    return load<std::uint32_t>(word, *is_swapped);
  };
  if (error.code == Errc::alignment_wrong_type) {
    if (error.file_offset < 8) return std::nullopt;
    const std::uint64_t type_offset = error.file_offset - 4;
    if (word_at(type_offset) != static_cast<std::uint32_t>(ValueType::int32)) return std::nullopt;
    Result<Model> typed =
        open_patched(path, type_offset, static_cast<std::uint32_t>(ValueType::uint32), is_lenient);
    if (!typed) return std::nullopt;
    RepairInput input = whole(*std::move(typed), is_lenient);
    input.steps.push_back({"it is a uint32 now", std::string(keys::general_alignment), {}});
    return input;
  }
  const bool has_narrow_counts = word_at(4) == 1u;
  const auto offset = find_alignment_value(path, has_narrow_counts, *is_swapped);
  if (!offset) return std::nullopt;
  Result<Model> model = open_patched(path, *offset, default_alignment, is_lenient);
  const Value* value = model ? model->find(keys::general_alignment) : nullptr;
  if (value == nullptr || value->file_offset() != *offset) return std::nullopt;
  RepairInput input = whole(*std::move(model), is_lenient);
  input.steps.push_back(alignment_step());
  return input;
}

std::string_view without_nuls(std::string_view text) noexcept {
  while (text.ends_with('\0')) text.remove_suffix(1);
  return text;
}

/// An array whose elements are not all copied yet.
struct Level {
  Array::Iterator next;
  OwnedValue made;
};

class ValueRepairer {
 public:
  explicit ValueRepairer(bool cuts_nuls) noexcept : cuts_nuls_(cuts_nuls) {}

  Result<RepairedValue> repair(const Value& value) {
    if (!value.is_array()) return finish(repair_single(value));
    enter(value.as_array());
    for (;;) {
      Level& level = levels_.back();
      if (level.next != Array::Iterator{}) {
        const Value element = *level.next;
        ++level.next;
        if (element.is_array()) {
          enter(element.as_array());
        } else {
          INGOT_TRY_VOID(level.made.append(repair_single(element)));
        }
        continue;
      }
      OwnedValue made = std::move(level.made);
      levels_.pop_back();
      if (levels_.empty()) return finish(std::move(made));
      INGOT_TRY_VOID(levels_.back().made.append(made));
    }
  }

 private:
  void enter(const Array& array) {
    levels_.push_back({array.begin(), OwnedValue::array(array.element_type())});
  }

  RepairedValue finish(OwnedValue made) const { return {std::move(made), has_set_bools_}; }

  OwnedValue repair_single(const Value& value) {
    if (value.type() == ValueType::boolean) {
      has_set_bools_ = has_set_bools_ || value.bytes()[0] > std::byte{1};
      return OwnedValue::boolean(value.get<bool>().value_or(false));
    }
    if (value.type() == ValueType::string && cuts_nuls_) {
      const std::string_view text = value.get<std::string_view>().value_or("");
      return OwnedValue::string(without_nuls(text));
    }
    return OwnedValue::copy_of(value);
  }

  bool cuts_nuls_;
  bool has_set_bools_ = false;
  std::vector<Level> levels_;  // outermost first
};

}  // namespace

Result<RepairInput> open_for_repair(const std::string& path) {
  Result<Model> model = Model::open(path, {.access = FileAccess::read});
  if (model) return whole(*std::move(model), false);
  const Error strict = std::move(model).error();
  Error error = strict;
  const bool is_lenient = category_of(strict.code) == ErrorCategory::lenient;
  if (is_lenient) {
    model = Model::open(path, {.access = FileAccess::read, .is_lenient = true});
    if (model) return whole(*std::move(model), true);
    error = std::move(model).error();
  }
  if (std::optional<RepairInput> input = open_with_default_alignment(path, error, is_lenient)) {
    return *std::move(input);
  }
  if (error.code == Errc::tensor_outside_file) {
    Result<CutFile> cut = open_cut_file(path, is_lenient);
    if (cut) {
      const std::uint64_t present_bytes = cut->present_bytes;
      return RepairInput{.model = std::move(cut->model),
                         .present_bytes = present_bytes,
                         .is_cut = true,
                         .is_lenient = is_lenient,
                         .steps = {}};
    }
  }
  return fail(strict);
}

Result<RepairedValue> repair_value(const Value& value, bool cuts_nuls) {
  return ValueRepairer(cuts_nuls).repair(value);
}

}  // namespace ingot::check
