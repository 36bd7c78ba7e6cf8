// SPDX-License-Identifier: MIT
// `ingot ls [DIR...]` -- one line about each model.

#include <memory>

#include "cli/command.hpp"
#include "commands/ls/catalogue.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot ls                                  # what programs keep on this system\n"
    "  ingot ls --duplicates                     # the same weights in two places\n"
    "  ingot ls .                                # here, and in the folders below\n"
    "  ingot ls ~/models /mnt/models\n"
    "  ingot ls hf:org/repo                      # the models of a repository\n"
    "  ingot ls model-*.gguf --markdown          # a table for a model card\n"
    "  ingot ls ~/models --pairs                 # projectors and their models\n"
    "  ingot ls ~/models --json | jq -r 'sort_by(.file_size)[] | .file'\n"
    "\n"
    "Without DIR the models in the stores of this system: the caches of Hugging Face\n"
    "(HF_HOME, HF_HUB_CACHE), Ollama (OLLAMA_MODELS), LM Studio and llama.cpp\n"
    "(LLAMA_CACHE), and below the folders of INGOT_MODELS, which colons separate. The\n"
    "names are references that every command takes.\n"
    "\n"
    "A set of shards is one model, which its first file names, and so is a folder of\n"
    "Hugging Face. Only headers are read. The first column is never cut.\n"
    "Exit status 1: there is no model; 3: a file is refused, which is a row, too.";

struct Options {
  std::vector<std::string> places;
  ListRequest request;
  bool is_local = false;
  bool is_markdown = false;
  bool lists_pairs = false;
  bool fetches_heads = false;
};

void run(Options& options, Console& console) {
  if (options.is_markdown && console.is_json()) {
    console.finish(console.refuse_usage("ls: --markdown and --json are two formats; give one"));
    return;
  }
  ListRequest& request = options.request;
  if (options.is_markdown) request.style = ListStyle::markdown;
  if (options.lists_pairs) request.style = ListStyle::pairs;
  const bool is_of_system = request.style != ListStyle::markdown;
  if (options.places.empty() && is_of_system) return list_catalogue(console, request);
  if (options.is_local) {
    return console.finish(console.refuse_usage(
        "ls: --local is for the models of this system, without DIR and --markdown"));
  }
  if (options.places.empty()) options.places.emplace_back(".");
  list_places(console, options.places, request,
              options.fetches_heads || options.lists_pairs ? RepositoryHeads::fetched
                                                           : RepositoryHeads::left);
}

}  // namespace

void add_ls_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "ls", "List models, one line each", examples);
  add_argument(command, "DIR", options->places,
               "Folders, with all below them, files, or repositories; default: --local");
  add_switch(command, "--local", options->is_local,
             "List what programs keep on this system, as without DIR");
  add_text(command, "--filter", options->request.pattern, "PATTERN",
           "Only names and architectures that this glob fits, or re:EXPRESSION");
  add_switch(command, "--digest", options->request.has_digests,
             "Show SHA-256 too, which reads files that no store names by it");
  add_switch(command, "--duplicates", options->request.finds_duplicates,
             "Say which models have the same weights; reads those that may");
  console.add_index_option(command);
  add_switch(command, "--markdown", options->is_markdown, "Print a Markdown table");
  add_switch(command, "--pairs", options->lists_pairs,
             "Print projectors with the models that they belong to, by their headers");
  add_choice(command, "--sort", "KEY", options->request.order,
             {{"name", ListOrder::name},
              {"size", ListOrder::size},
              {"parameters", ListOrder::parameters},
              {"context", ListOrder::context},
              {"date", ListOrder::date}},
             "Sort by {}, the largest and newest first; default: by folder and name");
  add_number(command, "--limit", options->request.limit, 0, 1u << 31,
             "Models to print, 0 for all; default: 0");
  add_switch(command, "--heads", options->fetches_heads,
             "Of a repository, fetch the headers too: all columns, and more requests");
  on_run(command, [options, &console] { run(*options, console); });
}

}  // namespace ingot::cli
