// SPDX-License-Identifier: MIT
// Weights that GPTQ or AWQ has quantized: a row of words for inputs, a column for outputs.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "base/ascii.hpp"
#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "huggingface/folder/config.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/quantized/packed_numbers.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "ingot/half.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t word_bits = 32;
/// Limit of the scales, the zeros and the groups of a tensor, each.
constexpr std::uint64_t max_side_bytes = std::uint64_t{128} << 20;
/// A strip of the codes of an output has as many words: 128 MiB.
constexpr std::uint64_t max_inputs = max_side_bytes / 4;
/// A strip has as many outputs as fit this, and all inputs. Most tensors are one strip.
constexpr std::uint64_t usual_strip_bytes = std::uint64_t{16} << 20;

std::uint32_t word_at(std::span<const std::byte> bytes, std::uint64_t index) noexcept {
  return load_little<std::uint32_t>(&bytes[static_cast<std::size_t>(index) * 4]);
}

/// The scales, zeros and groups of a tensor.
struct Sides {
  std::vector<std::byte> zeros, scales, groups;
};

/// Words of the codes of some outputs: the rows of the table, cut at both sides.
struct Strip {
  std::uint64_t first_word = 0;
  std::uint64_t word_count = 0;  // of a row
  std::vector<std::byte> words;
};

/// How codes are packed.
struct WordLayout {
  std::uint64_t bits = 4;
  std::uint32_t zero_offset = 0;  ///< What is added to stored zeros.
  bool packs_outputs = false;     ///< A word has codes of neighbouring outputs, not inputs.
  std::array<std::uint8_t, 8> slots{0, 1, 2, 3, 4, 5, 6, 7};  ///< Of an output in such a word.
};

/// AutoAWQ packs the outputs 0, 2, 4, 6, 1, 3, 5, 7 into a word (awq/utils/packing_utils.py).
constexpr WordLayout awq_layout{
    .bits = 4, .zero_offset = 0, .packs_outputs = true, .slots = {0, 4, 1, 5, 2, 6, 3, 7}};

/// The bytes of the last read. The pieces of a tensor follow one another, so one buffer for all
/// tensors of a folder saves nearly all reads, and its memory does not grow with the model.
struct LastRead {
  std::mutex mutex;
  const void* reader = nullptr;
  std::shared_ptr<const Sides> sides;
  std::shared_ptr<const Strip> strip;
};

/// weight[out][in] = scale[group of in][out] * (code[in][out] - zero[group of in][out])
class GptqNumbers final : public NumberSource {
 public:
  struct Parts {
    SourceTensor codes, zeros, scales, groups;
  };
  GptqNumbers(Parts parts, const WordLayout& layout, std::shared_ptr<LastRead> last)
      : parts_(std::move(parts)),
        last_(std::move(last)),
        layout_(layout),
        per_word_(word_bits / layout.bits),
        row_words_(parts_.codes.shape[1]),
        outputs_(row_words_ * (layout.packs_outputs ? per_word_ : 1)),
        inputs_(parts_.codes.shape[0] * (layout.packs_outputs ? 1 : per_word_)),
        group_(inputs_ / parts_.scales.shape[0]),
        strip_words_(std::clamp<std::uint64_t>(usual_strip_bytes / 4 / parts_.codes.shape[0], 1,
                                               row_words_)),
        is_bf16_(parts_.scales.dtype->type == TensorType::bf16) {}

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::f32; }

  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    while (!destination.empty()) {
      const std::uint64_t output = first / inputs_;
      const std::uint64_t input = first % inputs_;
      const std::uint64_t count =
          std::min<std::uint64_t>(inputs_ - input, destination.size() / sizeof(float));
      std::shared_ptr<const Sides> sides;
      std::shared_ptr<const Strip> strip;
      INGOT_TRY_VOID(load(output, sides, strip));
      decode(*sides, *strip, output, input,
             destination.first(static_cast<std::size_t>(count) * sizeof(float)));
      destination = destination.subspan(static_cast<std::size_t>(count) * sizeof(float));
      first += count;
    }
    return {};
  }

 private:
  /// Finds the sides and the strip of an output, or reads them.
  Result<void> load(std::uint64_t output, std::shared_ptr<const Sides>& sides,
                    std::shared_ptr<const Strip>& strip) const {
    const std::lock_guard lock(last_->mutex);
    if (last_->reader != this) {
      last_->reader = nullptr;
      last_->sides = nullptr;
      last_->strip = nullptr;
      INGOT_TRY(last_->sides, read_sides());
      last_->reader = this;
    }
    const std::uint64_t word = layout_.packs_outputs ? output / per_word_ : output;
    const auto has_word = [&](const Strip& one) {
      return word >= one.first_word && word - one.first_word < one.word_count;
    };
    if (last_->strip == nullptr || !has_word(*last_->strip)) {
      last_->strip = nullptr;
      INGOT_TRY(last_->strip, read_strip(word / strip_words_ * strip_words_));
    }
    sides = last_->sides;
    strip = last_->strip;
    return {};
  }

  [[nodiscard]] Result<std::shared_ptr<const Sides>> read_sides() const {
    auto sides = std::make_shared<Sides>();
    INGOT_TRY(sides->zeros, parts_.zeros.read_all(max_side_bytes));
    INGOT_TRY(sides->scales, parts_.scales.read_all(max_side_bytes));
    if (!has_groups()) return std::shared_ptr<const Sides>(std::move(sides));
    INGOT_TRY(sides->groups, parts_.groups.read_all(max_side_bytes));
    for (std::uint64_t input = 0; input < inputs_; ++input) {
      if (word_at(sides->groups, input) >= parts_.scales.shape[0])
        return refuse(parts_.groups.name, "a group is unknown");
    }
    return std::shared_ptr<const Sides>(std::move(sides));
  }

  /// Without a list of groups, they are inputs that follow one another.
  [[nodiscard]] bool has_groups() const noexcept { return parts_.groups.file != nullptr; }

  /// Reads the strip from a word on: at once if it is the whole table, else a piece of each row.
  [[nodiscard]] Result<std::shared_ptr<const Strip>> read_strip(std::uint64_t first_word) const {
    auto strip = std::make_shared<Strip>();
    strip->first_word = first_word;
    strip->word_count = std::min(strip_words_, row_words_ - first_word);
    const std::uint64_t rows = parts_.codes.shape[0];
    strip->words.resize(static_cast<std::size_t>(rows * strip->word_count * 4));
    const std::uint64_t pieces = strip->word_count == row_words_ ? 1 : rows;
    const std::size_t piece_bytes = strip->words.size() / static_cast<std::size_t>(pieces);
    for (std::uint64_t row = 0; row < pieces; ++row) {
      INGOT_TRY_VOID(parts_.codes.file->read(
          parts_.codes.file_offset + (row * row_words_ + first_word) * 4,
          std::span(strip->words)
              .subspan(static_cast<std::size_t>(row) * piece_bytes, piece_bytes)));
    }
    return std::shared_ptr<const Strip>(std::move(strip));
  }

  [[nodiscard]] std::uint32_t field(std::uint32_t word, std::uint64_t slot) const noexcept {
    return word >> (slot * layout_.bits) & ((1u << layout_.bits) - 1);
  }

  /// Decodes weights of one output, from an input on.
  void decode(const Sides& sides, const Strip& strip, std::uint64_t output, std::uint64_t input,
              std::span<std::byte> destination) const noexcept {
    const bool packs_outputs = layout_.packs_outputs;
    const std::uint64_t output_slot =
        packs_outputs ? layout_.slots[to_size(output % per_word_)] : output % per_word_;
    const std::uint64_t column = (packs_outputs ? output / per_word_ : output) - strip.first_word;
    for (std::size_t i = 0; i < destination.size(); i += sizeof(float), ++input) {
      const std::uint64_t row = packs_outputs ? input : input / per_word_;
      const std::uint64_t slot = packs_outputs ? output_slot : input % per_word_;
      const std::uint32_t code = field(word_at(strip.words, row * strip.word_count + column), slot);
      const std::uint64_t group = has_groups() ? word_at(sides.groups, input) : input / group_;
      const std::uint32_t zero_word =
          word_at(sides.zeros, group * (outputs_ / per_word_) + output / per_word_);
      const std::uint32_t zero = field(zero_word, output_slot) + layout_.zero_offset;
      const auto place = static_cast<std::size_t>(group * outputs_ + output) * 2;
      const auto half = load_little<std::uint16_t>(&sides.scales[place]);
      const float value =
          (is_bf16_ ? f32_from_bf16(half) : f32_from_f16(half)) *
          static_cast<float>(static_cast<std::int32_t>(code) - static_cast<std::int32_t>(zero));
      std::memcpy(destination.data() + i, &value, sizeof value);
    }
  }

  Parts parts_;
  std::shared_ptr<LastRead> last_;
  WordLayout layout_;
  std::uint64_t per_word_;
  std::uint64_t row_words_;
  std::uint64_t outputs_;
  std::uint64_t inputs_;
  std::uint64_t group_;
  std::uint64_t strip_words_;
  bool is_bf16_;
};

Result<void> expect_table(const SourceTensor& tensor, std::string_view dtype,
                          const std::vector<std::uint64_t>& shape) {
  const bool has_type =
      tensor.dtype != nullptr && tensor.file != nullptr &&
      (tensor.dtype->name == dtype || (dtype == "F16" && tensor.dtype->type == TensorType::bf16));
  if (has_type && tensor.shape == shape) return {};
  return refuse(tensor.name, std::string(dtype) + " " + shape_text(shape) +
                                 " is expected, which fits the codes; it is " + described(tensor));
}

/// The weight that the tables stand for, if they fit one another.
Result<SourceTensor> combine(const std::string& base, GptqNumbers::Parts parts,
                             const WordLayout& layout, std::shared_ptr<LastRead> last) {
  const SourceTensor& codes = parts.codes;
  const std::uint64_t per_word = word_bits / layout.bits;
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  if (codes.shape.size() != 2 || codes.dtype == nullptr || codes.dtype->name != "I32" ||
      codes.shape[0] == 0 || codes.shape[1] == 0 || codes.shape[0] > most ||
      codes.shape[1] > most || (!layout.packs_outputs && codes.shape[1] % per_word != 0)) {
    return refuse(codes.name, "a table of I32 is expected, with whole words of outputs");
  }
  const std::uint64_t inputs = codes.shape[0] * (layout.packs_outputs ? 1 : per_word);
  const std::uint64_t outputs = codes.shape[1] * (layout.packs_outputs ? per_word : 1);
  if (inputs > max_inputs) {
    return refuse(codes.name, "at most " + std::to_string(max_inputs) + " inputs are supported");
  }
  const std::uint64_t groups = parts.scales.shape.empty() ? 0 : parts.scales.shape[0];
  const bool has_groups = parts.groups.file != nullptr;
  if (groups == 0 || (!has_groups && inputs % groups != 0)) {
    return refuse(parts.scales.name, "a row of scales for each group of the " +
                                         std::to_string(inputs) + " inputs is expected");
  }
  INGOT_TRY_VOID(expect_table(parts.scales, "F16", {groups, outputs}));
  INGOT_TRY_VOID(expect_table(parts.zeros, "I32", {groups, outputs / per_word}));
  if (has_groups) INGOT_TRY_VOID(expect_table(parts.groups, "I32", {inputs}));
  SourceTensor weight{.name = base + ".weight", .shape = {outputs, inputs}};
  weight.code_bits = layout.bits;
  weight.computed = std::make_shared<GptqNumbers>(std::move(parts), layout, std::move(last));
  return weight;
}

/// The bits of one weight: those of config.json, unless the list of groups, which has a place for
/// each input, tells that the weight has others (`dynamic` of GPTQModel).
std::uint64_t bits_of(const GptqNumbers::Parts& parts, std::uint64_t usual) {
  if (parts.groups.shape.size() != 1 || parts.codes.shape.size() != 2) return usual;
  for (const std::uint64_t bits : {2u, 4u, 8u}) {
    const std::uint64_t inputs = parts.groups.shape[0];
    if (inputs != 0 && inputs % (word_bits / bits) == 0 &&
        inputs / (word_bits / bits) == parts.codes.shape[0])
      return bits;
  }
  return usual;
}

using Combine =
    std::function<Result<SourceTensor>(const std::string& base, const GptqNumbers::Parts& parts)>;

/// Makes of each NAME.qweight, .qzeros, .scales and perhaps .g_idx a NAME.weight behind all others.
Result<void> combine_all(std::vector<SourceTensor>& tensors, const Combine& make) {
  std::map<std::string, std::size_t, std::less<>> positions;
  for (std::size_t i = 0; i < tensors.size(); ++i) positions[tensors[i].name] = i;
  std::vector<SourceTensor> combined;
  std::vector<bool> is_used(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    constexpr std::string_view ending = ".qweight";
    if (!tensors[i].name.ends_with(ending)) continue;
    const std::string base = tensors[i].name.substr(0, tensors[i].name.size() - ending.size());
    GptqNumbers::Parts parts{.codes = tensors[i], .zeros = {}, .scales = {}, .groups = {}};
    is_used[i] = true;
    for (const auto& [suffix, part] : {std::pair(".qzeros", &parts.zeros),
                                       {".scales", &parts.scales},
                                       {".g_idx", &parts.groups}}) {
      const auto found = positions.find(base + suffix);
      if (found == positions.end() && part == &parts.groups) continue;
      if (found == positions.end()) return refuse(base + suffix, "the tensor is missing");
      *part = tensors[found->second];
      is_used[found->second] = true;
    }
    INGOT_TRY(SourceTensor weight, make(base, parts));
    combined.push_back(std::move(weight));
  }
  std::vector<SourceTensor> result;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_used[i]) result.push_back(std::move(tensors[i]));
  }
  std::move(combined.begin(), combined.end(), std::back_inserter(result));
  tensors = std::move(result);
  return {};
}

/// AutoAWQ's GEMV: codes, zeros and scales of an output in a row, in the order of the inputs. Rows
/// of zeros are filled up, and those of scales to eight for each word of zeros.
Result<SourceTensor> combine_rows(const std::string& base, const GptqNumbers::Parts& parts,
                                  std::uint64_t group) {
  constexpr std::uint64_t per_word = word_bits / 4;
  const SourceTensor& codes = parts.codes;
  if (codes.shape.size() != 2 || codes.dtype == nullptr || codes.dtype->name != "I32" ||
      codes.shape[1] == 0 || codes.shape[1] > max_packed_row_bits / bits_of_packed_word) {
    return refuse(codes.name, "a table of I32 is expected");
  }
  const std::uint64_t inputs = codes.shape[1] * per_word;
  if (group == 0) group = inputs;
  if (inputs % group != 0) {
    return refuse(codes.name, "its " + std::to_string(inputs) + " inputs are no whole groups of " +
                                  std::to_string(group));
  }
  const std::uint64_t least = (inputs / group - 1) / per_word + 1;
  const std::uint64_t width = parts.zeros.shape.size() == 2 ? parts.zeros.shape[1] : 0;
  INGOT_TRY_VOID(expect_table(parts.zeros, "I32",
                              {codes.shape[0], std::clamp(width, least, least + per_word)}));
  INGOT_TRY_VOID(expect_table(parts.scales, "F16", {codes.shape[0], width * per_word}));
  SourceTensor weight{.name = base + ".weight", .shape = {codes.shape[0], inputs}, .code_bits = 4};
  weight.computed = std::make_shared<PackedNumbers>(
      PackedNumbers::Parts{.codes = codes, .scales = parts.scales, .zeros = &parts.zeros},
      PackedLayout{.bits = 4, .columns = inputs, .group = group, .zeros_follow_groups = true});
  return weight;
}

}  // namespace

Result<void> undo_gptq(const nlohmann::json& settings, std::vector<SourceTensor>& tensors) {
  const auto bits_value = settings.find("bits");
  const bool has_bits = bits_value != settings.end() && bits_value->is_number_unsigned();
  const std::uint64_t bits = has_bits ? bits_value->get<std::uint64_t>() : 0;
  if (bits != 2 && bits != 4 && bits != 8) {
    return refuse("config.json", "GPTQ weights of 2, 4 and 8 bits are supported");
  }
  // Zeros are stored one too small, except in the second format.
  const auto format = settings.find("checkpoint_format");
  const bool is_first = format == settings.end() || format->is_null() || *format == "gptq";
  if (!is_first && *format != "gptq_v2") {
    return refuse("config.json", "the checkpoint_format gptq or gptq_v2 is expected");
  }
  const std::uint32_t zero_offset = is_first ? 1 : 0;
  const auto last = std::make_shared<LastRead>();
  return combine_all(tensors, [&](const std::string& base, const GptqNumbers::Parts& parts) {
    const WordLayout layout{.bits = bits_of(parts, bits), .zero_offset = zero_offset};
    return combine(base, parts, layout, last);
  });
}

Result<void> undo_awq(const nlohmann::json& settings, std::vector<SourceTensor>& tensors) {
  const auto member = [&](const char* name, const nlohmann::json& otherwise) {
    const auto found = settings.find(name);
    return found == settings.end() || found->is_null() ? otherwise : *found;
  };
  const nlohmann::json version = member("version", "gemm");
  const std::string name = version.is_string() ? lower_case(version.get<std::string>()) : "";
  if (member("bits", member("w_bit", 4)) != 4 || (name != "gemm" && name != "gemv")) {
    return refuse("config.json",
                  "AWQ weights of 4 bits in the versions gemm and gemv are "
                  "supported; this is version `" +
                      name + "`");
  }
  const nlohmann::json size = member("group_size", member("q_group_size", -1));
  std::uint64_t group = 0;  // all inputs
  if (size != -1) {
    INGOT_TRY(group, count_of(size, "group_size"));
  }
  const auto last = std::make_shared<LastRead>();
  return combine_all(
      tensors,
      [&](const std::string& base, const GptqNumbers::Parts& parts) -> Result<SourceTensor> {
        if (parts.groups.file != nullptr) {
          return refuse(parts.groups.name, "AWQ has no groups in another order");
        }
        return name == "gemv" ? combine_rows(base, parts, group)
                              : combine(base, parts, awq_layout, last);
      });
}

}  // namespace ingot::huggingface
