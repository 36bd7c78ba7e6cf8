// SPDX-License-Identifier: MIT
// References to models on servers, as arguments of the program.
#pragma once

#include <cstdint>
#include <ingot/interop.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace ingot {
class RemoteStore;
}

namespace ingot::cli {

class Console;

/// What was sent and received, for reports.
struct Traffic {
  std::uint64_t requests = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t connections = 0;
  std::uint64_t retries = 0;
  double seconds = 0;  ///< Since the first request.
};

/// A model of a repository: a file, or a set of shards.
struct RepositoryModel {
  std::string reference;  ///< To the file, or to the first shard.
  std::string name;       ///< In the repository.
  std::uint64_t file_bytes = 0;
};

/// Opens references. A program that is built without remote reading knows them, and says so.
class RemoteModels {
 public:
  RemoteModels();
  ~RemoteModels();

  /// Declares the options for remote files.
  void add_options(CLI::App& program);

  /// An argument as it may be printed: of an address with a password or a signature, the rest. The
  /// whole is remembered for `open`.
  [[nodiscard]] std::string keep_secret(const std::string& argument);

  /// Whether an argument means a remote model: it is written as a reference, and no file or folder
  /// has that name.
  [[nodiscard]] bool is_meant(const std::string& argument) const;

  /// Opens a model; remarks go to the console.
  [[nodiscard]] Result<OpenedModel> open(Console& console, const std::string& argument,
                                         const OpenAnyOptions& options);

  /// Whether an argument means a repository, without a file in it.
  [[nodiscard]] bool is_repository(const std::string& argument) const;

  /// The models of a repository, in the order of its listing.
  [[nodiscard]] Result<std::vector<RepositoryModel>> list(Console& console,
                                                          const std::string& argument);

  /// Finds the files that a reference means, to be fetched as a whole: there is no limit to that.
  [[nodiscard]] Result<std::unique_ptr<RemoteStore>> open_store(Console& console,
                                                                const std::string& argument);

  /// All that was sent and received so far.
  [[nodiscard]] Traffic traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::cli
