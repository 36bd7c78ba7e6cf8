// SPDX-License-Identifier: MIT
#include "ingot/model_writer.hpp"

#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/checked.hpp"
#include "format/parse.hpp"
#include "format/serialise.hpp"
#include "format/tensor_layout.hpp"
#include "io/atomic_file.hpp"
#include "model/model_state.hpp"

namespace ingot {
namespace {

constexpr std::string_view alignment_key = "general.alignment";
constexpr std::uint64_t default_alignment = 32;

/// A key with a value of its own, encoded as in memory: this machine's byte order, wide counts.
struct OwnedKeyValue {
  std::string key;
  ValueType type = ValueType::uint8;
  ValueType element_type = ValueType::uint8;
  std::uint64_t count = 1;
  std::vector<std::byte> content;
};

struct PendingTensor {
  std::string name;
  TensorType type;
  std::vector<std::uint64_t> shape;
  format::TensorSize size;
  DataProducer produce;
};

void append_text(std::vector<std::byte>& content, std::string_view text) {
  const std::uint64_t length_bytes = text.size();
  const std::size_t begin = content.size();
  content.resize(begin + sizeof length_bytes + text.size());
  std::memcpy(&content[begin], &length_bytes, sizeof length_bytes);
  if (!text.empty()) std::memcpy(&content[begin + sizeof length_bytes], text.data(), text.size());
}

std::vector<std::byte> copy_bytes(const void* data, std::size_t size_bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  return {begin, begin + size_bytes};
}

/// A header must open before it is written: writer and reader share one set of rules.
Result<void> check_header(std::span<const std::byte> header, std::uint64_t file_bytes) {
  // What the caller built is his own; only a file from elsewhere has to fit a reader's limits.
  constexpr std::uint64_t no_limit = ~std::uint64_t{0};
  const Limits limits{.max_header_bytes = no_limit,
                      .max_keys = no_limit,
                      .max_tensors = no_limit,
                      .max_string_bytes = no_limit,
                      .max_array_elements = no_limit,
                      .max_depth = detail::max_array_depth};
  INGOT_TRY(
      const format::Parsed parsed,
      format::parse(header, {.is_lenient = false, .limits = limits, .file_bytes = file_bytes}));
  if (parsed.is_complete()) return {};
  return fail(Errc::internal, "the header is not complete");
}

}  // namespace

struct ModelWriter::State {
  detail::ValueContext context;  // of the owned values
  std::vector<OwnedKeyValue> keys;
  std::unordered_map<std::string, std::size_t> key_positions;
  std::vector<PendingTensor> tensors;

  void set(OwnedKeyValue entry) {
    const auto [position, is_new] = key_positions.try_emplace(entry.key, keys.size());
    if (is_new) {
      keys.push_back(std::move(entry));
    } else {
      keys[position->second] = std::move(entry);
    }
  }

  [[nodiscard]] Value value_of(const OwnedKeyValue& entry) const noexcept {
    return context.make(entry.type, entry.element_type, entry.content.data(), entry.content.size(),
                        entry.count);
  }

  [[nodiscard]] std::uint64_t alignment() const {
    const auto position = key_positions.find(std::string(alignment_key));
    if (position == key_positions.end()) return default_alignment;
    // A value that makes no sense is refused when the header is checked.
    const std::uint64_t alignment =
        value_of(keys[position->second]).get<std::uint32_t>().value_or(0);
    return alignment != 0 ? alignment : default_alignment;
  }
};

namespace {

/// The tensor table with offsets: in order, each at the next multiple of the alignment.
struct Layout {
  std::vector<TensorInfo> tensors;
  std::uint64_t data_bytes = 0;
};

Result<Layout> lay_out(const std::vector<PendingTensor>& tensors, std::uint64_t alignment) {
  Layout layout;
  layout.tensors.reserve(tensors.size());
  for (const PendingTensor& tensor : tensors) {
    layout.tensors.push_back({.name = tensor.name,
                              .shape = tensor.shape,
                              .element_count = tensor.size.elements,
                              .data_offset = layout.data_bytes,
                              .size_bytes = tensor.size.bytes,
                              .type = tensor.type});
    const auto end = checked_add(layout.data_bytes, tensor.size.bytes);
    // The last tensor is padded too: some readers demand it.
    const auto next = end ? checked_align_up(*end, alignment) : std::nullopt;
    if (!next) return fail(Errc::size_overflow, tensor.name);
    layout.data_bytes = *next;
  }
  return layout;
}

}  // namespace

ModelWriter::ModelWriter() : state_(std::make_unique<State>()) {}
ModelWriter::ModelWriter(ModelWriter&&) noexcept = default;
ModelWriter& ModelWriter::operator=(ModelWriter&&) noexcept = default;
ModelWriter::~ModelWriter() = default;

void ModelWriter::set_scalar(std::string_view key, ValueType type, const void* value,
                             std::size_t bytes) {
  state_->set({.key = std::string(key), .type = type, .content = copy_bytes(value, bytes)});
}

void ModelWriter::set_scalars(std::string_view key, ValueType element_type, const void* values,
                              std::size_t count, std::size_t element_bytes) {
  state_->set({.key = std::string(key),
               .type = ValueType::array,
               .element_type = element_type,
               .count = count,
               .content = copy_bytes(values, count * element_bytes)});
}

void ModelWriter::set_bool(std::string_view key, bool value) {
  const auto stored = static_cast<std::uint8_t>(value ? 1 : 0);
  set_scalar(key, ValueType::boolean, &stored, sizeof stored);
}

void ModelWriter::set_string(std::string_view key, std::string_view value) {
  set_scalar(key, ValueType::string, value.data(), value.size());
}

void ModelWriter::set_array(std::string_view key, std::span<const std::string_view> values) {
  OwnedKeyValue entry{.key = std::string(key),
                      .type = ValueType::array,
                      .element_type = ValueType::string,
                      .count = values.size(),
                      .content = {}};
  for (const std::string_view value : values) append_text(entry.content, value);
  state_->set(std::move(entry));
}

void ModelWriter::set_array(std::string_view key, std::span<const std::string> values) {
  const std::vector<std::string_view> views(values.begin(), values.end());
  set_array(key, std::span<const std::string_view>(views));
}

void ModelWriter::set_value(std::string_view key, const Value& value) {
  OwnedKeyValue entry;
  entry.key = std::string(key);
  entry.type = value.type();
  if (value.is_array()) {
    entry.element_type = value.as_array().element_type();
    entry.count = value.as_array().size();
  }
  // Memory holds every value that any version can.
  static_cast<void>(format::append_value(value, state_->context.encoding, entry.content));
  state_->set(std::move(entry));
}

Result<void> ModelWriter::add_tensor(std::string_view name, TensorType type,
                                     std::span<const std::uint64_t> shape, DataProducer produce) {
  const TensorTypeInfo* info = find_type(type);
  if (info == nullptr) return fail(Errc::tensor_type_unknown, std::string(name));
  const format::TensorSize size = format::size_of_tensor(shape, info);
  if (size.problem != format::ShapeProblem::none) {
    return format::fail_shape(size.problem, Error::no_offset, name, shape, info);
  }
  state_->tensors.push_back({.name = std::string(name),
                             .type = type,
                             .shape = {shape.begin(), shape.end()},
                             .size = size,
                             .produce = std::move(produce)});
  return {};
}

Result<std::vector<std::byte>> ModelWriter::serialise_header(WriteFormat format) const {
  std::vector<KeyValue> metadata;
  metadata.reserve(state_->keys.size());
  for (const OwnedKeyValue& entry : state_->keys) {
    metadata.push_back({entry.key, state_->value_of(entry)});
  }
  INGOT_TRY(const Layout layout, lay_out(state_->tensors, state_->alignment()));
  INGOT_TRY(std::vector<std::byte> header, format::serialise({.version = format.version,
                                                              .byte_order = format.byte_order,
                                                              .alignment = state_->alignment(),
                                                              .metadata = metadata,
                                                              .tensors = layout.tensors}));
  INGOT_TRY_VOID(check_header(header, header.size() + layout.data_bytes));
  return header;
}

Result<std::uint64_t> ModelWriter::file_bytes(WriteFormat format) const {
  INGOT_TRY(const std::vector<std::byte> header, serialise_header(format));
  INGOT_TRY(const Layout layout, lay_out(state_->tensors, state_->alignment()));
  return header.size() + layout.data_bytes;
}

Result<void> ModelWriter::write(const std::string& path, WriteFormat format, bool replace,
                                const std::function<bool(std::uint64_t)>& progress) const {
  INGOT_TRY(io::AtomicFile file, io::AtomicFile::create(path, replace));
  INGOT_TRY(const std::vector<std::byte> header, serialise_header(format));
  INGOT_TRY(const Layout layout, lay_out(state_->tensors, state_->alignment()));
  INGOT_TRY_VOID(file.reserve(header.size() + layout.data_bytes));
  INGOT_TRY_VOID(file.write(header));
  for (const PendingTensor& tensor : state_->tensors) {
    const std::uint64_t end = file.size_bytes() + tensor.size.bytes;
    const auto wrong_size = [&] {
      return fail(Errc::size_mismatch, tensor.name,
                  "its data must have " + std::to_string(tensor.size.bytes) + " bytes");
    };
    const DataSink sink = [&](std::span<const std::byte> piece) -> Result<void> {
      if (piece.size() > end - file.size_bytes()) return wrong_size();
      INGOT_TRY_VOID(file.write(piece));
      if (progress && !progress(file.size_bytes())) return fail(Errc::interrupted, {});
      return {};
    };
    if (!tensor.produce) return fail(Errc::invalid_argument, tensor.name, "nothing makes its data");
    INGOT_TRY_VOID(tensor.produce(sink));
    if (file.size_bytes() != end) return wrong_size();
    const std::uint64_t padded = *checked_align_up(end, state_->alignment());
    INGOT_TRY_VOID(file.write_zeros(padded - end));
  }
  return file.commit();
}

Result<std::vector<std::byte>> serialise_header(const Model& model, std::size_t file,
                                                WriteFormat format) {
  if (file >= model.files().size()) return fail(Errc::index_out_of_range, "file");
  const ModelFile& described = model.files()[file];
  return format::serialise({.version = format.version,
                            .byte_order = format.byte_order,
                            .alignment = described.alignment,
                            .metadata = described.metadata,
                            .tensors = described.tensors});
}

Result<std::vector<std::byte>> serialise_header(const Model& model, std::size_t file) {
  if (file >= model.files().size()) return fail(Errc::index_out_of_range, "file");
  const ModelFile& described = model.files()[file];
  return serialise_header(model, file, {described.version, described.byte_order});
}

}  // namespace ingot
