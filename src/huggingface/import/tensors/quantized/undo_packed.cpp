// SPDX-License-Identifier: MIT
// Weights of compressed-tensors that are packed as integers in words.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/byte_order.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/quantized/packed_numbers.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"

namespace ingot::huggingface {
namespace {

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
  const std::uint64_t per_word = bits_of_packed_word / bits;
  const auto words = [&](std::uint64_t count) { return (count - 1) / per_word + 1; };
  const std::vector<std::uint64_t>& scales = parts.scales.shape;
  const std::uint64_t groups = scales.size() == 2 ? scales[1] : 0;
  if (groups == 0 || size[1] % groups != 0 || size[1] > max_packed_row_bits / bits ||
      scales[0] != size[0] || parts.scales.dtype == nullptr || !parts.scales.dtype->type ||
      !is_words(parts.codes, size[0], words(size[1])) ||
      (parts.zeros != nullptr && !is_words(*parts.zeros, words(size[0]), groups))) {
    return refuse(parts.codes.name,
                  "its weight_shape, weight_scale and weight_zero_point do not "
                  "fit it");
  }
  SourceTensor weight{.name = base + ".weight", .shape = size, .code_bits = bits};
  weight.computed = std::make_shared<PackedNumbers>(
      parts, PackedLayout{.bits = bits, .columns = size[1], .group = size[1] / groups});
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

}  // namespace ingot::huggingface
