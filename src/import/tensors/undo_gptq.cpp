// SPDX-License-Identifier: MIT
// Weights that GPTQ has quantized.
#include <cstring>
#include <map>
#include <utility>

#include "base/byte_order.hpp"
#include "import/folder/refusal.hpp"
#include "import/tensors/source_tensors.hpp"
#include "ingot/half.hpp"

namespace ingot::hf {
namespace {

constexpr std::uint64_t word_bits = 32;
/// Scales, zeros and groups of one tensor are held in memory while it is read.
constexpr std::uint64_t max_side_bytes = std::uint64_t{128} << 20;

std::uint32_t word_at(std::span<const std::byte> bytes, std::uint64_t index) noexcept {
  return load_little<std::uint32_t>(&bytes[static_cast<std::size_t>(index) * 4]);
}

/// weight[out][in] = scale[group of in][out] * (code[in][out] - zero[group of in][out])
class GptqNumbers final : public NumberSource {
 public:
  struct Parts {
    SourceTensor codes, zeros, scales, groups;
  };
  GptqNumbers(Parts parts, std::uint64_t bits, std::uint32_t zero_offset)
      : parts_(std::move(parts)), bits_(bits), zero_offset_(zero_offset) {
    outputs_ = parts_.codes.shape[1];
    inputs_ = parts_.codes.shape[0] * word_bits / bits;
  }

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::f32; }

  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    INGOT_TRY(const std::vector<std::byte> zeros, parts_.zeros.read_all(max_side_bytes));
    INGOT_TRY(const std::vector<std::byte> scales, parts_.scales.read_all(max_side_bytes));
    INGOT_TRY(const std::vector<std::byte> groups, parts_.groups.read_all(max_side_bytes));
    const std::uint64_t count = destination.size() / sizeof(float);
    const std::uint64_t first_row = first / inputs_;
    const std::uint64_t row_count = (first + count - 1) / inputs_ - first_row + 1;
    std::vector<std::byte> words(static_cast<std::size_t>(row_count) * 4);
    // A row of words holds 32 / bits inputs of all outputs.
    for (std::uint64_t word_row = 0; word_row < parts_.codes.shape[0]; ++word_row) {
      INGOT_TRY_VOID(parts_.codes.file->read(
          parts_.codes.file_offset + (word_row * outputs_ + first_row) * 4, words));
      for (std::uint64_t slot = 0; slot < word_bits / bits_; ++slot) {
        const std::uint64_t input = word_row * (word_bits / bits_) + slot;
        const std::uint64_t group = word_at(groups, input);
        if (group >= parts_.scales.shape[0])
          return refuse(parts_.groups.name, "a group is unknown");
        for (std::uint64_t row = 0; row < row_count; ++row) {
          const std::uint64_t place = (first_row + row) * inputs_ + input;
          if (place < first || place - first >= count) continue;
          const std::uint32_t code = field(word_at(words, row), slot);
          const float value = weight(code, group, first_row + row, zeros, scales);
          std::memcpy(destination.data() + (place - first) * sizeof(float), &value, sizeof value);
        }
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::uint32_t field(std::uint32_t word, std::uint64_t slot) const noexcept {
    return word >> (slot * bits_) & ((1u << bits_) - 1);
  }

  [[nodiscard]] float weight(std::uint32_t code, std::uint64_t group, std::uint64_t output,
                             std::span<const std::byte> zeros,
                             std::span<const std::byte> scales) const noexcept {
    const std::uint64_t per_word = word_bits / bits_;
    const std::uint32_t zero_word =
        word_at(zeros, group * (outputs_ / per_word) + output / per_word);
    const std::uint32_t zero = field(zero_word, output % per_word) + zero_offset_;
    const auto place = static_cast<std::size_t>(group * outputs_ + output) * 2;
    const auto bits = load_little<std::uint16_t>(&scales[place]);
    return f32_from_f16(bits) *
           static_cast<float>(static_cast<std::int32_t>(code) - static_cast<std::int32_t>(zero));
  }

  Parts parts_;
  std::uint64_t bits_;
  std::uint32_t zero_offset_;
  std::uint64_t outputs_ = 0;
  std::uint64_t inputs_ = 0;
};

bool is_table(const SourceTensor& tensor, std::string_view dtype, std::uint64_t rows,
              std::uint64_t columns) {
  return tensor.dtype != nullptr && tensor.dtype->name == dtype &&
         tensor.shape == std::vector<std::uint64_t>{rows, columns};
}

Result<SourceTensor> combine(const std::string& base, GptqNumbers::Parts parts, std::uint64_t bits,
                             std::uint32_t zero_offset) {
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
  weight.computed = std::make_shared<GptqNumbers>(std::move(parts), bits, zero_offset);
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
                                           bits, zero_offset));
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

}  // namespace ingot::hf
