// SPDX-License-Identifier: MIT
// Writes GGUF of another version, byte order, alignment or element type.
#include <string>
#include <utility>

#include "base/about.hpp"
#include "formats/foreign/planner.hpp"
#include "ingot/shard_name.hpp"

namespace ingot::convert {
namespace {

constexpr std::string_view alignment_key = "general.alignment";
constexpr std::string_view file_type_key = "general.file_type";

/// The type in which a tensor is written.
TensorType choose_type(const TensorInfo& tensor, const ConvertOptions& options) {
  if (!options.type || is_integer(tensor.type)) return tensor.type;
  // Engines want norms and biases in F32 or as the model came.
  if (tensor.shape.size() < 2 && *options.type != TensorType::f32) return tensor.type;
  return *options.type;
}

/// `general.file_type` of a model whose matrices have one type. Source: LLAMA_FTYPE of llama.h.
std::optional<std::uint32_t> file_type_of(TensorType type) {
  switch (type) {
    case TensorType::f32:
      return 0;
    case TensorType::f16:
      return 1;
    case TensorType::bf16:
      return 32;
    default:
      return std::nullopt;
  }
}

class GgufConversion final : public Conversion {
 public:
  GgufConversion(const Model& model, const ConvertOptions& options)
      : model_(model), options_(options) {}

  Result<void> plan(const std::string& path) {
    const bool is_big = options_.byte_order.value_or(model_.files()[0].byte_order) == Endian::big;
    const bool is_old = options_.version.value_or(3) < 3;
    format_.version = options_.version.value_or(3);
    // A model that is big-endian becomes little-endian where the version has no other.
    format_.byte_order = is_big && !(is_old && !options_.byte_order) ? Endian::big : Endian::little;
    add_keys();
    for (const TensorInfo& tensor : model_.tensors()) INGOT_TRY_VOID(add_tensor(tensor));
    INGOT_TRY(total_bytes_, writer_.file_bytes(format_));
    outputs_.push_back(path);
    return {};
  }

  Result<void> run(const WriteProgress& progress) const override {
    return about(outputs_[0], writer_.write(outputs_[0], format_, options_.replace, progress));
  }

 private:
  void add_keys() {
    for (const KeyValue& entry : model_.metadata()) {
      // One file is no part of a set.
      if (!is_split_key(entry.key)) writer_.set_value(entry.key, entry.value);
    }
    const bool has_alignment = model_.find(alignment_key) != nullptr;
    constexpr std::uint32_t default_alignment = 32;
    if (options_.alignment && (has_alignment || *options_.alignment != default_alignment)) {
      writer_.set(alignment_key, *options_.alignment);
    }
    if (!options_.type || model_.find(file_type_key) == nullptr) return;
    if (const auto file_type = file_type_of(*options_.type)) writer_.set(file_type_key, *file_type);
  }

  Result<void> add_tensor(const TensorInfo& tensor) {
    const TensorType type = choose_type(tensor, options_);
    if (type == tensor.type) return writer_.add_tensor(tensor.name, model_, tensor);
    INGOT_TRY(OutputTensor output, output_of(tensor, type));
    const StreamOptions stream{.byte_order = format_.byte_order,
                               .thread_count = options_.thread_count};
    return writer_.add_tensor(tensor.name, output.type, tensor.shape,
                              [&model = model_, output, stream](const DataSink& sink) {
                                return stream_tensor(model, output, sink, stream);
                              });
  }

  const Model& model_;
  ConvertOptions options_;
  WriteFormat format_;
  ModelWriter writer_;
};

}  // namespace

Result<std::unique_ptr<Conversion>> plan_gguf(const Model& model, const std::string& path,
                                              const ConvertOptions& options) {
  auto conversion = std::make_unique<GgufConversion>(model, options);
  INGOT_TRY_VOID(conversion->plan(path));
  return std::unique_ptr<Conversion>(std::move(conversion));
}

}  // namespace ingot::convert
