// SPDX-License-Identifier: MIT
// `ingot card MODEL...` -- the README.md of a repository with these models.

#include <ingot/output_file.hpp>
#include <memory>

#include "cli/command.hpp"
#include "cli/early_output.hpp"
#include "cli/json_stream.hpp"
#include "commands/card/card_data.hpp"
#include "commands/card/card_page.hpp"
#include "commands/output_name.hpp"
#include "text/report_file.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot card model-Q4_K_M.gguf model-Q8_0.gguf -o README.md\n"
    "  ingot card *.gguf --results kl.json --base-model acme/model -o README.md\n"
    "  ingot card model.gguf                             # to look at it\n"
    "\n"
    "The card begins with front matter for a hub: license, base model, languages,\n"
    "task, tags and author, as far as the metadata of the first model have them.\n"
    "Tables list the files with type, bits per weight and size, and the longest\n"
    "context that fits on cards. --results adds how far each is from the original:\n"
    "  ingot evaluate model-F16.gguf model-*.gguf --text t.txt --json > kl.json\n"
    "Only headers are read. `ingot publish` makes a whole folder to upload.";

struct Options : CardRequest {
  std::string out;
  bool is_forced = false;
};

ExitCode run(Options& options, Console& console) {
  INGOT_CLI_TRY_VOID(resolve_output(options.out, "README.md"), console, options.out);
  const bool has_file = !options.out.empty() && options.out != "-";
  if (console.is_json() && has_file) {
    return console.refuse_usage("card: --json prints to stdout; leave out -o");
  }
  if (has_file) {
    const ExitCode code = check_early(options.out, options.is_forced, console);
    if (code != ExitCode::done) return code;
  }
  CardFacts facts;
  const ExitCode code = gather_card(options, console, facts);
  if (code != ExitCode::done) return code;
  if (console.is_json()) {
    JsonStream json(console.out());
    write_card_json(json, facts);
    return ExitCode::done;
  }
  if (!has_file) {
    Output card([&](std::string_view text) {
      write_raw(console, text);
      return 0;
    });
    write_card(card, facts);
    card.flush();
    return ExitCode::done;
  }
  if (console.is_input(options.out)) return console.refuse_input(options.out);
  INGOT_CLI_TRY(OutputFile file, OutputFile::create(options.out, options.is_forced), console,
                options.out);
  INGOT_CLI_TRY_VOID(print_to(file, [&](Output& out) { write_card(out, facts); }), console,
                     options.out);
  INGOT_CLI_TRY_VOID(file.commit(), console, options.out);
  remark_written(console, options.out);
  return ExitCode::done;
}

}  // namespace

void add_card_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "card", "Write the README.md of a repository of models", examples);
  require(add_argument(command, "MODEL", options->files, "A GGUF file, or any shard of a set"));
  add_text(command, "-o,--output", options->out, "OUT", "The file to write; default: stdout");
  add_text(command, "--title", options->title, "TEXT", "The heading; default: the model's name");
  add_texts(command, "--base-model", options->base_models, "ORG/NAME",
            "The model that was quantized; default: by the metadata");
  add_text(command, "--results", options->results, "FILE",
           "Results of `ingot evaluate --json`, for the divergence of each file");
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
