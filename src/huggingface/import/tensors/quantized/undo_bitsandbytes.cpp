// SPDX-License-Identifier: MIT
// Weights that bitsandbytes has quantized: 4 bits by a table of values, or LLM.int8.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/checked.hpp"
#include "huggingface/folder/config.hpp"
#include "huggingface/folder/json_text.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t max_state_bytes = 4096;
constexpr std::uint64_t max_weight_elements = std::uint64_t{1} << 40;

/// The largest numbers of blocks. They may be quantized themselves: bytes that stand for values of
/// a table, which have largest numbers of their own, and an offset.
struct BlockMaxima {
  SourceTensor stored;
  std::vector<float> table = {};  ///< Empty: they are numbers of F32.
  SourceTensor nested = {};
  std::uint64_t nested_block = 0;
  float offset = 0;

  [[nodiscard]] Result<std::vector<float>> read(std::uint64_t first, std::uint64_t count) const {
    std::vector<float> maxima(static_cast<std::size_t>(count));
    std::vector<std::byte> scratch;
    if (table.empty()) {
      INGOT_TRY(const auto numbers, stored.numbers());
      INGOT_TRY_VOID(read_floats(*numbers, first, scratch, maxima));
      return maxima;
    }
    std::vector<std::byte> bytes(maxima.size());
    INGOT_TRY_VOID(stored.file->read(stored.file_offset + first, bytes));
    const std::uint64_t first_block = first / nested_block;
    std::vector<float> outer(
        static_cast<std::size_t>((first + count - 1) / nested_block - first_block + 1));
    INGOT_TRY(const auto numbers, nested.numbers());
    INGOT_TRY_VOID(read_floats(*numbers, first_block, scratch, outer));
    for (std::size_t i = 0; i < maxima.size(); ++i) {
      const float value = table[std::to_integer<std::size_t>(bytes[i])];
      maxima[i] = value * outer[static_cast<std::size_t>((first + i) / nested_block - first_block)];
      maxima[i] += offset;
    }
    return maxima;
  }
};

/// value of the code * largest number of its block. Blocks go on over the ends of rows; the first
/// of two codes is in the high bits.
class FourBitNumbers final : public NumberSource {
 public:
  FourBitNumbers(SourceTensor codes, std::vector<float> values, std::uint64_t block,
                 BlockMaxima maxima)
      : codes_(std::move(codes)),
        values_(std::move(values)),
        block_(block),
        maxima_(std::move(maxima)) {}

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::f32; }
  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    const std::uint64_t count = destination.size() / sizeof(float);
    if (count == 0) return {};
    const std::uint64_t last = first + count - 1;
    std::vector<std::byte> codes(static_cast<std::size_t>(last / 2 - first / 2 + 1));
    INGOT_TRY_VOID(codes_.file->read(codes_.file_offset + first / 2, codes));
    INGOT_TRY(const std::vector<float> maxima,
              maxima_.read(first / block_, last / block_ - first / block_ + 1));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = first + i;
      const auto both =
          std::to_integer<std::size_t>(codes[static_cast<std::size_t>(at / 2 - first / 2)]);
      const float number = values_[at % 2 == 0 ? both >> 4 : both & 15] *
                           maxima[static_cast<std::size_t>(at / block_ - first / block_)];
      std::memcpy(&destination[static_cast<std::size_t>(i) * sizeof number], &number,
                  sizeof number);
    }
    return {};
  }

 private:
  SourceTensor codes_;
  std::vector<float> values_;
  std::uint64_t block_;
  BlockMaxima maxima_;
};

Result<void> expect_numbers(const SourceTensor& tensor, std::string_view dtype,
                            std::uint64_t count) {
  if (tensor.dtype != nullptr && tensor.dtype->name == dtype && tensor.file != nullptr &&
      tensor.size_bytes == count * (dtype == "U8" ? 1 : sizeof(float)))
    return {};
  return refuse(tensor.name, std::to_string(count) + " numbers of " + std::string(dtype) +
                                 " are expected; it is " + described(tensor));
}

Result<std::vector<float>> read_table(const SourceTensor& tensor, std::uint64_t count) {
  INGOT_TRY_VOID(expect_numbers(tensor, "F32", count));
  INGOT_TRY(const auto numbers, tensor.numbers());
  std::vector<float> table(static_cast<std::size_t>(count));
  std::vector<std::byte> scratch;
  INGOT_TRY_VOID(read_floats(*numbers, 0, scratch, table));
  return table;
}

/// What quant_state says, a text of JSON in a tensor of bytes.
struct QuantState {
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 1;
  std::uint64_t block = 0;
  std::uint64_t nested_block = 0;  ///< 0: the largest numbers are not quantized.
  float offset = 0;
};

Result<QuantState> read_state(const SourceTensor& tensor) {
  INGOT_TRY(const std::vector<std::byte> bytes, tensor.read_all(max_state_bytes));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto parsed = parse_json(text, tensor.name);
  if (!parsed || !parsed->is_object()) {
    return refuse(tensor.name, "an object of JSON is expected, as bitsandbytes writes it");
  }
  QuantState state;
  const auto count = [&](const char* name) -> Result<std::uint64_t> {
    const nlohmann::json* const value = find_member(*parsed, name);
    if (value == nullptr) return refuse(tensor.name, "`" + std::string(name) + "` is missing");
    INGOT_TRY(const std::uint64_t number, count_of(*value, tensor.name + ": " + name));
    if (number > 0 && number <= max_weight_elements) return number;
    return refuse(tensor.name, "`" + std::string(name) + "` must be from 1 to 2^40");
  };
  const nlohmann::json* const shape = find_member(*parsed, "shape");
  if (shape == nullptr || !shape->is_array() || shape->empty()) {
    return refuse(tensor.name, "`shape` must be the shape of the weight");
  }
  for (const nlohmann::json& size : *shape) {
    INGOT_TRY(state.shape.emplace_back(), count_of(size, tensor.name + ": shape"));
    if (state.shape.back() == 0 ||
        !multiply_within(max_weight_elements, state.elements, state.shape.back())) {
      return refuse(tensor.name, "`shape` must have from 1 to 2^40 elements");
    }
  }
  INGOT_TRY(state.block, count("blocksize"));
  if (find_member(*parsed, "nested_blocksize") == nullptr) return state;
  INGOT_TRY(state.nested_block, count("nested_blocksize"));
  const nlohmann::json* const offset = find_member(*parsed, "nested_offset");
  if (offset == nullptr || !offset->is_number()) {
    return refuse(tensor.name, "`nested_offset` must be a number");
  }
  state.offset = offset->get<float>();
  return state;
}

/// The tensors beside a weight, by what follows its name.
using Beside = std::map<std::string, const SourceTensor*, std::less<>>;

Result<const SourceTensor*> find_beside(const Beside& all, const std::string& name) {
  const auto found = all.find(name);
  if (found == all.end()) return refuse(name, "the tensor is missing");
  return found->second;
}

Result<void> undo_four_bits(const Beside& all, const SourceTensor& stored_state,
                            SourceTensor& weight) {
  const std::string name = weight.name;
  INGOT_TRY(const QuantState state, read_state(stored_state));
  if (weight.file == nullptr || weight.size_bytes != divide_up(state.elements, 2)) {
    return refuse(name, std::to_string(divide_up(state.elements, 2)) +
                            " bytes are expected for the shape " + shape_text(state.shape) +
                            " of its quant_state; it has " + std::to_string(weight.size_bytes));
  }
  INGOT_TRY(const SourceTensor* const map, find_beside(all, name + ".quant_map"));
  INGOT_TRY(std::vector<float> values, read_table(*map, 16));
  INGOT_TRY(const SourceTensor* const stored, find_beside(all, name + ".absmax"));
  const std::uint64_t blocks = divide_up(state.elements, state.block);
  BlockMaxima maxima{.stored = *stored};
  INGOT_TRY_VOID(expect_numbers(*stored, state.nested_block == 0 ? "F32" : "U8", blocks));
  if (state.nested_block != 0) {
    INGOT_TRY(const SourceTensor* const nested, find_beside(all, name + ".nested_absmax"));
    INGOT_TRY_VOID(expect_numbers(*nested, "F32", divide_up(blocks, state.nested_block)));
    INGOT_TRY(const SourceTensor* const table, find_beside(all, name + ".nested_quant_map"));
    INGOT_TRY(maxima.table, read_table(*table, 256));
    maxima.nested = *nested;
    maxima.nested_block = state.nested_block;
    maxima.offset = state.offset;
  }
  weight.computed =
      std::make_shared<FourBitNumbers>(weight, std::move(values), state.block, std::move(maxima));
  weight.shape = state.shape;
  weight.dtype = nullptr;
  return {};
}

/// code * largest number of its row / 127
Result<void> undo_int8(const Beside& all, const SourceTensor& maxima, SourceTensor& weight) {
  if (weight.dtype == nullptr || weight.dtype->name != "I8" || weight.shape.size() != 2) {
    return refuse(weight.name, "a matrix of I8 is expected");
  }
  INGOT_TRY_VOID(expect_numbers(maxima, "F32", weight.shape[0]));
  const std::string base = weight.name.substr(0, weight.name.rfind('.'));
  if (const auto form = all.find(base + ".weight_format"); form != all.end()) {
    INGOT_TRY(const std::vector<std::byte> number, form->second->read_all(sizeof(std::uint64_t)));
    if (std::ranges::any_of(number, [](std::byte byte) { return byte != std::byte{}; })) {
      return refuse(form->second->name, "weights in rows (0) are supported");
    }
  }
  INGOT_TRY(auto codes, weight.numbers());
  INGOT_TRY(auto rows, maxima.numbers());
  weight.computed = change_numbers(
      std::move(codes),
      [rows = std::move(rows), columns = weight.shape[1]](
          std::uint64_t first, std::span<float> numbers) -> Result<void> {
        if (numbers.empty()) return {};
        const std::uint64_t first_row = first / columns;
        std::vector<std::byte> scratch;
        std::vector<float> scales(
            static_cast<std::size_t>((first + numbers.size() - 1) / columns - first_row + 1));
        INGOT_TRY_VOID(read_floats(*rows, first_row, scratch, scales));
        constexpr auto part = static_cast<float>(1.0 / 127);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          numbers[i] *= scales[static_cast<std::size_t>((first + i) / columns - first_row)];
          numbers[i] *= part;
        }
        return {};
      },
      TensorType::f32);
  weight.code_bits = 8;
  return {};
}

}  // namespace

Result<void> undo_bitsandbytes(const nlohmann::json&, std::vector<SourceTensor>& tensors) {
  constexpr std::string_view mark = ".quant_state.bitsandbytes__";
  Beside all;
  std::map<std::string, const SourceTensor*, std::less<>> states;
  const std::vector<SourceTensor> stored = tensors;
  for (const SourceTensor& tensor : stored) {
    all[tensor.name] = &tensor;
    const std::size_t at = tensor.name.rfind(mark);
    if (at == tensor.name.npos) continue;
    const std::string kind = tensor.name.substr(at + mark.size());
    if (kind != "nf4" && kind != "fp4") {
      return refuse(tensor.name, "the kinds nf4 and fp4 are supported");
    }
    states[tensor.name.substr(0, at)] = &tensor;
  }
  std::set<std::string> used;
  for (SourceTensor& weight : tensors) {
    const std::string base = weight.name.substr(0, weight.name.rfind('.'));
    if (const auto state = states.find(weight.name); state != states.end()) {
      INGOT_TRY_VOID(undo_four_bits(all, *state->second, weight));
      used.insert(state->second->name);
      for (const char* part : {".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map"}) {
        used.insert(weight.name + part);
      }
    } else if (const auto maxima = all.find(base + ".SCB");
               maxima != all.end() && weight.name.ends_with(".weight")) {
      INGOT_TRY_VOID(undo_int8(all, *maxima->second, weight));
      used.insert({base + ".SCB", base + ".weight_format"});
    }
  }
  for (const auto& [name, state] : states) {
    if (!all.contains(name)) return refuse(name, "its quant_state is there, and the weight is not");
  }
  std::erase_if(tensors, [&](const auto& tensor) { return used.contains(tensor.name); });
  return {};
}

}  // namespace ingot::huggingface
