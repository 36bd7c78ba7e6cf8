// SPDX-License-Identifier: MIT
// `ingot download REF...` -- models from servers, proven whole.

#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "commands/download/remote_download.hpp"
#include "commands/output_name.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot download hf:org/repo:Q4_K_M\n"
    "  ingot download ollama:llama3 -o ~/models\n"
    "  ingot download https://example.org/model.gguf\n"
    "\n"
    "Until a file is complete it is NAME.ingot-part; the same command goes on where\n"
    "it ended. The name is given when the digest is right: that of hub or registry.\n"
    "Where a server names none, the file is 'not verified'; its digest is printed.\n"
    "Exit status 1: the digest is wrong; the bytes are kept as NAME.ingot-bad.";

struct Options {
  std::vector<std::string> references;
  DownloadRequest request;
};

void run(const Options& options, Console& console) {
  if (const auto made = make_output_folder(options.request.folder); !made) {
    return console.finish(console.fail(options.request.folder, made.error()));
  }
  std::error_code error;
  if (!std::filesystem::is_directory(options.request.folder, error)) {
    const Error missing{
        Errc::io_error, Error::no_offset, {}, "it is not a folder; with / at its end it is made"};
    return console.finish(console.fail(options.request.folder, missing));
  }
  JsonStream json(console.out());
  if (console.is_json()) json.begin_array();
  console.finish_all(options.references, [&](const std::string& reference) {
    if (!console.remote().is_meant(reference)) {
      return console.refuse_usage(
          "download: expected a reference to a remote model, such as "
          "hf:ORG/REPO:QUANT; see 'ingot help download'");
    }
    DownloadRequest request = options.request;
    request.reference = reference;
    return download_model(console, request, json);
  });
  if (console.is_json()) json.end();
}

}  // namespace

void add_download_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "download", "Fetch models from servers, proven whole", examples);
  require(add_argument(command, "REF", options->references,
                       "References to models, as docs/remote.md lists them"));
  add_text(command, "-o,--output", options->request.folder, "DIR",
           "The folder for the files, made if it ends in /; default: this one");
  add_number(command, "--connections", options->request.connections, 1, 16,
             "Ranges that are fetched at the same time; default: 4");
  add_switch(command, "--force", options->request.may_replace, "Replace files that exist");
  on_run(command, [options, &console] { run(*options, console); });
}

}  // namespace ingot::cli
