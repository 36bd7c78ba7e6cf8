// SPDX-License-Identifier: MIT
#include "commands/check/check_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <ingot/check_folder.hpp>
#include <ingot/parallel.hpp>
#include <ingot/store.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/imported_folder.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "system/system.hpp"
#include "text/error_text.hpp"

namespace ingot::cli {
namespace {

/// What the check of a file gave, until the files before it are reported.
struct Outcome {
  std::vector<Finding> findings = {};
  std::optional<Result<CheckSummary>> summary = {};
};

/// Files that are checked at the same time, by all threads, before the first of them is reported.
/// Their findings are in memory, of each rule as many as --limit says.
constexpr std::size_t files_at_a_time = 32;
/// With a higher --limit, or none, files are checked one by one.
constexpr std::size_t most_findings_at_a_time = 1000;

ExitCode exit_code_of(const CheckSummary& summary, const CheckRun& run) {
  if (summary.is_refused) return ExitCode::refused;
  if (!run.options.new_baseline.empty()) return ExitCode::done;
  const bool has_warning =
      summary.errors + summary.warnings + (run.options.is_strict ? summary.notes : 0) != 0;
  const bool fails = (run.fail_on.error && summary.errors != 0) ||
                     (run.fail_on.warning && has_warning) ||
                     (run.fail_on.security && summary.security != 0);
  return fails ? ExitCode::negative : ExitCode::done;
}

/// How many bytes a check wants of the model whose beginning is in a file; nothing if its header is
/// not whole yet.
std::optional<std::uint64_t> wanted_bytes(int beginning, OpenOptions options) {
  options.is_header_only = true;
  const Result<Model> model = Model::open_descriptor(beginning, options);
  if (!model) {
    const Errc code = model.error().code;
    if (code == Errc::truncated || code == Errc::count_exceeds_file) return std::nullopt;
    return 0;
  }
  std::uint64_t end = 0;
  for (const TensorInfo& tensor : model->tensors()) {
    end = std::max(end, tensor.data_offset + tensor.size_bytes);
  }
  // Bytes behind the data are a finding, of which a part is enough.
  constexpr std::uint64_t most_behind = std::uint64_t{1} << 30;
  return end + most_behind;
}

/// Copies what is left of standard input into a file without a name and opens it: the weights of a
/// pipe can be read only once, and a check reads them after the header. The copy ends where the
/// header says that no more is wanted, or cannot be read, as the pipe may have no end.
Result<Model> open_copied_input(const OpenOptions& options, const GoOn& go_on) {
  std::error_code no_folder;
  const std::string folder = std::filesystem::temp_directory_path(no_folder).string();
  const auto fail_copy = [&](int error_number) {
    return fail(Errc::io_error, {},
                fmt::format("a pipe with weights is copied to a temporary file in {}: {}",
                            folder.empty() ? "$TMPDIR" : escape(folder) + " ($TMPDIR)",
                            std::strerror(error_number)));
  };
  const int copy = no_folder ? -1 : system::open_nameless(folder);
  if (copy < 0) return fail_copy(no_folder ? no_folder.value() : errno);
  const auto close = [](const int* descriptor) { system::close_file(*descriptor); };
  const std::unique_ptr<const int, decltype(close)> closed_at_end(&copy, close);
  std::vector<char> piece(std::size_t{1} << 20);
  std::uint64_t copied_bytes = 0;
  std::uint64_t next_look = piece.size();
  constexpr std::uint64_t longest_header = std::uint64_t{1} << 32;
  std::optional<std::uint64_t> wanted;
  while (copied_bytes < wanted.value_or(longest_header)) {
    const std::ptrdiff_t got =
        system::read_next(system::standard_input, piece.data(), piece.size());
    if (got < 0) return fail(Errc::io_error, {}, std::strerror(errno));
    if (got == 0) break;
    const auto count = static_cast<std::size_t>(got);
    const int error_number = system::write_all(copy, {piece.data(), count});
    if (error_number != 0) return fail_copy(error_number);
    copied_bytes += count;
    if (!wanted && copied_bytes >= next_look) {
      wanted = wanted_bytes(copy, options);
      next_look *= 4;
    }
    if (!go_on(copied_bytes)) return fail(Errc::interrupted, {});
  }
  // The descriptor of the model is one of its own.
  return Model::open_descriptor(copy, options);
}

Result<Model> open_input(const OpenOptions& options, const CheckOptions& check) {
  system::FileFacts facts;
  const bool is_file = system::look_at(system::standard_input, facts) && facts.is_regular;
  if (check.with_data && !is_file && !options.is_header_only) {
    return open_copied_input(options, check.progress);
  }
  return Model::open_descriptor(system::standard_input, options);
}

/// A model that the caller has opened, or failed to open: standard input, which opens only
/// once, or a file of another format.
Result<CheckSummary> check_opened(const Result<Model>& model, const CheckOptions& options,
                                  const FindingSink& sink) {
  if (model) return check_model(*model, options, sink);
  const ErrorCategory category = category_of(model.error().code);
  if (category != ErrorCategory::input && category != ErrorCategory::lenient) {
    return fail(model.error());
  }
  const Finding refusal = explain_refusal({}, model.error());
  sink(refusal);
  CheckSummary summary;
  summary.count(refusal);
  return summary;
}

Result<CheckSummary> check_remote(Console& console, const std::string& file,
                                  const CheckOptions& options, const FindingSink& sink) {
  INGOT_TRY(const auto folder, find_remote_model(console, file));
  if (folder) {
    if (options.with_data) INGOT_TRY_VOID(prepare_weights(console, file));
    return check_folder(*folder->store, folder->path, options, sink);
  }
  const Result<Model> model = console.open_stored(file, FileAccess::read);
  if (model && options.with_data) INGOT_TRY_VOID(console.before_reading(file, *model));
  return check_opened(model, options, sink);
}

/// A model of another format. If it is in several files, a finding says in which one.
Result<CheckSummary> check_foreign(Console& console, const std::string& file,
                                   const CheckOptions& options, const FindingSink& sink) {
  const Result<Model> model = console.open_stored(file, FileAccess::read);
  const ForeignFile* foreign = console.foreign();
  CheckOptions foreign_options = options;
  foreign_options.is_foreign = true;
  return check_opened(model, foreign_options, [&](const Finding& finding) {
    const TensorInfo* tensor = model ? model->find_tensor(finding.tensor) : nullptr;
    const std::optional<Origin> origin = tensor != nullptr ? model->origin(*tensor) : std::nullopt;
    if (!origin || foreign == nullptr || foreign->paths.size() < 2) return sink(finding);
    Finding placed = finding;
    placed.file = foreign->paths[origin->file];
    sink(placed);
  });
}

/// A loader takes what is called .gguf for GGUF, so nothing else may be called so.
bool is_foreign(const std::string& file) {
  return !is_model_name(file) && detect_format(file).value_or(FileFormat::gguf) != FileFormat::gguf;
}

/// A file that `check_file` opens, of which several can be checked at the same time.
bool is_plain(const Console& console, const std::string& file) {
  return file != "-" && !is_folder(file) && !console.remote().is_meant(file) && !is_foreign(file);
}

/// Ends the check of weights that takes too long: a platform gives a file of a stranger only so
/// much time. Headers need none: what they may cost is limited by their size.
class TimeLimit {
 public:
  explicit TimeLimit(std::optional<std::uint64_t> seconds) : seconds_(seconds) {}

  /// Goes on as `go_on` says, until the time is over.
  [[nodiscard]] GoOn until_over(GoOn go_on) {
    if (!seconds_) return go_on;
    return [this, go_on = std::move(go_on)](std::uint64_t done_bytes) {
      is_over_ = Clock::now() - start_ >= std::chrono::seconds(*seconds_);
      return !is_over_ && go_on(done_bytes);
    };
  }

  /// Why the check ended; empty if it did not for this reason.
  [[nodiscard]] std::string message() const {
    if (!is_over_) return {};
    return fmt::format("the check of the weights was not done in {} s (--time-limit)", *seconds_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<std::uint64_t> seconds_;
  Clock::time_point start_ = Clock::now();
  bool is_over_ = false;
};

/// Checks a file and reports it, or reports what its check has given.
void check_one(CheckRun& run, const std::string& file, const Outcome* given = nullptr) {
  Console& console = run.console;
  const OpenOptions open_options = console.open_options(FileAccess::read);
  const OrderlyStop orderly_stop;
  CheckOptions check_options = run.options.check;
  check_options.thread_count = console.threads();
  std::optional<Progress> progress;
  if (check_options.with_data) progress.emplace(console, file, model_bytes(file));
  TimeLimit time_limit(run.options.seconds);
  if (progress) check_options.progress = time_limit.until_over(progress->go_on());
  if (open_options.is_header_only) console.remark(file, "only the header is checked");
  run.report.begin_file(file);
  CheckedFile checked{.file = file};
  const FindingSink sink = [&](const Finding& finding) {
    if (!finding.rule->is_refusal) {
      if (!run.options.new_baseline.empty()) run.found.add(file, finding);
      if (run.known.knows(file, finding)) return static_cast<void>(++checked.known);
    }
    checked.summary.count(finding);
    run.report.add(finding);
  };
  if (given != nullptr) std::ranges::for_each(given->findings, sink);
  const Result<CheckSummary> result =
      given != nullptr  ? *given->summary
      : file == "-"     ? check_opened(open_input(open_options, check_options), check_options, sink)
      : is_folder(file) ? check_folder(file_system(), file, check_options, sink)
      : console.remote().is_meant(file) ? check_remote(console, file, check_options, sink)
      : is_foreign(file)                ? check_foreign(console, file, check_options, sink)
                                        : check_file(file, open_options, check_options, sink);
  progress.reset();
  if (!result) {
    checked.verdict = Verdict::failed;
    checked.error = result.error();
    const std::string lateness = time_limit.message();
    checked.reason = lateness.empty() ? error_text(file, result.error()) : lateness;
    run.report.end_file(checked);
    if (!lateness.empty()) console.complain(file, lateness);
    run.code = std::max(run.code,
                        lateness.empty() ? console.fail(file, result.error()) : ExitCode::system);
    return;
  }
  checked.verdict = verdict_of(checked.summary, run.options.is_strict);
  run.report.end_file(checked);
  run.code = std::max(run.code, exit_code_of(checked.summary, run));
}

}  // namespace

void check_waiting(CheckRun& run) {
  const std::vector<std::string> files = std::exchange(run.waiting, {});
  if (files.empty()) return;
  const OrderlyStop orderly_stop;
  std::vector<Outcome> outcomes(files.size());
  const OpenOptions open_options = run.console.open_options(FileAccess::read);
  CheckOptions check_options = run.options.check;
  check_options.thread_count = 1;
  const auto check = [&](std::uint64_t i, std::uint64_t) -> Result<void> {
    if (stop_signal() != 0) return fail(Errc::interrupted, files[i]);
    Outcome& outcome = outcomes[i];
    outcome.summary =
        check_file(files[i], open_options, check_options,
                   [&](const Finding& finding) { outcome.findings.push_back(finding); });
    return {};
  };
  if (const Result<void> done = spread(files.size(), 1, run.console.threads(), check); !done) {
    run.code = std::max(run.code, run.console.fail(done.error().subject, done.error()));
    return;
  }
  for (std::size_t i = 0; i < files.size(); ++i) check_one(run, files[i], &outcomes[i]);
}

std::vector<std::string> models_of_repository(Console& console, const std::string& place) {
  std::vector<std::string> references;
  if (!console.remote().is_repository(place)) return references;
  const auto folder = find_remote_model(console, place);
  if (!folder || *folder) return references;
  const auto models = console.remote().list(console, place);
  if (!models) return references;
  for (const RepositoryModel& model : *models) {
    if (is_model_name(model.name)) references.push_back(model.reference);
  }
  return references;
}

void check_place(CheckRun& run, const std::string& place) {
  // Weights are read by all threads, one file after the other.
  const std::uint64_t most_findings = run.options.check.max_findings_per_rule;
  const bool is_one_by_one =
      run.options.check.with_data || most_findings == 0 || most_findings > most_findings_at_a_time;
  const auto check = [&](const std::string& file) {
    if (is_one_by_one || !is_plain(run.console, file)) {
      check_waiting(run);
      check_one(run, file);
    } else {
      run.waiting.push_back(file);
      if (run.waiting.size() == files_at_a_time) check_waiting(run);
    }
    return run.console.out().is_open() && stop_signal() == 0;
  };
  if (const std::vector<std::string> models = models_of_repository(run.console, place);
      !models.empty()) {
    static_cast<void>(std::ranges::all_of(models, check));
    return;
  }
  if (!is_folder(place)) {
    check(place);
    return;
  }
  const FolderCounts counts = for_each_model(
      run.console, place, check,
      [&](const std::string& file, const std::string& reason) {
        check_waiting(run);
        run.report.skip(file, reason);
        if (run.options.is_strict) run.code = std::max(run.code, ExitCode::negative);
      },
      [&](const std::string& folder) {
        if (!has_model_to_import(file_system(), folder)) return false;
        check_waiting(run);
        check_one(run, folder);
        return true;
      });
  run.report.add_others(counts.others);
  if (counts.models != 0) return;
  run.console.complain(
      place, "nothing was checked: there is no file whose name ends in .gguf, and no config.json");
  run.code = std::max(run.code, ExitCode::usage);
}

}  // namespace ingot::cli
