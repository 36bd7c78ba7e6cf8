// SPDX-License-Identifier: MIT
// Importance matrices as GGUF: for each weight tensor W the tensors W.in_sum2 and W.counts.

#include "formats/imatrix/imatrix_state.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::formats {
namespace {

constexpr std::string_view sums_suffix = ".in_sum2";
constexpr std::string_view counts_suffix = ".counts";
constexpr std::string_view moments_suffix = ".in_moment";
constexpr std::string_view exact_suffix = ".in_sum2_exact";

Failure invalid(const TensorInfo& tensor, std::string detail) {
  return fail(Errc::imatrix_invalid, std::string(tensor.name), std::move(detail));
}

/// Second moments, where the file has them.
Result<void> add_moments(const Model& model, const std::string& name, ImatrixPart& part) {
  const TensorInfo* moments = model.find_tensor(name + std::string(moments_suffix));
  if (moments == nullptr) return {};
  if (moments->type != TensorType::f32) return invalid(*moments, "its type must be F32");
  const std::uint64_t size = moments->row_elements();
  const std::uint64_t columns = part.value_count / part.expert_count;
  if (size == 0 || size > max_moment_columns) {
    return invalid(*moments, "blocks of " + std::to_string(size) + " columns; from 1 to " +
                                 std::to_string(max_moment_columns) + " are supported");
  }
  if (moments->shape.size() < 2 || moments->shape[1] != columns ||
      moments->element_count / size != part.value_count) {
    return invalid(*moments, "its shape must be " + std::to_string(size) + " x " +
                                 std::to_string(columns) + ", for each expert");
  }
  part.moments_offset = model.file_offset(*moments);
  part.moment_columns = size;
  return {};
}

/// Exact sums, where the file has them.
Result<void> add_exact_sums(const Model& model, const std::string& name, ImatrixPart& part) {
  const TensorInfo* exact = model.find_tensor(name + std::string(exact_suffix));
  if (exact == nullptr) return {};
  if (exact->type != TensorType::f64) return invalid(*exact, "its type must be F64");
  if (exact->row_elements() != part.value_count || exact->element_count / 2 != part.value_count ||
      exact->element_count % 2 != 0) {
    return invalid(*exact, "its shape must be " + std::to_string(part.value_count) + " x 2");
  }
  part.exact_offset = model.file_offset(*exact);
  return {};
}

Result<ImatrixItem> make_item(const std::shared_ptr<const ImatrixFile>& file,
                              const TensorInfo& sums, std::string name) {
  const Model& model = *file->model;
  const TensorInfo* counts = model.find_tensor(name + std::string(counts_suffix));
  if (counts == nullptr) {
    return invalid(sums, "there is no \"" + name + std::string(counts_suffix) + "\" beside it");
  }
  for (const TensorInfo* tensor : {&sums, counts}) {
    if (tensor->type != TensorType::f32) return invalid(*tensor, "its type must be F32");
    if (tensor->element_count == 0) return invalid(*tensor, "it is empty");
  }
  if (sums.element_count % counts->element_count != 0) {
    return invalid(sums, std::to_string(sums.element_count) + " sums for " +
                             std::to_string(counts->element_count) + " counts");
  }
  ImatrixPart part{.file = file,
                   .values_offset = model.file_offset(sums),
                   .value_count = sums.element_count,
                   .counts_offset = model.file_offset(*counts),
                   .expert_count = counts->element_count};
  INGOT_TRY_VOID(add_moments(model, name, part));
  INGOT_TRY_VOID(add_exact_sums(model, name, part));
  return ImatrixItem{{.name = std::move(name),
                      .value_count = sums.element_count,
                      .expert_count = counts->element_count,
                      .moment_columns = part.moment_columns},
                     {std::move(part)}};
}

std::uint64_t number(const Model& model, std::string_view key) {
  return model.get_or(key, std::uint64_t{0});
}

}  // namespace

Result<ImatrixContent> parse_gguf_imatrix(std::shared_ptr<ImatrixFile> file) {
  const Model& model = *file->model;
  ImatrixContent content;
  content.format = ImatrixFormat::gguf;
  for (const TensorInfo& tensor : model.tensors()) {
    if (!tensor.name.ends_with(sums_suffix)) continue;  // skips other statistics
    std::string name(tensor.name.substr(0, tensor.name.size() - sums_suffix.size()));
    if (content.items.size() == max_imatrix_entries) {
      return fail(Errc::limit_exceeded, "entries");
    }
    INGOT_TRY(ImatrixItem item, make_item(file, tensor, std::move(name)));
    content.items.push_back(std::move(item));
  }
  if (content.items.empty()) {
    const auto type = model.get_or(keys::general_type, std::string_view{});
    return fail(Errc::imatrix_unknown, {},
                type == "imatrix" ? "it has no entries"
                                  : "it is a GGUF file, but its general.type is not \"imatrix\"");
  }
  if (const Value* datasets = model.find("imatrix.datasets")) {
    for (const Value& dataset : datasets->as_array()) {
      const auto text = dataset.get<std::string_view>();
      if (text) content.datasets.emplace_back(*text);
    }
  }
  content.chunk_count = number(model, "imatrix.chunk_count");
  content.chunk_size = number(model, "imatrix.chunk_size");
  return content;
}

}  // namespace ingot::formats
