// SPDX-License-Identifier: MIT
// Weights of compressed-tensors and of MLX that are packed as integers in words.
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "huggingface/folder/config.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "huggingface/rules/name_pattern.hpp"
#include "ingot/quantize.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t bits_of_word = 32;

/// (code - zero) * scale, or code * scale + bias. Codes of a row are in words of their own; a word
/// of zeros has those of neighbouring rows. A row has a scale, and a zero or a bias, for each group
/// of its columns.
class PackedNumbers final : public NumberSource {
 public:
  struct Parts {
    SourceTensor codes, scales;
    const SourceTensor* zeros = nullptr;   ///< nullptr: all zeros are the middle code,
    const SourceTensor* biases = nullptr;  ///< or there are these.
  };
  PackedNumbers(const Parts& parts, std::uint64_t bits, std::uint64_t columns)
      : codes_(parts.codes),
        scales_(parts.scales),
        has_zeros_(parts.zeros != nullptr),
        has_biases_(parts.biases != nullptr),
        bits_(bits),
        columns_(columns),
        words_(parts.codes.shape[1]),
        groups_(parts.scales.shape[1]) {
    if (has_zeros_) zeros_ = *parts.zeros;
    if (has_biases_) biases_ = *parts.biases;
  }

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::f32; }

  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    const std::uint64_t count = destination.size() / sizeof(float);
    if (count == 0) return {};
    const std::uint64_t per_word = bits_of_word / bits_;
    const std::uint64_t row = first / columns_;
    const std::uint64_t row_count = (first + count - 1) / columns_ - row + 1;
    INGOT_TRY(const auto codes, read_words(codes_, row * words_, row_count * words_));
    INGOT_TRY(const auto scales, read_numbers(scales_, row * groups_, row_count * groups_));
    std::vector<float> biases;
    if (has_biases_) {
      INGOT_TRY(biases, read_numbers(biases_, row * groups_, row_count * groups_));
    }
    const std::uint64_t zero_row = row / per_word;
    std::vector<std::byte> zeros;
    if (has_zeros_) {
      const std::uint64_t zero_rows = (row + row_count - 1) / per_word - zero_row + 1;
      INGOT_TRY(zeros, read_words(zeros_, zero_row * groups_, zero_rows * groups_));
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = (first + i) / columns_ - row;
      const std::uint64_t column = (first + i) % columns_;
      const std::uint64_t group = column / (columns_ / groups_);
      std::int32_t zero = has_biases_ ? 0 : std::int32_t{1} << (bits_ - 1);
      if (has_zeros_) {
        const std::uint64_t zero_at = ((row + at) / per_word - zero_row) * groups_ + group;
        zero = code_at(zeros, zero_at, (row + at) % per_word);
      }
      const std::int32_t code = code_at(codes, at * words_ + column / per_word, column % per_word);
      const auto place = static_cast<std::size_t>(at * groups_ + group);
      float number = static_cast<float>(code - zero) * scales[place];
      if (has_biases_) number += biases[place];
      std::memcpy(&destination[static_cast<std::size_t>(i) * sizeof number], &number,
                  sizeof number);
    }
    return {};
  }

 private:
  static Result<std::vector<std::byte>> read_words(const SourceTensor& tensor, std::uint64_t first,
                                                   std::uint64_t count) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(std::uint32_t));
    INGOT_TRY_VOID(tensor.file->read(tensor.file_offset + first * sizeof(std::uint32_t), bytes));
    return bytes;
  }

  static Result<std::vector<float>> read_numbers(const SourceTensor& tensor, std::uint64_t first,
                                                 std::uint64_t count) {
    INGOT_TRY(const auto source, tensor.numbers());
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) *
                                 find_type(source->type())->block_bytes);
    std::vector<float> numbers(static_cast<std::size_t>(count));
    INGOT_TRY_VOID(source->read(first, bytes));
    INGOT_TRY_VOID(dequantize(source->type(), bytes, numbers));
    return numbers;
  }

  std::int32_t code_at(std::span<const std::byte> words, std::uint64_t word,
                       std::uint64_t slot) const noexcept {
    const auto value = load_little<std::uint32_t>(&words[static_cast<std::size_t>(word) * 4]);
    return static_cast<std::int32_t>(value >> (slot * bits_) & ((1U << bits_) - 1));
  }

  SourceTensor codes_, scales_, zeros_, biases_;
  bool has_zeros_;
  bool has_biases_;
  std::uint64_t bits_;
  std::uint64_t columns_;
  std::uint64_t words_;   // of a row
  std::uint64_t groups_;  // of a row
};

/// The two numbers of a tensor that holds the shape of the weight.
Result<std::vector<std::uint64_t>> read_shape(const SourceTensor& tensor) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  if (tensor.dtype == nullptr || tensor.dtype->name != "I64" ||
      tensor.shape != std::vector<std::uint64_t>{2}) {
    return refuse(tensor.name, "two numbers of I64 are expected");
  }
  INGOT_TRY(const std::vector<std::byte> bytes, tensor.read_all(2 * sizeof(std::uint64_t)));
  std::vector<std::uint64_t> shape;
  for (const std::size_t at : {std::size_t{0}, sizeof(std::uint64_t)}) {
    shape.push_back(load_little<std::uint64_t>(&bytes[at]));
    if (shape.back() == 0 || shape.back() > most) {
      return refuse(tensor.name, "it holds no shape of a matrix");
    }
  }
  return shape;
}

bool is_words(const SourceTensor& tensor, std::uint64_t rows, std::uint64_t columns) {
  return tensor.dtype != nullptr && tensor.dtype->name == "I32" && tensor.file != nullptr &&
         tensor.shape == std::vector<std::uint64_t>{rows, columns};
}

/// The weight that packed codes stand for, if its parts fit one another.
Result<SourceTensor> unpack(const std::string& base, const PackedNumbers::Parts& parts,
                            const SourceTensor& shape, std::uint64_t bits) {
  INGOT_TRY(const std::vector<std::uint64_t> size, read_shape(shape));
  const std::uint64_t per_word = bits_of_word / bits;
  const auto words = [&](std::uint64_t count) { return (count - 1) / per_word + 1; };
  const std::vector<std::uint64_t>& scales = parts.scales.shape;
  const std::uint64_t groups = scales.size() == 2 ? scales[1] : 0;
  if (groups == 0 || size[1] % groups != 0 || scales[0] != size[0] ||
      parts.scales.dtype == nullptr || !parts.scales.dtype->type ||
      !is_words(parts.codes, size[0], words(size[1])) ||
      (parts.zeros != nullptr && !is_words(*parts.zeros, words(size[0]), groups))) {
    return refuse(parts.codes.name,
                  "its weight_shape, weight_scale and weight_zero_point do not "
                  "fit it");
  }
  SourceTensor weight{.name = base + ".weight", .shape = size, .code_bits = bits};
  weight.computed = std::make_shared<PackedNumbers>(parts, bits, size[1]);
  return weight;
}

}  // namespace

Result<void> undo_packed(std::uint64_t bits, std::vector<SourceTensor>& tensors) {
  if (bits != 2 && bits != 4 && bits != 8) {
    return refuse("config.json", "packed weights of 2, 4 and 8 bits are supported");
  }
  constexpr std::string_view ending = ".weight_packed";
  std::map<std::string, const SourceTensor*, std::less<>> by_name;
  for (const SourceTensor& tensor : tensors) by_name[tensor.name] = &tensor;
  std::vector<SourceTensor> unpacked;
  std::set<std::string> used;
  for (const auto& [name, codes] : by_name) {
    if (!name.ends_with(ending)) continue;
    const std::string base = name.substr(0, name.size() - ending.size());
    const auto part = [&](const char* suffix) {
      const auto found = by_name.find(base + suffix);
      return found == by_name.end() ? nullptr : found->second;
    };
    if (part(".weight_g_idx") != nullptr) {
      return refuse(base + ".weight_g_idx", "groups in another order are not supported");
    }
    const SourceTensor* const scales = part(".weight_scale");
    const SourceTensor* const shape = part(".weight_shape");
    if (scales == nullptr || shape == nullptr) {
      return refuse(name, "weight_scale and weight_shape are expected beside it");
    }
    INGOT_TRY(SourceTensor weight,
              unpack(base, {*codes, *scales, part(".weight_zero_point")}, *shape, bits));
    unpacked.push_back(std::move(weight));
    for (const char* suffix :
         {".weight_packed", ".weight_scale", ".weight_shape", ".weight_zero_point"}) {
      used.insert(base + suffix);
    }
  }
  std::erase_if(tensors, [&](const auto& tensor) { return used.count(tensor.name) != 0; });
  std::move(unpacked.begin(), unpacked.end(), std::back_inserter(tensors));
  return {};
}

namespace {

/// The bits and the columns of a group of one weight of MLX.
struct MlxLayout {
  std::uint64_t bits = 0;
  std::uint64_t group = 0;
};

/// Layers may differ: then they have an object of their own, by their name.
Result<MlxLayout> mlx_layout(const nlohmann::json& settings, const std::string& base) {
  const auto own = settings.find(base);
  const nlohmann::json& layer = own != settings.end() && own->is_object() ? *own : settings;
  const auto mode = layer.find("mode");
  if (mode != layer.end() && *mode != "affine") {
    return refuse("config.json", "quantization of the mode affine is supported");
  }
  MlxLayout layout;
  for (const auto& [name, member] :
       {std::pair("bits", &layout.bits), std::pair("group_size", &layout.group)}) {
    const auto value = layer.find(name);
    if (value == layer.end()) return refuse("config.json", std::string(name) + " is missing");
    INGOT_TRY(*member, count_of(*value, name));
  }
  if (layout.bits != 2 && layout.bits != 4 && layout.bits != 8) {
    return refuse("config.json", "weights of MLX with 2, 4 and 8 bits are supported");
  }
  return layout;
}

/// The weight that codes of MLX stand for, if its parts fit one another.
Result<SourceTensor> unpack_mlx(const MlxLayout& layout, const SourceTensor& codes,
                                const SourceTensor& scales, const SourceTensor& biases) {
  constexpr std::uint64_t most_columns = std::uint64_t{1} << 40;
  const bool are_matrices = codes.shape.size() == 2 && scales.shape.size() == 2;
  std::uint64_t columns = bits_of_word / layout.bits;
  std::uint64_t grouped = layout.group;
  const auto has_numbers = [&](const SourceTensor& tensor) {
    return tensor.dtype != nullptr && tensor.dtype->type && tensor.shape == scales.shape;
  };
  if (!are_matrices || !multiply_within(most_columns, columns, codes.shape[1]) ||
      !multiply_within(most_columns, grouped, scales.shape[1]) || columns != grouped ||
      columns == 0 || scales.shape[0] != codes.shape[0] || !has_numbers(scales) ||
      !has_numbers(biases)) {
    return refuse(codes.name, "its scales and biases do not fit it");
  }
  SourceTensor weight{
      .name = codes.name, .shape = {codes.shape[0], columns}, .code_bits = layout.bits};
  weight.computed = std::make_shared<PackedNumbers>(
      PackedNumbers::Parts{.codes = codes, .scales = scales, .biases = &biases}, layout.bits,
      columns);
  return weight;
}

}  // namespace

Result<void> undo_mlx(const nlohmann::json& settings, std::vector<SourceTensor>& tensors) {
  std::map<std::string, const SourceTensor*, std::less<>> by_name;
  for (const SourceTensor& tensor : tensors) by_name[tensor.name] = &tensor;
  std::vector<SourceTensor> unpacked;
  for (const SourceTensor& tensor : tensors) {
    const std::string base = tensor.name.substr(0, tensor.name.rfind('.'));
    const auto part = [&](const char* suffix) {
      const auto found = by_name.find(base + suffix);
      return found == by_name.end() ? nullptr : found->second;
    };
    const SourceTensor* const codes = part(".weight");
    if (codes == nullptr || codes->dtype == nullptr || codes->dtype->name != "U32") {
      unpacked.push_back(tensor);
      continue;
    }
    if (&tensor != codes) {
      if (!ends_with_one(tensor.name, {".scales", ".biases"})) unpacked.push_back(tensor);
      continue;
    }
    const SourceTensor* const scales = part(".scales");
    const SourceTensor* const biases = part(".biases");
    if (scales == nullptr || biases == nullptr) {
      return refuse(tensor.name, "scales and biases are expected beside it");
    }
    INGOT_TRY(const MlxLayout layout, mlx_layout(settings, base));
    INGOT_TRY(SourceTensor weight, unpack_mlx(layout, tensor, *scales, *biases));
    unpacked.push_back(std::move(weight));
  }
  tensors = std::move(unpacked);
  return {};
}

}  // namespace ingot::huggingface
