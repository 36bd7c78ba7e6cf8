// SPDX-License-Identifier: MIT
#include "huggingface/export/packed_tensors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "base/messages.hpp"
#include "base/strings.hpp"
#include "ingot/half.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::size_t packed_block = 32;
/// The bytes of a strip of a table that is written the other way round than it is read. A larger
/// table takes more readings of the weight.
constexpr std::uint64_t turned_strip_bytes = std::uint64_t{64} << 20;
/// Blocks of a weight that keeps Q4_1 in GPTQ have whole zeros, 1 to 16 as they are stored.
constexpr int most_whole_zero = 16;

/// The types that a form holds without rounding, those that round the least first.
constexpr std::array packings = {
    Packing{FolderPacking::mlx, TensorType::q8_0, 8},
    Packing{FolderPacking::mlx, TensorType::q5_1, 5},
    Packing{FolderPacking::mlx, TensorType::q5_0, 5},
    Packing{FolderPacking::mlx, TensorType::q4_1, 4},
    Packing{FolderPacking::mlx, TensorType::q4_0, 4},
    Packing{FolderPacking::gptq, TensorType::q8_0, 8},
    Packing{FolderPacking::gptq, TensorType::q5_0, 8},
    Packing{FolderPacking::gptq, TensorType::q4_1, 4},
    Packing{FolderPacking::gptq, TensorType::q4_0, 4},
};

/// A block of 32 weights: scale * code + minimum.
struct CodedBlock {
  std::array<std::uint8_t, packed_block> codes{};
  std::uint16_t scale = 0;    ///< Bits of binary16, as are
  std::uint16_t minimum = 0;  ///< these.
  bool has_minimum = false;   ///< Else the minimum is -zero * scale.
  int zero = 0;
};

/// Reads a block of Q4_0, Q4_1, Q5_0, Q5_1 or Q8_0 (docs/tensor-types.md).
CodedBlock read_coded_block(TensorType type, const std::byte* bytes) {
  using enum TensorType;
  CodedBlock block;
  block.scale = load_little<std::uint16_t>(bytes);
  if (type == q8_0) {
    block.zero = 128;
    for (std::size_t i = 0; i < packed_block; ++i) {
      block.codes[i] = std::to_integer<std::uint8_t>(bytes[2 + i] ^ std::byte{0x80});
    }
    return block;
  }
  const bool is_five = type == q5_0 || type == q5_1;
  block.has_minimum = type == q4_1 || type == q5_1;
  block.zero = block.has_minimum ? 0 : is_five ? 16 : 8;
  const std::byte* at = bytes + 2;
  if (block.has_minimum) {
    block.minimum = load_little<std::uint16_t>(at);
    at += 2;
  }
  std::uint32_t high = 0;
  if (is_five) {
    high = load_little<std::uint32_t>(at);
    at += 4;
  }
  for (std::size_t i = 0; i < packed_block; ++i) {
    const auto both = std::to_integer<unsigned>(at[i % 16]);
    block.codes[i] =
        static_cast<std::uint8_t>((i < 16 ? both & 15 : both >> 4) | (high >> i & 1) << 4);
  }
  return block;
}

/// The minimum as binary16; an error if that would round it, which only scales above 511 make.
Result<std::uint16_t> minimum_of(const CodedBlock& block) {
  if (block.has_minimum) return block.minimum;
  const float minimum = f32_from_f16(block.scale) * static_cast<float>(-block.zero);
  const std::uint16_t half = f16_from_f32(minimum);
  if (f32_from_f16(half) == minimum || std::isnan(minimum)) return half;
  return fail(Errc::would_be_lost, {}, "a scale is too large for a bias in F16");
}

/// The zero of GPTQ, as whole number; 0 if there is none.
int whole_zero(const CodedBlock& block) {
  if (!block.has_minimum) return block.zero;
  const float scale = f32_from_f16(block.scale);
  const float minimum = f32_from_f16(block.minimum);
  for (int zero = 1; zero <= most_whole_zero; ++zero) {
    if (scale * static_cast<float>(-zero) == minimum) return zero;
  }
  return 0;
}

/// 32 codes as words, the lowest bits first.
std::array<std::uint32_t, 8> words_of(const CodedBlock& block, std::uint64_t bits, int added) {
  std::array<std::uint32_t, 8> words{};
  std::uint64_t gathered = 0;
  std::uint64_t count = 0;
  std::size_t word = 0;
  for (const std::uint8_t code : block.codes) {
    gathered |= static_cast<std::uint64_t>(code + added) << count;
    count += bits;
    if (count < 32) continue;
    words[word++] = static_cast<std::uint32_t>(gathered);
    gathered >>= 32;
    count -= 32;
  }
  return words;
}

using UseBlock = std::function<Result<void>(std::uint64_t index, const CodedBlock& block)>;

/// Gives all blocks of a tensor to `use`, in order.
Result<void> for_each_block(const Model& model, const OutputTensor& tensor, unsigned thread_count,
                            const UseBlock& use) {
  const std::size_t block_bytes = find_type(tensor.type)->block_bytes;
  std::uint64_t index = 0;
  return stream_tensor(
      model, tensor,
      [&](std::span<const std::byte> piece) -> Result<void> {
        for (; !piece.empty(); piece = piece.subspan(block_bytes)) {
          INGOT_TRY_VOID(use(index++, read_coded_block(tensor.type, piece.data())));
        }
        return {};
      },
      {.thread_count = thread_count});
}

/// What a part of a packed weight has of each block.
using PutBlock = std::function<Result<void>(const CodedBlock& block, std::span<std::byte> bytes)>;

template <class T>
void put_words(std::span<const T> words, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i)
    store_little(&bytes[i * sizeof(T)], words[i]);
}

/// A part that has the bytes of each `every`th block, in the order of the blocks.
MakeTensor in_order(OutputTensor weight, std::size_t bytes_each, std::uint64_t every,
                    PutBlock put) {
  return [=, weight = std::move(weight), put = std::move(put)](
             const Model& model, unsigned threads, const DataSink& sink) -> Result<void> {
    std::vector<std::byte> bytes;
    const auto flush = [&]() -> Result<void> {
      INGOT_TRY_VOID(sink(bytes));
      bytes.clear();
      return {};
    };
    const auto add = [&](std::uint64_t index, const CodedBlock& block) -> Result<void> {
      if (index % every != 0) return {};
      bytes.resize(bytes.size() + bytes_each);
      INGOT_TRY_VOID(put(block, std::span(bytes).last(bytes_each)));
      return bytes.size() < (std::size_t{1} << 20) ? Result<void>() : flush();
    };
    INGOT_TRY_VOID(for_each_block(model, weight, threads, add));
    return bytes.empty() ? Result<void>() : flush();
  };
}

/// A part with a row for inputs and a column for outputs. A block has `rows_each` rows, and in each
/// of them `column_bits` bits.
MakeTensor turned(OutputTensor weight, std::size_t rows_each, std::uint64_t every, PutBlock put,
                  std::uint64_t column_bits) {
  return [=, weight = std::move(weight), put = std::move(put)](
             const Model& model, unsigned threads, const DataSink& sink) -> Result<void> {
    const std::uint64_t outputs = weight.shape[1];
    const std::uint64_t columns = weight.shape[0] / packed_block / every;  // groups of inputs
    const std::uint64_t row_bytes = outputs * column_bits / 8;
    const std::uint64_t step = std::clamp<std::uint64_t>(
        turned_strip_bytes / std::max<std::uint64_t>(row_bytes * rows_each, 1), 1, columns);
    std::vector<std::byte> scratch(rows_each *
                                   to_size(std::max<std::uint64_t>(column_bits / 8, 1)));
    for (std::uint64_t first = 0; first < columns; first += step) {
      const std::uint64_t count = std::min(step, columns - first);
      std::vector<std::byte> strip(static_cast<std::size_t>(count * rows_each * row_bytes));
      const auto add = [&](std::uint64_t index, const CodedBlock& block) -> Result<void> {
        const std::uint64_t output = index / (columns * every);
        const std::uint64_t at = index % (columns * every);
        if (at % every != 0 || at / every < first || at / every >= first + count) return {};
        INGOT_TRY_VOID(put(block, scratch));
        const std::uint64_t bit = output * column_bits;
        const std::size_t width = scratch.size() / rows_each;
        for (std::size_t row = 0; row < rows_each; ++row) {
          const std::uint64_t strip_row = (at / every - first) * rows_each + row;
          std::byte* const to = &strip[static_cast<std::size_t>(strip_row * row_bytes + bit / 8)];
          for (std::size_t i = 0; i < width; ++i) to[i] |= scratch[row * width + i] << (bit % 8);
        }
        return {};
      };
      INGOT_TRY_VOID(for_each_block(model, weight, threads, add));
      INGOT_TRY_VOID(sink(strip));
    }
    return {};
  };
}

MadeTensor made(const OutputTensor& weight, std::string name, TensorType type,
                std::vector<std::uint64_t> shape, MakeTensor make) {
  OutputTensor output{.name = std::move(name), .type = type, .shape = std::move(shape)};
  output.source = weight.source;
  output.size_bytes = find_type(type)->block_bytes;
  for (const std::uint64_t size : output.shape) output.size_bytes *= size;
  return {std::move(output), std::move(make)};
}

Result<void> put_scale(const CodedBlock& block, std::span<std::byte> bytes) {
  store_little(bytes.data(), block.scale);
  return {};
}

std::vector<MadeTensor> pack_mlx(const OutputTensor& weight, const std::string& base,
                                 std::uint64_t bits, std::uint64_t every) {
  std::vector<std::uint64_t> words = weight.shape;
  words[0] = words[0] / packed_block * bits;
  std::vector<std::uint64_t> groups = weight.shape;
  groups[0] /= packed_block * every;
  const auto put_codes = [bits](const CodedBlock& block, std::span<std::byte> bytes) {
    put_words<std::uint32_t>(words_of(block, bits, 0), bytes);
    return Result<void>();
  };
  const auto put_bias = [name = std::string(weight.source->name)](
                            const CodedBlock& block, std::span<std::byte> bytes) -> Result<void> {
    INGOT_TRY(const std::uint16_t minimum, with_subject(name, minimum_of(block)));
    store_little(bytes.data(), minimum);
    return {};
  };
  std::vector<MadeTensor> parts;
  parts.push_back(made(weight, base + ".weight", TensorType::i32, words,
                       in_order(weight, to_size(bits * 4), 1, put_codes)));
  parts.back().output.is_unsigned = true;
  parts.push_back(made(weight, base + ".scales", TensorType::f16, groups,
                       in_order(weight, 2, every, put_scale)));
  parts.push_back(made(weight, base + ".biases", TensorType::f16, groups,
                       in_order(weight, 2, every, put_bias)));
  return parts;
}

std::vector<MadeTensor> pack_gptq(const OutputTensor& weight, const std::string& base,
                                  std::uint64_t bits, std::uint64_t every) {
  const std::uint64_t inputs = weight.shape[0];
  const std::uint64_t outputs = weight.shape[1];
  const std::uint64_t groups = inputs / packed_block / every;
  const auto added = [bits](const CodedBlock& block) {
    return block.has_minimum ? 0 : (1 << (bits - 1)) - block.zero;
  };
  const auto put_codes = [=](const CodedBlock& block, std::span<std::byte> bytes) {
    put_words<std::uint32_t>(words_of(block, bits, added(block)), bytes);
    return Result<void>();
  };
  // Zeros are stored one too small.
  const auto put_zero = [=](const CodedBlock& block, std::span<std::byte> bytes) {
    bytes[0] = static_cast<std::byte>(whole_zero(block) + added(block) - 1);
    return Result<void>();
  };
  const auto put_groups = [=](const Model&, unsigned, const DataSink& sink) -> Result<void> {
    std::vector<std::byte> bytes(static_cast<std::size_t>(inputs) * 4);
    for (std::size_t i = 0; i < inputs; ++i) {
      store_little(&bytes[i * 4], static_cast<std::uint32_t>(i / packed_block / every));
    }
    return sink(bytes);
  };
  std::vector<MadeTensor> parts;
  parts.push_back(made(weight, base + ".qweight", TensorType::i32,
                       {outputs, inputs / packed_block * bits},
                       turned(weight, to_size(bits), 1, put_codes, 32)));
  parts.push_back(made(weight, base + ".qzeros", TensorType::i32, {outputs * bits / 32, groups},
                       turned(weight, 1, every, put_zero, bits)));
  parts.push_back(made(weight, base + ".scales", TensorType::f16, {outputs, groups},
                       turned(weight, 1, every, put_scale, 16)));
  parts.push_back(made(weight, base + ".g_idx", TensorType::i32, {inputs}, put_groups));
  return parts;
}

}  // namespace

std::optional<Packing> find_packing(FolderPacking form, const TensorInfo& tensor, bool& is_exact) {
  const TensorTypeInfo& type = *find_type(tensor.type);
  if (form == FolderPacking::none || type.block_elements == 1 || tensor.shape.size() < 2 ||
      tensor.element_count == 0 || !tensor.name.ends_with(".weight") ||
      tensor.shape[0] % packed_block != 0) {
    return std::nullopt;
  }
  const bool is_table = tensor.name == "token_embd.weight" || tensor.name == "output.weight";
  if (form == FolderPacking::gptq && (is_table || tensor.shape[1] % packed_block != 0)) {
    return std::nullopt;
  }
  const auto find = [&](TensorType wanted) {
    return std::ranges::find_if(
        packings, [&](const Packing& row) { return row.form == form && row.type == wanted; });
  };
  auto row = find(tensor.type);
  is_exact = row != packings.end();
  if (!is_exact) {
    // The nearest in size: 4.5 bits a weight is that of most types of 4 bits, 5.5 of 5.
    const double bits =
        8.0 * static_cast<double>(type.block_bytes) / static_cast<double>(type.block_elements);
    const bool is_mlx = form == FolderPacking::mlx;
    row = find(bits < 5 ? (is_mlx ? TensorType::q4_1 : TensorType::q4_0)
                        : (bits < 6 && is_mlx ? TensorType::q5_1 : TensorType::q8_0));
  }
  return *row;
}

Result<BlockFacts> look_at_blocks(const Model& model, const OutputTensor& tensor,
                                  unsigned thread_count) {
  BlockFacts facts;
  bool wants_zeros = tensor.type == TensorType::q4_1;
  while (facts.group > packed_block && tensor.shape[0] % facts.group != 0) facts.group /= 2;
  CodedBlock first;
  const auto look = [&](std::uint64_t index, const CodedBlock& block) -> Result<void> {
    if (wants_zeros && whole_zero(block) == 0) wants_zeros = facts.has_whole_zeros = false;
    const std::uint64_t blocks = facts.group / packed_block;
    if (index % blocks == 0) first = block;
    if (block.scale != first.scale || block.minimum != first.minimum) {
      // Unlike neighbours make no larger group; unlike pairs make groups of 64.
      facts.group = index % 2 == 1 ? packed_block : facts.group / 2;
      first = block;
    }
    if (facts.group > packed_block || wants_zeros) return {};
    return fail(Errc::interrupted, {});
  };
  const auto read = for_each_block(model, tensor, thread_count, look);
  if (!read && read.error().code != Errc::interrupted) return fail(read.error());
  return facts;
}

std::vector<MadeTensor> pack(const OutputTensor& weight, const Packing& packing,
                             std::uint64_t group) {
  const std::string base = weight.name.substr(0, weight.name.rfind('.'));
  const std::uint64_t every = group / packed_block;
  return packing.form == FolderPacking::mlx ? pack_mlx(weight, base, packing.bits, every)
                                            : pack_gptq(weight, base, packing.bits, every);
}

std::string mlx_stack_name(std::string name) {
  replace_all(name, ".experts.0.", ".switch_mlp.");
  for (const auto& [from, to] :
       {std::pair(".w1.", ".gate_proj."), {".w2.", ".down_proj."}, {".w3.", ".up_proj."}}) {
    replace_all(name, from, to);
  }
  return name;
}

void add_packing(FolderPacking form, std::uint64_t group, const std::vector<PackedWeight>& weights,
                 nlohmann::ordered_json& config) {
  std::map<std::uint64_t, std::size_t> counts;
  bool has_zeros = false;
  for (const PackedWeight& weight : weights) {
    if (!weight.packing) continue;
    ++counts[weight.packing->bits];
    has_zeros |= weight.packing->type == TensorType::q4_1;
  }
  if (counts.empty()) return;
  const std::uint64_t usual =
      std::ranges::max_element(counts, {}, [](const auto& row) { return row.second; })->first;
  const bool is_mlx = form == FolderPacking::mlx;
  nlohmann::ordered_json settings = {{"group_size", group}, {"bits", usual}};
  nlohmann::ordered_json own = nlohmann::ordered_json::object();
  for (const auto& [name, packing] : weights) {
    if (packing && packing->bits == usual) continue;
    std::string pattern = name;
    if (!is_mlx) {
      replace_all(pattern, ".", "\\.");
      pattern = (packing ? "+:^" : "-:^") + pattern + "$";
    } else if (!packing) {
      continue;  // MLX looks for scales beside a weight
    }
    own[pattern] = nlohmann::ordered_json::object();
    if (packing) own[pattern] = {{"group_size", group}, {"bits", packing->bits}};
  }
  if (is_mlx) {
    settings.update(own);
    config["quantization"] = settings;
  } else {
    settings.update({{"quant_method", "gptq"},
                     {"checkpoint_format", "gptq"},
                     {"desc_act", false},
                     {"sym", !has_zeros},
                     {"lm_head", false}});
    if (!own.empty()) settings["dynamic"] = own;
  }
  config["quantization_config"] = settings;
}

}  // namespace ingot::huggingface
