// SPDX-License-Identifier: MIT
// Turns the requests of `ingot edit` into changes of files.
#pragma once

#include <ingot/edit.hpp>
#include <ingot/error.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "text/value_parser.hpp"

namespace ingot::cli {

/// `KEY=VALUE` or `KEY:TYPE=VALUE`.
struct Assignment {
  std::string key;
  std::optional<ValueSpec> spec;
  std::string text;  ///< The value, or the path of the file that holds it.
  bool is_path = false;
};
[[nodiscard]] std::optional<Assignment> parse_assignment(const std::string& text, bool is_path);

/// Everything that was asked for. Carried out in the order of the members, whatever the order on
/// the command line was.
struct ChangeRequest {
  std::vector<std::string> removed_keys;     ///< Globs.
  std::vector<std::string> removed_tensors;  ///< Globs.
  std::vector<std::string> renamed_keys;     ///< A=B
  std::vector<std::string> renamed_tensors;  ///< A=B
  std::vector<std::string> set;
  std::vector<std::string> set_from_file;
  std::vector<std::string> special_tokens;     ///< NAME, TOKEN, NAME, TOKEN, ...
  std::vector<std::string> special_token_ids;  ///< NAME, ID, ...
  std::optional<std::string> chat_template;
  std::string chat_template_file;
  std::optional<std::uint64_t> slack_bytes;
  bool has_index = false;  ///< Gives each file a layout index.

  [[nodiscard]] bool is_empty() const;
};

/// One change, for people and for --json.
struct Change {
  const char* action;  ///< "set_key", "add_key", "remove_key", "rename_key", "rename_tensor", ...
  std::string name;
  std::string new_name;             ///< The new name, if something is renamed.
  std::optional<OwnedValue> value;  ///< The new value, if something is set.
  std::optional<OwnedValue> old;    ///< The earlier value of a key that is set or removed.
};

/// One file of the model, with the changes that concern it.
struct FileEdit {
  std::string file;
  ModelEdit edit;
  std::vector<Change> changes;
};

/// The reason why a request fails, and the exit code: the key or tensor does not exist (the answer
/// is no), the request makes no sense, or its value is malformed.
struct RequestProblem {
  ExitCode code = ExitCode::usage;
  std::string message;
};

/// Distributes the request over the files. A key is changed in each file that has it; a new one
/// goes into the first file.
[[nodiscard]] std::optional<RequestProblem> apply_changes(const ChangeRequest& request,
                                                          std::vector<FileEdit>& files);

}  // namespace ingot::cli
