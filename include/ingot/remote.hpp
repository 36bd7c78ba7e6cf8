// SPDX-License-Identifier: MIT
// Remote models, read in place: of a file in a hub, a registry or on a web server, only what is
// looked at is fetched (target ingot::remote).
//
//   const auto opened = ingot::open_remote("hf:org/repo:Q4_K_M");
//   for (const ingot::TensorInfo& tensor : opened->model.tensors()) ...
//
// All that a server sends is taken for hostile: docs/security.md says what that means.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/interop.hpp"
#include "ingot/reference.hpp"
#include "ingot/remote_options.hpp"
#include "ingot/store.hpp"

namespace ingot {

namespace remote {
struct StoreAccess;
}

/// The files that a reference leads to: all of a repository, or one. Names are those of the
/// repository. Movable; const members are thread-safe. Sources that it opened may outlive it.
class INGOT_EXPORT RemoteStore final : public Store {
 public:
  /// Finds out which file the reference means, and what is beside it: for a hub by at most two
  /// small requests, for an address by none. Errc::file_not_chosen lists the files that could be
  /// meant.
  [[nodiscard]] static Result<RemoteStore> open(const Reference& reference,
                                                const RemoteOptions& options);
  /// The same without a choice: `name` is empty, and `files` are all of the repository. Of an
  /// address the one file that it names. Files that the hub's cache on this system has of that
  /// commit are read there; with RemoteOptions::is_offline they are all that is listed.
  [[nodiscard]] static Result<RemoteStore> open_repository(const Reference& reference,
                                                           const RemoteOptions& options);
  /// The repositories of an organisation or a user of the hub that hold GGUF files, as
  /// "hf:ORGANISATION/REPOSITORY"; one small request for each thousand.
  [[nodiscard]] static Result<std::vector<std::string>> list_repositories(
      const std::string& organisation, const RemoteOptions& options);
  /// A store without files.
  RemoteStore();
  RemoteStore(RemoteStore&&) noexcept;
  RemoteStore& operator=(RemoteStore&&) noexcept;
  ~RemoteStore() override;

  /// The name of the file that the reference means: of a set, its first shard.
  [[nodiscard]] const std::string& name() const noexcept;
  /// The files of the model that the reference means: one, or the shards of a set.
  [[nodiscard]] std::vector<RemoteFile> model_files() const;
  /// All files that are known.
  [[nodiscard]] const std::vector<RemoteFile>& files() const noexcept;
  /// The commit that all files are of; empty if that is unknown.
  [[nodiscard]] const std::string& commit() const noexcept;

  /// Opens the model that the reference means. All requests for it together may take
  /// RemoteTimes::header; its headers are kept in the cache, and where the reference led to.
  [[nodiscard]] Result<OpenedModel> open_model(const OpenAnyOptions& options = {}) const;

  [[nodiscard]] Result<std::unique_ptr<Source>> open(const std::string& name) const override;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& folder) const override;
  [[nodiscard]] std::string locate(const std::string& name) const override;

  [[nodiscard]] RemoteTraffic traffic() const;

  /// Says which ranges of an open file will be read, in that order: then they are fetched in few
  /// requests, four at a time, ahead of the reader. At most 56 MiB are held.
  void expect(const std::string& name, std::span<const FileRange> ranges) const;

  /// Lets reading take this many bytes more than RemoteOptions::max_fetch_bytes.
  void allow_more_bytes(std::uint64_t size_bytes) const;

 private:
  friend struct remote::StoreAccess;
  struct State;
  explicit RemoteStore(std::unique_ptr<State> state) noexcept;
  void keep_headers() const;
  std::unique_ptr<State> state_;
};

/// A model and the place that it is read from.
struct RemoteModel {
  RemoteStore store;
  OpenedModel opened;
};

/// Opens the model that a reference means, a local one too.
[[nodiscard]] INGOT_EXPORT Result<RemoteModel> open_remote(std::string_view reference,
                                                           const RemoteOptions& options,
                                                           const OpenAnyOptions& open_options = {});

/// Receives the model or why there is none, in the thread that opened it.
using RemoteCallback = std::function<void(Result<RemoteModel> opened)>;

/// A model that is being opened. Movable. Destroying it cancels, and waits for the callback;
/// letting go of it within the callback does not wait.
class INGOT_EXPORT RemoteOpening {
 public:
  RemoteOpening(RemoteOpening&&) noexcept;
  RemoteOpening& operator=(RemoteOpening&&) noexcept;
  ~RemoteOpening();

  /// Ends the work soon: the callback gets Errc::interrupted, unless the model is open already.
  /// Thread-safe.
  void cancel() noexcept;

 private:
  struct State;
  friend INGOT_EXPORT RemoteOpening open_remote_async(std::string reference, RemoteOptions options,
                                                      RemoteCallback callback,
                                                      OpenAnyOptions open_options);
  explicit RemoteOpening(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

/// Opens a model in a thread of its own and calls `callback` once.
[[nodiscard]] INGOT_EXPORT RemoteOpening open_remote_async(std::string reference,
                                                           RemoteOptions options,
                                                           RemoteCallback callback,
                                                           OpenAnyOptions open_options = {});

}  // namespace ingot
