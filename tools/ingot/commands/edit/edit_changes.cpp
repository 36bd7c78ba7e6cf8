// SPDX-License-Identifier: MIT
#include "commands/edit/edit_changes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/chat.hpp>
#include <ingot/metadata_keys.hpp>
#include <ingot/shard_name.hpp>
#include <ingot/text.hpp>
#include <utility>

#include "cli/help.hpp"
#include "commands/edit/special_token_names.hpp"
#include "text/name_match.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

using Problem = std::optional<RequestProblem>;

constexpr std::string_view split_prefix = "split.";

std::string in_quotes(std::string_view text) { return "\"" + escape(text) + "\""; }

Problem no_sense(std::string message) {
  return RequestProblem{ExitCode::usage, std::move(message)};
}
Problem missing(std::string message) {
  return RequestProblem{ExitCode::negative, std::move(message)};
}

std::optional<std::pair<std::string, std::string>> split_at_equals(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

class Changer {
 public:
  Changer(const ChangeRequest& request, std::vector<FileEdit>& files)
      : request_(request), files_(files), is_set_(files.size() > 1) {}

  Problem run() {
    for (const std::string& glob : request_.removed_keys) {
      if (const Problem problem = remove_keys(glob)) return problem;
    }
    for (const std::string& glob : request_.removed_tensors) {
      if (const Problem problem = remove_tensors(glob)) return problem;
    }
    for (const std::string& names : request_.renamed_keys) {
      if (const Problem problem = rename(names, true)) return problem;
    }
    for (const std::string& names : request_.renamed_tensors) {
      if (const Problem problem = rename(names, false)) return problem;
    }
    if (const Problem problem = set_all()) return problem;
    if (is_set_ && !request_.removed_tensors.empty()) return set_split_total();
    return {};
  }

 private:
  /// The keys that hold a set of files together are not for a glob to catch.
  [[nodiscard]] bool is_protected(std::string_view key) const {
    return is_set_ && key.starts_with(split_prefix);
  }

  Problem remove_keys(const std::string& glob) {
    const NameMatcher matches = name_matcher(glob);
    bool has_matched = false;
    for (FileEdit& file : files_) {
      for (const KeyValue& entry : file.edit.model().metadata()) {
        if (!matches(entry.key) || is_protected(entry.key)) continue;
        has_matched = true;
        if (!file.edit.remove_key(entry.key)) continue;  // another glob has caught it
        file.changes.push_back(
            {"remove_key", std::string(entry.key), {}, {}, OwnedValue::copy_of(entry.value)});
      }
    }
    if (!has_matched) return missing("there is no key " + in_quotes(glob) + hint_keys(glob));
    return {};
  }

  Problem remove_tensors(const std::string& glob) {
    const NameMatcher matches = name_matcher(glob);
    bool has_matched = false;
    for (FileEdit& file : files_) {
      for (const TensorInfo& tensor : file.edit.model().tensors()) {
        if (!matches(tensor.name)) continue;
        has_matched = true;
        if (!file.edit.remove_tensor(tensor.name)) continue;
        file.changes.push_back({"remove_tensor", std::string(tensor.name), {}, {}, {}});
      }
    }
    if (!has_matched) return missing("there is no tensor " + in_quotes(glob) + hint_tensors(glob));
    return {};
  }

  Problem rename(const std::string& text, bool is_key) {
    const auto names = split_at_equals(text);
    if (!names || names->second.empty()) {
      return no_sense(fmt::format("--rename-{} must be {}=NEW, not {}", is_key ? "key" : "tensor",
                                  is_key ? "KEY" : "TENSOR", in_quotes(text)));
    }
    const auto& [from, to] = *names;
    if (is_key && is_protected(from)) {
      return no_sense(in_quotes(from) + " holds the set of files together; merge them first");
    }
    bool has_matched = false;
    for (FileEdit& file : files_) {
      const Result<void> result =
          is_key ? file.edit.rename_key(from, to) : file.edit.rename_tensor(from, to);
      if (!result && result.error().code == Errc::name_taken) {
        return no_sense(
            fmt::format("there is already a {} {}", is_key ? "key" : "tensor", in_quotes(to)));
      }
      if (!result) continue;
      has_matched = true;
      file.changes.push_back({is_key ? "rename_key" : "rename_tensor", from, to, {}, {}});
    }
    if (has_matched) return {};
    return missing(is_key ? "there is no key " + in_quotes(from) + hint_keys(from)
                          : "there is no tensor " + in_quotes(from) + hint_tensors(from));
  }

  Problem set_all() {
    for (const bool is_path : {false, true}) {
      for (const std::string& text : is_path ? request_.set_from_file : request_.set) {
        const std::optional<Assignment> assignment = parse_assignment(text, is_path);
        if (!assignment) {
          return no_sense(fmt::format("{} must be KEY={} or KEY:TYPE={}, not {}",
                                      is_path ? "--set-file" : "--set", is_path ? "PATH" : "VALUE",
                                      is_path ? "PATH" : "VALUE", in_quotes(text)));
        }
        if (const Problem problem = assign(*assignment)) return problem;
      }
    }
    if (request_.chat_template) {
      if (const Problem problem = set_template(*request_.chat_template)) return problem;
    }
    if (!request_.chat_template_file.empty()) {
      const auto content = read_whole(request_.chat_template_file);
      if (!content) return no_sense("cannot read " + in_quotes(request_.chat_template_file));
      if (const Problem problem = set_template(*content)) return problem;
    }
    return set_special_tokens();
  }

  /// Sets a template that can be read; no other one is of use to anybody.
  Problem set_template(const std::string& text) {
    const Result<ChatTemplate> chat = ChatTemplate::make(text);
    if (!chat) return RequestProblem{ExitCode::refused, chat_error_text(chat.error())};
    set(keys::tokenizer_chat_template, OwnedValue::string(text));
    return {};
  }

  Problem assign(const Assignment& assignment) {
    const std::optional<Value> old = find(assignment.key);
    std::optional<ValueSpec> spec = assignment.spec;
    if (!spec && old) spec = spec_of(*old);
    if (!spec) spec = standard_spec(assignment);
    if (!spec && assignment.is_path) spec = ValueSpec{ValueType::string, 0};
    if (!spec) {
      return no_sense("there is no key " + in_quotes(assignment.key) +
                      hint_new_key(assignment.key, assignment.text));
    }
    std::optional<std::string> content;
    if (assignment.is_path) {
      const auto whole = read_whole(assignment.text);
      if (!whole) return no_sense("cannot read " + in_quotes(assignment.text));
      content = *whole;
    }
    Result<OwnedValue> value =
        content ? value_of_content(*spec, *content) : parse_value(*spec, assignment.text);
    if (!value) return no_sense(in_quotes(assignment.key) + ": " + value.error().detail);
    set(assignment.key, *value);
    return {};
  }

  /// The type of a new standard key; nothing for other keys.
  [[nodiscard]] std::optional<ValueSpec> standard_spec(const Assignment& assignment) const {
    const MetadataKeyInfo* key = find_key(assignment.key, architecture());
    if (key == nullptr) return std::nullopt;
    const auto [type, is_array] = usual_type(key->form, assignment.text.starts_with('['));
    return ValueSpec{type, is_array ? std::size_t{1} : std::size_t{0}};
  }

  void set(std::string_view key, const OwnedValue& value) {
    bool is_somewhere = false;
    for (FileEdit& file : files_) is_somewhere = is_somewhere || file.edit.find(key).has_value();
    for (FileEdit& file : files_) {
      const std::optional<Value> old = file.edit.find(key);
      const bool is_here = old.has_value();
      if (!is_here && is_somewhere) continue;
      std::optional<OwnedValue> kept;
      if (old) kept = OwnedValue::copy_of(*old);
      file.edit.set(key, value);
      file.changes.push_back({is_here ? "set_key" : "add_key",
                              std::string(key),
                              {},
                              OwnedValue::copy_of(value.value()),
                              std::move(kept)});
      if (!is_here) break;  // a new one goes into the first file
    }
  }

  [[nodiscard]] std::optional<Value> find(std::string_view key) const {
    for (const FileEdit& file : files_) {
      if (const auto value = file.edit.find(key)) return value;
    }
    return std::nullopt;
  }

  Problem set_special_tokens() {
    const auto& by_text = request_.special_tokens;
    for (std::size_t i = 0; i + 1 < by_text.size(); i += 2) {
      std::uint32_t id = 0;
      if (const Problem problem = find_token(by_text[i + 1], id)) return problem;
      if (const Problem problem = set_special_token(by_text[i], id)) return problem;
    }
    const auto& by_id = request_.special_token_ids;
    for (std::size_t i = 0; i + 1 < by_id.size(); i += 2) {
      const std::string& text = by_id[i + 1];
      const auto id = parse_number<std::uint32_t>(text);
      if (!id) {
        return no_sense("--special-token-id takes the number of a token, not " + in_quotes(text));
      }
      const std::optional<Value> tokens = find(keys::tokenizer_ggml_tokens);
      if (tokens && *id >= tokens->as_array().size()) {
        return missing(fmt::format("there is no token {}; the vocabulary has {}", *id,
                                   tokens->as_array().size()));
      }
      if (const Problem problem = set_special_token(by_id[i], *id)) return problem;
    }
    return {};
  }

  Problem find_token(const std::string& text, std::uint32_t& id) const {
    const std::optional<Value> tokens = find(keys::tokenizer_ggml_tokens);
    if (!tokens)
      return missing("there is no vocabulary (" + std::string(keys::tokenizer_ggml_tokens) + ")");
    std::optional<std::uint32_t> found;
    std::uint32_t at = 0;
    for (const Value token : tokens->as_array()) {
      if (token.get<std::string_view>().value_or(std::string_view{}) == text) {
        if (found) {
          return no_sense(
              fmt::format("tokens {} and {} are both {}; choose one with "
                          "--special-token-id",
                          *found, at, in_quotes(text)));
        }
        found = at;
      }
      ++at;
    }
    if (!found) return missing("there is no token " + in_quotes(text) + " in the vocabulary");
    id = *found;
    return {};
  }

  Problem set_special_token(const std::string& name, std::uint32_t id) {
    const std::string key = special_token_key(name);
    if (key.empty()) {
      return no_sense("there is no special token called " + in_quotes(name) +
                      suggest(name, special_token_names()));
    }
    return assign({key, std::nullopt, std::to_string(id)});
  }

  /// Tensors are gone: the files say how many there are in all.
  Problem set_split_total() {
    std::size_t removed = 0;
    for (const FileEdit& file : files_) {
      removed += static_cast<std::size_t>(std::count_if(
          file.changes.begin(), file.changes.end(),
          [](const Change& change) { return std::string_view(change.action) == "remove_tensor"; }));
    }
    const std::optional<Value> total = find(keys::split_tensors_count);
    const std::uint64_t count = total ? total->get<std::uint64_t>().value_or(0) : std::uint64_t{0};
    if (count < removed) return {};
    const Result<OwnedValue> value = parse_value(spec_of(*total), std::to_string(count - removed));
    if (value) set(keys::split_tensors_count, *value);
    return {};
  }

  [[nodiscard]] std::string architecture() const {
    const std::optional<Value> value = find(keys::general_architecture);
    return value ? std::string(value->get<std::string_view>().value_or("")) : std::string();
  }
  [[nodiscard]] std::vector<std::string> key_names() const {
    std::vector<std::string> names;
    for (const FileEdit& file : files_) {
      for (const KeyValue& entry : file.edit.model().metadata()) names.emplace_back(entry.key);
    }
    return names;
  }
  [[nodiscard]] std::string hint_keys(const std::string& word) const {
    return suggest(word, key_names());
  }
  /// The standard key that is meant, with the type that engines want; else how a new key is typed.
  [[nodiscard]] std::string hint_new_key(const std::string& word, const std::string& text) const {
    std::vector<std::string> names = key_names();
    for (const MetadataKeyInfo& key : standard_keys) {
      const std::string name =
          (key.has_architecture ? architecture() + '.' : "") + std::string(key.name);
      if (key.has_architecture && word.ends_with(key.name) && name.ends_with(word)) {
        return hint_standard_key(name);
      }
      names.push_back(name);
    }
    for (const MetadataKeyInfo& key : standard_keys) names.emplace_back(key.name);
    std::string near = nearest_name(word, names);
    if (!near.empty() && find_key(near, architecture()) == nullptr) {
      const std::string full = architecture() + '.' + near;
      if (find_key(full, architecture()) != nullptr) near = full;
    }
    if (!near.empty() && find_key(near, architecture()) != nullptr) return hint_standard_key(near);
    const std::string guess = near.empty() ? "" : "; did you mean " + in_quotes(near) + "?";
    return guess + fmt::format("; a new key needs its type, as in --set '{}:{}=...'", escape(word),
                               spec_text(likely_spec(text)));
  }
  [[nodiscard]] std::string hint_standard_key(const std::string& name) const {
    const KeyForm form = find_key(name, architecture())->form;
    const KeyType usual = usual_type(form);
    const ValueSpec spec{usual.type, usual.is_array ? std::size_t{1} : std::size_t{0}};
    return fmt::format("; did you mean {} ({})? --set '{}={}'", in_quotes(name), spec_text(spec),
                       escape(name), usual.is_array ? "[...]" : "...");
  }
  [[nodiscard]] std::string hint_tensors(const std::string& word) const {
    std::vector<std::string> names;
    for (const FileEdit& file : files_) {
      for (const TensorInfo& tensor : file.edit.model().tensors()) names.emplace_back(tensor.name);
    }
    return suggest(word, names);
  }

  const ChangeRequest& request_;
  std::vector<FileEdit>& files_;
  bool is_set_;
};

}  // namespace

std::optional<Assignment> parse_assignment(const std::string& text, bool is_path) {
  const auto parts = split_at_equals(text);
  if (!parts) return std::nullopt;
  Assignment assignment{parts->first, std::nullopt, parts->second, is_path};
  const std::size_t colon = assignment.key.rfind(':');
  if (colon != std::string::npos && colon > 0) {
    assignment.spec = parse_value_spec(std::string_view(assignment.key).substr(colon + 1));
    if (assignment.spec) assignment.key.resize(colon);
  }
  return assignment;
}

bool ChangeRequest::is_empty() const {
  return removed_keys.empty() && removed_tensors.empty() && renamed_keys.empty() &&
         renamed_tensors.empty() && set.empty() && set_from_file.empty() &&
         special_tokens.empty() && special_token_ids.empty() && !chat_template &&
         chat_template_file.empty() && !slack_bytes && !has_index;
}

std::optional<RequestProblem> apply_changes(const ChangeRequest& request,
                                            std::vector<FileEdit>& files) {
  if (std::optional<RequestProblem> problem = Changer(request, files).run()) return problem;
  if (request.has_index) {
    for (FileEdit& file : files) file.edit.add_index();
  }
  if (request.slack_bytes) {
    for (FileEdit& file : files) file.edit.reserve(*request.slack_bytes);
  }
  return {};
}

}  // namespace ingot::cli
