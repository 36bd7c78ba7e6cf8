// SPDX-License-Identifier: MIT
#include "model/open/shards.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/paths.hpp"
#include "ingot/metadata_keys.hpp"
#include "model/open/load.hpp"

namespace ingot {
namespace {

/// An integer key of a file, whatever its width.
std::optional<std::uint64_t> find_number(const LoadedFile& file, std::string_view key) {
  const Value* const value = file.structure.find(key);
  if (value == nullptr) return std::nullopt;
  const Result<std::uint64_t> number = value->get<std::uint64_t>();
  return number ? std::optional(*number) : std::nullopt;
}

/// Reads exactly five digits from `text`, as the names have them.
std::optional<std::uint32_t> parse_digits(std::string_view text) {
  if (text.size() != 5) return std::nullopt;
  std::uint32_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = 10 * number + static_cast<std::uint32_t>(digit - '0');
  }
  return number;
}

/// The shards of the same set that lie beside each other, by index. One look at the folder, so that
/// a name that promises many files costs nothing.
std::map<std::uint32_t, std::string> find_siblings(const Store& store, const ShardName& name) {
  std::map<std::uint32_t, std::string> found;
  const std::size_t slash = name.prefix.rfind('/');
  // The folder keeps its slash, as "/" is a folder, too.
  const auto listed =
      store.list(slash == std::string::npos ? "" : name.prefix.substr(0, slash + 1));
  if (!listed) return found;
  for (const std::string& file : *listed) {
    const std::optional<ShardName> other = parse_shard_name(file);
    if (other && other->prefix == name.prefix && other->count == name.count) {
      found.emplace(other->index, file);
    }
  }
  return found;
}

Failure mismatch(const std::string& path, std::string_view key, std::uint64_t wanted,
                 std::optional<std::uint64_t> found) {
  return fail(Errc::shard_mismatch, path,
              std::string(key) + " should be " + std::to_string(wanted) + " by the file's name, " +
                  (found ? "found " + std::to_string(*found) : "it has none"));
}

/// Whether a file is, by its metadata, the shard that its name promises.
Result<void> check_shard(const LoadedFile& file, const std::string& path, const ShardName& name) {
  const auto count = find_number(file, keys::split_count);
  if (count != name.count) return mismatch(path, keys::split_count, name.count, count);
  const auto index = find_number(file, keys::split_no);
  if (index != name.index) return mismatch(path, keys::split_no, name.index, index);
  return {};
}

/// Lowers the limits by the content of a file, as a set may hold as much as one file.
void use_up(Limits& limits, const LoadedFile& file) {
  const format::Structure& structure = file.structure;
  // Parsing has compared all three with the same limits.
  limits.max_header_bytes -= structure.header_bytes;
  limits.max_keys -= structure.metadata.size();
  limits.max_tensors -= structure.tensors.size();
}

/// Loads one more file of a set, within the limits that its other files have left.
Result<LoadedFile> load_shard(const Store& store, const std::string& file_name,
                              const ShardName& name, OpenOptions& options) {
  const std::string path = store.locate(file_name);
  constexpr std::uint32_t most_open_files = 64;  // a process has 256 descriptors on some systems
  Result<LoadedFile> file =
      load_from(store, file_name, options, {.is_one_of_many = name.count > most_open_files});
  if (!file) {
    Error& error = file.error();
    if (error.code == Errc::limit_exceeded) {
      error.detail += (error.detail.empty() ? "" : "; ");
      error.detail += "all shards of a set share the limits of one file";
    }
    if (error.subject != path) error.context.push_back(path);
    return file;
  }
  INGOT_TRY_VOID(check_shard(*file, path, name));
  use_up(options.limits, *file);
  return file;
}

ModelFile describe(const LoadedFile& file) {
  const format::Structure& structure = file.structure;
  ModelFile described;
  described.version = structure.version;
  described.byte_order = structure.byte_order;
  described.has_old_magic = structure.has_old_magic;
  described.alignment = structure.alignment;
  described.file_bytes = file.file_bytes;
  described.infos_offset = structure.infos_offset;
  described.header_bytes = structure.header_bytes;
  described.data_offset = structure.data_offset;
  described.is_indexed = structure.is_indexed;
  described.unread_keys = structure.unread_keys;
  described.metadata = structure.metadata;
  described.tensors = structure.tensors;
  return described;
}

/// Puts the tensors of several files into one table.
Result<void> unite_tensors(detail::ModelState& state) {
  std::size_t count = 0;
  for (const LoadedFile& file : state.loaded) count += file.structure.tensors.size();
  state.all_tensors.reserve(count);
  state.all_tensor_index.reserve(count);
  for (std::uint32_t shard = 0; shard < state.loaded.size(); ++shard) {
    for (TensorInfo& tensor : state.loaded[shard].structure.tensors) {
      tensor.shard = shard;
      const auto position = static_cast<std::uint32_t>(state.all_tensors.size());
      state.all_tensors.push_back(tensor);
      const auto duplicate = state.all_tensor_index.insert(
          position, [&](std::uint32_t at) { return state.all_tensors[at].name; });
      if (duplicate) {
        const ModelFile& first = state.files[state.all_tensors[*duplicate].shard];
        return fail(Errc::tensor_duplicate, std::string(tensor.name),
                    "it is in " + first.path + " and in " + state.files[shard].path);
      }
    }
  }
  return {};
}

void note(detail::ModelState& state, Errc code, std::string subject, std::string detail) {
  state.notices.push_back(Error{code, Error::no_offset, std::move(subject), std::move(detail)});
}

void note_missing_shards(detail::ModelState& state, bool is_in_file_system) {
  std::uint32_t first_missing = 0;
  while (first_missing < state.files.size() && state.files[first_missing].index == first_missing) {
    ++first_missing;
  }
  const std::string path =
      state.shard_prefix.empty()
          ? std::string()
          : shard_file_name(state.shard_prefix, first_missing, state.shard_count);
  note(state, Errc::shard_missing, path,
       std::to_string(state.files.size()) + " of " + std::to_string(state.shard_count) +
           " are here" + (is_in_file_system ? set_aside_remark(path) : ""));
}

/// The shard that a file is by its metadata, if its name is not that of a shard.
void adopt_split_keys(detail::ModelState& state) {
  const std::optional<std::uint64_t> count = find_number(state.loaded[0], keys::split_count);
  if (!count || *count == 0) return;  // merging tools leave a count of 0 behind
  const std::optional<std::uint64_t> index = find_number(state.loaded[0], keys::split_no);
  if (*count > max_shard_count || !index || *index >= *count) {
    return note(state, Errc::shard_keys_wrong, std::string(keys::split_count),
                "found split.count " + std::to_string(*count) + ", split.no " +
                    (index ? std::to_string(*index) : "missing"));
  }
  state.is_split = true;
  state.shard_count = static_cast<std::uint32_t>(*count);
  state.files[0].index = static_cast<std::uint32_t>(*index);
}

/// Every file of a set has the total, so different totals reveal files of two sets.
void compare_tensor_totals(detail::ModelState& state) {
  const std::optional<std::uint64_t> total =
      find_number(state.loaded[0], keys::split_tensors_count);
  for (std::size_t i = 1; i < state.loaded.size(); ++i) {
    const std::optional<std::uint64_t> other =
        find_number(state.loaded[i], keys::split_tensors_count);
    if (!total || !other || *total == *other) continue;
    note(state, Errc::shard_keys_wrong, std::string(keys::split_tensors_count),
         "found " + std::to_string(*total) + " in " + state.files[0].path + " and " +
             std::to_string(*other) + " in " + state.files[i].path +
             ", so they are of different sets");
    return;  // one difference is enough to refuse a merge
  }
}

void check_tensor_total(detail::ModelState& state) {
  const std::optional<std::uint64_t> total =
      find_number(state.loaded[0], keys::split_tensors_count);
  if (!total || *total == state.tensors().size()) return;
  note(state, Errc::shard_keys_wrong, std::string(keys::split_tensors_count),
       "found " + std::to_string(*total) + ", the files hold " +
           std::to_string(state.tensors().size()));
}

}  // namespace

bool is_split_key(std::string_view key) noexcept {
  return key == keys::split_no || key == keys::split_count || key == keys::split_tensors_count;
}

std::optional<ShardName> parse_shard_name(const std::string& path) {
  // NAME-00001-of-00003.gguf
  constexpr std::string_view ending = ".gguf";
  constexpr std::string_view between = "-of-";
  constexpr std::size_t tail_bytes = 1 + 5 + between.size() + 5 + ending.size();
  if (path.size() < tail_bytes) return std::nullopt;
  const std::size_t prefix_bytes = path.size() - tail_bytes;
  const std::string_view tail = std::string_view(path).substr(prefix_bytes);
  if (tail[0] != '-' || tail.substr(6, between.size()) != between || !tail.ends_with(ending)) {
    return std::nullopt;
  }
  const std::optional<std::uint32_t> number = parse_digits(tail.substr(1, 5));
  const std::optional<std::uint32_t> count = parse_digits(tail.substr(6 + between.size(), 5));
  if (!number || !count || *number == 0 || *number > *count || *count > max_shard_count) {
    return std::nullopt;
  }
  return ShardName{path.substr(0, prefix_bytes), *number - 1, *count};
}

std::string shard_file_name(const std::string& prefix, std::uint32_t index, std::uint32_t count) {
  const auto five_digits = [](std::uint32_t number) {
    const std::string digits = std::to_string(number);
    return std::string(5 - std::min<std::size_t>(digits.size(), 5), '0') + digits;
  };
  return prefix + '-' + five_digits(index + 1) + "-of-" + five_digits(count) + ".gguf";
}

Result<std::unique_ptr<detail::ModelState>> open_with_shards(const Store& store,
                                                             const std::string& file_name,
                                                             LoadedFile file,
                                                             const OpenOptions& options) {
  const std::string path = store.locate(file_name);
  std::vector<LoadedFile> files;
  const std::optional<ShardName> name = parse_shard_name(file_name);
  // A name alone does not make a set: a file without split keys may be called anything.
  if (!name || !options.with_shards || !find_number(file, keys::split_count)) {
    files.push_back(std::move(file));
    return assemble(std::move(files), {.prefix = {}, .count = 1, .paths = {path}, .indexes = {0}});
  }
  INGOT_TRY_VOID(check_shard(file, path, *name));
  ShardSet set{.prefix = name->prefix,
               .count = name->count,
               .paths = {},
               .indexes = {},
               .is_in_file_system = &store == &file_system()};
  std::map<std::uint32_t, std::string> siblings = find_siblings(store, *name);
  siblings[name->index] = file_name;
  OpenOptions rest = options;
  use_up(rest.limits, file);
  for (const auto& [index, sibling] : siblings) {
    set.paths.push_back(store.locate(sibling));
    set.indexes.push_back(index);
    if (index == name->index) {
      files.push_back(std::move(file));
      continue;
    }
    INGOT_TRY(LoadedFile loaded,
              load_shard(store, sibling, {name->prefix, index, name->count}, rest));
    files.push_back(std::move(loaded));
  }
  return assemble(std::move(files), std::move(set));
}

Result<std::unique_ptr<detail::ModelState>> assemble(std::vector<LoadedFile> files, ShardSet set) {
  auto state = std::make_unique<detail::ModelState>();
  state->loaded = std::move(files);
  for (std::size_t i = 0; i < state->loaded.size(); ++i) {
    state->files.push_back(describe(state->loaded[i]));
    if (i < set.paths.size()) {
      state->files[i].path = set.paths[i];
      state->files[i].index = set.indexes[i];
    }
    if (state->loaded[i].notice) state->notices.push_back(*state->loaded[i].notice);
    if (state->loaded[i].structure.has_stripped_nul) {
      note(*state, Errc::trailing_nul_stripped, state->files[i].path, {});
    }
  }
  if (state->loaded.size() > 1) INGOT_TRY_VOID(unite_tensors(*state));
  state->shard_prefix = std::move(set.prefix);
  state->shard_count = set.count;
  state->is_split = !state->shard_prefix.empty();
  if (!state->is_split) adopt_split_keys(*state);
  if (state->is_split) compare_tensor_totals(*state);
  if (state->is_split && state->files.size() < state->shard_count) {
    note_missing_shards(*state, set.is_in_file_system);
  } else if (state->is_split) {
    check_tensor_total(*state);
  }
  return state;
}

}  // namespace ingot
