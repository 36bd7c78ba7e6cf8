// SPDX-License-Identifier: MIT
// Models, files and tensors for C.
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "capi/core/boundary.hpp"
#include "ingot/model.hpp"
#include "ingot/source.hpp"

namespace {

using namespace ingot;
using capi::at_boundary;
using capi::require;
using capi::require_below;
using capi::take_over;

// The sizes of the structs in the first version of the ABI. They stay when a struct grows.
constexpr std::size_t first_open_options_size =
    offsetof(ingot_open_options, max_array_elements) + sizeof(std::uint64_t);
constexpr std::size_t first_file_info_size =
    offsetof(ingot_file_info, tensor_count) + sizeof(std::uint64_t);
constexpr std::size_t first_tensor_info_size =
    offsetof(ingot_tensor_info, file) + sizeof(std::uint64_t);

/// The common part of all functions that open; `open` makes a Result<Model> of the options.
template <class Open>
Result<void> open_into(ingot_model** model, const ingot_open_options* options, Open&& open) {
  INGOT_TRY_VOID(require(model != nullptr, "model"));
  INGOT_TRY(const OpenOptions converted, capi::convert_open_options(options));
  INGOT_TRY(Model opened, open(converted));
  *model = std::make_unique<ingot_model>(ingot_model{std::move(opened)}).release();
  return {};
}

Result<const TensorInfo*> tensor_at(const ingot_model* model, std::uint64_t index) {
  INGOT_TRY_VOID(require(model != nullptr, "model"));
  const std::span<const TensorInfo> tensors = model->model.tensors();
  INGOT_TRY_VOID(require_below(index, tensors.size(), "tensor"));
  return &tensors[static_cast<std::size_t>(index)];
}

std::int64_t find_tensor(const ingot_model* model, std::string_view name) noexcept {
  const TensorInfo* tensor = model->model.find_tensor(name);
  return tensor != nullptr ? tensor - model->model.tensors().data() : -1;
}

}  // namespace

Result<OpenOptions> ingot::capi::convert_open_options(const ingot_open_options* options) {
  INGOT_TRY(const ingot_open_options given, capi::known_options(options, first_open_options_size));
  OpenOptions converted;
  switch (given.access) {
    case INGOT_ACCESS_MAP:
      converted.access = FileAccess::map;
      break;
    case INGOT_ACCESS_READ:
      converted.access = FileAccess::read;
      break;
    default:
      return fail(Errc::invalid_argument, "access", std::to_string(given.access));
  }
  converted.is_lenient = given.is_lenient != 0;
  converted.with_shards = given.is_single_file == 0;
  Limits& limits = converted.limits;
  if (given.max_depth != 0) limits.max_depth = given.max_depth;
  take_over(limits.max_header_bytes, given.max_header_bytes);
  take_over(limits.max_keys, given.max_keys);
  take_over(limits.max_tensors, given.max_tensors);
  take_over(limits.max_string_bytes, given.max_string_bytes);
  take_over(limits.max_array_elements, given.max_array_elements);
  converted.uses_index = given.uses_index != 0;
  return converted;
}

ingot_code ingot_open(const char* path, const ingot_open_options* options, ingot_model** model,
                      ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(path != nullptr, "path"));
    return open_into(model, options,
                     [&](const OpenOptions& converted) { return Model::open(path, converted); });
  });
}

ingot_code ingot_open_memory(const void* data, size_t size_bytes, const ingot_open_options* options,
                             ingot_model** model, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(data != nullptr || size_bytes == 0, "data"));
    return open_into(model, options, [&](const OpenOptions& converted) {
      return Model::open_memory({static_cast<const std::byte*>(data), size_bytes}, converted);
    });
  });
}

ingot_code ingot_open_callback(uint64_t file_bytes, ingot_read_function read, void* user,
                               const ingot_open_options* options, ingot_model** model,
                               ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(read != nullptr, "read"));
    return open_into(model, options, [&](const OpenOptions& converted) {
      return Model::open_source(
          read_through(file_bytes,
                       [read, user](std::uint64_t file_offset, std::span<std::byte> destination) {
                         return read(user, file_offset, destination.data(), destination.size()) ==
                                0;
                       }),
          converted);
    });
  });
}

void ingot_close(ingot_model* model) { delete model; }

uint64_t ingot_file_count(const ingot_model* model) {
  return model != nullptr ? model->model.files().size() : 0;
}

int ingot_is_verified(const ingot_model* model) {
  return model != nullptr && model->model.is_verified() ? 1 : 0;
}

uint32_t ingot_shard_count(const ingot_model* model) {
  return model != nullptr ? model->model.shard_count() : 0;
}

ingot_code ingot_get_file_info(const ingot_model* model, uint64_t index, ingot_file_info* info,
                               ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(model != nullptr, "model"));
    INGOT_TRY_VOID(require(info != nullptr, "info"));
    INGOT_TRY_VOID(require_below(index, model->model.files().size(), "file"));
    const ModelFile& file = model->model.files()[static_cast<std::size_t>(index)];
    const ingot_file_info known = {.struct_size = sizeof known,
                                   .path = file.path.c_str(),
                                   .shard = file.index,
                                   .version = file.version,
                                   .is_big_endian = file.byte_order == Endian::big,
                                   .has_old_magic = file.has_old_magic,
                                   .alignment = file.alignment,
                                   .file_bytes = file.file_bytes,
                                   .infos_offset = file.infos_offset,
                                   .header_bytes = file.header_bytes,
                                   .data_offset = file.data_offset,
                                   .key_count = file.metadata.size(),
                                   .tensor_count = file.tensors.size()};
    return capi::hand_out(known, info, first_file_info_size);
  });
}

uint64_t ingot_notice_count(const ingot_model* model) {
  return model != nullptr ? model->model.notices().size() : 0;
}

ingot_code ingot_get_notice(const ingot_model* model, uint64_t index, ingot_error* notice,
                            ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(model != nullptr, "model"));
    INGOT_TRY_VOID(require(notice != nullptr, "notice"));
    INGOT_TRY_VOID(require_below(index, model->model.notices().size(), "notice"));
    capi::report(model->model.notices()[static_cast<std::size_t>(index)], notice);
    return {};
  });
}

uint64_t ingot_tensor_count(const ingot_model* model) {
  return model != nullptr ? model->model.tensors().size() : 0;
}

int64_t ingot_find_tensor(const ingot_model* model, const char* name) {
  return model != nullptr && name != nullptr ? find_tensor(model, name) : -1;
}

int64_t ingot_find_tensor_string(const ingot_model* model, ingot_string name) {
  return model != nullptr ? find_tensor(model, capi::to_view(name)) : -1;
}

ingot_code ingot_get_tensor_info(const ingot_model* model, uint64_t index, ingot_tensor_info* info,
                                 ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY(const TensorInfo* const tensor, tensor_at(model, index));
    INGOT_TRY_VOID(require(info != nullptr, "info"));
    if (tensor->shape.size() > INGOT_MAX_DIMENSIONS) return fail(Errc::internal, "shape");
    ingot_tensor_info known = {.struct_size = sizeof known,
                               .name = capi::to_c(tensor->name),
                               .type = static_cast<std::uint32_t>(tensor->type),
                               .dimension_count = static_cast<std::uint32_t>(tensor->shape.size()),
                               .dimensions = {},
                               .element_count = tensor->element_count,
                               .size_bytes = tensor->size_bytes,
                               .data_offset = tensor->data_offset,
                               .file_offset = model->model.file_offset(*tensor),
                               .file = tensor->shard};
    const auto rest = std::copy(tensor->shape.begin(), tensor->shape.end(), known.dimensions);
    std::fill(rest, std::end(known.dimensions), 1);
    return capi::hand_out(known, info, first_tensor_info_size);
  });
}

ingot_code ingot_tensor_data(const ingot_model* model, uint64_t index, const void** data,
                             size_t* size_bytes, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY(const TensorInfo* const tensor, tensor_at(model, index));
    const std::span<const std::byte> bytes = model->model.data(*tensor);
    if (bytes.size() != tensor->size_bytes) {
      return fail(Errc::not_mapped, std::string(tensor->name));
    }
    if (data != nullptr) *data = bytes.data();
    if (size_bytes != nullptr) *size_bytes = bytes.size();
    return {};
  });
}

ingot_code ingot_read_tensor(const ingot_model* model, uint64_t index, uint64_t offset_bytes,
                             void* destination, size_t size_bytes, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY(const TensorInfo* const tensor, tensor_at(model, index));
    INGOT_TRY_VOID(require(destination != nullptr || size_bytes == 0, "destination"));
    return model->model.read(*tensor, offset_bytes,
                             {static_cast<std::byte*>(destination), size_bytes});
  });
}
