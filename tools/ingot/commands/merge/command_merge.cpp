// SPDX-License-Identifier: MIT
// `ingot merge FIRST OUT` -- a set of shards, made one file again.

#include <fmt/core.h>

#include <ingot/held_files.hpp>
#include <ingot/split.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "commands/output_name.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot merge model-00001-of-00003.gguf model.gguf\n"
    "  ingot merge model-*-of-00003.gguf -o model.gguf\n"
    "\n"
    "Any shard names its set, and a glob may name all. Before anything is written\n"
    "every shard is opened and checked: all there, complete, and of one set. Shards\n"
    "are never written to. The keys that describe the set are taken away, so that a\n"
    "file that ingot split or llama-gguf-split cut comes back to the byte.\n"
    "--delete-shards removes exactly what was read: shards that changed stay, all\n"
    "of them, and the exit status is 4.\n"
    "Exit status 3: a shard is missing, damaged or of another set.";

struct Options {
  std::vector<std::string> names;  ///< Shards, and OUT unless it is an option.
  std::string out;
  bool is_forced = false;
  bool is_dry_run = false;
  bool deletes_shards = false;
};

/// The result of removing the shards.
struct Removal {
  bool is_wanted = false;
  std::vector<Error> kept;
};

std::string describe_kept(const Error& error) {
  if (error.code != Errc::file_changed) return error.message();
  return "changed since it was read, so all shards stay";
}

void print_json(const Options& options, Console& console, const Model& model,
                std::uint64_t size_bytes, const Removal& removal) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("file", options.out);
  json.member("written", !options.is_dry_run);
  json.member("tensors", static_cast<std::uint64_t>(model.tensors().size()));
  json.member("bytes", size_bytes);
  {
    const auto array = json.array("shards");
    for (const ModelFile& file : model.files()) json.value(file.path);
  }
  if (!removal.is_wanted) return;
  json.objects("kept", removal.kept.size(), [&](std::size_t i) {
    json.member("file", removal.kept[i].subject);
    json.member("reason", describe_kept(removal.kept[i]));
  });
}

void print_text(const Options& options, Console& console, const Model& model,
                std::uint64_t size_bytes) {
  const std::string text = fmt::format("{}, {} tensors", counted(model.files().size(), "shard"),
                                       format_digits(model.tensors().size()));
  if (!options.is_dry_run) return remark_written(console, options.out, text);
  console.out().print("{}: {}, {}; nothing was written\n", escape(options.out), text,
                      format_bytes(size_bytes));
}

ExitCode fail(const Options& options, Console& console, const Error& error) {
  if (error.code == Errc::same_file) {
    return console.refuse(options.out,
                          "this is one of the shards; name another output (with a glob: -o OUT)");
  }
  // An error of an output is reported for the output.
  const bool is_output = error.code == Errc::already_exists || error.subject == options.out;
  return console.fail(is_output ? options.out : options.names[0], error);
}

Result<void> write(const Options& options, Console& console, const Model& model,
                   std::uint64_t size_bytes) {
  return run_with_progress(console, options.out, size_bytes, [&](const GoOn& go_on) {
    return merge(model, options.out, {.may_replace = options.is_forced, .progress = go_on});
  });
}

ExitCode run(Options& options, Console& console) {
  // The last name is OUT, unless the option says it. A glob without OUT would make a shard OUT:
  // that is never meant.
  if (options.out.empty()) {
    if (options.names.size() < 2) {
      return console.refuse_usage("merge: OUT is missing; the usage is: ingot merge SHARD... OUT");
    }
    options.out = options.names.back();
    options.names.pop_back();
  }
  INGOT_CLI_TRY_VOID(resolve_output(options.out, copy_name(options.names[0]), options.is_dry_run),
                     console, options.out);
  std::optional<HeldFiles> held;
  if (options.deletes_shards && !options.is_dry_run) {
    // Errors of opening are those of the next line.
    Result<HeldFiles> taken = HeldFiles::of(options.names[0]);
    if (!taken && taken.error().code == Errc::file_in_use) {
      return console.fail(options.names[0], taken.error());
    }
    if (taken) held.emplace(*std::move(taken));
  }
  INGOT_CLI_TRY(const Model model, console.open_stored(options.names[0]), console,
                options.names[0]);
  if (options.deletes_shards && !options.is_dry_run && !held) {
    return console.refuse_usage("merge: --delete-shards is for files of this machine");
  }
  if (const auto checked = check_mergeable(model); !checked) {
    return fail(options, console, checked.error());
  }
  for (const std::string& name : options.names) {
    if (is_file_of(model, name)) continue;
    return console.refuse(name, "not a shard of the set of " + escape(options.names[0]),
                          ExitCode::refused);
  }
  if (console.is_input(options.out)) {
    return fail(options, console, {.code = Errc::same_file, .subject = {}, .detail = {}});
  }
  const Result<std::uint64_t> size_bytes = merged_bytes(model);
  if (!size_bytes) return fail(options, console, size_bytes.error());
  if (!options.is_dry_run) {
    Result<void> written = console.before_reading(options.names[0], model);
    if (written) written = write(options, console, model, *size_bytes);
    if (!written) return fail(options, console, written.error());
  }
  // The merged file is complete and on the disk.
  Removal removal{.is_wanted = held.has_value(), .kept = {}};
  if (held) removal.kept = held->remove(model);
  if (console.is_json()) {
    print_json(options, console, model, *size_bytes, removal);
  } else {
    print_text(options, console, model, *size_bytes);
  }
  for (const Error& error : removal.kept) {
    console.complain(error.subject, "not removed: " + describe_kept(error));
  }
  return removal.kept.empty() ? ExitCode::done : ExitCode::system;
}

}  // namespace

void add_merge_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "merge", "Make one file of a set of shards", examples);
  require(add_argument(command, "SHARD", options->names,
                       "Any shard, or all of a set; then OUT, unless -o says it"));
  add_text(command, "-o,--output", options->out, "OUT", "The file to write");
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  add_switch(command, "--dry-run", options->is_dry_run, "Check the shards, and stop");
  add_switch(command, "--delete-shards", options->deletes_shards,
             "Remove the shards when OUT is complete and on the disk");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
