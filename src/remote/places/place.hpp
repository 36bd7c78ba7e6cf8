// SPDX-License-Identifier: MIT
// Where the files of a reference are: a web server, a hub, a registry, or a cache of this system.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/reference.hpp"
#include "ingot/remote_options.hpp"
#include "remote/address/address.hpp"
#include "remote/http/client.hpp"

namespace ingot::remote {

/// Whether one file is to be chosen, or all are wanted.
enum class Choice : std::uint8_t { one, all };

/// What a reference leads to.
struct Place {
  std::string name;    ///< The name of the file that is meant.
  std::string commit;  ///< The commit of all files; may be empty.
  /// What is known to be there: everything if `is_listed`, else files that are asked for by name.
  std::vector<RemoteFile> files;
  bool is_listed = false;
  bool is_immutable = false;  ///< Addresses of files name a commit or a digest.
  /// Where a file is fetched from.
  std::function<Address(const std::string& name)> address_of;
};

/// A file on a web server.
[[nodiscard]] Result<Place> find_on_web(const Reference& reference);

/// A repository of a hub: at most two small requests, refs and tree. With a path and a commit none.
[[nodiscard]] Result<Place> find_in_hub(Client& client, const Reference& reference, Choice choice);

/// A repository of ModelScope: one small request if no path is given.
[[nodiscard]] Result<Place> find_in_model_scope(Client& client, const Reference& reference,
                                                Choice choice);

/// A model of a registry: one small request, and one for a token where the registry wants it.
[[nodiscard]] Result<Place> find_in_registry(Client& client, const Reference& reference);

/// Files that other programs keep on this system. Nothing if there is none that is meant for sure;
/// with `is_offline`, what is there is all there is.
[[nodiscard]] std::optional<Place> find_in_caches(const RemoteOptions& options,
                                                  const Reference& reference);

/// What a cache of the hub's programs has of a repository at a revision; no files if it has none.
[[nodiscard]] Place find_snapshot(const std::string& cache, const Reference& reference,
                                  const std::string& revision);

/// The files of a repository that a cache of the hub's programs has; nothing if none has any.
[[nodiscard]] std::optional<Place> find_repository_in_caches(const RemoteOptions& options,
                                                             const Reference& reference);

/// Sets the local path of the files that such a cache has of the commit of the place.
void use_local_copies(const RemoteOptions& options, const Reference& reference, Place& place);

/// The digest of the model in the manifest of a registry, and its size. Errc::answer_invalid.
[[nodiscard]] Result<RemoteFile> read_manifest(std::string_view text, const std::string& subject);

/// The name of the file that a reference without a path means, among files in the order of their
/// listing: the first that has the quantization in its name; without one, Q4_K_M, then Q8_0, then
/// the first. Of a set of shards, the first shard. Errc::file_not_chosen lists the files.
[[nodiscard]] Result<std::string> choose_file(std::span<const RemoteFile> files,
                                              const Reference& reference);

/// Whether a path names a quantization as a word of its own, in any case: Q4_XS is not in IQ4_XS.
[[nodiscard]] bool names_quantization(std::string_view path, std::string_view quantization);

/// The files of a page of a hub's listing, appended; entries that are no safe path are left out.
[[nodiscard]] Result<void> read_tree_page(std::string_view text, const std::string& subject,
                                          std::vector<RemoteFile>& files);

/// The repositories of an organisation of a hub, as references.
[[nodiscard]] Result<std::vector<std::string>> list_hub_repositories(
    Client& client, const std::string& organisation);

/// The repositories of a page of such a listing, appended; names that are none are left out.
[[nodiscard]] Result<void> read_repositories_page(std::string_view text, const std::string& subject,
                                                  std::vector<std::string>& references);

/// The commit of a revision in a hub's list of branches and tags; the revision itself if it is in
/// neither. An empty revision is `main`, or else the first branch.
[[nodiscard]] Result<std::string> read_refs(std::string_view text, const std::string& subject,
                                            const std::string& revision);

}  // namespace ingot::remote
