// SPDX-License-Identifier: MIT
#include <mutex>
#include <utility>

#include "ingot/remote.hpp"
#include "ingot/shard_name.hpp"
#include "remote/places/place.hpp"
#include "remote/reading/remote_source.hpp"
#include "remote/reading/store_state.hpp"

namespace ingot {

using remote::Address;
using remote::Client;
using remote::OpeningTime;
using remote::Place;

namespace {

/// First ranges of shards that are on their way at the same time, before they are asked for.
constexpr std::size_t most_early_shards = 8;

/// A source that is opened again: the look at a file's format and its reader share one.
class SharedSource final : public Source {
 public:
  explicit SharedSource(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return source_->size_bytes(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept override {
    return source_->bytes();
  }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    return source_->read(file_offset, destination);
  }
  [[nodiscard]] std::uint64_t first_read_bytes() const noexcept override {
    return source_->first_read_bytes();
  }
  [[nodiscard]] int descriptor() const noexcept override { return source_->descriptor(); }
  void prefetch(std::uint64_t file_offset, std::uint64_t size_bytes) const noexcept override {
    source_->prefetch(file_offset, size_bytes);
  }
  void release(std::uint64_t file_offset, std::uint64_t size_bytes) const noexcept override {
    source_->release(file_offset, size_bytes);
  }

 private:
  std::shared_ptr<const Source> source_;
};

Result<Place> find_place(Client& client, const Reference& reference, remote::Choice choice) {
  switch (reference.kind) {
    case ReferenceKind::hub:
      return remote::find_in_hub(client, reference, choice);
    case ReferenceKind::model_scope:
      return remote::find_in_model_scope(client, reference, choice);
    case ReferenceKind::registry:
      return remote::find_in_registry(client, reference);
    default:
      return remote::find_on_web(reference);
  }
}

}  // namespace

remote::Opened RemoteStore::State::open(const std::string& name,
                                        const std::stop_token& stop) const {
  const RemoteFile* const file = find(name);
  if (file != nullptr && !file->local_path.empty()) return map_file(file->local_path);
  if ((file == nullptr && place.is_listed) || (client == nullptr && cache == nullptr)) {
    return fail(Errc::remote_not_found, name, "it is not in the repository");
  }
  remote::RemoteTarget target{place.address_of(name)};
  if (file != nullptr) target.size_bytes = file->size_bytes;
  target.is_immutable = place.is_immutable;
  target.cache = cache;
  target.stop = stop;
  return remote::open_remote_source(client, std::move(target));
}

/// Begins to open the shards that will be asked for after the one that is.
void RemoteStore::State::open_early(const ShardName& shard, const std::string& wanted) {
  for (std::uint32_t i = 0; i < shard.count && early.size() < most_early_shards; ++i) {
    const std::string name = shard_file_name(shard.prefix, i, shard.count);
    const bool is_missing = place.is_listed && find(name) == nullptr;
    if (is_missing || !begun.insert(name).second || name == wanted) continue;
    const auto work = [this, name](const std::stop_token& stop) { return open(name, stop); };
    early.emplace(name, client->tasks().start(work));
  }
}

RemoteStore::RemoteStore() : state_(std::make_unique<State>()) {}
RemoteStore::RemoteStore(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
RemoteStore::RemoteStore(RemoteStore&&) noexcept = default;
RemoteStore& RemoteStore::operator=(RemoteStore&&) noexcept = default;
RemoteStore::~RemoteStore() = default;

Result<RemoteStore> RemoteStore::open(const Reference& reference, const RemoteOptions& options) {
  return State::ask(reference, options, remote::Choice::one);
}

Result<RemoteStore> RemoteStore::open_repository(const Reference& reference,
                                                 const RemoteOptions& options) {
  return State::ask(reference, options, remote::Choice::all);
}

Result<std::vector<std::string>> RemoteStore::list_repositories(const std::string& organisation,
                                                                const RemoteOptions& options) {
  if (options.is_offline) {
    return fail(Errc::remote_unavailable, organisation, remote::not_here);
  }
  INGOT_TRY(const std::shared_ptr<Client> client, Client::make(options));
  const OpeningTime time(client.get());
  return remote::list_hub_repositories(*client, organisation);
}

Result<RemoteStore> RemoteStore::State::ask(Reference wanted, const RemoteOptions& options,
                                            remote::Choice choice) {
  if (wanted.revision.empty()) wanted.revision = options.revision;
  auto here =
      choice == remote::Choice::one ? remote::find_in_caches(options, wanted) : std::nullopt;
  if (here) return of(*std::move(here));
  if (wanted.kind == ReferenceKind::local) {
    return fail(Errc::reference_invalid, wanted.display(), "it is a path of this system");
  }
  if (options.is_offline) {
    if (choice == remote::Choice::one) return recall(wanted, options);
    // Where one file was, a list of all is not known: the hub's caches have one.
    auto cached = remote::find_repository_in_caches(options, wanted);
    if (!cached) return fail(Errc::remote_unavailable, wanted.display(), remote::not_here);
    return of(*std::move(cached));
  }
  auto state = std::make_unique<State>();
  if (!options.cache_folder.empty()) {
    state->cache = std::make_shared<remote::HeaderCache>(options.cache_folder);
    if (choice == remote::Choice::one) state->remembered_as = remote::place_name(options, wanted);
  }
  INGOT_TRY(state->client, Client::make(options));
  if (wanted.kind == ReferenceKind::web) {
    INGOT_TRY(const Address address, remote::parse_address(wanted.address));
    state->client->add_named_site(address);
  }
  {
    const OpeningTime time(state->client.get());
    INGOT_TRY(state->place, find_place(*state->client, wanted, choice));
  }
  if (choice == remote::Choice::all) remote::use_local_copies(options, wanted, state->place);
  return RemoteStore(std::move(state));
}

Result<RemoteStore> RemoteStore::State::recall(const Reference& wanted,
                                               const RemoteOptions& options) {
  auto state = std::make_unique<State>();
  state->cache = std::make_shared<remote::HeaderCache>(options.cache_folder);
  if (wanted.kind == ReferenceKind::web) {
    INGOT_TRY(state->place, remote::find_on_web(wanted));
    return RemoteStore(std::move(state));
  }
  const auto text = state->cache->recall(remote::place_name(options, wanted));
  auto place = text ? remote::read_place(*text) : std::nullopt;
  if (!place) return fail(Errc::remote_unavailable, wanted.display(), remote::not_here);
  state->place = *std::move(place);
  return RemoteStore(std::move(state));
}

const std::string& RemoteStore::name() const noexcept { return state_->place.name; }
const std::string& RemoteStore::commit() const noexcept { return state_->place.commit; }
const std::vector<RemoteFile>& RemoteStore::files() const noexcept { return state_->place.files; }

std::vector<RemoteFile> RemoteStore::model_files() const {
  const auto described = [&](const std::string& name) {
    const RemoteFile* const file = state_->find(name);
    return file != nullptr ? *file : RemoteFile{name, {}, {}, {}};
  };
  const std::optional<ShardName> shard = parse_shard_name(name());
  if (!shard) return {described(name())};
  std::vector<RemoteFile> files;
  for (std::uint32_t i = 0; i < shard->count; ++i) {
    files.push_back(described(shard_file_name(shard->prefix, i, shard->count)));
  }
  return files;
}

Result<std::unique_ptr<Source>> RemoteStore::open(const std::string& name) const {
  Task<remote::Opened> early;
  {
    const std::lock_guard lock(state_->mutex);
    if (name == state_->last_name) {
      if (!state_->last) return fail(state_->last.error());
      return std::make_unique<SharedSource>(*state_->last);
    }
    const std::optional<ShardName> shard = parse_shard_name(name);
    if (shard && state_->client != nullptr) state_->open_early(*shard, name);
    if (auto node = state_->early.extract(name)) early = std::move(node.mapped());
  }
  remote::Opened opened = early.is_started() ? std::move(early.get()) : state_->open(name);
  const std::lock_guard lock(state_->mutex);
  state_->last_name = name;
  if (!opened) {
    state_->last = fail(opened.error());
    return opened;
  }
  state_->last = std::shared_ptr<const Source>(*std::move(opened));
  state_->opened[name] = *state_->last;
  return std::make_unique<SharedSource>(*state_->last);
}

Result<std::vector<std::string>> RemoteStore::list(const std::string& folder) const {
  const std::string prefix = folder.empty() || folder.ends_with('/') ? folder : folder + "/";
  std::vector<std::string> names;
  for (const RemoteFile& file : state_->place.files) {
    const bool is_inside =
        file.name.starts_with(prefix) && file.name.find('/', prefix.size()) == std::string::npos;
    if (is_inside) names.push_back(file.name);
  }
  // Without a listing, the name of a shard tells the names of the others.
  if (!state_->place.is_listed && name().starts_with(prefix)) {
    for (const RemoteFile& file : model_files()) names.push_back(file.name);
  }
  if (names.empty()) return fail(Errc::io_error, folder, "there is no folder of this name");
  return names;
}

std::string RemoteStore::locate(const std::string& name) const {
  const RemoteFile* const file = state_->find(name);
  if (file != nullptr && !file->local_path.empty()) return file->local_path;
  return state_->place.address_of ? state_->place.address_of(name).shown() : name;
}

RemoteTraffic RemoteStore::traffic() const {
  return state_->client != nullptr ? state_->client->traffic() : RemoteTraffic{};
}

/// When they have turned out right.
void RemoteStore::keep_headers() const {
  if (state_->cache == nullptr || state_->client == nullptr) return;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [name, source] : state_->opened) {
    const auto* const file = dynamic_cast<const remote::RemoteSource*>(source.lock().get());
    if (file != nullptr) file->keep();
  }
  if (state_->remembered_as.empty()) return;
  state_->cache->remember(state_->remembered_as, remote::write_place(state_->place, model_files()));
}

void RemoteStore::expect(const std::string& name, std::span<const FileRange> ranges) const {
  std::shared_ptr<const Source> source;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->opened.find(name);
    if (found != state_->opened.end()) source = found->second.lock();
  }
  const auto* const file = dynamic_cast<const remote::RemoteSource*>(source.get());
  if (file != nullptr) file->expect(ranges);
}

void RemoteStore::allow_more_bytes(std::uint64_t size_bytes) const {
  if (state_->client != nullptr) state_->client->allow_more_bytes(size_bytes);
}

Result<OpenedModel> RemoteStore::open_model(const OpenAnyOptions& options) const {
  const OpeningTime time(state_->client.get());
  Result<OpenedModel> opened = open_any(*this, name(), options);
  if (opened) keep_headers();
  return opened;
}

Result<RemoteModel> open_remote(std::string_view text, const RemoteOptions& options,
                                const OpenAnyOptions& open_options) {
  INGOT_TRY(const Reference reference, parse_reference(text));
  if (reference.kind == ReferenceKind::local) {
    INGOT_TRY(OpenedModel local, open_any(reference.path, open_options));
    return RemoteModel{RemoteStore(), std::move(local)};
  }
  INGOT_TRY(RemoteStore store, RemoteStore::open(reference, options));
  INGOT_TRY(OpenedModel opened, store.open_model(open_options));
  return RemoteModel{std::move(store), std::move(opened)};
}

}  // namespace ingot
