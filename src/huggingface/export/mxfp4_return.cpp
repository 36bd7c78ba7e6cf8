// SPDX-License-Identifier: MIT
#include "huggingface/export/mxfp4_return.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/quantized/mxfp4_experts.hpp"
#include "ingot/summary.hpp"

namespace ingot::huggingface {
namespace {

/// Bytes that are read at once of each tensor, if a row is not longer.
constexpr std::uint64_t mxfp4_piece_bytes = std::uint64_t{1} << 20;

/// The tensors whose rows take turns.
using Turns = std::vector<const TensorInfo*>;

/// Gives one part of all blocks to a sink: the codes, or the scales.
Result<void> write_part(const Model& model, const Turns& turns, bool are_codes,
                        const DataSink& sink) {
  const TensorInfo& first = *turns[0];
  const std::uint64_t row_blocks = first.row_elements() / mxfp4_elements;
  const std::uint64_t row_bytes = row_blocks * mxfp4_block_bytes;
  const std::uint64_t step = std::max<std::uint64_t>(1, mxfp4_piece_bytes / row_bytes);
  const std::size_t part_bytes = are_codes ? mxfp4_code_bytes : 1;
  std::vector<std::vector<std::byte>> rows(turns.size());
  std::vector<std::byte> part;
  for (std::uint64_t row = 0; row < first.row_count(); row += step) {
    const std::uint64_t count = std::min(step, first.row_count() - row);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      rows[i].resize(static_cast<std::size_t>(count * row_bytes));
      INGOT_TRY_VOID(model.read(*turns[i], row * row_bytes, rows[i]));
    }
    part.resize(static_cast<std::size_t>(count * row_blocks) * part_bytes * turns.size());
    std::byte* to = part.data();
    for (std::uint64_t block = 0; block < count * row_blocks * turns.size(); ++block) {
      const std::uint64_t turn = block / row_blocks;
      const std::uint64_t place = turn / turns.size() * row_blocks + block % row_blocks;
      const std::byte* from = rows[turn % turns.size()].data() + place * mxfp4_block_bytes;
      if (are_codes) {
        pair_codes(from, to);
      } else {
        *to = *from;
      }
      to += part_bytes;
    }
    INGOT_TRY_VOID(sink(part));
  }
  return {};
}

/// @param shape  row-major.
MadeTensor made(std::string name, const std::vector<std::uint64_t>& shape, const Turns& turns,
                bool are_codes) {
  OutputTensor output{.name = std::move(name), .type = TensorType::i8, .source = turns[0]};
  output.shape.assign(shape.rbegin(), shape.rend());
  output.size_bytes = 1;
  for (const std::uint64_t size : shape) output.size_bytes *= size;  // less than the model's bytes
  output.is_unsigned = true;
  const auto make = [=](const Model& model, unsigned, const DataSink& sink) {
    return write_part(model, turns, are_codes, sink);
  };
  return {std::move(output), make};
}

}  // namespace

Result<std::optional<std::vector<MadeTensor>>> return_mxfp4(const FolderFacts& facts,
                                                            const TensorNameMap& names,
                                                            const TensorInfo& tensor) {
  const auto layer = parse_layer_name(tensor.name);
  if (!layer || tensor.type != TensorType::mxfp4 || tensor.shape.size() != 3) return std::nullopt;
  const std::string base = "model.layers." + std::to_string(layer->layer) + ".";
  const NameParts parts{.base = base};
  for (const TransformRule& rule : facts.architecture.transforms) {
    const auto* const operation = std::get_if<Mxfp4Blocks>(&rule.operation);
    if (operation == nullptr) continue;
    Turns turns;
    for (const std::string& to : operation->to) {
      INGOT_TRY(const std::string name, fill_pattern(to, parts, base));
      turns.push_back(facts.model.find_tensor(names.find(name).value_or(name)));
    }
    const auto own = std::ranges::find(turns, &tensor);
    if (own == turns.end()) continue;
    if (own != turns.begin()) return std::vector<MadeTensor>();
    for (const TensorInfo* other : turns) {
      if (other == nullptr || other->type != tensor.type ||
          !std::ranges::equal(other->shape, tensor.shape)) {
        return refuse(std::string(tensor.name),
                      "folders have it as one tensor with others, which are not like it");
      }
    }
    INGOT_TRY(std::string codes, fill_pattern(rule.names.front().text(), parts, base));
    INGOT_TRY(std::string scales, fill_pattern(operation->scales, parts, base));
    const std::vector<std::uint64_t> shape = {tensor.shape[2], tensor.shape[1] * turns.size(),
                                              tensor.shape[0] / mxfp4_elements};
    std::vector<std::uint64_t> of_codes = shape;
    of_codes.push_back(mxfp4_code_bytes);
    std::vector<MadeTensor> pair;
    pair.push_back(made(std::move(codes), of_codes, turns, true));
    pair.push_back(made(std::move(scales), shape, turns, false));
    return pair;
  }
  return std::nullopt;
}

}  // namespace ingot::huggingface
