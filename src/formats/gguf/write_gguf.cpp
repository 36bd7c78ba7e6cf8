// SPDX-License-Identifier: MIT
// Writes GGUF of another version, byte order, alignment or element type.
#include <string>
#include <utility>

#include "base/messages.hpp"
#include "formats/foreign/lost_meaning.hpp"
#include "formats/foreign/planner.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::formats {
namespace {

/// Tensors that an engine keeps in F32 with any type of weights: norms and biases.
bool is_kept_in_f32(const TensorInfo& tensor) noexcept {
  std::size_t dimensions = tensor.shape.size();
  while (dimensions > 0 && tensor.shape[dimensions - 1] == 1) --dimensions;
  return dimensions < 2 || tensor.name.ends_with("_norm.weight") || tensor.name.ends_with(".bias");
}

/// The type in which a tensor is written.
TensorType choose_type(const TensorInfo& tensor, const ConvertOptions& options) {
  if (!options.type || is_integer(tensor.type)) return tensor.type;
  return !options.all_tensors && is_kept_in_f32(tensor) ? TensorType::f32 : *options.type;
}

class GgufConversion final : public Conversion {
 public:
  GgufConversion(const Model& model, const ConvertOptions& options)
      : model_(model), options_(options), writer_(ModelWriter::with_keys_of(model)) {}

  Result<void> plan(const std::string& path) {
    const bool is_big = options_.byte_order.value_or(model_.files()[0].byte_order) == Endian::big;
    const bool is_old = options_.version.value_or(3) < 3;
    format_.version = options_.version.value_or(3);
    // A model that is big-endian becomes little-endian where the version has no other.
    format_.byte_order = is_big && !(is_old && !options_.byte_order) ? Endian::big : Endian::little;
    format_.has_index = options_.has_index;
    add_keys();
    for (const TensorInfo& tensor : model_.tensors()) INGOT_TRY_VOID(add_tensor(tensor));
    INGOT_TRY(total_bytes_, writer_.file_bytes(format_));
    outputs_.push_back(path);
    if (auto warning = find_missing_meaning(model_)) warnings_.push_back(*std::move(warning));
    return {};
  }

  Result<void> run(const WriteProgress& progress) const override {
    return with_subject(outputs_[0],
                        writer_.write(outputs_[0], format_, options_.replace, progress));
  }

 private:
  void add_keys() {
    const bool has_alignment = model_.find(keys::general_alignment) != nullptr;
    if (options_.alignment && (has_alignment || *options_.alignment != default_alignment)) {
      writer_.set(keys::general_alignment, *options_.alignment);
    }
    set_file_type(model_, writer_,
                  [this](const TensorInfo& tensor) { return choose_type(tensor, options_); });
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
  return planned<GgufConversion>(model, path, options);
}

}  // namespace ingot::formats
