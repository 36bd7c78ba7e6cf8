// SPDX-License-Identifier: MIT
// References to models on servers, as arguments of the program.
#pragma once

#include <cstdint>
#include <ingot/interop.hpp>
#include <ingot/store.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace ingot {
class RemoteStore;
}

namespace ingot::cli {

class Console;
class JsonStream;

/// The bytes sent and received, for reports.
struct Traffic {
  std::uint64_t requests = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t connections = 0;
  std::uint64_t retries = 0;
  // --- of those, the ranges of files at the addresses where they are in the end
  std::uint64_t file_requests = 0;
  std::uint64_t file_bytes = 0;
  double seconds = 0;  ///< The time since the first request.
};

/// A range of one of the files of a model.
struct ModelRange {
  std::size_t file = 0;  ///< Position in Model::files.
  std::uint64_t file_offset = 0;
  std::uint64_t size_bytes = 0;
};

/// The member `remote` of a JSON document.
void write_traffic(JsonStream& json, const Traffic& traffic);
/// The traffic in words, on one line.
[[nodiscard]] std::string describe(const Traffic& traffic);

/// A model of a repository: a file, or a set of shards.
struct RepositoryModel {
  std::string reference;  ///< The reference to the file or the first shard.
  std::string name;       ///< The name in the repository.
  std::uint64_t file_bytes = 0;
  std::string plain_reference;  ///< The reference without the commit, unless the user named one.
  std::string version;          ///< The digests of its files, or the commit.
};

/// The file that was opened for a reference.
struct RemoteFileName {
  std::string file_name;
  std::string commit;  ///< Empty where there are no commits.
};

/// A repository as a folder of files.
struct RemoteFolder {
  const Store* store = nullptr;  ///< Valid as long as the RemoteModels; the folder's name is "".
  std::string name;              ///< The name of the repository.
};

/// Opens references. A program that is built without remote reading knows them, and says so.
class RemoteModels {
 public:
  RemoteModels();
  ~RemoteModels();

  /// Declares the options for remote files.
  void add_options(CLI::App& program);

  /// The printable form of an argument: an address loses its password and signature. `open` still
  /// finds the whole.
  [[nodiscard]] std::string keep_secret(const std::string& argument);

  /// Whether `keep_secret` left something out of an argument, of which this is the printable form.
  [[nodiscard]] bool has_secret(const std::string& argument) const;

  /// Whether an argument means a remote model: it is written as a reference, and no file or folder
  /// has that name.
  [[nodiscard]] bool is_meant(const std::string& argument) const;

  /// Opens a model; remarks go to the console.
  [[nodiscard]] Result<OpenedModel> open(Console& console, const std::string& argument,
                                         const OpenAnyOptions& options);

  /// Opens a model as `open` does, without remarks, and keeps nothing of it. Thread-safe.
  [[nodiscard]] Result<Model> open_beside(const std::string& argument,
                                          const OpenOptions& options) const;

  /// The repositories of an organisation of the hub, `hf:ORG`, as references.
  [[nodiscard]] Result<std::vector<std::string>> repositories(const std::string& argument) const;

  /// A reference to a repository as all spellings of it are written.
  [[nodiscard]] std::string plain_name(const std::string& argument) const;

  /// Whether an argument means a repository, without a file in it.
  [[nodiscard]] bool is_repository(const std::string& argument) const;

  /// The models of a repository, in the order of its listing.
  [[nodiscard]] Result<std::vector<RepositoryModel>> list(Console& console,
                                                          const std::string& argument);

  /// A repository as the folder of files that it is.
  [[nodiscard]] Result<RemoteFolder> open_folder(Console& console, const std::string& argument);

  /// Prepares `passes` readings of whole files of a folder that `open_folder` gave, as `prepare`
  /// does: from begin to end, one after the other.
  [[nodiscard]] Result<void> prepare_files(Console& console, const std::string& argument,
                                           std::span<const std::string> names,
                                           std::uint64_t passes = 1);

  /// The name of the file or the repository that a reference means, without a path. Other
  /// arguments stay as they are.
  [[nodiscard]] std::string local_name(const std::string& argument) const;

  /// The file of an argument that was opened as a remote model; nothing for others.
  [[nodiscard]] std::optional<RemoteFileName> opened_file(const std::string& argument) const;

  /// Prepares `passes` readings of ranges, in their order, of the model that was opened last for an
  /// argument. Prints how many bytes will be fetched, asks above 1 GiB on a terminal, and starts to
  /// fetch them ahead. Errc::too_much_to_fetch if the answer is no or there is no terminal.
  [[nodiscard]] Result<void> prepare(Console& console, const std::string& argument,
                                     const Model& model, std::span<const ModelRange> ranges,
                                     std::uint64_t passes = 1);

  /// Finds the files that a reference means, to be fetched as a whole: there is no limit to that.
  /// The store lives as long as this object.
  [[nodiscard]] Result<const RemoteStore*> open_store(Console& console,
                                                      const std::string& argument);

  /// Whether anything was opened so far.
  [[nodiscard]] bool is_used() const;
  /// All traffic so far.
  [[nodiscard]] Traffic traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::cli
