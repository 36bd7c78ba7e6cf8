// SPDX-License-Identifier: MIT
// `ingot metadata FILE [KEY-GLOB...]` -- keys with type and value.

#include <fmt/core.h>

#include <algorithm>
#include <ingot/metadata_keys.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "cli/wrap.hpp"
#include "text/name_match.hpp"
#include "text/shown_keys.hpp"
#include "text/value_text.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot metadata model.gguf\n"
    "  ingot metadata model.gguf 'tokenizer.*' '*.context_length'\n"
    "  ingot metadata model.gguf --raw tokenizer.chat_template > template.jinja\n"
    "  ingot metadata model.gguf tokenizer.ggml.tokens --lines > tokens.txt\n"
    "  ingot metadata model.gguf --json | jq '.[] | select(.key == \"general.name\")'\n"
    "\n"
    "Exit status 1: no key matches.";

struct Options {
  std::string file;
  std::vector<std::string> key_globs;
  std::optional<std::string> raw_key;
  bool is_full = false;
  bool shows_all = false;
  bool is_lines = false;
};

using Keys = std::vector<const KeyValue*>;

void print_json(Console& console, const Keys& keys, bool is_verified) {
  JsonStream json(console.out());
  json.objects(keys, [&](const KeyValue* pair) {
    json.member("key", pair->key);
    json.member("type", name_of(pair->value.type()));
    if (pair->value.is_array()) {
      const Array array = pair->value.as_array();
      json.member("element_type", name_of(array.element_type()));
      json.member("count", array.size());
    }
    write_value_member(json, pair->value);
    if (!is_verified) json.member("verified", false);
  });
}

/// The meaning of a number, if the format defines one.
std::string meaning_of(const KeyValue& pair) {
  if (pair.key != keys::general_file_type) return {};
  const std::string_view name = file_type_name(pair.value.get<std::uint64_t>().value_or(~0ull));
  return name.empty() ? "" : fmt::format(" ({})", name);
}

constexpr std::size_t type_columns = 7;
constexpr std::size_t gap_columns = 2;
constexpr std::size_t least_value_columns = 16;

/// The column where the types begin. The few longest keys may stick out, so that the values have
/// room.
std::size_t key_column(const Keys& keys, std::size_t width) {
  constexpr std::size_t least_key_columns = 24;
  constexpr std::size_t wanted_value_columns = 48;
  const std::size_t most =
      std::max(least_key_columns, width - std::min(width, wanted_value_columns));
  std::size_t columns = 0;
  for (const KeyValue* pair : keys) {
    columns = std::max(columns, display_columns(escape_shortened(pair->key, most)));
  }
  return columns;
}

/// A key that leaves room for the value, of which a little is always seen.
std::string key_text(const Console& console, const KeyValue& pair) {
  const std::string value = short_value_text(pair.value, least_value_columns);
  const std::size_t others = display_columns(value) + type_columns + 2 * gap_columns;
  return escape_middle(pair.key, console.room(others));
}

/// An array is a preview wherever it is printed; all else is whole where a program reads.
std::string value_text(const Console& console, const Value& value, std::size_t used) {
  constexpr std::size_t preview_columns = 64;
  const std::size_t room = console.room(used, least_value_columns);
  const bool is_preview = value.is_array() && !console.has_fixed_width();
  return short_value_text(value, is_preview ? preview_columns : room);
}

void print_lines(Console& console, const Keys& keys, bool is_full) {
  const std::size_t key_columns = key_column(keys, console.width());
  Output& out = console.out();
  for (const KeyValue* pair : keys) {
    if (!out.is_open()) return;
    const std::string key =
        padded(is_full ? escape(pair->key) : key_text(console, *pair), key_columns);
    const std::string type = padded(name_of(pair->value.type()), type_columns);
    out.print("{}  {}  ", key, console.paint(Style::faint, type));
    if (is_full) {
      print_value(out, pair->value);
    } else {
      const std::size_t used = display_columns(key) + type_columns + 2 * gap_columns;
      out.write(value_text(console, pair->value, used));
    }
    out.print("{}\n", meaning_of(*pair));
  }
}

ExitCode refuse_missing(Console& console, const std::string& file, const std::string& key,
                        const Model& model) {
  return console.refuse(file,
                        "there is no key \"" + escape(key) + "\"" + suggest(key, key_names(model)),
                        ExitCode::negative);
}

ExitCode print_raw(Console& console, const Options& options, const Model& model) {
  const Value* value = model.find(*options.raw_key);
  if (value == nullptr) return refuse_missing(console, options.file, *options.raw_key, model);
  const auto bytes = value->bytes();
  write_raw(console, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (console.is_terminal()) console.out().put('\n');
  return ExitCode::done;
}

/// The elements of one array, one a line: a vocabulary, say.
ExitCode print_elements(Console& console, const Options& options, const Keys& keys) {
  if (keys.size() != 1 || !keys[0]->value.is_array()) {
    const std::string found = keys.size() == 1 ? escape(keys[0]->key) + " is no array"
                                               : fmt::format("{} keys match", keys.size());
    return console.refuse(options.file, "--lines prints one array; " + found);
  }
  Output& out = console.out();
  for (const Value element : keys[0]->value.as_array()) {
    if (!out.is_open()) break;
    if (element.type() == ValueType::string) {
      out.write(escape(element.get<std::string_view>().value_or(std::string_view{})));
    } else {
      print_value(out, element);
    }
    out.put('\n');
  }
  return ExitCode::done;
}

/// Whether a key is asked for that is not among those to which the layout index led.
bool lacks_wanted_key(const Options& options, const Model& model) {
  if (model.is_verified()) return false;
  if (options.raw_key) return model.find(*options.raw_key) == nullptr;
  NameFilter filter(options.key_globs);
  for (const KeyValue& pair : model.metadata()) static_cast<void>(filter.matches(pair.key));
  return !filter.unmatched().empty();
}

/// Opens the file; reads all of it if its index does not lead to the requested keys.
Result<Model> open_for_keys(const Options& options, Console& console) {
  Result<Model> model = console.open_model(options.file);
  if (!model || !lacks_wanted_key(options, *model)) return model;
  console.remark(options.file,
                 "a key that was asked for is not among the others: reading them all");
  console.leave_index();
  return console.open_model(options.file);
}

/// "general" is no key, but general.name and others are.
std::string suggest_keys(std::string_view glob, const Model& model) {
  const std::vector<std::string> names = key_names(model);
  const std::string group = std::string(glob) + ".";
  const bool is_group =
      std::ranges::any_of(names, [&](const std::string& name) { return name.starts_with(group); });
  return is_group ? "; did you mean \"" + escape(group) + "*\"?" : suggest(glob, names);
}

ExitCode run(const Options& options, Console& console) {
  if (options.is_lines && (console.is_json() || options.is_full || options.key_globs.empty())) {
    return console.refuse_usage(
        "metadata: --lines prints the elements of one KEY; leave out --json and --full");
  }
  if (options.raw_key && (console.is_json() || options.is_full || !options.key_globs.empty())) {
    return console.refuse_usage(
        "metadata: --raw prints one value alone; leave out --json, --full and the globs");
  }
  INGOT_CLI_TRY(const Model model, open_for_keys(options, console), console, options.file);
  if (options.raw_key) return print_raw(console, options, model);

  NameFilter filter(options.key_globs);
  Keys keys;
  for (const KeyValue& pair : model.metadata()) {
    // A key that the user names is shown in full.
    const bool is_named = std::ranges::find(options.key_globs, pair.key) != options.key_globs.end();
    if (!is_shown_key(pair.key, options.shows_all || is_named)) continue;
    if (filter.matches(pair.key)) keys.push_back(&pair);
  }
  if (options.is_lines && !keys.empty()) return print_elements(console, options, keys);
  console.is_json() ? print_json(console, keys, model.is_verified())
                    : print_lines(console, keys, options.is_full);
  for (const std::string_view glob : filter.unmatched()) {
    console.complain(options.file,
                     "no key matches \"" + escape(glob) + "\"" + suggest_keys(glob, model));
  }
  return keys.empty() && !options.key_globs.empty() ? ExitCode::negative : ExitCode::done;
}

}  // namespace

void add_metadata_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "metadata", "List keys with type and value", examples);
  add_file(command, options->file);
  console.add_index_option(command);
  add_argument(command, "KEY-GLOB", options->key_globs,
               "Only keys that match: * ? [a-z], or re:EXPRESSION");
  add_switch(command, "--all", options->shows_all, all_keys_description);
  add_switch(command, "--full", options->is_full,
             "Print arrays in full, and long values in a terminal, too");
  add_switch(command, "--lines", options->is_lines,
             "Print the elements of one array, one a line, escaped");
  add_text(command, "--raw", options->raw_key, "KEY",
           "Print the bytes of one value and nothing else: the content of a "
           "string, the elements of an array");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
