// SPDX-License-Identifier: MIT
// `ingot show FILE...` -- one screen that says what a model is.

#include <memory>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "commands/show/show_page.hpp"
#include "text/show_json.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot show model.gguf\n"
    "  ingot show model-00001-of-00003.gguf      # the whole set\n"
    "  ingot show *.gguf\n"
    "  curl -s URL | ingot show -\n"
    "  ingot show model.gguf --json | jq .model.context_length";

struct Options {
  std::vector<std::string> files;
};

void run(const Options& options, Console& console) {
  JsonStream json(console.out());
  const bool is_list = console.is_json() && options.files.size() > 1;
  bool is_first = true;
  if (is_list) json.begin_array();
  console.finish_all(options.files, [&](const std::string& file) {
    const Result<Model> model = console.open_model(file);
    if (!model) return console.fail(file, model.error());
    if (console.is_json()) {
      write_show_json(json, file, *model, console.foreign());
      return ExitCode::done;
    }
    if (!is_first) console.out().put('\n');
    is_first = false;
    print_show_page(console, file, *model);
    return ExitCode::done;
  });
  if (is_list) json.end();
}

}  // namespace

void add_show_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "show", "Say on one screen what a model is", examples);
  add_files(command, options->files);
  on_run(command, [options, &console] { run(*options, console); });
}

}  // namespace ingot::cli
