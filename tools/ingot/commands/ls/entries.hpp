// SPDX-License-Identifier: MIT
// The rows of `ingot ls`, of folders and of the stores of this system.
#pragma once

#include <cstdint>
#include <functional>
#include <ingot/local_models.hpp>
#include <ingot/projectors.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"
#include "commands/ls/listing.hpp"

namespace ingot::cli {

/// Which file a path leads to: links to one file are one.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;

/// A model that is listed. Texts are raw bytes of files and names.
struct Entry {
  LocalModel place;   ///< Of a model on a server, the name alone.
  std::string shown;  ///< Its name in a line for people.
  ListedModel facts;  ///< Of a file that is refused, its name and size.
  std::optional<Error> refusal;
  std::optional<PairFacts> pair;
  std::optional<std::string> license;
  bool has_chat_template = false;
  bool is_split = false;
  std::uint64_t tensor_bytes = 0;
  std::size_t tensor_count = 0;
  std::optional<std::int64_t> modified_at;  ///< Seconds since 1970.
  FileIdentity file;
  std::optional<std::string> duplicate_of;  ///< The name of the first model with the same weights.
  bool has_own_bytes = false;  ///< Of a duplicate: whether no model before it is the same file.
};

/// Opens a model for its facts; one that does not open has an error instead.
[[nodiscard]] Entry look_at(Console& console, LocalModel place, const std::string& shown);

/// Adds the facts that every model has, wherever it lies.
void add_facts(Entry& entry, const std::string& name, const Model& model,
               const ForeignFile* foreign);

/// What tells whether the pattern of a request fits the name of an entry or its architecture.
/// Throws CLI::ValidationError if the pattern is none.
[[nodiscard]] std::function<bool(const Entry& entry)> entry_filter(const ListRequest& request);

/// Finds the duplicates and digests that are asked for, sorts and cuts.
void arrange(Console& console, std::vector<Entry>& entries, const ListRequest& request);

/// The members of a model of a store, and the object of a file that was found.
void write_stored(JsonStream& json, const Entry& entry, const ListRequest& request);
void write_found(JsonStream& json, const Entry& entry, const ListRequest& request);

/// One line a model; the first column, by which other commands find it, is never cut.
void print_entries(Console& console, const std::vector<Entry>& entries, const ListRequest& request);

/// The pairs among the models, and the projectors that have none.
[[nodiscard]] std::vector<ListedPair> pairs_of(const Console& console,
                                               const std::vector<Entry>& entries);
void print_pairs(Console& console, const std::vector<ListedPair>& pairs);
/// Prints the pairs instead of the models.
void print_only_pairs(Console& console, const std::vector<Entry>& entries);

/// What all of them take on the disk; files that several names lead to count once.
void print_sum(Console& console, const std::vector<Entry>& entries, bool finds_duplicates);

}  // namespace ingot::cli
