// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/quantized/nvfp4_weights.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/rules/name_pattern.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t group_code_bytes = 8;  // of a group
constexpr std::uint64_t groups_of_block = 4;
constexpr std::uint64_t bytes_of_block = groups_of_block * (1 + group_code_bytes);
constexpr std::uint64_t blocks_of_piece = 4096;

/// Moves the codes of a group from neighbours in one byte to elements j and j + 8 in byte j.
void reorder_group(const std::byte* codes, std::byte* to) {
  const auto element = [&](std::size_t i) {
    const auto byte = std::to_integer<unsigned>(codes[i / 2]);
    return i % 2 == 0 ? byte & 15 : byte >> 4;
  };
  for (std::size_t j = 0; j < group_code_bytes; ++j) {
    to[j] = static_cast<std::byte>(element(j) | element(j + group_code_bytes) << 4);
  }
}

/// Blocks of four groups: four scales, then the codes of each group.
class Nvfp4Pieces final : public PieceSource {
 public:
  Nvfp4Pieces(std::shared_ptr<const NumberSource> codes, std::shared_ptr<const NumberSource> scales,
              std::uint64_t groups)
      : codes_(std::move(codes)), scales_(std::move(scales)), blocks_(groups / groups_of_block) {}

  [[nodiscard]] std::uint64_t piece_count() const noexcept override {
    return (blocks_ + blocks_of_piece - 1) / blocks_of_piece;
  }

  [[nodiscard]] PiecePlace piece_at(std::uint64_t byte) const noexcept override {
    constexpr std::uint64_t bytes_of_piece = blocks_of_piece * bytes_of_block;
    return {byte / bytes_of_piece, byte / bytes_of_piece * bytes_of_piece};
  }

  [[nodiscard]] Result<void> make(std::uint64_t piece, PieceMemory& memory,
                                  std::vector<std::byte>& bytes) const override {
    const std::uint64_t first = piece * blocks_of_piece;
    const auto count = static_cast<std::size_t>(std::min(blocks_of_piece, blocks_ - first));
    memory.read.resize(count * groups_of_block * group_code_bytes);
    memory.gathered.resize(count * groups_of_block);
    INGOT_TRY_VOID(codes_->read(first * groups_of_block, memory.read));
    INGOT_TRY_VOID(scales_->read(first * groups_of_block, memory.gathered));
    bytes.resize(count * bytes_of_block);
    for (std::size_t block = 0; block < count; ++block) {
      std::byte* const to = &bytes[block * bytes_of_block];
      for (std::size_t group = 0; group < groups_of_block; ++group) {
        const std::size_t from = block * groups_of_block + group;
        to[group] = memory.gathered[from] & std::byte{0x7F};
        reorder_group(&memory.read[from * group_code_bytes],
                      to + groups_of_block + group * group_code_bytes);
      }
    }
    return {};
  }

 private:
  std::shared_ptr<const NumberSource> codes_;
  std::shared_ptr<const NumberSource> scales_;
  std::uint64_t blocks_;
};

/// The number of a tensor of one element, or 1 without the tensor.
Result<float> one_number(const SourceTensor* tensor, bool is_reciprocal) {
  if (tensor == nullptr) return 1.0F;
  std::uint64_t count = 1;
  for (const std::uint64_t size : tensor->shape) count = size == 1 ? count : 0;
  if (count != 1) return refuse(tensor->name, "one number is expected");
  INGOT_TRY(const auto source, tensor->numbers());
  std::vector<std::byte> scratch;
  float number = 0;
  INGOT_TRY_VOID(read_floats(*source, 0, scratch, std::span(&number, 1)));
  return is_reciprocal ? 1.0F / number : number;
}

bool fits(const SourceTensor& weight, const SourceTensor& scales) {
  return weight.dtype != nullptr && scales.dtype != nullptr && weight.dtype->name == "U8" &&
         scales.dtype->name == "F8_E4M3" && weight.shape.size() == 2 &&
         weight.shape[0] == scales.shape[0] && scales.shape[1] != 0 &&
         scales.shape[1] % groups_of_block == 0 &&
         weight.shape[1] == scales.shape[1] * group_code_bytes;
}

}  // namespace

Result<void> take_nvfp4_scales(std::vector<SourceTensor>& tensors) {
  std::map<std::string, SourceTensor, std::less<>> by_name;
  for (const SourceTensor& tensor : tensors) by_name.emplace(tensor.name, tensor);
  std::set<std::string, std::less<>> used;
  for (SourceTensor& tensor : tensors) {
    constexpr std::string_view plain = ".weight";
    constexpr std::string_view packed = ".weight_packed";
    const bool is_packed = tensor.name.ends_with(packed);
    if (!is_packed && !tensor.name.ends_with(plain)) continue;
    const std::string base =
        tensor.name.substr(0, tensor.name.size() - (is_packed ? packed : plain).size());
    const auto part = [&](const char* ending) -> const SourceTensor* {
      const auto found = by_name.find(base + ending);
      if (found == by_name.end()) return nullptr;
      used.insert(found->first);
      return &found->second;
    };
    const auto scales = by_name.find(base + ".weight_scale");
    if (scales == by_name.end() || scales->second.shape.size() != 2) continue;
    if (!is_packed && tensor.dtype != nullptr && tensor.dtype->name != "U8") continue;
    if (!fits(tensor, scales->second)) {
      return refuse(tensor.name,
                    "its scales do not fit it; NVFP4 needs rows of 64 columns or more");
    }
    Nvfp4Scales found{.groups = std::make_shared<SourceTensor>(*part(".weight_scale"))};
    INGOT_TRY(found.weight,
              one_number(part(is_packed ? ".weight_global_scale" : ".weight_scale_2"), is_packed));
    INGOT_TRY(found.input,
              one_number(part(is_packed ? ".input_global_scale" : ".input_scale"), is_packed));
    tensor.name = base + std::string(plain);
    tensor.nvfp4 = std::make_shared<Nvfp4Scales>(std::move(found));
  }
  std::erase_if(tensors, [&](const SourceTensor& tensor) {
    return used.contains(tensor.name) || ends_with_one(tensor.name, {".k_scale", ".v_scale"});
  });
  return {};
}

Result<TensorView> Nvfp4Groups::view_of(const SourceTensor& weight) {
  const SourceTensor& scales = *weight.nvfp4->groups;
  // A group of codes is moved as one integer of its size, its scale as one of a byte.
  const auto codes = std::make_shared<StoredNumbers>(weight.file, weight.file_offset,
                                                     TensorType::i64, group_code_bytes);
  scales_.emplace(codes.get(), std::make_shared<StoredNumbers>(scales.file, scales.file_offset,
                                                               TensorType::i8, 1));
  TensorView view = huggingface::view_of(weight.name, scales.shape, codes);
  view.type = TensorType::nvfp4;
  view.place = TensorPlace::before_others;
  return view;
}

Result<std::shared_ptr<const PieceSource>> Nvfp4Groups::pieces_of(TensorView view) const {
  TensorView scales = view;
  for (Arrangement& part : scales.parts) {
    const auto found = scales_.find(part.source.get());
    if (found == scales_.end()) {
      return refuse(view.name, "its numbers would change, so that it cannot stay in NVFP4");
    }
    part.source = found->second;
    // Groups lie along rows; a transform that turns them would need other scales.
    const bool is_turned =
        part.axes.empty() || part.axes.back().empty() || part.axes.back().back().stride != 1;
    if (is_turned) return refuse(view.name, "it would be transposed, which NVFP4 cannot be");
  }
  INGOT_TRY_VOID(make_plain(view));
  INGOT_TRY_VOID(make_plain(scales));
  std::uint64_t groups = 1;
  for (const std::uint64_t size : view.shape) groups *= size;
  if (view.shape.empty() || view.shape.back() % groups_of_block != 0) {
    return refuse(view.name, "its rows are cut where NVFP4 has no block");
  }
  return std::shared_ptr<const PieceSource>(std::make_shared<Nvfp4Pieces>(
      view.parts.front().source, scales.parts.front().source, groups));
}

}  // namespace ingot::huggingface
