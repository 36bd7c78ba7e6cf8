// SPDX-License-Identifier: MIT
// `ingot export-tokenizer MODEL OUT` -- the tokenizer in the files of Hugging Face's libraries.

#include <ingot/tokenizer_export.hpp>
#include <memory>

#include "cli/command.hpp"
#include "commands/output_name.hpp"
#include "text/vocabulary_facts.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot export-tokenizer model.gguf tokenizer/       # a folder, made if needed\n"
    "  ingot export-tokenizer model.gguf tokenizer.json   # that file, others beside\n"
    "\n"
    "Writes tokenizer.json, tokenizer_config.json, special_tokens_map.json and, if\n"
    "the model has a template, chat_template.jinja. Remarks name what the form cannot\n"
    "express; docs/tokenizers.md has the list. RWKV, PLaMo-2, hybriddna, whitespace\n"
    "and vocabularies without texts have no such form and are refused.";

struct Options {
  std::string file;
  std::string out;
  bool is_forced = false;
};

ExitCode run(const Options& options, Console& console) {
  if (console.is_json()) {
    return console.refuse_usage("export-tokenizer: it reports nothing, so there is no --json");
  }
  if (options.out.empty()) {
    return console.refuse_usage(
        "export-tokenizer: OUT is missing; the usage is: ingot export-tokenizer [OPTIONS] FILE "
        "OUT");
  }
  INGOT_CLI_TRY(const Model model, console.open_model(options.file), console, options.file);
  INGOT_CLI_TRY(const Tokenizer tokenizer, Tokenizer::make(model), console, options.file);
  INGOT_CLI_TRY(const TokenizerExport files, export_tokenizer(model, tokenizer), console,
                options.file);
  remark_on_pre_tokenizer(console, options.file, tokenizer, false);
  if (const Result<void> written = files.write(options.out, options.is_forced); !written) {
    const std::string& subject = written.error().subject;
    return console.fail(subject.empty() ? options.out : subject, written.error());
  }
  remark_written(console, options.out, "the tokenizer");
  for (const std::string& warning : files.warnings) console.remark(options.file, warning);
  return ExitCode::done;
}

}  // namespace

void add_export_tokenizer_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "export-tokenizer",
                                  "Write the tokenizer in the form of Hugging Face", examples);
  add_file(command, options->file);
  add_output(command, options->out, "OUT", "A folder, or a file that ends in .json");
  add_switch(command, "--force", options->is_forced, "Replace files that exist");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
