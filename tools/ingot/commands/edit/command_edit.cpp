// SPDX-License-Identifier: MIT
// `ingot edit FILE` -- change keys and tensor names without writing the data again.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ingot/digest_manifest.hpp>
#include <ingot/edit.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "cli/remote/stored_file.hpp"
#include "commands/edit/edit_changes.hpp"
#include "commands/edit/edit_report.hpp"
#include "commands/hash/verify_manifest.hpp"
#include "commands/output_name.hpp"
#include "system/system.hpp"
#include "text/value_text.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot edit model.gguf --in-place --set general.name='My model'\n"
    "  ingot edit model.gguf --in-place --set-file tokenizer.chat_template=chat.jinja\n"
    "  ingot edit model.gguf -o new.gguf --set my.tags:string[]='[\"a\", \"b\"]'\n"
    "  ingot edit model.gguf --in-place --special-token eos '<|im_end|>'\n"
    "  ingot edit *.gguf --in-place --set general.license=mit\n"
    "  ingot edit model.gguf --dry-run --remove 'general.source.*'\n"
    "  ingot edit model.gguf -o published.gguf --compact\n"
    "\n"
    "Keys keep their type; KEY:TYPE=VALUE says another one, or that of a new key:\n"
    "uint8, int8, ... float64, bool, string, and with [] arrays, which are JSON.\n"
    "A standard key needs no type, not even a new one; a bool is true, yes, 1, false,\n"
    "no or 0.\n"
    "Things are removed first, then renamed, then set. What is not named keeps its\n"
    "bytes and its place. In place the header is written where it is, or into room\n"
    "that the file system makes; only else is the data shared with a copy, or copied.\n"
    "Of several edits at once each waits for the one before, and none is lost.\n"
    "docs/edit.md explains it.\n"
    "Exit status 1: there is no such key, tensor or token.";

struct Options {
  std::vector<std::string> files;
  std::string file;  ///< The one of them that is being edited.
  std::string out;
  ChangeRequest request;
  bool is_compact = false;
  bool is_in_place = false;
  bool is_forced = false;
  bool is_dry_run = false;
};

/// Edits one file, or only plans the edit.
Result<FileReport> carry_out(const Options& options, FileEdit& file, Console& console) {
  INGOT_TRY(const EditPlan plan, file.edit.plan(options.out));
  const bool had_padding = file.edit.model().find(padding_key) != nullptr;
  if (options.is_dry_run) return FileReport{{plan, false}, had_padding};
  const OrderlyStop orderly_stop;
  Progress progress(console, file.file, plan.bytes_to_write);
  const GoOn go_on = progress.go_on();
  INGOT_TRY(const EditOutcome outcome,
            options.out.empty() ? file.edit.save(go_on)
                                : file.edit.save_as(options.out, options.is_forced, go_on));
  if (outcome.done.way != plan.way && options.out.empty()) {
    console.remark(file.file,
                   "another program has the file open and keeps the old one; it was replaced by " +
                       describe(outcome.done.way));
  }
  return FileReport{outcome, had_padding};
}

ExitCode refuse(const Options& options, const FileEdit& file, const Error& error,
                Console& console) {
  return console.fail(error.code == Errc::already_exists ? options.out : file.file, error);
}

/// The results of all models: an array of JSON, or counts for the summary.
struct Summary {
  JsonStream json;
  bool has_begun = false;
  bool has_explained_padding = false;
  std::size_t changed = 0;
  std::size_t unchanged = 0;
  std::size_t failed = 0;

  void begin() {
    if (!std::exchange(has_begun, true)) json.begin_array();
  }
};

/// A list of digests that lies beside models, and the options that make it.
struct DigestList {
  const char* name;
  const char* options;
};
constexpr DigestList digest_lists[] = {{"SHA256SUMS", "--as sha256sum -o SHA256SUMS"},
                                       {"manifest.json", "-o manifest.json"}};

/// Warns of lists of digests that lie beside a file that was changed, and name it.
void warn_of_digests(Console& console, const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (const DigestList& list : digest_lists) {
    const std::string list_path = folder + list.name;
    system::FileFacts facts;
    if (!system::look_at(list_path, facts) || !facts.is_regular) continue;
    const Result<std::string> text = read_whole(list_path, max_list_bytes);
    if (!text) continue;
    const auto entries = parse_digest_manifest(*text);
    const auto tells_of_it = [&](const ManifestEntry& entry) {
      return is_about(entry, path, true);
    };
    if (!entries || std::ranges::none_of(*entries, tells_of_it)) continue;
    console.remark(list_path, fmt::format("warning: its digests are those before the edit; in its "
                                          "folder, 'ingot hash *.gguf {} --force' makes it anew",
                                          list.options));
  }
}

/// Edits all files of a model. Nothing if the first file has changed since it was read; then
/// nothing was done.
std::optional<ExitCode> carry_out_all(const Options& options, std::vector<FileEdit>& files,
                                      Console& console, Summary& summary) {
  std::vector<std::pair<const FileEdit*, FileReport>> reports;
  for (FileEdit& file : files) {
    // In a set, only files with changes count.
    if (files.size() > 1 && file.changes.empty() && !options.request.slack_bytes &&
        !options.request.has_index) {
      continue;
    }
    const Result<FileReport> report = carry_out(options, file, console);
    if (!report && report.error().code == Errc::file_changed && reports.empty()) return {};
    if (!report) return refuse(options, file, report.error(), console);
    if (report->outcome.has_undone_earlier) {
      console.remark(file.file, Error{Errc::edit_undone, Error::no_offset, {}, {}}.message());
    }
    if (!console.is_json()) {
      print_edit(console, {options.out, options.is_dry_run}, file, *report,
                 !summary.has_explained_padding);
      summary.has_explained_padding |=
          report->outcome.done.padding_bytes > 0 && !report->had_padding;
    }
    if (!options.is_dry_run && report->outcome.done.way != EditWay::nothing) {
      warn_of_digests(console, options.out.empty() ? file.file : options.out);
    }
    reports.emplace_back(&file, *report);
  }
  const bool has_changed = std::ranges::any_of(
      reports, [](const auto& entry) { return entry.second.outcome.done.way != EditWay::nothing; });
  ++(has_changed ? summary.changed : summary.unchanged);
  if (!console.is_json()) return ExitCode::done;
  summary.begin();
  for (const auto& [file, report] : reports)
    write_edit(summary.json, {options.out, options.is_dry_run}, *file, report);
  return ExitCode::done;
}

/// Warns, before the edit, of loaders that refuse something that the format allows.
void warn_of_loaders(const std::vector<FileEdit>& files, Console& console) {
  for (const FileEdit& file : files) {
    for (const Change& change : file.changes) {
      if (!change.value) continue;
      const Value value = change.value->value();
      if (!value.is_array() || value.as_array().element_type() != ValueType::array) continue;
      console.remark(file.file, "warning: \"" + escape(change.name) +
                                    "\" is an array of arrays, which llama.cpp refuses to load");
    }
  }
}

/// Opens the file, or each file of its set.
Result<std::vector<FileEdit>> open_files(const Options& options, const std::string& path,
                                         Console& console) {
  std::vector<std::string> paths;
  {
    // Closed again before anything changes: an edit in place wants to be alone with the file.
    INGOT_TRY(const Model model, console.open_stored(path));
    if (const ForeignFile* foreign = console.foreign()) {
      return fail(Errc::not_gguf, {},
                  "it is a " + std::string(foreign->format) +
                      " file; `ingot convert` makes a GGUF file of it, which can be edited");
    }
    for (const ModelFile& file : model.files()) paths.push_back(file.path);
  }
  std::vector<FileEdit> files;
  // All files of a set are locked, in their order, before the first is read, as the changes of one
  // depend on the others.
  const bool is_locked = options.out.empty() && !options.is_dry_run;
  const EditOptions edit_options{.lock = is_locked ? EditLock::at_open : EditLock::at_save};
  for (std::string& file : paths) {
    Result<ModelEdit> edit = ModelEdit::open(file, console.open_options(), edit_options);
    if (!edit) return fail(std::move(edit).error());
    files.push_back({std::move(file), *std::move(edit), {}});
  }
  return files;
}

std::string usage_problem(const Options& options) {
  if (std::ranges::find(options.files, "-") != options.files.end())
    return "FILE must be a file, not standard input";
  if (options.request.is_empty() && !options.is_compact) {
    return "say what to change; 'ingot help edit' lists what can be";
  }
  if (options.is_compact && options.request.slack_bytes) {
    return "--compact leaves no room, --reserve some; give one of them";
  }
  if (options.is_in_place && !options.out.empty()) {
    return "--in-place and -o OUT exclude each other";
  }
  if (options.files.size() > 1 && !options.out.empty()) {
    return "several files are edited --in-place; -o OUT is for one";
  }
  if (!options.is_in_place && options.out.empty() && !options.is_dry_run) {
    return "say --in-place to change the file itself, or -o OUT to write another one";
  }
  return {};
}

std::optional<ExitCode> edit_once(Options& options, Console& console, Summary& summary) {
  INGOT_CLI_TRY(const std::string path, find_here(console, options.file), console, options.file);
  if (options.is_in_place && std::ranges::any_of(files_of_set(path), is_stored_by_content)) {
    return console.refuse(options.file,
                          "it is in the store of another program, which names files by their "
                          "content; -o OUT writes the changed model to a file of yours");
  }
  INGOT_CLI_TRY(std::vector<FileEdit> files, open_files(options, path, console), console,
                options.file);
  if (files.size() > 1 && !options.out.empty()) {
    return console.refuse_usage(
        "edit: a set of files is edited --in-place; copy the set first to keep it");
  }
  INGOT_CLI_TRY_VOID(
      resolve_output(options.out, copy_name(console.remote().local_name(options.file)),
                     options.is_dry_run),
      console, options.out);
  if (const std::optional<RequestProblem> refused = apply_changes(options.request, files)) {
    console.complain(options.file, refused->message);
    return refused->code;
  }
  warn_of_loaders(files, console);
  return carry_out_all(options, files, console, summary);
}

ExitCode edit_model(Options& options, Console& console, Summary& summary) {
  // The path may lead to another file by the time that the edit is ready: it starts over then.
  constexpr int tries = 10;
  for (int i = 0; i < tries; ++i) {
    if (const std::optional<ExitCode> status = edit_once(options, console, summary)) {
      return *status;
    }
  }
  return console.fail(options.file, {Errc::file_changed, Error::no_offset, {}, {}});
}

void run(Options& options, Console& console) {
  const std::string problem = usage_problem(options);
  if (!problem.empty()) return console.finish(console.refuse_usage("edit: " + problem));
  if (options.is_compact) options.request.slack_bytes = 0;
  Summary summary{.json = JsonStream(console.out())};
  console.finish_all(options.files, [&](const std::string& file) {
    options.file = file;
    const ExitCode code = edit_model(options, console, summary);
    summary.failed += code == ExitCode::done ? 0 : 1;
    return code;
  });
  if (console.is_json()) {
    if (summary.failed == 0) summary.begin();
    if (summary.has_begun) summary.json.end();
  } else if (options.files.size() > 1 && !console.is_quiet()) {
    console.print_line(
        Style::strong,
        fmt::format("{} files: {} {}, {} had nothing to do, {} failed", options.files.size(),
                    summary.changed, options.is_dry_run ? "would change" : "changed",
                    summary.unchanged, summary.failed));
  }
}

CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& target,
                      const std::string& value_name, const std::string& description,
                      int words = 1) {
  return add_texts(command, name, target, value_name, description)->type_size(words);
}

void add_change_options(CLI::App& command, Options& options) {
  ChangeRequest& request = options.request;
  add_list(command, "--set", request.set, "KEY[:TYPE]=VALUE", "Set a key, or add it");
  add_list(command, "--set-file", request.set_from_file, "KEY[:TYPE]=PATH",
           "Set a key to the content of a file, or of standard input (-)");
  add_list(command, "--remove", request.removed_keys, "KEY-GLOB",
           "Remove keys: * ? [a-z], or re:EXPRESSION");
  add_list(command, "--rename-key", request.renamed_keys, "KEY=NEW", "Give a key another name");
  add_list(command, "--rename-tensor", request.renamed_tensors, "TENSOR=NEW",
           "Give a tensor another name");
  add_list(command, "--remove-tensor", request.removed_tensors, "NAME-GLOB",
           "Remove tensors with their data");
  add_list(command, "--special-token", request.special_tokens, "NAME TOKEN",
           "Set bos, eos, eot, unknown, padding, fim_pre, ... to a token of the vocabulary", 2);
  add_list(command, "--special-token-id", request.special_token_ids, "NAME ID",
           "The same by the number of the token", 2);
  add_text(command, "--chat-template", request.chat_template, "TEXT",
           "Set the chat template; refused if it cannot be read");
  add_text(command, "--template", request.chat_template_file, "FILE",
           "Set the chat template to the content of a file; refused if it cannot be read");
  add_number(command, "--reserve", request.slack_bytes, 0, 1 << 26,
             "Keep N bytes free for later edits in place; 0: none");
  add_switch(command, "--index", request.has_index,
             "Add a layout index, by which readers jump to the tensors; edits keep it true");
  add_switch(command, "--compact", options.is_compact,
             "Leave no room for later edits and no key ingot.padding, for publishing");
}

}  // namespace

void add_edit_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "edit", "Change keys and tensor names, in place if possible", examples);
  require(add_argument(command, "FILE", options->files,
                       "GGUF files, or any shard of a set; several are edited --in-place"));
  add_change_options(command, *options);
  add_text(command, "-o,--output", options->out, "OUT",
           "Write a new file, leave FILE alone; in a folder that of its name");
  add_switch(command, "--in-place", options->is_in_place, "Change FILE itself");
  add_switch(command, "--dry-run", options->is_dry_run, "Say what would be done, and do nothing");
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  on_run(command, [options, &console] { run(*options, console); });
}

}  // namespace ingot::cli
