// SPDX-License-Identifier: MIT
#include "cli/console.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ingot/lock_wait.hpp>
#include <ingot/text.hpp>
#include <thread>
#include <utility>

#include "cli/command.hpp"
#include "cli/imported_folder.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "cli/wrap.hpp"
#include "system/system.hpp"
#include "text/byte_count.hpp"
#include "text/error_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// Decides as the C library would, without loading a locale.
bool has_unicode_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = lower_case(environment(name));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

bool is_regular_file(int descriptor) {
  system::FileFacts facts;
  return system::look_at(descriptor, facts) && facts.is_regular;
}

constexpr std::size_t narrowest = 40;  // a table in fewer columns is of no use
constexpr std::size_t widest = 1000;

/// Whether the terminal knows the 256 colours, whose values do not depend on a theme.
bool has_fixed_colours() {
  return system::has_colour_terminal() ||
         environment("TERM").find("256color") != std::string::npos ||
         !environment("COLORTERM").empty();
}

/// The beginnings of the styles, in their order, with fixed colours and with those of a theme. Of
/// the fixed ones each has a contrast of 3.8 or more with black and with white: amber stands for
/// yellow, which cannot be read on white. A theme of 16 colours is asked for the usual ones, and
/// each verdict is a word as well.
struct StyleStart {
  std::string_view fixed;
  std::string_view theme;
};
constexpr std::array<StyleStart, 10> style_starts = {{{"", ""},
                                                      {"\x1b[1m", "\x1b[1m"},
                                                      {"\x1b[2m", "\x1b[2m"},
                                                      {"\x1b[38;5;30m", "\x1b[36m"},
                                                      {"\x1b[38;5;133m", "\x1b[35m"},
                                                      {"\x1b[38;5;63m", "\x1b[94m"},
                                                      {"\x1b[38;5;28m", "\x1b[32m"},
                                                      {"\x1b[38;5;28m", "\x1b[32m"},
                                                      {"\x1b[38;5;130m", "\x1b[33m"},
                                                      {"\x1b[38;5;160m", "\x1b[31m"}}};

}  // namespace

Console::Console() : out_(system::standard_output) { examine_terminal(false); }

void Console::add_options(CLI::App& program) {
  const Choices<When> when = {
      {"auto", When::automatic}, {"always", When::always}, {"never", When::never}};
  add_switch(program, "--json", settings_.is_json, "Print one JSON document (docs/json.md)");
  add_choice(program, "--color", "WHEN", settings_.color, when,
             "Colours, {}; auto: on a terminal, unless NO_COLOR is set");
  add_choice(program, "--progress", "WHEN", settings_.progress, when,
             "A progress bar, {}; auto: on a terminal, for long work");
  add_switch(program, "-q,--quiet", settings_.is_quiet, "Print no remarks, only errors");
  add_switch(program, "-v,--verbose", settings_.is_verbose, "Say more about what is done");
  add_number(program, "-j,--threads", settings_.threads, 1, 4096,
             "Use N threads where work can be shared; default: all cores");
  add_choice(program, "--io", "HOW", settings_.access,
             {{"mmap", FileAccess::map}, {"read", FileAccess::read}},
             "How files are read, {}; default: mmap, the fastest");
  add_switch(program, "--lenient", settings_.open.is_lenient,
             "Open files that only a strict reader refuses");
  add_switch(program, "--header-only", settings_.open.is_header_only,
             "Read headers alone; the data may be missing, as in a download's first part");
  add_byte_count(program, "--max-header", settings_.open.limits.max_header_bytes,
                 "Refuse longer headers; default: 256MiB");
  add_switch(program, "--no-wait", settings_.never_waits,
             "Fail at once if another process edits or writes the file; default: wait up to 10 s");
  remote_.add_options(program);
  program.parse_complete_callback([this] {
    apply_lock_wait();
    if (!settings_.is_json) return;
    out_.write_last_members = [this](JsonStream& json) {
      if (remote_.is_used()) write_traffic(json, remote_.traffic());
    };
  });
}

void Console::restore(const Settings& settings) {
  settings_ = settings;
  if (!settings.is_json) out_.write_last_members = nullptr;
  apply_lock_wait();
}

void Console::add_index_option(CLI::App& command) {
  add_switch(command, "--index", settings_.open.uses_index,
             "Read through the file's layout index, if it has one: fast, and unverified");
}

void Console::apply_lock_wait() {
  LockWait wait;
  if (settings_.never_waits) wait.limit = std::chrono::milliseconds(0);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait.limit).count();
  wait.on_wait = [this, seconds](const Error& error) {
    remark(error.subject,
           fmt::format("waiting up to {} s for another process that edits or writes it{}", seconds,
                       error.detail.empty() ? "" : " (" + escape(error.detail) + ")"));
  };
  set_lock_wait(std::move(wait));
}

void Console::examine_terminal(bool is_diverted) {
  is_terminal_ = !is_diverted && system::is_terminal(system::standard_output);
  is_unicode_ = has_unicode_locale() || system::has_unicode_terminal();
  const std::size_t wanted = parse_number<std::size_t>(environment("COLUMNS")).value_or(0);
  has_fixed_width_ = is_terminal_ || wanted > 0;
  width_ = wanted;
  if (width_ == 0 && is_terminal_) width_ = system::terminal_columns();
  if (width_ == 0) width_ = 80;
  width_ = std::clamp(width_, narrowest, widest);
}

OpenOptions Console::open_options(FileAccess usual) const {
  OpenOptions options = settings_.open;
  options.access = settings_.access.value_or(usual);
  return options;
}

Result<Model> Console::open_named(const std::string& file, const OpenOptions& options) {
  std::optional<Progress> progress;
  const OpenAnyOptions open_options = {options,
                                       [&](std::uint64_t done, std::uint64_t total) {
                                         if (!progress) progress.emplace(*this, file, total);
                                         progress->update(done);
                                         return stop_signal() == 0;
                                       },
                                       ggml_options_};
  INGOT_TRY(OpenedModel opened, remote_.is_meant(file) ? remote_.open(*this, file, open_options)
                                                       : open_any(file, open_options));
  if (opened.format != FileFormat::gguf) {
    foreign_ = {name_of(opened.format), opened.file_bytes, std::move(opened.facts),
                std::move(opened.paths), std::move(opened.data_offsets)};
  }
  return std::move(opened.model);
}

Result<Model> Console::open_model(const std::string& file, FileAccess usual) {
  if (!has_model_to_import(file)) return open_stored(file, usual);
  Result<std::unique_ptr<Import>> import = plan_folder(*this, file, {});
  if (!import) {
    remark(file,
           "note: only its weights open, since it cannot be imported: " + import.error().message());
    return open_stored(file, usual);
  }
  foreign_.reset();
  imported_ = imports_.emplace_back(*std::move(import)).get();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(file, ignored)) {
    const std::string path = entry.path().generic_string();
    if (is_file_of_folder(file, path)) opened_paths_.push_back(path);
  }
  return imported_->open_model();
}

Result<Model> Console::open_stored(const std::string& file, FileAccess usual, bool with_shards) {
  OpenOptions options = open_options(usual);
  options.with_shards = with_shards;
  // No command can use the data of a pipe, so its writer need not send more than the header.
  if (file == "-" && !is_regular_file(system::standard_input)) options.is_header_only = true;
  foreign_.reset();
  imported_ = nullptr;
  const auto start = std::chrono::steady_clock::now();
  Result<Model> model = file == "-" ? Model::open_descriptor(system::standard_input, options)
                                    : open_named(file, options);
  if (!model) return model;
  for (const ModelFile& opened : model->files()) opened_paths_.push_back(opened.path);
  if (foreign_)
    opened_paths_.insert(opened_paths_.end(), foreign_->paths.begin(), foreign_->paths.end());
  for (const ModelFile& opened : model->files()) {
    if (!opened.is_indexed) continue;
    remark(file, fmt::format("read through its index, unverified: {} long keys were not read",
                             opened.unread_keys));
  }
  for (const Error& notice : model->notices()) {
    const bool is_wanted = with_shards || notice.code != Errc::shard_missing;
    if (is_wanted) remark(file, "note: " + notice.message());
  }
  if (settings_.is_verbose) {
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    remark(file, fmt::format("opened in {:.2f} ms: {} keys, {} tensors in {} file{}", time.count(),
                             model->metadata().size(), model->tensors().size(),
                             model->files().size(), model->files().size() == 1 ? "" : "s"));
  }
  return model;
}

Result<void> Console::before_reading(const std::string& file, const Model& model,
                                     std::span<const TensorInfo* const> tensors,
                                     std::uint64_t passes) {
  if (!remote_.opened_file(file).has_value()) return {};
  std::vector<ModelRange> ranges;
  for (const TensorInfo* tensor : tensors) {
    ranges.push_back({tensor->shard, model.file_offset(*tensor), tensor->size_bytes});
  }
  return remote_.prepare(*this, file, model, ranges, passes);
}

Result<void> Console::before_reading(const std::string& file, const Model& model,
                                     std::uint64_t passes) {
  if (!remote_.opened_file(file).has_value()) return {};
  std::vector<const TensorInfo*> tensors;
  for (const TensorInfo& tensor : model.tensors()) tensors.push_back(&tensor);
  return before_reading(file, model, tensors, passes);
}

Result<void> Console::before_reading_files(const std::string& file, const Model& model) {
  std::vector<ModelRange> ranges;
  for (std::size_t i = 0; i < model.files().size(); ++i) {
    ranges.push_back({i, 0, model.files()[i].file_bytes});
  }
  return remote_.prepare(*this, file, model, ranges);
}

bool Console::is_input(const std::string& path) const {
  return std::any_of(opened_paths_.begin(), opened_paths_.end(),
                     [&](const std::string& opened) { return is_same_file(opened, path); });
}

unsigned Console::threads() const noexcept {
  return settings_.threads != 0 ? settings_.threads
                                : std::max(1u, std::thread::hardware_concurrency());
}

std::size_t Console::room(std::size_t used, std::size_t least) const noexcept {
  constexpr std::size_t unlimited = std::size_t{1} << 20;  // bounds a hostile file
  if (!has_fixed_width_) return unlimited;
  return std::max(least, width_ - std::min(width_, used));
}

void Console::print_prose(std::string_view text, Style style, std::size_t indent) {
  const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
  const std::string lines = has_fixed_width_ ? std::string(blanks, ' ') +
                                                   wrap(text.substr(blanks), width_, indent, blanks)
                                             : std::string(text);
  out_.print("{}\n", paint(style, lines));
}

std::string Console::paint(Style style, std::string_view text) const {
  const bool has_color = settings_.color == When::always ||
                         (settings_.color == When::automatic && is_terminal_ &&
                          environment("NO_COLOR").empty() && environment("TERM") != "dumb");
  if (!has_color || style == Style::plain || text.empty()) return std::string(text);
  const StyleStart& start = style_starts[static_cast<std::size_t>(style)];
  return fmt::format("{}{}\x1b[0m", has_fixed_colours() ? start.fixed : start.theme, text);
}

bool Console::shows_progress() const noexcept {
  if (settings_.progress != When::automatic) return settings_.progress == When::always;
  return !settings_.is_quiet && system::is_terminal(system::standard_error);
}

void Console::complain(std::string_view file, std::string_view message) {
  // Output so far comes first, also if both streams end in the same terminal.
  out_.flush();
  system::write_all(system::standard_error,
                    file.empty() ? fmt::format("ingot: {}\n", message)
                                 : fmt::format("ingot: {}: {}\n", escape(file), message));
}

void Console::remark(std::string_view file, std::string_view message) {
  if (settings_.is_quiet || !remarked_.insert(fmt::format("{}: {}", file, message)).second) return;
  complain(file, message);
}

bool Console::agrees(std::string_view file, std::string_view message) {
  if (!system::is_terminal(system::standard_input) || !system::is_terminal(system::standard_error))
    return false;
  out_.flush();
  system::write_all(system::standard_error,
                    fmt::format("ingot: {}: {}; go on? [y/N] ", escape(file), message));
  std::string answer;
  char letter = 0;
  while (system::read_next(system::standard_input, &letter, 1) == 1 && letter != '\n' &&
         answer.size() < 8) {
    answer += letter;
  }
  return answer == "y" || answer == "Y" || answer == "yes";
}

ExitCode Console::fail(std::string_view file, const Error& error) {
  if (error.code == Errc::interrupted) return static_cast<ExitCode>(128 + stop_signal());
  if (error.code == Errc::already_exists) {
    return refuse(error.subject.empty() ? file : error.subject,
                  "the file exists; --force replaces it");
  }
  if (error.code == Errc::not_mapped && settings_.open.is_header_only) {
    return refuse(file, "this needs the data; leave out --header-only");
  }
  if (error.code == Errc::not_mapped && file == "-") {
    return refuse(file, "this needs the data, and a pipe can be read only once; give a file");
  }
  if (error.code == Errc::not_a_regular_file) {
    const std::string path = is_folder(error.subject) ? error.subject : std::string(file);
    if (is_folder(path)) {
      return refuse(path, "this is a directory; give a file name", ExitCode::refused);
    }
  }
  complain(file, error_text(file, error));
  const ErrorCategory category = category_of(error.code);
  if (category == ErrorCategory::usage) return ExitCode::usage;
  const bool is_input = category == ErrorCategory::input || category == ErrorCategory::lenient;
  return is_input ? ExitCode::refused : ExitCode::system;
}

ExitCode Console::refuse(std::string_view file, std::string_view message, ExitCode code) {
  complain(file, message);
  return code;
}

ExitCode Console::refuse_usage(std::string_view message) { return refuse({}, message); }

ExitCode Console::refuse_input(std::string_view file) {
  return refuse(file, "it is an input; the output must be another file");
}

void Console::finish(ExitCode code) noexcept { exit_code_ = std::max(exit_code_, code); }

int Console::close() {
  if (settings_.is_verbose && remote_.is_used()) remark({}, describe(remote_.traffic()));
  const int error_number = out_.flush();
  // A reader that has seen enough (`| head`) is no failure; a full disk is one.
  if (error_number != 0 && error_number != EPIPE) {
    complain("standard output", std::strerror(error_number));
    finish(ExitCode::system);
  }
  return static_cast<int>(exit_code_);
}

}  // namespace ingot::cli
