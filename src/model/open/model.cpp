// SPDX-License-Identifier: MIT
#include "ingot/model.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "ingot/store.hpp"
#include "io/file_stamp.hpp"
#include "io/folder_watch.hpp"
#include "model/open/load.hpp"
#include "model/open/model_state.hpp"
#include "model/open/shards.hpp"

namespace ingot {
namespace {

/// Bytes of a file that are held with its header; nullptr if they are not.
const std::byte* find_kept(const LoadedFile& file, std::uint64_t offset, std::uint64_t size_bytes) {
  const std::uint64_t kept_bytes = file.structure.header_bytes;
  const bool is_within =
      file.header_bytes != nullptr && offset < kept_bytes && size_bytes <= kept_bytes - offset;
  const bool is_in_gap = offset < file.gap_end && offset + size_bytes > file.gap_begin;
  return is_within && !is_in_gap ? file.header_bytes.get() + offset : nullptr;
}

Result<void> check_part(const TensorInfo& tensor, std::uint64_t offset_bytes,
                        std::uint64_t size_bytes) {
  if (offset_bytes <= tensor.size_bytes && size_bytes <= tensor.size_bytes - offset_bytes) {
    return {};
  }
  return fail(Errc::size_mismatch, std::string(tensor.name),
              std::to_string(size_bytes) + " bytes from " + std::to_string(offset_bytes) +
                  " on were asked for, it has " + std::to_string(tensor.size_bytes));
}

Result<Model> open_once(const Store& store, const std::string& name, const OpenOptions& options) {
  INGOT_TRY(LoadedFile file, load_from(store, name, options));
  INGOT_TRY(auto state, open_with_shards(store, name, std::move(file), options));
  return ModelAccess::make(std::move(state));
}

/// Whether all files of a set exist, and none was replaced while the others were opened.
bool is_whole_set(const Result<Model>& model) {
  if (!model || model->files().size() < model->shard_count()) return false;
  const detail::ModelState& state = ModelAccess::state(*model);
  for (std::size_t i = 0; i < state.files.size(); ++i) {
    const auto now = io::stamp_of(state.files[i].path);
    if (!now || !state.loaded[i].stamp || !now->is_same_file(*state.loaded[i].stamp)) return false;
  }
  return true;
}

}  // namespace

Result<Model> open_loaded(Result<LoadedFile> file) {
  if (!file) return fail(std::move(file).error());
  std::vector<LoadedFile> files;
  files.push_back(*std::move(file));
  INGOT_TRY(auto state, assemble(std::move(files), ShardSet{}));
  return ModelAccess::make(std::move(state));
}

Model::Model(std::unique_ptr<detail::ModelState> state) noexcept : state_(std::move(state)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Result<Model> Model::open(const std::string& path, const OpenOptions& options) {
  return open(file_system(), path, options);
}

Result<Model> Model::open(const Store& store, const std::string& name, const OpenOptions& options) {
  if (&store != &file_system() || !parse_shard_name(name)) return open_once(store, name, options);
  return io::open_settled(
      name, [&] { return open_once(store, name, options); }, is_whole_set);
}

Result<Model> Model::open_memory(std::span<const std::byte> bytes, const OpenOptions& options) {
  return open_loaded(load(borrow_memory(bytes), options));
}

Result<Model> Model::open_source(std::unique_ptr<Source> source, const OpenOptions& options) {
  if (source == nullptr) return fail(Errc::invalid_argument, {}, "there is no source");
  return open_loaded(load(std::move(source), options));
}

std::span<const ModelFile> Model::files() const noexcept { return state_->files; }
std::uint32_t Model::shard_count() const noexcept { return state_->shard_count; }
bool Model::is_verified() const noexcept {
  return std::ranges::none_of(state_->files, &ModelFile::is_indexed);
}
bool Model::is_split() const noexcept { return state_->is_split; }
std::span<const Error> Model::notices() const noexcept { return state_->notices; }
std::span<const TensorInfo> Model::tensors() const noexcept { return state_->tensors(); }

std::string Model::shard_path(std::uint32_t index) const {
  if (state_->shard_prefix.empty() || index >= state_->shard_count) return {};
  return shard_file_name(state_->shard_prefix, index, state_->shard_count);
}

std::span<const KeyValue> Model::metadata() const noexcept {
  return state_->loaded[0].structure.metadata;
}

const Value* Model::find(std::string_view key) const noexcept {
  return state_->loaded[0].structure.find(key);
}

const TensorInfo* Model::find_tensor(std::string_view name) const noexcept {
  const format::NameIndex& index = state_->loaded.size() == 1
                                       ? state_->loaded[0].structure.tensor_index
                                       : state_->all_tensor_index;
  const std::span<const TensorInfo> table = tensors();
  const auto position = index.find(name, [&](std::uint32_t at) { return table[at].name; });
  return position ? &table[*position] : nullptr;
}

std::uint64_t Model::file_offset(const TensorInfo& tensor) const noexcept {
  return state_->loaded[tensor.shard].structure.data_offset + tensor.data_offset;
}

std::optional<Origin> Model::origin(std::size_t file, std::uint64_t file_offset) const noexcept {
  const Source* source = state_->loaded[file].source.get();
  const auto place = source != nullptr ? source->origin(file_offset) : Origin{0, file_offset};
  // A source of one file has no access to the other files of a set.
  if (!place || state_->loaded.size() == 1) return place;
  return Origin{file, place->file_offset};
}

std::optional<Origin> Model::origin(const TensorInfo& tensor) const noexcept {
  return origin(tensor.shard, file_offset(tensor));
}

std::span<const std::byte> Model::data(const TensorInfo& tensor) const noexcept {
  const LoadedFile& file = state_->loaded[tensor.shard];
  if (file.source == nullptr || tensor.size_bytes == 0) return {};
  const std::span<const std::byte> bytes = file.source->bytes();
  if (bytes.empty()) return {};
  return bytes.subspan(to_size(file_offset(tensor)), to_size(tensor.size_bytes));
}

Result<void> Model::read(const TensorInfo& tensor, std::uint64_t offset_bytes,
                         std::span<std::byte> destination) const {
  INGOT_TRY_VOID(check_part(tensor, offset_bytes, destination.size()));
  Result<void> result =
      read_file_bytes(tensor.shard, file_offset(tensor) + offset_bytes, destination);
  if (!result) result.error().subject = std::string(tensor.name);
  return result;
}

Result<std::span<const std::byte>> Model::fetch(const TensorInfo& tensor,
                                                std::uint64_t offset_bytes,
                                                std::span<std::byte> buffer) const {
  INGOT_TRY_VOID(check_part(tensor, offset_bytes, buffer.size()));
  auto fetched = fetch(tensor.shard, file_offset(tensor) + offset_bytes, buffer);
  if (!fetched) fetched.error().subject = std::string(tensor.name);
  return fetched;
}

Result<std::span<const std::byte>> Model::fetch(std::size_t file, std::uint64_t file_offset,
                                                std::span<std::byte> buffer) const {
  const Source* source = file < state_->loaded.size() ? state_->loaded[file].source.get() : nullptr;
  if (source != nullptr && source->descriptor() < 0) {
    const std::span<const std::byte> bytes = source->bytes();
    if (file_offset < bytes.size() && buffer.size() <= bytes.size() - file_offset) {
      return bytes.subspan(to_size(file_offset), buffer.size());
    }
  }
  INGOT_TRY_VOID(read_file_bytes(file, file_offset, buffer));
  return std::span<const std::byte>(buffer);
}

std::span<const std::byte> Model::file_data(std::size_t file) const noexcept {
  const Source* source = state_->loaded[file].source.get();
  return source != nullptr ? source->bytes() : std::span<const std::byte>();
}

void Model::prefetch(std::size_t file, std::uint64_t file_offset,
                     std::uint64_t size_bytes) const noexcept {
  const Source* source = state_->loaded[file].source.get();
  if (source != nullptr) source->prefetch(file_offset, size_bytes);
}

void Model::release(std::size_t file, std::uint64_t file_offset,
                    std::uint64_t size_bytes) const noexcept {
  const Source* source = state_->loaded[file].source.get();
  if (source != nullptr) source->release(file_offset, size_bytes);
}

Result<void> Model::read_file_bytes(std::size_t file, std::uint64_t file_offset,
                                    std::span<std::byte> destination) const {
  if (file >= state_->loaded.size()) return fail(Errc::index_out_of_range, "file");
  if (destination.empty()) return {};
  const LoadedFile& loaded = state_->loaded[file];
  // Parts of a header that an index led to are known to no cache of the source.
  if (loaded.source == nullptr || loaded.structure.is_indexed) {
    if (const std::byte* kept = find_kept(loaded, file_offset, destination.size())) {
      std::copy_n(kept, destination.size(), destination.begin());
      return {};
    }
  }
  if (loaded.source != nullptr) return loaded.source->read(file_offset, destination);
  return fail(Errc::not_mapped, file_offset, {},
              "only the header was read; a pipe can be read only once");
}

}  // namespace ingot
