// SPDX-License-Identifier: MIT
// `ingot report FILE -o OUT.html` -- a model as one page.

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <ingot/output_file.hpp>
#include <ingot/summary.hpp>
#include <ingot/tensor_profile.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/early_output.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "commands/output_name.hpp"
#include "commands/report/report_data.hpp"
#include "commands/report/report_page.hpp"
#include "text/report_file.hpp"
#include "text/shown_keys.hpp"
#include "text/value_text.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot report model.gguf -o model.html\n"
    "  ingot report model-Q4_K_M.gguf --reference model-F16.gguf -o model.html\n"
    "  ingot report model.gguf --no-data -o model.html   # from the header alone\n"
    "  ingot report model.gguf --json | jq '.tensors[] | [.name, .stats.std]'\n"
    "\n"
    "The page is one file that loads nothing: summary, sizes, a map of the layers,\n"
    "a histogram of each tensor, and with --reference how far each tensor is from the\n"
    "one of the same name and shape there (root mean square, signal-to-noise ratio,\n"
    "largest). --json prints the data of the page instead.";

/// With more tensors a page has no histograms, which would be most of it.
constexpr std::size_t max_histograms = 10000;

struct Options {
  std::string file;
  std::string out;
  std::string reference;
  bool has_no_data = false;
  bool is_forced = false;
  bool shows_all_keys = false;
};

/// Everything that a report is made of.
struct Report {
  std::vector<const TensorInfo*> readable;  ///< Tensors that can be decoded.
  std::vector<TensorProfile> profiles;      ///< The profiles of these tensors.
  std::vector<std::string> notices;
};

std::uint64_t bytes_to_read(const Report& report, const Model* reference) {
  std::uint64_t total = 0;
  for (const TensorInfo* tensor : report.readable) {
    total += tensor->size_bytes;
    const TensorInfo* other =
        reference != nullptr ? find_counterpart(*reference, *tensor) : nullptr;
    if (other != nullptr) total += other->size_bytes;
  }
  return total;
}

Result<Report> examine(Console& console, const Options& options, const Model& model,
                       const Model* reference) {
  Report report;
  for (const TensorInfo& tensor : model.tensors()) {
    if (find_type(tensor.type) != nullptr) report.readable.push_back(&tensor);
  }
  if (options.has_no_data) {
    report.notices.emplace_back("The weights were not read.");
    return report;
  }
  if (report.readable.size() < model.tensors().size()) {
    report.notices.emplace_back("Tensors of unknown types were not read.");
  }
  const bool has_histograms = report.readable.size() <= max_histograms;
  if (!has_histograms) {
    report.notices.push_back(fmt::format("Histograms are left out: there are more than {} tensors.",
                                         format_digits(max_histograms)));
  }
  Progress progress(console, options.file, bytes_to_read(report, reference));
  INGOT_TRY(report.profiles,
            profile_tensors(model, report.readable,
                            {.bin_count = has_histograms ? ProfileOptions{}.bin_count : 0,
                             .reference = reference,
                             .thread_count = console.threads()},
                            progress.go_on()));
  return report;
}

bool has_counterpart(const Report& report, const Model& reference) {
  return std::any_of(report.readable.begin(), report.readable.end(), [&](const TensorInfo* tensor) {
    return find_counterpart(reference, *tensor) != nullptr;
  });
}

std::vector<const TensorProfile*> by_position(const Report& report, const Model& model) {
  std::vector<const TensorProfile*> profiles(model.tensors().size());
  for (std::size_t i = 0; i < report.profiles.size(); ++i) {
    profiles[static_cast<std::size_t>(report.readable[i] - model.tensors().data())] =
        &report.profiles[i];
  }
  return profiles;
}

std::string title_of(const Options& options, const Model& model) {
  const Summary summary = summarize(model);
  const std::string name = options.file.substr(options.file.rfind('/') + 1);
  return escape_html(escape_shortened(summary.name.value_or(name), 100)) + " - Ingot report";
}

/// Writes the page to a file, or to standard output.
Result<void> write_page(const Options& options, Console& console, const ReportData& data) {
  std::optional<OutputFile> file;
  if (options.out != "-") {
    INGOT_TRY(file, OutputFile::create(options.out, options.is_forced));
  }
  Result<void> written;
  const auto write = [&](std::string_view text) {
    if (!file) {
      console.out().write(text);
    } else if (written) {
      written = file->write(std::as_bytes(std::span(text)));
    }
    return written ? 0 : EIO;
  };
  write(page_head);
  write(title_of(options, data.model));
  write(page_middle);
  Output data_output([&](std::string_view text) { return write(json_for_html(text)); });
  JsonStream json(data_output);
  write_report_data(json, data);
  data_output.flush();
  write(page_tail);
  INGOT_TRY_VOID(std::move(written));
  return file ? file->commit() : Result<void>();
}

ExitCode check_usage(const Options& options, Console& console) {
  if (console.is_json()) {
    if (options.out.empty()) return ExitCode::done;
    return console.refuse_usage("report: --json prints the data to stdout; leave out -o");
  }
  if (options.out.empty()) {
    return console.refuse_usage("report: -o is missing; it names the page to write");
  }
  if (options.out == "-" && console.is_terminal()) {
    return console.refuse_usage("report: a terminal cannot show this; give -o FILE, or a pipe");
  }
  return ExitCode::done;
}

ExitCode write_report(const Options& options, Console& console, const ReportData& data) {
  if (console.is_json()) {
    JsonStream json(console.out());
    write_report_data(json, data);
    return ExitCode::done;
  }
  INGOT_CLI_TRY_VOID(write_page(options, console, data), console, options.out);
  return ExitCode::done;
}

ExitCode run(Options& options, Console& console) {
  if (const ExitCode code = check_usage(options, console); code != ExitCode::done) return code;
  INGOT_CLI_TRY_VOID(
      resolve_output(options.out, copy_name(console.remote().local_name(options.file), ".html")),
      console, options.out);
  // The file is not mapped, as bytes that were read once should not stay in memory.
  INGOT_CLI_TRY(const Model model, console.open_model(options.file, FileAccess::read), console,
                options.file);
  // The format of this file; opening the next one replaces it.
  std::optional<ForeignFile> foreign;
  if (console.foreign() != nullptr) foreign = *console.foreign();
  std::optional<Model> reference;
  if (!options.reference.empty()) {
    INGOT_CLI_TRY(reference, console.open_model(options.reference, FileAccess::read), console,
                  options.reference);
  }
  const Model* reference_model = reference ? &*reference : nullptr;
  if (!console.is_json() && console.is_input(options.out)) {
    return console.refuse(options.out, "it is an input; the page must be another file");
  }
  if (!console.is_json() && options.out != "-") {
    const ExitCode code = check_early(options.out, options.is_forced, console);
    if (code != ExitCode::done) return code;
  }
  Result<void> ready = console.before_reading(options.file, model);
  if (ready && reference) ready = console.before_reading(options.reference, *reference);
  if (!ready) return console.fail(options.file, ready.error());
  const OrderlyStop orderly_stop;
  INGOT_CLI_TRY(const Report report, examine(console, options, model, reference_model), console,
                options.file);
  ReportData data{.file = options.file,
                  .model = model,
                  .foreign = foreign ? &*foreign : nullptr,
                  .reference_file = &options.reference,
                  .reference = reference_model,
                  .profiles = by_position(report, model),
                  .shows_all_keys = options.shows_all_keys,
                  .notices = report.notices};
  for (const Error& notice : model.notices()) data.notices.push_back(notice.message() + ".");
  const ExitCode written = write_report(options, console, data);
  if (written == ExitCode::done && !console.is_json()) remark_written(console, options.out);
  if (written != ExitCode::done || reference_model == nullptr ||
      has_counterpart(report, *reference)) {
    return written;
  }
  return console.refuse(
      options.reference,
      "no tensor here has the name and shape of one of the model, so no error was "
      "measured; is it another model?",
      ExitCode::negative);
}

}  // namespace

void add_report_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(
      program, "report", "Write a page that shows a model: map, sizes, histograms", examples);
  add_file(command, options->file);
  add_text(command, "-o,--output", options->out, "OUT", "The page to write, or - for stdout");
  add_text(command, "--reference", options->reference, "MODEL",
           "Measure how far the weights are from those of MODEL");
  add_switch(command, "--no-data", options->has_no_data, "Read the header only, no weights");
  add_switch(command, "--all", options->shows_all_keys, all_keys_description);
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
