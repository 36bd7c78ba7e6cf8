// SPDX-License-Identifier: MIT
#include "ingot/model_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/messages.hpp"
#include "format/parse.hpp"
#include "format/serialise.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/quantize.hpp"
#include "ingot/shard_name.hpp"
#include "io/atomic_file.hpp"
#include "model/open/model_state.hpp"
#include "model/write/key_table.hpp"
#include "model/write/writer_content.hpp"

namespace ingot {
struct ModelWriter::State : WriterContent {};

WriteFormat WriteFormat::of(const Model& model) noexcept {
  return {model.files()[0].version, model.files()[0].byte_order};
}

ModelWriter::ModelWriter() : state_(std::make_unique<State>()) {}
ModelWriter::ModelWriter(ModelWriter&&) noexcept = default;
ModelWriter& ModelWriter::operator=(ModelWriter&&) noexcept = default;
ModelWriter::~ModelWriter() = default;

ModelWriter ModelWriter::with_keys_of(const Model& model) {
  ModelWriter writer;
  writer.state_->lacks_keys = !model.is_verified();
  for (const KeyValue& entry : model.metadata()) {
    if (!is_split_key(entry.key)) writer.set_value(entry.key, entry.value);
  }
  return writer;
}

Result<ModelWriter> ModelWriter::from(const Model& model) {
  ModelWriter writer;
  writer.state_->lacks_keys = !model.is_verified();
  const bool is_set = model.files().size() > 1;
  for (const KeyValue& entry : model.metadata()) {
    if (is_set && entry.key.starts_with("split.")) continue;
    writer.set_value(entry.key, entry.value);
  }
  for (const TensorInfo& tensor : model.tensors()) {
    INGOT_TRY_VOID(writer.add_tensor(tensor.name, model, tensor));
  }
  return writer;
}

void ModelWriter::set_scalar(std::string_view key, ValueType type, const void* value,
                             std::size_t bytes) {
  state_->keys.set(key, OwnedContent::scalar(type, value, bytes));
}

void ModelWriter::set_scalars(std::string_view key, ValueType element_type, const void* values,
                              std::size_t count, std::size_t element_bytes) {
  state_->keys.set(key, OwnedContent::scalars(element_type, values, count, element_bytes));
}

void ModelWriter::set_bool(std::string_view key, bool value) {
  const auto stored = static_cast<std::uint8_t>(value ? 1 : 0);
  set_scalar(key, ValueType::boolean, &stored, sizeof stored);
}

void ModelWriter::set_string(std::string_view key, std::string_view value) {
  set_scalar(key, ValueType::string, value.data(), value.size());
}

void ModelWriter::set_array(std::string_view key, std::span<const std::string_view> values) {
  OwnedContent content = OwnedContent::array(ValueType::string);
  for (const std::string_view value : values) content.append_text(value);
  state_->keys.set(key, std::move(content));
}

void ModelWriter::set_array(std::string_view key, std::span<const std::string> values) {
  const std::vector<std::string_view> views(values.begin(), values.end());
  set_array(key, std::span<const std::string_view>(views));
}

void ModelWriter::set_array(std::string_view key, std::span<const bool> values) {
  const std::vector<std::uint8_t> stored(values.begin(), values.end());
  set_scalars(key, ValueType::boolean, stored.data(), stored.size(), 1);
}

void ModelWriter::set_value(std::string_view key, const Value& value) {
  state_->keys.set(key, OwnedContent::copy(value));
}

void ModelWriter::borrow_value(std::string_view key, const Value& value) {
  state_->keys.borrow(key, value);
}

std::vector<KeyValue> ModelWriter::metadata() const { return state_->keys.entries(); }

std::optional<Value> ModelWriter::find(std::string_view key) const {
  return state_->keys.find(key);
}

std::uint64_t ModelWriter::alignment() const { return state_->alignment(); }

bool ModelWriter::remove(std::string_view key) { return state_->keys.remove(key); }

Result<void> ModelWriter::rename(std::string_view key, std::string_view new_key) {
  return state_->keys.rename(key, new_key);
}

Result<void> ModelWriter::add_tensor(std::string_view name, TensorType type,
                                     std::span<const std::uint64_t> shape, DataProducer produce) {
  if (find_type(type) == nullptr) return fail(Errc::tensor_type_unknown, std::string(name));
  INGOT_TRY(const TensorSize size, with_subject(std::string(name), size_of_tensor(type, shape)));
  auto own = std::make_unique<OwnTensor>();
  own->name = name;
  own->shape = {shape.begin(), shape.end()};
  own->produce = std::move(produce);
  own->info = {.name = own->name,
               .shape = own->shape,
               .element_count = size.elements,
               .size_bytes = size.bytes,
               .type = type};
  const TensorInfo* own_info = &own->info;
  state_->tensors.push_back({.info = own_info, .own = std::move(own)});
  return {};
}

Result<void> ModelWriter::add_bytes(std::string_view name, TensorType type,
                                    std::span<const std::uint64_t> shape,
                                    std::span<const std::byte> data) {
  return add_tensor(name, type, shape, [data](const DataSink& sink) { return sink(data); });
}

Result<void> ModelWriter::add_tensor(std::string_view name, const Model& source,
                                     const TensorInfo& tensor) {
  const LoadedFile& file = ModelAccess::state(source).loaded[tensor.shard];
  if (file.source == nullptr) {
    return fail(Errc::not_mapped, std::string(name), "a pipe can be read only once");
  }
  const std::span<const TensorInfo> table = source.tensors();
  const bool is_of_table =
      !std::less<>()(&tensor, table.data()) && std::less<>()(&tensor, table.data() + table.size());
  if (is_of_table && name == tensor.name && find_type(tensor.type) != nullptr) {
    state_->tensors.push_back({.info = &tensor});
  } else {
    INGOT_TRY_VOID(add_tensor(name, tensor.type, tensor.shape, DataProducer()));
  }
  const void* model = &ModelAccess::state(source);
  if (state_->first_model == nullptr) state_->first_model = model;
  state_->is_of_one_model = state_->is_of_one_model && state_->first_model == model;
  state_->tensors.back().source = &file;
  state_->tensors.back().source_offset = source.file_offset(tensor);
  return {};
}

Result<std::vector<std::byte>> ModelWriter::serialise_header(WriteFormat format) const {
  return serialise_checked(*state_, format);
}

Result<std::uint64_t> ModelWriter::file_bytes(WriteFormat format) const {
  INGOT_TRY(const FileParts parts, measure(*state_, format));
  return parts.header_bytes + parts.data_bytes;
}

namespace {

using GoOn = std::function<bool(std::uint64_t)>;

/// Runs the producer of a tensor; its pieces go to the file.
Result<void> write_made(io::AtomicFile& file, const PendingTensor& tensor, const GoOn& go_on) {
  const std::uint64_t end = file.size_bytes() + tensor.info->size_bytes;
  const std::string name(tensor.info->name);
  const auto wrong_size = [&] {
    return fail(Errc::size_mismatch, name,
                "its data must have " + std::to_string(tensor.info->size_bytes) + " bytes");
  };
  const DataSink sink = [&](std::span<const std::byte> piece) -> Result<void> {
    if (piece.size() > end - file.size_bytes()) return wrong_size();
    INGOT_TRY_VOID(file.write(piece));
    if (go_on && !go_on(file.size_bytes())) return fail(Errc::interrupted, {});
    return {};
  };
  if (!tensor.own->produce) return fail(Errc::invalid_argument, name, "nothing makes its data");
  INGOT_TRY_VOID(tensor.own->produce(sink));
  if (file.size_bytes() != end) return wrong_size();
  return {};
}

Result<void> write_swapped(io::AtomicFile& file, const PendingTensor& tensor, const GoOn& go_on) {
  const std::uint64_t block_bytes = find_type(tensor.info->type)->block_bytes;
  constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;
  std::vector<std::byte> piece(
      to_size(std::min(tensor.info->size_bytes, piece_bytes / block_bytes * block_bytes)));
  for (std::uint64_t done = 0; done < tensor.info->size_bytes; done += piece.size()) {
    piece.resize(to_size(std::min<std::uint64_t>(piece.size(), tensor.info->size_bytes - done)));
    INGOT_TRY_VOID(tensor.source->source->read(tensor.source_offset + done, piece));
    INGOT_TRY_VOID(swap_byte_order(tensor.info->type, piece));
    INGOT_TRY_VOID(file.write(piece));
    if (go_on && !go_on(file.size_bytes())) return fail(Errc::interrupted, {});
  }
  return {};
}

Result<void> write_copied(io::AtomicFile& file, const PendingTensor& tensor, Endian byte_order,
                          const GoOn& go_on) {
  if (tensor.source->structure.byte_order != byte_order) return write_swapped(file, tensor, go_on);
  Result<void> result =
      file.copy(*tensor.source->source, tensor.source_offset, tensor.info->size_bytes, go_on);
  if (!result && result.error().code != Errc::interrupted)
    result.error().subject = tensor.info->name;
  return result;
}

}  // namespace

Result<void> ModelWriter::write(const std::string& path, WriteFormat format, bool replace,
                                const std::function<bool(std::uint64_t)>& progress) const {
  INGOT_TRY(OutputFile file, prepare(path, format, replace, progress));
  return file.commit();
}

Result<OutputFile> ModelWriter::begin(const std::string& path, WriteFormat format,
                                      bool replace) const {
  INGOT_TRY(io::AtomicFile file, io::AtomicFile::create(path, replace));
  INGOT_TRY(const FileParts parts, measure(*state_, format));
  INGOT_TRY_VOID(file.reserve(parts.header_bytes + parts.data_bytes));
  INGOT_TRY_VOID(serialise_content(
      *state_, format, [&](std::span<const std::byte> piece) { return file.write(piece); }));
  return OutputFile(std::make_unique<io::AtomicFile>(std::move(file)));
}

Result<OutputFile> ModelWriter::prepare(const std::string& path, WriteFormat format, bool replace,
                                        const std::function<bool(std::uint64_t)>& progress) const {
  INGOT_TRY(OutputFile output, begin(path, format, replace));
  io::AtomicFile& file = *output.file_;
  for (const PendingTensor& tensor : state_->tensors) {
    INGOT_TRY_VOID(tensor.source != nullptr
                       ? write_copied(file, tensor, format.byte_order, progress)
                       : write_made(file, tensor, progress));
    const std::uint64_t padded = *checked_align_up(file.size_bytes(), state_->alignment());
    INGOT_TRY_VOID(file.write_zeros(padded - file.size_bytes()));
  }
  return output;
}

Result<std::vector<std::byte>> serialise_header(const Model& model, std::size_t file,
                                                WriteFormat format) {
  if (file >= model.files().size()) return fail(Errc::index_out_of_range, "file");
  const ModelFile& described = model.files()[file];
  if (described.is_indexed) return read_through_index();
  return format::serialise({.version = format.version,
                            .byte_order = format.byte_order,
                            .alignment = described.alignment,
                            .metadata = described.metadata,
                            .tensor_count = described.tensors.size(),
                            .tensor_at = format::at(described.tensors)});
}

Result<std::vector<std::byte>> serialise_header(const Model& model, std::size_t file) {
  if (file >= model.files().size()) return fail(Errc::index_out_of_range, "file");
  const ModelFile& described = model.files()[file];
  return serialise_header(model, file, {described.version, described.byte_order});
}

}  // namespace ingot
