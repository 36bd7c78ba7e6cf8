// SPDX-License-Identifier: MIT
// What is behind a remote store.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/ranges.hpp"
#include "ingot/remote.hpp"
#include "ingot/shard_name.hpp"
#include "remote/cache/header_cache.hpp"
#include "remote/http/client.hpp"
#include "remote/places/place.hpp"

namespace ingot {

namespace remote {

using Opened = Result<std::unique_ptr<Source>>;

// --- where a reference led to, kept for times without a server (remembered_place.cpp)

/// What a place is remembered under: the reference, and the server that it is asked of.
[[nodiscard]] std::string place_name(const RemoteOptions& options, const Reference& reference);

/// The files of one model with their addresses, as JSON.
[[nodiscard]] std::string write_place(const Place& place, std::span<const RemoteFile> files);

/// The place of such a text; nothing if it is damaged: all names and addresses are checked as those
/// of a server are.
[[nodiscard]] std::optional<Place> read_place(std::string_view text);

}  // namespace remote

struct RemoteStore::State {
  /// A store of files that are all on this system.
  [[nodiscard]] static RemoteStore of(remote::Place place) {
    auto state = std::make_unique<State>();
    state->place = std::move(place);
    return RemoteStore(std::move(state));
  }
  /// Asks the caches of this system and the servers which file is meant.
  [[nodiscard]] static Result<RemoteStore> ask(Reference wanted, const RemoteOptions& options,
                                               remote::Choice choice);

  /// A reference whose files may be in the cache, and nothing is fetched.
  [[nodiscard]] static Result<RemoteStore> recall(const Reference& wanted,
                                                  const RemoteOptions& options);

  std::shared_ptr<remote::Client> client;  ///< None if nothing is fetched.
  remote::Place place;
  std::shared_ptr<const remote::HeaderCache> cache;  ///< Null if there is none.
  std::string remembered_as;  ///< What the place is remembered under; empty: it is not.
  std::mutex mutex;
  std::map<std::string, Task<remote::Opened>>
      early;                    ///< Files that are opened before they are asked for.
  std::set<std::string> begun;  ///< Files that were opened, early or not.
  /// Files that are read from the server; they live as long as somebody reads them.
  std::map<std::string, std::weak_ptr<const Source>> opened;
  /// The file that was opened last, or why it was not: the next format asks for it again.
  std::string last_name;
  Result<std::shared_ptr<const Source>> last;

  [[nodiscard]] const RemoteFile* find(const std::string& name) const {
    return find_row(place.files, &RemoteFile::name, name);
  }
  [[nodiscard]] remote::Opened open(const std::string& name,
                                    const std::stop_token& stop = {}) const;
  void open_early(const ShardName& shard, const std::string& wanted);
};

/// The door for the rest of the library.
struct remote::StoreAccess {
  [[nodiscard]] static const RemoteStore::State& state(const RemoteStore& store) {
    return *store.state_;
  }
};

}  // namespace ingot
