// SPDX-License-Identifier: MIT
// Weights that GPTQ has quantized.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/byte_order.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "ingot/half.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t word_bits = 32;
/// Limit of the scales, the zeros and the groups of a tensor, each.
constexpr std::uint64_t max_side_bytes = std::uint64_t{128} << 20;
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
  std::uint64_t first_output = 0;
  std::uint64_t output_count = 0;
  std::vector<std::byte> words;
};

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
  GptqNumbers(Parts parts, std::uint64_t bits, std::uint32_t zero_offset,
              std::shared_ptr<LastRead> last)
      : parts_(std::move(parts)), last_(std::move(last)), bits_(bits), zero_offset_(zero_offset) {
    outputs_ = parts_.codes.shape[1];
    inputs_ = parts_.codes.shape[0] * word_bits / bits;
    strip_outputs_ =
        std::clamp<std::uint64_t>(usual_strip_bytes / 4 / parts_.codes.shape[0], 1, outputs_);
  }

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
    const auto has_output = [&](const Strip& one) {
      return output >= one.first_output && output - one.first_output < one.output_count;
    };
    if (last_->strip == nullptr || !has_output(*last_->strip)) {
      last_->strip = nullptr;
      INGOT_TRY(last_->strip, read_strip(output / strip_outputs_ * strip_outputs_));
    }
    sides = last_->sides;
    strip = last_->strip;
    return {};
  }

  [[nodiscard]] Result<std::shared_ptr<const Sides>> read_sides() const {
    auto sides = std::make_shared<Sides>();
    INGOT_TRY(sides->zeros, parts_.zeros.read_all(max_side_bytes));
    INGOT_TRY(sides->scales, parts_.scales.read_all(max_side_bytes));
    INGOT_TRY(sides->groups, parts_.groups.read_all(max_side_bytes));
    for (std::uint64_t input = 0; input < inputs_; ++input) {
      if (word_at(sides->groups, input) >= parts_.scales.shape[0])
        return refuse(parts_.groups.name, "a group is unknown");
    }
    return std::shared_ptr<const Sides>(std::move(sides));
  }

  /// Reads the strip from an output on: at once if it is the whole table, else a piece of each row.
  [[nodiscard]] Result<std::shared_ptr<const Strip>> read_strip(std::uint64_t first_output) const {
    auto strip = std::make_shared<Strip>();
    strip->first_output = first_output;
    strip->output_count = std::min(strip_outputs_, outputs_ - first_output);
    const std::uint64_t rows = parts_.codes.shape[0];
    strip->words.resize(static_cast<std::size_t>(rows * strip->output_count * 4));
    const std::uint64_t pieces = strip->output_count == outputs_ ? 1 : rows;
    const std::size_t piece_bytes = strip->words.size() / static_cast<std::size_t>(pieces);
    for (std::uint64_t row = 0; row < pieces; ++row) {
      INGOT_TRY_VOID(parts_.codes.file->read(
          parts_.codes.file_offset + (row * outputs_ + first_output) * 4,
          std::span(strip->words)
              .subspan(static_cast<std::size_t>(row) * piece_bytes, piece_bytes)));
    }
    return std::shared_ptr<const Strip>(std::move(strip));
  }

  [[nodiscard]] std::uint32_t field(std::uint32_t word, std::uint64_t slot) const noexcept {
    return word >> (slot * bits_) & ((1u << bits_) - 1);
  }

  /// Decodes weights of one output, from an input on.
  void decode(const Sides& sides, const Strip& strip, std::uint64_t output, std::uint64_t input,
              std::span<std::byte> destination) const noexcept {
    const std::uint64_t per_word = word_bits / bits_;
    for (std::size_t i = 0; i < destination.size(); i += sizeof(float), ++input) {
      // A row of words holds 32 / bits inputs of all outputs.
      const std::uint32_t word =
          word_at(strip.words, input / per_word * strip.output_count + output - strip.first_output);
      const std::uint64_t group = word_at(sides.groups, input);
      const std::uint32_t zero_word =
          word_at(sides.zeros, group * (outputs_ / per_word) + output / per_word);
      const std::uint32_t code = field(word, input % per_word);
      const std::uint32_t zero = field(zero_word, output % per_word) + zero_offset_;
      const auto place = static_cast<std::size_t>(group * outputs_ + output) * 2;
      const float value =
          f32_from_f16(load_little<std::uint16_t>(&sides.scales[place])) *
          static_cast<float>(static_cast<std::int32_t>(code) - static_cast<std::int32_t>(zero));
      std::memcpy(destination.data() + i, &value, sizeof value);
    }
  }

  Parts parts_;
  std::shared_ptr<LastRead> last_;
  std::uint64_t bits_;
  std::uint32_t zero_offset_;
  std::uint64_t outputs_ = 0;
  std::uint64_t inputs_ = 0;
  std::uint64_t strip_outputs_ = 0;
};

bool is_table(const SourceTensor& tensor, std::string_view dtype, std::uint64_t rows,
              std::uint64_t columns) {
  return tensor.dtype != nullptr && tensor.dtype->name == dtype &&
         tensor.shape == std::vector<std::uint64_t>{rows, columns};
}

Result<SourceTensor> combine(const std::string& base, GptqNumbers::Parts parts, std::uint64_t bits,
                             std::uint32_t zero_offset, std::shared_ptr<LastRead> last) {
  const SourceTensor& codes = parts.codes;
  const std::uint64_t per_word = word_bits / bits;
  if (codes.shape.size() != 2 || codes.dtype->name != "I32" || codes.shape[0] == 0 ||
      codes.shape[1] % per_word != 0) {
    return refuse(codes.name, "a table of I32 is expected");
  }
  const std::uint64_t inputs = codes.shape[0] * per_word;
  const std::uint64_t outputs = codes.shape[1];
  const std::uint64_t groups = parts.scales.shape.empty() ? 0 : parts.scales.shape[0];
  if (groups == 0 || !is_table(parts.scales, "F16", groups, outputs) ||
      !is_table(parts.zeros, "I32", groups, outputs / per_word) ||
      parts.groups.dtype->name != "I32" ||
      parts.groups.shape != std::vector<std::uint64_t>{inputs}) {
    return refuse(codes.name, "its scales, qzeros and g_idx do not fit it");
  }
  SourceTensor weight{.name = base + ".weight", .shape = {outputs, inputs}};
  weight.code_bits = bits;
  weight.computed =
      std::make_shared<GptqNumbers>(std::move(parts), bits, zero_offset, std::move(last));
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
  const std::uint32_t zero_offset = format == settings.end() || *format == "gptq" ? 1 : 0;

  std::map<std::string, std::size_t, std::less<>> positions;
  for (std::size_t i = 0; i < tensors.size(); ++i) positions[tensors[i].name] = i;
  const auto last = std::make_shared<LastRead>();
  std::vector<SourceTensor> combined;
  std::vector<bool> is_used(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    constexpr std::string_view ending = ".qweight";
    if (!tensors[i].name.ends_with(ending)) continue;
    const std::string base = tensors[i].name.substr(0, tensors[i].name.size() - ending.size());
    std::vector<std::size_t> places = {i};
    for (const char* part : {".qzeros", ".scales", ".g_idx"}) {
      const auto found = positions.find(base + part);
      if (found == positions.end()) return refuse(base + part, "the tensor is missing");
      places.push_back(found->second);
    }
    for (const std::size_t place : places) is_used[place] = true;
    INGOT_TRY(SourceTensor weight, combine(base,
                                           {.codes = tensors[places[0]],
                                            .zeros = tensors[places[1]],
                                            .scales = tensors[places[2]],
                                            .groups = tensors[places[3]]},
                                           bits, zero_offset, last));
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

}  // namespace ingot::huggingface
