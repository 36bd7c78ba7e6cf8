// SPDX-License-Identifier: MIT
// The tables of the library, and text, for C.
#include <optional>
#include <string>

#include "capi/core/boundary.hpp"
#include "ingot/text.hpp"
#include "ingot/types.hpp"

namespace {

using namespace ingot;

static_assert(INGOT_CATEGORY_INPUT == static_cast<int>(ErrorCategory::input));
static_assert(INGOT_CATEGORY_LENIENT == static_cast<int>(ErrorCategory::lenient));
static_assert(INGOT_CATEGORY_USAGE == static_cast<int>(ErrorCategory::usage));
static_assert(INGOT_CATEGORY_SYSTEM == static_cast<int>(ErrorCategory::system));
static_assert(INGOT_CATEGORY_NOTICE == static_cast<int>(ErrorCategory::notice));

/// The row of a code in errors.def, as C strings.
struct CodeText {
  const char* name;
  const char* sentence;
  ErrorCategory category;
};

std::optional<CodeText> find_code(ingot_code code) noexcept {
  switch (code) {
#define INGOT_ERROR(number, name, constant, category, sentence) \
  case number:                                                  \
    return CodeText{#name, sentence, ErrorCategory::category};
#include "ingot/errors.def"
    default:
      return std::nullopt;
  }
}

}  // namespace

uint32_t ingot_abi_version(void) { return INGOT_ABI_VERSION; }

const char* ingot_version(void) { return INGOT_VERSION_STRING; }

const char* ingot_code_name(ingot_code code) {
  if (code == INGOT_OK) return "ok";
  const std::optional<CodeText> text = find_code(code);
  return text ? text->name : "unknown";
}

const char* ingot_code_sentence(ingot_code code) {
  const std::optional<CodeText> text = find_code(code);
  return text ? text->sentence : "";
}

int32_t ingot_code_category(ingot_code code) {
  const std::optional<CodeText> text = find_code(code);
  return text ? static_cast<int32_t>(text->category) : -1;
}

ingot_code ingot_escape(ingot_string text, char* buffer, size_t buffer_bytes) {
  return capi::at_boundary(nullptr, [&]() -> Result<void> {
    INGOT_TRY_VOID(capi::require(buffer != nullptr && buffer_bytes != 0, "buffer"));
    INGOT_TRY_VOID(capi::require(text.data != nullptr || text.size == 0, "text"));
    // No escape is shorter than its character, so the buffer has no room for later text.
    const std::string_view shown = capi::to_view(text).substr(0, buffer_bytes);
    capi::copy_text(escape(shown), buffer, buffer_bytes);
    return {};
  });
}

const char* ingot_type_name(uint32_t type) {
  switch (type) {
#define INGOT_TENSOR_TYPE(id, enumerator, label, elements, bytes, weights) \
  case id:                                                                 \
    return #label;
#define INGOT_REMOVED_TYPE(id, label) \
  case id:                            \
    return #label;
#include "ingot/tensor_types.def"
    default:
      return nullptr;
  }
}

uint32_t ingot_type_block_elements(uint32_t type) {
  const TensorTypeInfo* info = find_type(TensorType{type});
  return info != nullptr ? info->block_elements : 0;
}

uint32_t ingot_type_block_bytes(uint32_t type) {
  const TensorTypeInfo* info = find_type(TensorType{type});
  return info != nullptr ? info->block_bytes : 0;
}

int64_t ingot_find_type(const char* name) {
  const TensorTypeInfo* info = name != nullptr ? find_type(std::string_view(name)) : nullptr;
  return info != nullptr ? static_cast<int64_t>(info->type) : -1;
}

const char* ingot_value_type_name(uint32_t value_type) {
  switch (value_type) {
#define INGOT_VALUE_TYPE(id, enumerator, constant, name, bytes) \
  case id:                                                      \
    return name;
#include "ingot/value_types.def"
    default:
      return nullptr;
  }
}

uint32_t ingot_value_type_bytes(uint32_t value_type) {
  if (value_type >= value_type_count) return 0;
  return size_bytes_of(static_cast<ValueType>(value_type));
}

const char* ingot_file_type_name(uint64_t file_type) {
  const std::string_view name = file_type_name(file_type);
  return name.empty() ? nullptr : name.data();  // a literal, so a NUL follows
}
