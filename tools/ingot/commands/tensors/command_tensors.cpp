// SPDX-License-Identifier: MIT
// `ingot tensors FILE [NAME-GLOB...]` -- one line per tensor.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ingot/tensor_profile.hpp>
#include <ingot/tensor_statistics.hpp>
#include <ingot/text.hpp>
#include <memory>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "text/name_match.hpp"
#include "text/tensor_json.hpp"
#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot tensors model.gguf\n"
    "  ingot tensors model.gguf 'blk.0.*' --sort name\n"
    "  ingot tensors model.gguf --sort size | head\n"
    "  ingot tensors model.gguf --stats '*norm*'\n"
    "  ingot tensors model.gguf --json | jq -r '.[] | select(.type == \"F32\").name'\n"
    "\n"
    "Shapes begin with the dimension that varies fastest, as stored. Offsets count\n"
    "from the start of the file (in JSON, `offset` from that of the data section).\n"
    "--stats reads every weight; NaN and infinities are counted and left out of the\n"
    "rest.\n"
    "Exit status 1: no tensor matches.";

enum class Sort : std::uint8_t { file, name, size, offset };

struct Options {
  std::string file;
  std::vector<std::string> name_globs;
  Sort sort = Sort::file;
  std::uint64_t limit = 0;  ///< 0: all.
  bool has_stats = false;
};

using Tensors = std::vector<const TensorInfo*>;

void sort_tensors(Tensors& tensors, Sort sort) {
  if (sort == Sort::file) return;
  std::stable_sort(
      tensors.begin(), tensors.end(), [sort](const TensorInfo* a, const TensorInfo* b) {
        if (sort == Sort::name) return natural_less(a->name, b->name);
        // A user who sorts by size looks for the large ones.
        if (sort == Sort::size) return a->size_bytes > b->size_bytes;
        return a->shard != b->shard ? a->shard < b->shard : a->data_offset < b->data_offset;
      });
}

double bits_per_weight(std::uint64_t bytes, std::uint64_t elements) {
  return 8.0 * static_cast<double>(bytes) / static_cast<double>(elements);
}

std::string bits_text(std::uint64_t bytes, std::uint64_t elements) {
  if (elements == 0) return "-";
  // A listing has many of them, and the general way takes longer than all else of a line.
  const double hundredths = std::nearbyint(100 * bits_per_weight(bytes, elements));
  if (hundredths >= 1e15) return fmt::format("{:.2f}", bits_per_weight(bytes, elements));
  std::string text = std::to_string(static_cast<std::uint64_t>(hundredths));
  if (text.size() < 3) text.insert(0, 3 - text.size(), '0');
  return text.insert(text.size() - 2, 1, '.');
}

/// One set of statistics for each tensor, or an empty list.
using AllStatistics = std::vector<Statistics>;

/// The distribution of each tensor's weights in a few columns; or an empty list.
using Sparks = std::vector<std::string>;

/// Drawings are for people with a terminal that can show them, and room beside the numbers.
bool has_drawings(const Console& console) {
  return console.is_terminal() && console.is_unicode() && console.width() >= 100;
}

void print_json(Console& console, const Model& model, const Tensors& tensors,
                const AllStatistics& stats) {
  JsonStream json(console.out());
  json.objects(tensors.size(), [&](std::size_t i) {
    const TensorInfo* tensor = tensors[i];
    write_tensor_members(json, model, console.foreign(), *tensor);
    if (!stats.empty()) write_members(json, stats[i]);
  });
}

void print_totals(Console& console, const Tensors& tensors) {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  for (const TensorInfo* tensor : tensors) {
    elements += tensor->element_count;
    bytes += tensor->size_bytes;
  }
  std::string line = plural(tensors.size(), "tensor", "tensors");
  if (elements > 0) {
    line += fmt::format(", {} elements, {} ({} bytes), {} bits per weight", format_count(elements),
                        format_bytes(bytes), format_digits(bytes), bits_text(bytes, elements));
  }
  console.print_prose(line, Style::strong);
}

std::string number_text(double number) {
  return number == 0.0 ? "0" : fmt::format("{:.4g}", number);
}

/// Prints oddities of the numbers, if there are any.
void print_oddities(Console& console, const Tensors& tensors, const AllStatistics& stats) {
  for (std::size_t i = 0; i < stats.size(); ++i) {
    if (stats[i].nans == 0 && stats[i].infinities == 0) continue;
    console.out().print("{}: {} NaN, {} infinite\n", escape(tensors[i]->name),
                        format_digits(stats[i].nans), format_digits(stats[i].infinities));
  }
}

void print_statistics(Console& console, const Tensors& tensors, const AllStatistics& stats,
                      const Sparks& sparks) {
  std::vector<Column> columns = {{"name", Align::left, Narrow::shorten},
                                 {"type", Align::left, Narrow::hide},
                                 {"min", Align::right},
                                 {"max", Align::right},
                                 {"mean", Align::right, Narrow::hide},
                                 {"std", Align::right},
                                 {"zeros", Align::right, Narrow::hide},
                                 {"NaN", Align::right, Narrow::hide},
                                 {"Inf", Align::right, Narrow::hide}};
  if (!sparks.empty()) columns.push_back({"weights", Align::left});
  const auto make_row = [&](std::size_t row, std::span<std::string> cells) {
    const Statistics& found = stats[row];
    cells[0] = tensors[row]->name;
    cells[1] = type_text(tensors[row]->type);
    for (std::size_t i = 2; i < 6; ++i) cells[i] = "-";
    if (found.count > 0) {
      cells[2] = number_text(found.min);
      cells[3] = number_text(found.max);
      cells[4] = number_text(found.mean);
      cells[5] = number_text(found.deviation());
    }
    cells[6] = fmt::format("{}", found.zeros);
    cells[7] = fmt::format("{}", found.nans);
    cells[8] = fmt::format("{}", found.infinities);
    if (!sparks.empty()) cells[9] = sparks[row];
  };
  if (!tensors.empty()) print_table(console, columns, tensors.size(), make_row);
  print_totals(console, tensors);
  print_oddities(console, tensors, stats);
}

std::uint64_t largest_bytes(const Tensors& tensors) {
  std::uint64_t largest = 0;
  for (const TensorInfo* tensor : tensors) largest = std::max(largest, tensor->size_bytes);
  return largest;
}

void print_lines(Console& console, const Model& model, const Tensors& tensors) {
  std::vector<Column> columns = {{"name", Align::left, Narrow::shorten},
                                 {"shape", Align::left, Narrow::hide},
                                 {"type", Align::left},
                                 {"size", Align::right},
                                 {"offset", Align::right, Narrow::hide},
                                 {"bpw", Align::right, Narrow::hide}};
  const ForeignFile* foreign = console.foreign();
  const std::size_t file_count = foreign != nullptr ? foreign->paths.size() : model.files().size();
  const bool has_shards = file_count > 1;
  if (has_shards) columns.push_back({"shard", Align::right});
  const std::uint64_t largest = largest_bytes(tensors);
  const bool has_bars = has_drawings(console) && largest > 0;
  if (has_bars) columns.push_back({"", Align::left});
  const auto make_row = [&](std::size_t row, std::span<std::string> cells) {
    const TensorInfo& tensor = *tensors[row];
    cells[0] = tensor.name;
    cells[1] = shape_text(tensor.shape);
    cells[2] = type_text(tensor.type);
    cells[3] = format_bytes(tensor.size_bytes);
    const TensorPlace place = place_of(model, foreign, tensor);
    cells[4] = place.file_offset ? std::to_string(*place.file_offset) : "-";
    cells[5] = bits_text(tensor.size_bytes, tensor.element_count);
    if (has_shards) cells[6] = fmt::format("{}", place.shard + 1);
    if (has_bars) {
      const double share = static_cast<double>(tensor.size_bytes) / static_cast<double>(largest);
      cells.back() = bar(share, 12, true);
    }
  };
  if (!tensors.empty()) print_table(console, columns, tensors.size(), make_row);
  print_totals(console, tensors);
}

/// The statistics, and the sparks if a terminal shows them.
Result<AllStatistics> compute(Console& console, const std::string& file, const Model& model,
                              const Tensors& tensors, Sparks& sparks) {
  constexpr std::size_t spark_columns = 12;
  INGOT_TRY_VOID(console.before_reading(file, model, tensors));
  std::uint64_t total_bytes = 0;
  for (const TensorInfo* tensor : tensors) total_bytes += tensor->size_bytes;
  const OrderlyStop orderly_stop;
  Progress progress(console, file, total_bytes);
  const GoOn report = progress.go_on();
  if (console.is_json() || !has_drawings(console)) {
    return compute_statistics(model, tensors, console.threads(), report);
  }
  INGOT_TRY(
      const std::vector<TensorProfile> profiles,
      profile_tensors(
          model, tensors,
          {.bin_count = spark_columns, .reference = nullptr, .thread_count = console.threads()},
          report));
  AllStatistics stats;
  for (const TensorProfile& profile : profiles) {
    stats.push_back(profile.statistics);
    sparks.push_back(spark(profile.histogram.counts));
  }
  return stats;
}

ExitCode run(const Options& options, Console& console) {
  INGOT_CLI_TRY(const Model model, console.open_model(options.file), console, options.file);

  NameFilter filter(options.name_globs);
  Tensors tensors;
  for (const TensorInfo& tensor : model.tensors()) {
    if (filter.matches(tensor.name)) tensors.push_back(&tensor);
  }
  sort_tensors(tensors, options.sort);
  if (options.limit != 0 && tensors.size() > options.limit) tensors.resize(options.limit);
  AllStatistics stats;
  Sparks sparks;
  if (options.has_stats) {
    INGOT_CLI_TRY(stats, compute(console, options.file, model, tensors, sparks), console,
                  options.file);
  }
  const bool has_no_match = tensors.empty() && !options.name_globs.empty();
  if (console.is_json()) {
    print_json(console, model, tensors, stats);
  } else if (!has_no_match) {
    options.has_stats ? print_statistics(console, tensors, stats, sparks)
                      : print_lines(console, model, tensors);
  }
  for (const std::string_view glob : filter.unmatched()) {
    console.complain(options.file, "no tensor matches \"" + escape(glob) + "\"" +
                                       suggest(glob, tensor_names(model)));
  }
  return has_no_match ? ExitCode::negative : ExitCode::done;
}

}  // namespace

void add_tensors_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "tensors", "List tensors with shape, type, size and offset", examples);
  add_file(command, options->file);
  console.add_index_option(command);
  add_argument(command, "NAME-GLOB", options->name_globs,
               "Only tensors that match: * ? [a-z], or re:EXPRESSION");
  add_choice(command, "--sort", "KEY", options->sort,
             {{"name", Sort::name}, {"size", Sort::size}, {"offset", Sort::offset}},
             "Sort by {}: blk.2 comes before blk.10, the largest first; default: as in the file");
  add_number(command, "--limit", options->limit, 0, 1u << 31,
             "Tensors to print, 0 for all; default: 0");
  add_switch(command, "--stats", options->has_stats,
             "Range, mean, standard deviation, zeros, NaN and infinities of the weights");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
