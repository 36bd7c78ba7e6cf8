// SPDX-License-Identifier: MIT
// `ingot ls [DIR...]` -- one line about each model.

#include <memory>

#include "cli/command.hpp"
#include "commands/ls/listing.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot ls                                  # here, and in the folders below\n"
    "  ingot ls ~/models /mnt/models\n"
    "  ingot ls hf:org/repo                      # the models of a repository\n"
    "  ingot ls model-*.gguf --markdown          # a table for a model card\n"
    "  ingot ls ~/models --json | jq -r 'sort_by(.file_size)[] | .file'\n"
    "\n"
    "A set of shards is one model, which its first file names. Only headers are read.\n"
    "Exit status 1: a folder holds no model. Files that are refused are not listed.";

struct Options {
  std::vector<std::string> places;
  ListRequest request;
  bool is_markdown = false;
  bool fetches_heads = false;
};

void run(Options& options, Console& console) {
  if (options.is_markdown && console.is_json()) {
    console.finish(console.refuse_usage("ls: --markdown and --json are two formats; give one"));
    return;
  }
  if (options.places.empty()) options.places.emplace_back(".");
  if (options.is_markdown) options.request.style = ListStyle::markdown;
  list_places(console, options.places, options.request,
              options.fetches_heads ? RepositoryHeads::fetched : RepositoryHeads::left);
}

}  // namespace

void add_ls_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "ls", "List models, one line each", examples);
  add_argument(command, "DIR", options->places,
               "Folders, with all below them, files, or repositories; default: this folder");
  console.add_index_option(command);
  add_switch(command, "--markdown", options->is_markdown, "Print a Markdown table");
  add_choice(command, "--sort", "KEY", options->request.order,
             {{"name", ListOrder::name},
              {"size", ListOrder::size},
              {"parameters", ListOrder::parameters},
              {"context", ListOrder::context}},
             "Sort by {}, the largest first; default: by folder and name");
  add_number(command, "--limit", options->request.limit, 0, 1u << 31,
             "Models to print, 0 for all; default: 0");
  add_switch(command, "--heads", options->fetches_heads,
             "Of a repository, fetch the headers too: all columns, and more requests");
  on_run(command, [options, &console] { run(*options, console); });
}

}  // namespace ingot::cli
