// SPDX-License-Identifier: MIT
// Making and changing files for C.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked.hpp"
#include "capi/core/boundary.hpp"
#include "ingot/edit.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/owned_value.hpp"
#include "ingot/tensor.hpp"
#include "ingot/writer.h"

/// What the functions work on; nothing after an edit was written.
struct ingot_writer {
  std::variant<std::monostate, ingot::ModelWriter, ingot::ModelEdit> target;
};

namespace {

using namespace ingot;
using capi::at_boundary;
using capi::require;

constexpr std::size_t first_write_options_size =
    offsetof(ingot_write_options, reserved) + sizeof(std::uint32_t);
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

Result<void> hand_out_writer(ingot_writer** destination, ingot_writer&& made) {
  *destination = std::make_unique<ingot_writer>(std::move(made)).release();
  return {};
}

/// The common part of all that changes keys: `change(writer)` for either kind of writer.
template <class Change>
ingot_code change_keys(ingot_writer* writer, const char* key, ingot_error* error, Change&& change) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(writer != nullptr, "writer"));
    INGOT_TRY_VOID(require(key != nullptr, "key"));
    if (auto* made = std::get_if<ModelWriter>(&writer->target)) return change(*made);
    if (auto* edit = std::get_if<ModelEdit>(&writer->target)) return change(*edit);
    return fail(Errc::invalid_argument, "writer", "its edit was written and is over");
  });
}

void set_value(ModelWriter& writer, std::string_view key, const Value& value) {
  writer.set_value(key, value);
}
void set_value(ModelEdit& edit, std::string_view key, const Value& value) { edit.set(key, value); }

/// Sets what `make` returns, a Result<OwnedValue>.
template <class Make>
ingot_code set_made(ingot_writer* writer, const char* key, ingot_error* error, Make&& make) {
  return change_keys(writer, key, error, [&](auto& target) -> Result<void> {
    INGOT_TRY(const OwnedValue made, make());
    set_value(target, key, made.value());
    return {};
  });
}

/// What `make(T())` returns for the C++ type T of the numbers of a value type.
template <class Make>
Result<OwnedValue> of_number_type(std::uint32_t value_type, std::string_view argument,
                                  Make&& make) {
  using enum ValueType;
  switch (static_cast<ValueType>(value_type)) {
    case uint8:
      return make(std::uint8_t());
    case int8:
      return make(std::int8_t());
    case uint16:
      return make(std::uint16_t());
    case int16:
      return make(std::int16_t());
    case uint32:
      return make(std::uint32_t());
    case int32:
      return make(std::int32_t());
    case float32:
      return make(float());
    case uint64:
      return make(std::uint64_t());
    case int64:
      return make(std::int64_t());
    case float64:
      return make(double());
    default:
      return fail(Errc::invalid_argument, std::string(argument),
                  std::to_string(value_type) + " is no type of such values");
  }
}

/// An array of elements that are no numbers, each made by `make(index)`.
template <class Make>
Result<OwnedValue> make_array(ValueType element_type, std::uint64_t count, Make&& make) {
  OwnedValue array = OwnedValue::array(element_type);
  for (std::uint64_t i = 0; i < count; ++i) INGOT_TRY_VOID(array.append(make(i)));
  return array;
}

Result<OwnedValue> array_of(std::uint32_t element_type, const void* elements, std::uint64_t count) {
  INGOT_TRY_VOID(require(elements != nullptr || count == 0, "elements"));
  if (element_type == INGOT_VALUE_STRING) {
    const auto* texts = static_cast<const ingot_string*>(elements);
    return make_array(ValueType::string, count, [texts](std::uint64_t i) {
      return OwnedValue::string(capi::to_view(texts[i]));
    });
  }
  if (element_type == INGOT_VALUE_BOOL) {
    const auto* flags = static_cast<const bool*>(elements);
    return make_array(ValueType::boolean, count,
                      [flags](std::uint64_t i) { return OwnedValue::boolean(flags[i]); });
  }
  return of_number_type(element_type, "element_type", [&](auto zero) -> Result<OwnedValue> {
    using Number = decltype(zero);
    return OwnedValue::array_of(std::span(static_cast<const Number*>(elements), to_size(count)));
  });
}

/// Produces the data of a tensor by a function of the caller.
DataProducer produce_by(ingot_read_function read, void* user, std::uint64_t size_bytes) {
  return [=](const DataSink& sink) -> Result<void> {
    std::vector<std::byte> buffer(to_size(std::min<std::uint64_t>(size_bytes, piece_bytes)));
    for (std::uint64_t done = 0; done < size_bytes;) {
      const auto piece = std::span(buffer).first(
          to_size(std::min<std::uint64_t>(size_bytes - done, buffer.size())));
      if (read(user, done, piece.data(), piece.size()) != 0) {
        return fail(Errc::io_error, "the function that gives the data failed");
      }
      INGOT_TRY_VOID(sink(piece));
      done += piece.size();
    }
    return {};
  };
}

/// The common part of all that add tensors: `add(writer)`.
template <class Add>
ingot_code add_tensor(ingot_writer* writer, ingot_error* error, Add&& add) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(writer != nullptr, "writer"));
    auto* made = std::get_if<ModelWriter>(&writer->target);
    if (made == nullptr) return fail(Errc::invalid_argument, "writer", "an edit adds no tensors");
    return add(*made);
  });
}

/// Adds a tensor whose data `make(size_bytes)` produces.
template <class Make>
ingot_code add_produced(ingot_writer* writer, const char* name, std::uint32_t type,
                        const std::uint64_t* dimensions, std::uint32_t dimension_count,
                        ingot_error* error, Make&& make) {
  return add_tensor(writer, error, [&](ModelWriter& made) -> Result<void> {
    INGOT_TRY_VOID(require(name != nullptr, "name"));
    INGOT_TRY_VOID(require(dimensions != nullptr || dimension_count == 0, "dimensions"));
    INGOT_TRY_VOID(capi::require_below(dimension_count, INGOT_MAX_DIMENSIONS + 1, "dimensions"));
    const std::span shape(dimensions, dimension_count);
    INGOT_TRY(const TensorSize size, size_of_tensor(static_cast<TensorType>(type), shape));
    INGOT_TRY(DataProducer produce, make(size.bytes));
    return made.add_tensor(name, static_cast<TensorType>(type), shape, std::move(produce));
  });
}

Result<void> write_model(const ModelWriter& writer, const char* path,
                         const ingot_write_options& options) {
  INGOT_TRY_VOID(require(path != nullptr, "path"));
  WriteFormat format;
  if (options.version != 0) format.version = options.version;
  if (options.is_big_endian != 0) format.byte_order = Endian::big;
  return writer.write(path, format, options.may_replace != 0);
}

Result<void> write_edit(ModelEdit edit, const char* path, const ingot_write_options& options) {
  INGOT_TRY_VOID(path == nullptr ? edit.save() : edit.save_as(path, options.may_replace != 0));
  return {};
}

}  // namespace

ingot_code ingot_writer_new(ingot_writer** writer, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(writer != nullptr, "writer"));
    return hand_out_writer(writer, {ModelWriter()});
  });
}

ingot_code ingot_writer_from(const ingot_model* model, ingot_writer** writer, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(model != nullptr, "model"));
    INGOT_TRY_VOID(require(writer != nullptr, "writer"));
    INGOT_TRY(ModelWriter made, ModelWriter::from(model->model));
    return hand_out_writer(writer, {std::move(made)});
  });
}

ingot_code ingot_writer_edit(const char* path, ingot_writer** writer, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(path != nullptr, "path"));
    INGOT_TRY_VOID(require(writer != nullptr, "writer"));
    INGOT_TRY(ModelEdit edit, ModelEdit::open(path, {}, {.lock = EditLock::at_open}));
    return hand_out_writer(writer, {std::move(edit)});
  });
}

void ingot_writer_free(ingot_writer* writer) { delete writer; }

ingot_code ingot_writer_set(ingot_writer* writer, const char* key, uint32_t value_type,
                            const void* value, ingot_error* error) {
  return set_made(writer, key, error, [&]() -> Result<OwnedValue> {
    INGOT_TRY_VOID(require(value != nullptr, "value"));
    if (value_type == INGOT_VALUE_BOOL) {
      return OwnedValue::boolean(*static_cast<const bool*>(value));
    }
    return of_number_type(value_type, "value_type", [&](auto number) -> Result<OwnedValue> {
      std::memcpy(&number, value, sizeof number);
      return OwnedValue::number(number);
    });
  });
}

ingot_code ingot_writer_set_string(ingot_writer* writer, const char* key, const char* value,
                                   ingot_error* error) {
  return set_made(writer, key, error, [&]() -> Result<OwnedValue> {
    INGOT_TRY_VOID(require(value != nullptr, "value"));
    return OwnedValue::string(value);
  });
}

ingot_code ingot_writer_set_array(ingot_writer* writer, const char* key, uint32_t element_type,
                                  const void* elements, uint64_t count, ingot_error* error) {
  return set_made(writer, key, error,
                  [&]() -> Result<OwnedValue> { return array_of(element_type, elements, count); });
}

ingot_code ingot_writer_set_value(ingot_writer* writer, const char* key, const ingot_value* value,
                                  ingot_error* error) {
  return set_made(writer, key, error, [&]() -> Result<OwnedValue> {
    INGOT_TRY(const Value given, capi::require_value(value, "value"));
    return OwnedValue::copy_of(given);
  });
}

ingot_code ingot_writer_remove_key(ingot_writer* writer, const char* key, ingot_error* error) {
  return change_keys(writer, key, error, [&](auto& target) -> Result<void> {
    if constexpr (std::is_same_v<decltype(target), ModelEdit&>) {
      return target.remove_key(key);
    } else {
      if (!target.remove(key)) return fail(Errc::key_not_found, key);
      return {};
    }
  });
}

ingot_code ingot_writer_rename_key(ingot_writer* writer, const char* key, const char* new_key,
                                   ingot_error* error) {
  return change_keys(writer, key, error, [&](auto& target) -> Result<void> {
    INGOT_TRY_VOID(require(new_key != nullptr, "new_key"));
    if constexpr (std::is_same_v<decltype(target), ModelEdit&>) {
      return target.rename_key(key, new_key);
    } else {
      return target.rename(key, new_key);
    }
  });
}

ingot_code ingot_writer_add_tensor(ingot_writer* writer, const char* name, uint32_t type,
                                   const uint64_t* dimensions, uint32_t dimension_count,
                                   const void* data, ingot_error* error) {
  return add_produced(writer, name, type, dimensions, dimension_count, error,
                      [data](std::uint64_t size_bytes) -> Result<DataProducer> {
                        INGOT_TRY_VOID(require(data != nullptr || size_bytes == 0, "data"));
                        const std::span bytes(static_cast<const std::byte*>(data),
                                              to_size(size_bytes));
                        return [bytes](const DataSink& sink) { return sink(bytes); };
                      });
}

ingot_code ingot_writer_add_tensor_from(ingot_writer* writer, const char* name, uint32_t type,
                                        const uint64_t* dimensions, uint32_t dimension_count,
                                        ingot_read_function read, void* user, ingot_error* error) {
  return add_produced(writer, name, type, dimensions, dimension_count, error,
                      [=](std::uint64_t size_bytes) -> Result<DataProducer> {
                        INGOT_TRY_VOID(require(read != nullptr, "read"));
                        return produce_by(read, user, size_bytes);
                      });
}

ingot_code ingot_writer_copy_tensor(ingot_writer* writer, const char* name,
                                    const ingot_model* model, uint64_t tensor, ingot_error* error) {
  return add_tensor(writer, error, [&](ModelWriter& made) -> Result<void> {
    INGOT_TRY_VOID(require(model != nullptr, "model"));
    const std::span<const TensorInfo> tensors = model->model.tensors();
    INGOT_TRY_VOID(capi::require_below(tensor, tensors.size(), "tensor"));
    const TensorInfo& source = tensors[static_cast<std::size_t>(tensor)];
    return made.add_tensor(name == nullptr ? source.name : name, model->model, source);
  });
}

ingot_code ingot_writer_write(ingot_writer* writer, const char* path,
                              const ingot_write_options* options, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(writer != nullptr, "writer"));
    INGOT_TRY(const ingot_write_options given,
              capi::known_options(options, first_write_options_size));
    if (auto* made = std::get_if<ModelWriter>(&writer->target)) {
      return write_model(*made, path, given);
    }
    if (auto* edit = std::get_if<ModelEdit>(&writer->target)) {
      ModelEdit last = std::move(*edit);
      writer->target = std::monostate();
      return write_edit(std::move(last), path, given);
    }
    return fail(Errc::invalid_argument, "writer", "its edit was written and is over");
  });
}
