// SPDX-License-Identifier: MIT
#include "commands/quantize/quantize_outputs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "cli/early_output.hpp"
#include "cli/imported_folder.hpp"
#include "cli/model_files.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr std::string_view read_endings[] = {".safetensors", ".json", ".model", ".txt", ".jinja"};

/// Whether two paths name one file, which need not exist yet.
bool names_same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (is_same_file(a, b)) return true;
  return fs::absolute(a, error).lexically_normal() == fs::absolute(b, error).lexically_normal();
}

/// Whether OUT is one of the files that are read, under whatever name.
bool is_input(const std::string& out, const Console& console, const QuantizeRequest& options) {
  return console.is_input(out) || is_file_of_folder(options.file, out) ||
         is_same_file(out, options.sensitivity) ||
         std::any_of(options.imatrix_files.begin(), options.imatrix_files.end(),
                     [&](const std::string& file) { return is_same_file(out, file); });
}

}  // namespace

ExitCode check_outputs(const QuantizeRequest& options, std::span<const QuantizedShard> files,
                       Console& console) {
  std::vector<std::string> outputs;
  for (const QuantizedShard& file : files) outputs.push_back(file.path);
  if (!options.report.empty()) {
    for (const std::string& out : outputs) {
      if (!names_same_file(out, options.report)) continue;
      return console.refuse(options.report, "the report must be another file than the model");
    }
    outputs.push_back(options.report);
  }
  for (const std::string& out : outputs) {
    if (is_input(out, console, options)) return console.refuse_input(out);
    // A model that is there may be what is wanted; the work will see.
    std::error_code ignored;
    const bool is_report = out == options.report;
    if (options.settings.resumes && !is_report && std::filesystem::exists(out, ignored)) continue;
    const ExitCode code = check_early(out, options.is_forced, console);
    if (code != ExitCode::done) return code;
  }
  return ExitCode::done;
}

std::string state_of_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> lines;
  // Files of the hub's cache are links, which are followed.
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto size_bytes = entry->file_size(error);
    const auto time = fs::last_write_time(entry->path(), error).time_since_epoch().count();
    // Those that an import reads, and no results of the run itself.
    const std::string ending = entry->path().extension().generic_string();
    const bool is_read = std::ranges::find(read_endings, ending) != std::end(read_endings);
    if (!error && is_read) {
      lines.push_back(
          fmt::format("{} {} {}\n", entry->path().filename().generic_string(), size_bytes, time));
    }
    error.clear();  // of a folder
  }
  std::ranges::sort(lines);
  return joined(lines, "");
}

}  // namespace ingot::cli
