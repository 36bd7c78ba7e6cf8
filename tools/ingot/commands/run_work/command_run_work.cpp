// SPDX-License-Identifier: MIT
// `ingot run-work PLAN --task I|--join` -- what `ingot plan-work` has cut.

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ingot/digest.hpp>
#include <ingot/output_file.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "commands/plan_work/work_plan.hpp"
#include "text/chat_json.hpp"
#include "text/report_file.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot run-work work.json --task 3\n"
    "  ingot run-work work.json --missing | parallel ingot run-work work.json --task {}\n"
    "  ingot run-work work.json --join > SHA256SUMS\n"
    "  ingot run-work work.json                # all that is missing, and the join\n"
    "\n"
    "A task whose results are there is not run again. The join fails, and names what is\n"
    "missing, unless all tasks are done; then it prints or writes what the command that\n"
    "was planned would have printed or written, of check as with --json.\n"
    "Exit status of a task: 0 if it is done, whatever its answer; of the join the status\n"
    "that the command would have had, or 1 if a task is missing.";

constexpr std::string_view kind = "ingot work done";
/// A note on a task has some hundred bytes, and for each output as many.
constexpr std::size_t max_note_bytes = std::size_t{16} << 20;
/// Names of missing tasks that a message holds.
constexpr std::size_t shown_tasks = 10;

struct Options {
  std::string file;
  std::uint64_t task = 0;  ///< Counted from 1; 0: none was named.
  bool is_join = false;
  bool lists_missing = false;
};

/// A digest of all that decides about the results of a task.
std::string digest_of_task(const WorkTask& task) {
  std::string text;
  const auto add = [&](std::string_view word) { text.append(word).push_back('\0'); };
  for (const std::string& word : task.words) add(word);
  for (const WorkInput& input : task.inputs) {
    add(input.path);
    add(input.state);
  }
  return digest_of(DigestAlgorithm::xxh3_128, std::as_bytes(std::span(text)));
}

class Work {
 public:
  Work(const WorkPlan& plan, const std::string& file, Console& console)
      : plan_(plan), file_(file), console_(console) {}

  /// The positions of tasks that are not done.
  [[nodiscard]] std::vector<std::size_t> missing() const {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < plan_.tasks.size(); ++i) {
      if (!status_of(i)) missing.push_back(i);
    }
    return missing;
  }

  /// Runs a task unless it is done.
  ExitCode run(std::size_t i) {
    if (status_of(i)) {
      console_.remark(file_, fmt::format("task {} is done", i + 1));
      return ExitCode::done;
    }
    const WorkTask& task = plan_.tasks[i];
    if (const ExitCode code = check_inputs(task); code != ExitCode::done) return code;
    if (const ExitCode code = make_folders(task); code != ExitCode::done) return code;
    const ExitCode status = task.is_printed ? run_printed(task) : run_words(console_, task.words);
    if (!is_answer(task, status)) return status;
    // What changed while the task ran may be in its results, by half.
    if (const ExitCode code = check_inputs(task); code != ExitCode::done) return code;
    const auto is_there = [](const std::string& path) { return !stamp_of(path).empty(); };
    // Another process that runs the same task may put its own equal results in place meanwhile.
    for (int tries = 3; tries > 0 && !status_of(i); --tries) {
      if (!std::ranges::all_of(task.outputs, is_there)) {
        return console_.refuse(
            file_, fmt::format("task {} has ended, but its results are not there", i + 1),
            ExitCode::system);
      }
      INGOT_CLI_TRY_VOID(note(i, status), console_, note_path(i));
    }
    return ExitCode::done;
  }

  /// Makes the result of all tasks, which must be done.
  ExitCode join() {
    ExitCode status = ExitCode::done;
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < plan_.tasks.size(); ++i) {
      const std::optional<ExitCode> one = status_of(i);
      one ? void(status = std::max(status, *one)) : left.push_back(i);
    }
    if (!left.empty()) return refuse_join(left);
    if (!plan_.join.words.empty()) {
      ExitCode code = check_inputs(plan_.join);
      if (code == ExitCode::done) code = make_folders(plan_.join);
      return code == ExitCode::done ? std::max(status, run_words(console_, plan_.join.words))
                                    : code;
    }
    bool is_first = true;
    for (const WorkTask& task : plan_.tasks) {
      if (!task.is_printed) continue;
      INGOT_CLI_TRY(const std::string text, read_whole(task.outputs[0]), console_, task.outputs[0]);
      print(text, is_first);
    }
    if (plan_.is_list && !is_first) console_.out().write("\n]\n");
    return status;
  }

 private:
  /// Whether a command has done its work, whatever it has found.
  static bool is_answer(const WorkTask& task, ExitCode status) {
    return status != ExitCode::usage && status <= find_work_command(task.words[0])->last_answer;
  }

  [[nodiscard]] std::string note_path(std::size_t i) const {
    return fmt::format("{}/{}.done", plan_.folder, i + 1);
  }

  /// The status of a task that is done: its note is about the same task with the same inputs, and
  /// its outputs are as they were when it was written.
  [[nodiscard]] std::optional<ExitCode> status_of(std::size_t i) const {
    const Result<std::string> content = read_whole(note_path(i), max_note_bytes);
    if (!content) return std::nullopt;
    const auto note = parse_chat_json(*content);
    if (!note || text_of(note->find("kind")) != kind ||
        text_of(note->find("task")) != digest_of_task(plan_.tasks[i])) {
      return std::nullopt;
    }
    const ChatValue* states = note->find("outputs");
    const std::vector<std::string>& outputs = plan_.tasks[i].outputs;
    if (states == nullptr || states->elements() == nullptr ||
        states->elements()->size() != outputs.size()) {
      return std::nullopt;
    }
    for (std::size_t at = 0; at < outputs.size(); ++at) {
      const std::string state = text_of(&(*states->elements())[at]);
      if (state.empty() || state != stamp_of(outputs[at])) return std::nullopt;
    }
    const std::uint64_t status = count_of(note->find("status"));
    return static_cast<ExitCode>(
        std::min<std::uint64_t>(status, static_cast<std::uint64_t>(ExitCode::system)));
  }

  /// Notes that a task is done. Its outputs have their names already, so that a process that is
  /// killed before leaves a task that is run again.
  Result<void> note(std::size_t i, ExitCode status) const {
    INGOT_TRY(OutputFile file, OutputFile::create(note_path(i), true));
    INGOT_TRY_VOID(print_to(file, [&](Output& out) {
      JsonStream json(out);
      const auto object = json.object();
      json.member("kind", kind);
      json.member("task", digest_of_task(plan_.tasks[i]));
      json.member("status", static_cast<unsigned>(status));
      json.begin_array("outputs");
      for (const std::string& path : plan_.tasks[i].outputs) json.value(stamp_of(path));
      json.end();
    }));
    return file.commit();
  }

  ExitCode check_inputs(const WorkTask& task) {
    for (const WorkInput& input : task.inputs) {
      if (state_of_input(input.path) == input.state) continue;
      return console_.refuse(input.path,
                             "it is missing or has changed since the plan was made; plan again",
                             ExitCode::refused);
    }
    return ExitCode::done;
  }

  ExitCode make_folders(const WorkTask& task) {
    std::vector<std::filesystem::path> folders = {plan_.folder};
    for (const std::string& out : task.outputs) {
      folders.push_back(std::filesystem::path(out).parent_path());
    }
    for (const std::filesystem::path& folder : folders) {
      std::error_code error;
      if (!folder.empty()) std::filesystem::create_directories(folder, error);
      if (error) {
        return console_.refuse(folder.generic_string(),
                               "cannot make the folder: " + error.message(), ExitCode::system);
      }
    }
    return ExitCode::done;
  }

  /// Runs a task whose text becomes a file, which appears when it is whole.
  ExitCode run_printed(const WorkTask& task) {
    const std::string& path = task.outputs[0];
    INGOT_CLI_TRY(OutputFile file, OutputFile::create(path, true), console_, path);
    Result<void> written;
    Output::Target usual = console_.out().divert({[&](std::string_view text) {
      written = file.write(std::as_bytes(std::span(text)));
      return written ? 0 : EIO;
    }});
    console_.examine_terminal(true);
    const ExitCode status = run_words(console_, task.words);
    console_.out().divert(std::move(usual));
    console_.examine_terminal(false);
    INGOT_CLI_TRY_VOID(written, console_, path);
    if (!is_answer(task, status)) return status;
    INGOT_CLI_TRY_VOID(file.commit(), console_, path);
    return status;
  }

  ExitCode refuse_join(const std::vector<std::size_t>& left) {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < std::min(left.size(), shown_tasks); ++i) {
      numbers.push_back(left[i] + 1);
    }
    return console_.refuse(
        file_,
        fmt::format("{} of {} tasks are not done: {}{}", left.size(), plan_.tasks.size(),
                    joined(numbers, ", "), left.size() > shown_tasks ? ", ..." : ""),
        ExitCode::negative);
  }

  /// Prints what a task has printed: a text, or as elements of a list a list or a single one.
  void print(std::string_view text, bool& is_first) {
    Output& out = console_.out();
    if (!plan_.is_list) return write_raw(console_, text);
    if (text.empty()) return;  // all its files were refused
    constexpr std::string_view begin = "[\n";
    constexpr std::string_view end = "\n]\n";
    out.write(std::exchange(is_first, false) ? begin : ",\n");
    if (text.starts_with(begin) && text.ends_with(end)) {
      return write_raw(console_,
                       text.substr(begin.size(), text.size() - begin.size() - end.size()));
    }
    if (text.ends_with('\n')) text.remove_suffix(1);
    while (!text.empty()) {  // one level deeper
      const std::size_t length = std::min(text.find('\n'), text.size());
      out.write("  ");
      write_raw(console_, text.substr(0, length));
      text.remove_prefix(length);
      if (text.empty()) break;
      out.put('\n');
      text.remove_prefix(1);
    }
  }

  const WorkPlan& plan_;
  const std::string& file_;
  Console& console_;
};

ExitCode run_rest(Work& work) {
  ExitCode status = ExitCode::done;
  for (const std::size_t i : work.missing()) {
    status = std::max(status, work.run(i));
    // A full disk fails all others, too.
    if (stop_signal() != 0 || status >= ExitCode::system) break;
  }
  return status == ExitCode::done ? work.join() : status;
}

ExitCode run(const Options& options, Console& console) {
  const int choices = int{options.task != 0} + int{options.is_join} + int{options.lists_missing};
  if (choices > 1) {
    return console.refuse_usage("run-work: --task, --join and --missing are three ways; give one");
  }
  if (console.is_json()) {
    return console.refuse_usage(
        "run-work: it prints what tasks print; plan the command with --json");
  }
  const auto plan = read_work_plan(options.file);
  if (!plan) return console.refuse(options.file, plan.error(), ExitCode::refused);
  if (options.task > plan->tasks.size()) {
    return console.refuse_usage(fmt::format("run-work: there is no task {}; there are {}",
                                            options.task, plan->tasks.size()));
  }
  Work work(*plan, options.file, console);
  if (options.task != 0) return work.run(options.task - 1);
  if (options.is_join) return work.join();
  if (!options.lists_missing) return run_rest(work);
  for (const std::size_t i : work.missing()) console.out().print("{}\n", i + 1);
  return ExitCode::done;
}

}  // namespace

void add_run_work_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "run-work", "Run tasks that plan-work has cut, or join them", examples);
  require(add_argument(command, "PLAN", options->file, "What `ingot plan-work` has printed"));
  add_number(command, "--task", options->task, 1, std::uint64_t{1} << 32, "Run the N-th task");
  add_switch(command, "--join", options->is_join, "Make the result of all tasks");
  add_switch(command, "--missing", options->lists_missing,
             "Print the numbers of tasks that are not done, one a line");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
