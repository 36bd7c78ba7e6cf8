// SPDX-License-Identifier: MIT
// Keys, values and arrays for C.
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "capi/core/boundary.hpp"
#include "ingot/metadata.hpp"
#include "ingot/model.hpp"

namespace {

using namespace ingot;
using capi::at_boundary;
using capi::require;
using capi::require_below;
using capi::to_c;

/// The content of an ingot_value: a value, and the key under which it is found, for messages.
struct Cursor {
  std::string_view key;
  Value value;
};
static_assert(sizeof(Cursor) <= sizeof(ingot_value));
static_assert(std::is_trivially_copyable_v<Cursor>);

ingot_value to_c(const Cursor& cursor) noexcept {
  ingot_value value = {};
  std::memcpy(&value, &cursor, sizeof cursor);
  return value;
}

/// The cursor in `value`. Its key is empty if there is none; no real key is empty.
Cursor unpack(const ingot_value* value) noexcept {
  Cursor cursor;
  if (value != nullptr) std::memcpy(static_cast<void*>(&cursor), value, sizeof cursor);
  return cursor;
}

Result<Cursor> require_cursor(const ingot_value* value, std::string_view argument) {
  INGOT_TRY_VOID(require(value != nullptr, argument));
  const Cursor cursor = unpack(value);
  if (cursor.key.empty()) {
    return fail(Errc::invalid_argument, std::string(argument), "it was never set");
  }
  return cursor;
}

Cursor cursor_at(const ingot_model* model, std::uint64_t index) noexcept {
  const KeyValue& entry = model->model.metadata()[static_cast<std::size_t>(index)];
  return {entry.key, entry.value};
}

std::int64_t find_key(const ingot_model* model, std::string_view key) noexcept {
  const Value* value = model->model.find(key);
  if (value == nullptr) return -1;
  // The value lies in the table of keys, so its address identifies it.
  const auto distance = reinterpret_cast<const std::byte*>(value) -
                        reinterpret_cast<const std::byte*>(model->model.metadata().data());
  return distance / static_cast<std::ptrdiff_t>(sizeof(KeyValue));
}

Result<Cursor> find_cursor(const ingot_model* model, const char* key) {
  INGOT_TRY_VOID(require(model != nullptr, "model"));
  INGOT_TRY_VOID(require(key != nullptr, "key"));
  const std::int64_t index = find_key(model, key);
  if (index < 0) return fail(Errc::key_not_found, key);
  return cursor_at(model, static_cast<std::uint64_t>(index));
}

Result<void> check_key_index(const ingot_model* model, std::uint64_t index) {
  INGOT_TRY_VOID(require(model != nullptr, "model"));
  return require_below(index, model->model.metadata().size(), "key");
}

/// Numbers are the same in C; strings have an overload.
template <class T>
T to_c(T number) noexcept {
  static_assert(std::is_arithmetic_v<T>);
  return number;
}

/// The value as T, into a C variable; an error names the key.
template <class T, class Destination>
Result<void> read_into(const Cursor& cursor, Destination* destination) {
  Result<T> result = cursor.value.get<T>();
  if (!result) {
    result.error().subject = std::string(cursor.key);
    return fail(std::move(result).error());
  }
  *destination = to_c(*result);
  return {};
}

template <class T, class Destination>
ingot_code get_value(const ingot_value* value, Destination* result, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY(const Cursor cursor, require_cursor(value, "value"));
    INGOT_TRY_VOID(require(result != nullptr, "result"));
    return read_into<T>(cursor, result);
  });
}

template <class T, class Destination>
ingot_code get_key(const ingot_model* model, const char* key, Destination* result,
                   ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(result != nullptr, "result"));
    INGOT_TRY(const Cursor cursor, find_cursor(model, key));
    return read_into<T>(cursor, result);
  });
}

/// The array in `value`. Errc::wrong_type if it is something else.
Result<Array> array_of(const Cursor& cursor) {
  if (cursor.value.is_array()) return cursor.value.as_array();
  return fail(Errc::wrong_type, cursor.value.file_offset(), std::string(cursor.key),
              "holds " + std::string(name_of(cursor.value.type())) + ", asked for an array");
}

/// Calls `visit(index, element)` for a range of elements, until it returns false.
template <class Visit>
void visit_elements(const Array& array, std::uint64_t first, std::uint64_t count, Visit&& visit) {
  if (first == 0) {  // needs no index of the strings
    auto element = array.begin();
    for (std::uint64_t i = 0; i < count && visit(i, *element); ++i) ++element;
    return;
  }
  for (std::uint64_t i = 0; i < count && visit(first + i, array[first + i]); ++i) {
  }
}

template <class T>
Result<void> check_elements(const Cursor& cursor, const Array& array, std::uint64_t first,
                            std::uint64_t count) {
  Result<void> outcome;
  visit_elements(array, first, count, [&](std::uint64_t index, const Value& element) {
    Result<T> result = element.get<T>();
    if (result) return true;
    Error error = std::move(result).error();
    error.subject = std::string(cursor.key) + "[" + std::to_string(index) + "]";
    outcome = fail(std::move(error));
    return false;
  });
  return outcome;
}

template <class T, class Destination>
ingot_code copy_elements(const ingot_value* value, std::uint64_t first, std::uint64_t count,
                         Destination* destination, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY(const Cursor cursor, require_cursor(value, "array"));
    INGOT_TRY_VOID(require(destination != nullptr || count == 0, "destination"));
    INGOT_TRY(const Array array, array_of(cursor));
    if (first > array.size() || count > array.size() - first) {
      return fail(Errc::index_out_of_range, std::string(cursor.key),
                  std::to_string(count) + " elements from " + std::to_string(first) +
                      " on were asked for, it has " + std::to_string(array.size()));
    }
    // Two passes, so that nothing is written if an element in the middle does not convert.
    INGOT_TRY_VOID(check_elements<T>(cursor, array, first, count));
    visit_elements(array, first, count, [&](std::uint64_t index, const Value& element) {
      destination[index - first] = to_c(*element.get<T>());
      return true;
    });
    return {};
  });
}

}  // namespace

Result<Value> ingot::capi::require_value(const ingot_value* value, std::string_view argument) {
  return require_cursor(value, argument).transform([](const Cursor& cursor) {
    return cursor.value;
  });
}

uint64_t ingot_key_count(const ingot_model* model) {
  return model != nullptr ? model->model.metadata().size() : 0;
}

int64_t ingot_find_key(const ingot_model* model, const char* key) {
  return model != nullptr && key != nullptr ? find_key(model, key) : -1;
}

int64_t ingot_find_key_string(const ingot_model* model, ingot_string key) {
  return model != nullptr ? find_key(model, capi::to_view(key)) : -1;
}

ingot_code ingot_key_name(const ingot_model* model, uint64_t index, ingot_string* name,
                          ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(check_key_index(model, index));
    INGOT_TRY_VOID(require(name != nullptr, "name"));
    *name = to_c(cursor_at(model, index).key);
    return {};
  });
}

ingot_code ingot_key_value(const ingot_model* model, uint64_t index, ingot_value* value,
                           ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(check_key_index(model, index));
    INGOT_TRY_VOID(require(value != nullptr, "value"));
    *value = to_c(cursor_at(model, index));
    return {};
  });
}

ingot_code ingot_get_value(const ingot_model* model, const char* key, ingot_value* value,
                           ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(value != nullptr, "value"));
    INGOT_TRY(const Cursor cursor, find_cursor(model, key));
    *value = to_c(cursor);
    return {};
  });
}

ingot_code ingot_get_u64(const ingot_model* model, const char* key, uint64_t* result,
                         ingot_error* error) {
  return get_key<std::uint64_t>(model, key, result, error);
}

ingot_code ingot_get_i64(const ingot_model* model, const char* key, int64_t* result,
                         ingot_error* error) {
  return get_key<std::int64_t>(model, key, result, error);
}

ingot_code ingot_get_f64(const ingot_model* model, const char* key, double* result,
                         ingot_error* error) {
  return get_key<double>(model, key, result, error);
}

ingot_code ingot_get_bool(const ingot_model* model, const char* key, bool* result,
                          ingot_error* error) {
  return get_key<bool>(model, key, result, error);
}

ingot_code ingot_get_string(const ingot_model* model, const char* key, ingot_string* result,
                            ingot_error* error) {
  return get_key<std::string_view>(model, key, result, error);
}

int32_t ingot_value_type(const ingot_value* value) {
  const Cursor cursor = unpack(value);
  return cursor.key.empty() ? -1 : static_cast<int32_t>(cursor.value.type());
}

ingot_code ingot_value_get_u64(const ingot_value* value, uint64_t* result, ingot_error* error) {
  return get_value<std::uint64_t>(value, result, error);
}

ingot_code ingot_value_get_i64(const ingot_value* value, int64_t* result, ingot_error* error) {
  return get_value<std::int64_t>(value, result, error);
}

ingot_code ingot_value_get_f64(const ingot_value* value, double* result, ingot_error* error) {
  return get_value<double>(value, result, error);
}

ingot_code ingot_value_get_bool(const ingot_value* value, bool* result, ingot_error* error) {
  return get_value<bool>(value, result, error);
}

ingot_code ingot_value_get_string(const ingot_value* value, ingot_string* result,
                                  ingot_error* error) {
  return get_value<std::string_view>(value, result, error);
}

ingot_code ingot_value_bytes(const ingot_value* value, const void** data, size_t* size_bytes,
                             ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY(const Cursor cursor, require_cursor(value, "value"));
    if (data != nullptr) *data = cursor.value.bytes().data();
    if (size_bytes != nullptr) *size_bytes = cursor.value.bytes().size();
    return {};
  });
}

uint64_t ingot_value_file_offset(const ingot_value* value) {
  return unpack(value).value.file_offset();
}

int32_t ingot_value_element_type(const ingot_value* array) {
  const Value value = unpack(array).value;
  return value.is_array() ? static_cast<int32_t>(value.as_array().element_type()) : -1;
}

uint64_t ingot_value_element_count(const ingot_value* array) {
  return unpack(array).value.as_array().size();
}

ingot_code ingot_value_element(const ingot_value* array, uint64_t index, ingot_value* element,
                               ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY(const Cursor cursor, require_cursor(array, "array"));
    INGOT_TRY_VOID(require(element != nullptr, "element"));
    INGOT_TRY(const Array elements, array_of(cursor));
    INGOT_TRY_VOID(require_below(index, elements.size(), "element"));
    *element = to_c(Cursor{cursor.key, elements[index]});
    return {};
  });
}

ingot_code ingot_value_copy_u64(const ingot_value* array, uint64_t first, uint64_t count,
                                uint64_t* destination, ingot_error* error) {
  return copy_elements<std::uint64_t>(array, first, count, destination, error);
}

ingot_code ingot_value_copy_i64(const ingot_value* array, uint64_t first, uint64_t count,
                                int64_t* destination, ingot_error* error) {
  return copy_elements<std::int64_t>(array, first, count, destination, error);
}

ingot_code ingot_value_copy_f32(const ingot_value* array, uint64_t first, uint64_t count,
                                float* destination, ingot_error* error) {
  return copy_elements<float>(array, first, count, destination, error);
}

ingot_code ingot_value_copy_f64(const ingot_value* array, uint64_t first, uint64_t count,
                                double* destination, ingot_error* error) {
  return copy_elements<double>(array, first, count, destination, error);
}

ingot_code ingot_value_copy_bool(const ingot_value* array, uint64_t first, uint64_t count,
                                 bool* destination, ingot_error* error) {
  return copy_elements<bool>(array, first, count, destination, error);
}

ingot_code ingot_value_copy_strings(const ingot_value* array, uint64_t first, uint64_t count,
                                    ingot_string* destination, ingot_error* error) {
  return copy_elements<std::string_view>(array, first, count, destination, error);
}
