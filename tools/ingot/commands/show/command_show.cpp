// SPDX-License-Identifier: MIT
// `ingot show FILE...` -- one screen that says what a model is.

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "cli/wrap.hpp"
#include "commands/ls/listing.hpp"
#include "commands/show/show_page.hpp"
#include "text/error_json.hpp"
#include "text/error_text.hpp"
#include "text/show_json.hpp"
#include "text/shown_keys.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot show model.gguf\n"
    "  ingot show model-00001-of-00003.gguf      # the whole set\n"
    "  ingot show *.gguf\n"
    "  ingot show models/                        # one line each, as `ingot ls`\n"
    "  ingot show hf:org/repo:Q4_K_M             # fetches the header alone\n"
    "  curl -s URL | ingot show -\n"
    "  ingot show model.gguf --json | jq .model.context_length";

struct Options {
  std::vector<std::string> files;
  bool shows_all_keys = false;
};

/// Prints the file that a page is about, in the style of `head`.
void print_file_title(Console& console, const std::string& file) {
  const std::string name = escape_middle(file, console.room(10));
  console.print_line(Style::faint, "==> " + name + " <==");
}

/// A folder is a list of models, unless it is one itself: that of safetensors files.
bool is_list_of_models(const std::string& place) {
  if (!is_folder(place)) return false;
  std::error_code error;
  const std::filesystem::directory_iterator files(place, error);
  return std::none_of(begin(files), end(files), [](const std::filesystem::directory_entry& file) {
    return file.path().extension() == ".safetensors";
  });
}

/// Which file the model is, if its name does not say that: one of a repository, or one to be made.
std::optional<RemoteFileName> opened_file(Console& console, const std::string& file) {
  if (const Import* import = console.imported()) return RemoteFileName{import->file_name(), {}};
  return console.remote().opened_file(file);
}

/// Prints an error; of a file that was cut off with the option that shows what is there.
ExitCode fail(Console& console, const std::string& file, const Error& error) {
  if (error.code != Errc::tensor_outside_file) return console.fail(file, error);
  return console.refuse(file, error_text(file, error) + "; --header-only shows its header",
                        ExitCode::refused);
}

void run(const Options& options, Console& console) {
  if (std::any_of(options.files.begin(), options.files.end(), is_list_of_models)) {
    return list_places(console, options.files);
  }
  JsonStream json(console.out());
  const bool is_list = console.is_json() && options.files.size() > 1;
  bool is_first = true;
  if (is_list) json.begin_array();
  console.finish_all(options.files, [&](const std::string& file) {
    const Result<Model> model = console.open_model(file);
    if (!model && console.is_json()) write_error_json(json, file, model.error());
    if (!model) return fail(console, file, model.error());
    if (console.is_json()) {
      const Traffic traffic = console.remote().traffic();
      // A document of one model and the last object of a list end with the sums anyway.
      const bool is_remote =
          is_list && &file != &options.files.back() && console.remote().opened_file(file);
      write_show_json(json, file, *model, console.foreign(), options.shows_all_keys,
                      is_remote ? &traffic : nullptr, opened_file(console, file));
      return ExitCode::done;
    }
    if (!is_first) console.out().put('\n');
    is_first = false;
    if (options.files.size() > 1) print_file_title(console, file);
    print_show_page(console, file, *model, options.shows_all_keys);
    return ExitCode::done;
  });
  if (is_list) json.end();
}

}  // namespace

void add_show_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "show", "Say on one screen what a model is", examples);
  add_files(command, options->files);
  console.add_index_option(command);
  add_switch(command, "--all", options->shows_all_keys, all_keys_description);
  on_run(command, [options, &console] { run(*options, console); });
}

}  // namespace ingot::cli
