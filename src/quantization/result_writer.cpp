// SPDX-License-Identifier: MIT
#include "quantization/result_writer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked.hpp"
#include "base/messages.hpp"
#include "ingot/output_set.hpp"
#include "ingot/split.hpp"
#include "quantization/quantize_work.hpp"

namespace ingot::quantization {
namespace {

/// The keys of one file: those of the model, or those that a split gives to this shard.
Result<ModelWriter> make_file_keys(const Model& model, const QuantizePlan& plan,
                                   const QuantizeModelOptions& options,
                                   const QuantizedShard& shard) {
  INGOT_TRY(ModelWriter keys, quantization::make_keys(model, plan, options));
  if (shard.count == 0) return keys;
  const SplitPlan split{.shards = std::vector<PlannedShard>(shard.count),
                        .tensor_count = plan.tensors.size()};
  return shard_keys(keys, split, shard.index);
}

/// The tensors of a file. One that is no shard of a set holds all: nothing else would.
Result<std::span<const PlannedTensor>> tensors_of(const QuantizePlan& plan,
                                                  const QuantizedShard& shard) {
  const std::size_t all = plan.tensors.size();
  if (shard.first_tensor > all) return fail(Errc::index_out_of_range, "shard");
  const std::size_t count = shard.tensor_count.value_or(all - shard.first_tensor);
  if (count > all - shard.first_tensor || (shard.count > 0 && shard.index >= shard.count)) {
    return fail(Errc::index_out_of_range, "shard");
  }
  if (shard.count == 0 && count < all) {
    return fail(Errc::invalid_argument, "shard",
                "it would have " + std::to_string(count) + " of " + std::to_string(all) +
                    " tensors, and is not one of a set");
  }
  return std::span(plan.tensors).subspan(shard.first_tensor, count);
}

}  // namespace

Result<ModelWriter> make_header(const Model& model, const QuantizePlan& plan,
                                const QuantizeModelOptions& options, const QuantizedShard& shard) {
  INGOT_TRY(const std::span<const PlannedTensor> tensors, tensors_of(plan, shard));
  INGOT_TRY(ModelWriter header, make_file_keys(model, plan, options, shard));
  for (const PlannedTensor& tensor : tensors) {
    INGOT_TRY_VOID(header.add_tensor(tensor.source->name, tensor.choice.type, tensor.source->shape,
                                     DataProducer()));
  }
  return header;
}

Result<ResultWriter> ResultWriter::create(const Model& model, const PlannedResult& result,
                                          bool replace) {
  if (result.shards.empty()) return fail(Errc::invalid_argument, "shards", "there are none");
  ResultWriter writer(model, result, replace);
  writer.is_held_.resize(result.plan->tensors.size());
  std::size_t end = 0;
  for (const QuantizedShard& shard : result.shards) {
    INGOT_TRY(const std::span<const PlannedTensor> tensors, tensors_of(*result.plan, shard));
    if (shard.first_tensor < end) {
      return fail(Errc::invalid_argument, "shards", "their tensors are not in the plan's order");
    }
    end = shard.first_tensor + tensors.size();
    const auto first = writer.is_held_.begin() + static_cast<std::ptrdiff_t>(shard.first_tensor);
    std::fill_n(first, tensors.size(), true);
  }
  return writer;
}

Result<void> ResultWriter::keep_part(const std::string& source) {
  if (result_.shards.size() != 1) {
    return fail(Errc::invalid_argument, result_.options->resumes ? "resume" : "keeps_parts",
                "parts are kept of results of one file, and this one has " +
                    std::to_string(result_.shards.size()) + "; make each shard by itself");
  }
  const QuantizedShard& shard = result_.shards[0];
  INGOT_TRY(const ModelWriter header, make_header(*model_, *result_.plan, *result_.options, shard));
  alignment_ = header.alignment();
  PartPlan plan;
  plan.path = shard.path;
  plan.may_replace = replace_;
  plan.resumes = result_.options->resumes;
  plan.allows_nan = result_.options->allows_nan;
  INGOT_TRY(plan.header, header.serialise_header(result_format(*model_, *result_.options)));
  INGOT_TRY(plan.work, digest_work(result_, plan.header, source));
  INGOT_TRY(const std::span<const PlannedTensor> tensors, tensors_of(*result_.plan, shard));
  for (const PlannedTensor& tensor : tensors) {
    plan.tensor_bytes.push_back(*checked_align_up(tensor.size_bytes, alignment_));
  }
  INGOT_TRY(part_, KeptPart::open(std::move(plan)));
  written_bytes_ = part_->size_bytes();
  begun_files_ = 1;
  return {};
}

bool ResultWriter::needs(std::size_t tensor) const noexcept {
  if (!has(tensor) || !part_) return has(tensor);
  return tensor - result_.shards[0].first_tensor >= part_->finished().size();
}

Result<void> ResultWriter::open_file() {
  // Naming them has to be quick.
  INGOT_TRY_VOID(files_.sync());
  const QuantizedShard& shard = result_.shards[begun_files_++];
  const WriteFormat format = result_format(*model_, *result_.options);
  INGOT_TRY(const ModelWriter header, make_header(*model_, *result_.plan, *result_.options, shard));
  INGOT_TRY(OutputFile file, with_subject(shard.path, header.begin(shard.path, format, replace_)));
  INGOT_TRY(file_, files_.add(shard.path, std::move(file)));
  alignment_ = header.alignment();
  INGOT_TRY(std::uint64_t header_bytes, header.file_bytes(format));
  INGOT_TRY(const std::span<const PlannedTensor> tensors, tensors_of(*result_.plan, shard));
  for (const PlannedTensor& tensor : tensors) {
    header_bytes -= *checked_align_up(tensor.size_bytes, alignment_);
  }
  written_bytes_ += header_bytes;
  return {};
}

Result<void> ResultWriter::begin_tensor(std::size_t tensor) {
  while (begun_files_ < result_.shards.size() &&
         result_.shards[begun_files_].first_tensor <= tensor) {
    INGOT_TRY_VOID(open_file());
  }
  if (has(tensor)) {
    const bool is_made = !needs(tensor);
    errors_.push_back(is_made ? part_->finished()[errors_.size()] : TensorError());
  }
  tensor_bytes_ = 0;
  return {};
}

Result<void> ResultWriter::write(std::span<const std::byte> bytes, const TensorError& error) {
  errors_.back().add(error);
  return append(bytes);
}

Result<void> ResultWriter::append(std::span<const std::byte> bytes) {
  tensor_bytes_ += bytes.size();
  written_bytes_ += bytes.size();
  if (part_) return part_->write(bytes);
  return with_subject(result_.shards[begun_files_ - 1].path, file_->write(bytes));
}

Result<void> ResultWriter::end_tensor() {
  static constexpr std::array<std::byte, 4096> zeros{};
  std::uint64_t padding_bytes = *checked_align_up(tensor_bytes_, alignment_) - tensor_bytes_;
  while (padding_bytes != 0) {
    const std::uint64_t piece_bytes = std::min<std::uint64_t>(padding_bytes, zeros.size());
    INGOT_TRY_VOID(append(std::span(zeros).first(static_cast<std::size_t>(piece_bytes))));
    padding_bytes -= piece_bytes;
  }
  return part_ ? part_->end_tensor(errors_.back()) : Result<void>();
}

Result<void> ResultWriter::finish() {
  while (begun_files_ < result_.shards.size()) INGOT_TRY_VOID(open_file());
  return part_ ? part_->flush() : files_.sync();
}

void ResultWriter::give_up(bool may_go_on) const {
  if (!part_) return;
  if (part_->finished().empty()) part_->remove();
  if (!may_go_on) part_->forget();
}

Result<std::vector<TensorError>> ResultWriter::commit() {
  // A set without its first shard is not taken for a model.
  INGOT_TRY_VOID(part_ ? part_->give_name() : files_.commit(KeyFile::first));
  return std::move(errors_);
}

}  // namespace ingot::quantization
