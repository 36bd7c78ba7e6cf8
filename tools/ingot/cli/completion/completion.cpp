// SPDX-License-Identifier: MIT
#include "cli/completion/completion.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <ingot/check.hpp>
#include <ingot/estimate.hpp>
#include <ingot/metadata_keys.hpp>
#include <ingot/model.hpp>
#include <ingot/recipe.hpp>
#include <ingot/text.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/completion/shell_words.hpp"
#include "cli/declaration.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

enum class ValueKind : std::uint8_t {
  other,
  file,
  command,
  mixture,
  tensor_type,
  key,
  tensor,
  rule,
  device
};

/// A word that fits, and its meaning.
struct Candidate {
  std::string word;
  std::string meaning;
};

struct Row {
  std::string_view name;
  ValueKind kind;
};

// Values of all other names cannot be guessed.
constexpr std::array rows = {
    Row{"KEY", ValueKind::key},        Row{"KEY-GLOB", ValueKind::key},
    Row{"TENSOR", ValueKind::tensor},  Row{"NAME-GLOB", ValueKind::tensor},
    Row{"RULE", ValueKind::rule},      Row{"COMMAND", ValueKind::command},
    Row{"DEVICES", ValueKind::device},
};

/// The names of rows and their meanings.
template <class Named>
/// All words of a kind, except kinds that only the caller or the shell knows. `file` is the model
/// whose keys or tensors are wanted; if it does not open, the standard keys are listed.
std::vector<Candidate> candidates_of(std::span<const Named> table,
                                     std::string_view Named::*meaning) {
  std::vector<Candidate> found;
  for (const Named& row : table)
    found.push_back({std::string(row.name), std::string(row.*meaning)});
  return found;
}

std::vector<Candidate> mixtures() { return candidates_of(recipes(), &Recipe::description); }

std::vector<Candidate> tensor_types() {
  std::vector<Candidate> found;
  for (const TensorTypeInfo& type : live_tensor_types) {
    if (is_quantize_target(type.type)) found.push_back({std::string(type.name), {}});
  }
  return found;
}

std::vector<Candidate> rules() { return candidates_of(check_rules(), &CheckRule::title); }

/// A model on this system; a pipe would be waited for, and a server is not asked.
std::optional<Model> open_local(std::string path) {
  const char* const home = std::getenv("HOME");
  if (path.starts_with("~/") && home != nullptr) path.replace(0, 1, home);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  Result<Model> model =
      Model::open(path, {.access = FileAccess::read, .is_lenient = true, .is_header_only = true});
  if (!model) return std::nullopt;
  return std::move(*model);
}

std::vector<Candidate> keys_of(const std::optional<Model>& model) {
  std::vector<Candidate> found;
  if (model) {
    for (const KeyValue& pair : model->metadata()) {
      found.push_back({std::string(pair.key), std::string(name_of(pair.value.type()))});
    }
    return found;
  }
  for (const MetadataKeyInfo& key : standard_keys) {
    if (!key.has_architecture) found.push_back({std::string(key.name), std::string(key.meaning)});
  }
  return found;
}

std::vector<Candidate> tensors_of(const std::optional<Model>& model) {
  std::vector<Candidate> found;
  if (!model) return found;
  for (const TensorInfo& tensor : model->tensors()) {
    const TensorTypeInfo* type = find_type(tensor.type);
    found.push_back(
        {std::string(tensor.name), type == nullptr ? std::string() : std::string(type->name)});
  }
  return found;
}

/// The kind of a value called so: "FILE", "KEY-GLOB". An option's TYPE is that of tensors, an
/// argument's a mixture.
ValueKind kind_of_value(std::string_view name, bool is_argument) {
  if (name == "TYPE") return is_argument ? ValueKind::mixture : ValueKind::tensor_type;
  if (is_path_name(name)) return ValueKind::file;
  const auto row = std::ranges::find(rows, name, &Row::name);
  return row == rows.end() ? ValueKind::other : row->kind;
}

std::vector<Candidate> candidates_of(ValueKind kind, const std::string& file) {
  if (kind == ValueKind::mixture) return mixtures();
  if (kind == ValueKind::tensor_type) return tensor_types();
  if (kind == ValueKind::key) return keys_of(open_local(file));
  if (kind == ValueKind::tensor) return tensors_of(open_local(file));
  if (kind == ValueKind::device) return candidates_of(device_models(), &DeviceModel::label);
  return kind == ValueKind::rule ? rules() : std::vector<Candidate>();
}

using Words = std::vector<std::string>;

/// The place of the cursor among the words of a command line.
struct Place {
  CLI::App* command = nullptr;     ///< nullptr before the command.
  CLI::Option* option = nullptr;   ///< Its value is at the cursor.
  std::size_t argument_count = 0;  ///< Arguments before the cursor.
  std::string file;                ///< The first of them.
  bool has_options = true;         ///< False after a `--`.
};

/// All words that fit at the cursor.
struct Offer {
  std::vector<Candidate> candidates;
  std::optional<std::string> before_file;  ///< Paths fit, too, after this start of the word.
};

/// Types are names in any case; so nothing is lost where all words are.
bool begins_with(std::string_view word, std::string_view start) {
  return lower_case(word).starts_with(lower_case(start));
}

Place find_place(CLI::App& program, const Words& words) {
  Place place;
  int missing_values = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (missing_values > 0) {
      if (--missing_values == 0) place.option = nullptr;
    } else if (word == "--" && place.has_options) {
      place.has_options = false;
    } else if (place.has_options && word.size() > 1 && word.front() == '-') {
      place.option = find_option(program, place.command, word);
      missing_values = value_count(place.option);
      if (missing_values == 0) place.option = nullptr;
    } else if (place.command == nullptr && find_command(program, word) != nullptr) {
      place.command = find_command(program, word);
    } else {
      // A FILE alone is shown.
      if (place.command == nullptr) place.command = find_command(program, "show");
      if (place.argument_count++ == 0) place.file = word;
    }
  }
  return place;
}

void offer_commands(CLI::App& program, std::string_view start, Offer& offer) {
  for (const CLI::App* command : commands_of(program)) {
    if (!begins_with(command->get_name(), start)) continue;
    offer.candidates.push_back({command->get_name(), command->get_description()});
  }
}

/// Offers values that begin with `start`; puts `prefix` before and `end` after each word.
void offer_values(CLI::App& program, const Place& place, ValueKind kind, const Words& choices,
                  std::string_view start, const std::string& prefix, const std::string& end,
                  Offer& offer) {
  const auto add = [&](const std::string& word, const std::string& meaning) {
    if (begins_with(word, start)) offer.candidates.push_back({prefix + word + end, meaning});
  };
  for (const std::string& word : choices) add(word, {});
  if (!choices.empty()) return;
  if (kind == ValueKind::command) offer_commands(program, start, offer);
  if (kind == ValueKind::file) offer.before_file = prefix;
  for (const Candidate& candidate : candidates_of(kind, place.file)) {
    add(candidate.word, candidate.meaning);
  }
}

/// The value of an option, of which `start` is there. A value called A=B is completed by halves.
void offer_option_value(CLI::App& program, const Place& place, CLI::Option& option,
                        std::string_view start, std::string prefix, Offer& offer) {
  std::string name = option.get_type_name();
  std::string end;
  if (const std::size_t equals = name.find('='); equals != std::string::npos) {
    const std::size_t typed = start.find('=');
    if (typed == std::string_view::npos) {
      name.erase(std::min(equals, name.find('[')));
      end = "=";
    } else {
      name.erase(0, equals + 1);
      prefix += start.substr(0, typed + 1);
      start.remove_prefix(typed + 1);
    }
  }
  if (const std::size_t comma = start.rfind(','); comma != std::string_view::npos) {
    // A list: its last word is the one to complete. No other value has a comma.
    prefix += start.substr(0, comma + 1);
    start.remove_prefix(comma + 1);
  }
  offer_values(program, place, kind_of_value(name, false), words_of(option), start, prefix, end,
               offer);
}

void offer_option_names(CLI::App& program, const Place& place, std::string_view start,
                        Offer& offer) {
  for (const CLI::Option* option : options_behind(program, place.command)) {
    for (const std::string& name : names_of(*option)) {
      if (!name.starts_with(start)) continue;
      offer.candidates.push_back({name, option->get_description()});
    }
  }
}

/// The argument at the cursor, or the one after it where it may be left out.
void offer_arguments(CLI::App& program, const Place& place, std::string_view start, Offer& offer) {
  const std::vector<CLI::Option*> arguments = positionals(*place.command);
  if (arguments.empty()) return;
  std::size_t i = place.argument_count;
  if (i >= arguments.size()) i = arguments.size() - 1;
  const bool is_too_many = place.argument_count > i && arguments[i]->get_items_expected_max() <= 1;
  if (is_too_many) return;
  for (; i < arguments.size(); ++i) {
    CLI::Option& argument = *arguments[i];
    offer_values(program, place, kind_of_value(argument.get_name(true, false), true),
                 words_of(argument), start, {}, {}, offer);
    if (argument.get_required()) return;
  }
}

Offer offer_for(CLI::App& program, const Words& words) {
  Offer offer;
  const Place place = find_place(program, words);
  const std::string& current = words.back();
  const std::size_t equals = current.find('=');
  if (place.option != nullptr) {
    offer_option_value(program, place, *place.option, current, {}, offer);
  } else if (place.has_options && current.starts_with("--") && equals != std::string::npos) {
    CLI::Option* option = find_option(program, place.command, current.substr(0, equals));
    if (value_count(option) == 0) return offer;
    offer_option_value(program, place, *option, std::string_view(current).substr(equals + 1),
                       current.substr(0, equals + 1), offer);
  } else if (place.has_options && current.starts_with('-')) {
    offer_option_names(program, place, current, offer);
  } else if (place.command == nullptr) {
    offer_commands(program, current, offer);
    if (offer.candidates.empty()) offer.before_file.emplace();
  } else {
    offer_arguments(program, place, current, offer);
  }
  return offer;
}

}  // namespace

void print_completions(CLI::App& program, const Words& arguments, Console& console) {
  const bool is_line = arguments.size() == 3 && arguments[0] == "bash";
  if (!is_line && (arguments.size() < 2 || arguments[0] != "words")) {
    console.finish(console.refuse_usage("--complete takes words WORD..., or bash LINE BREAKS"));
    return;
  }
  ShellLine line;
  if (is_line) {
    line = split_shell_line(arguments[1], arguments[2]);
    line.words.erase(line.words.begin());  // the program
  } else {
    line.words.assign(arguments.begin() + 1, arguments.end());
  }
  if (line.words.empty()) return;
  const Offer offer = offer_for(program, line.words);
  if (offer.before_file) {
    console.out().print("files\t{}\n", escape(*offer.before_file));
  } else {
    console.out().print("words\n");
  }
  for (const Candidate& candidate : offer.candidates) {
    // Names come out of files; one that is not safe to print is no word to type, either.
    if (escape(candidate.word) != candidate.word) continue;
    const bool is_kept = candidate.word.starts_with(line.kept);
    console.out().print("{}\t{}\n", candidate.word.substr(is_kept ? line.kept.size() : 0),
                        escape(candidate.meaning));
  }
}

}  // namespace ingot::cli
