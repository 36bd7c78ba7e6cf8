// SPDX-License-Identifier: MIT
#include "commands/ls/listing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <ingot/describe.hpp>
#include <ingot/model.hpp>
#include <ingot/projectors.hpp>
#include <ingot/summary.hpp>
#include <ingot/text.hpp>
#include <ingot/types.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "text/error_json.hpp"
#include "text/model_facts.hpp"
#include "text/name_match.hpp"
#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

std::optional<std::string> owned(const std::optional<std::string_view>& text) {
  return text && !text->empty() ? std::optional<std::string>(*text) : std::nullopt;
}

constexpr std::size_t column_count = 8;
using Row = std::array<std::string, column_count>;

/// The cells of a model; file and name are raw text.
Row row_of(const ListedModel& model) {
  return {model.file,
          model.name.value_or("-"),
          model.architecture.value_or("-"),
          model.parameter_count.value_or(0) > 0 ? format_count(*model.parameter_count) : "-",
          model.type.empty() ? "-" : model.type,
          model.bits_per_weight ? fmt::format("{:.2f}", *model.bits_per_weight) : "-",
          format_bytes(model.file_bytes),
          model.context_length ? format_digits(*model.context_length) : "-"};
}

/// Text as Markdown shows it, in a cell of a table.
std::string markdown_text(std::string_view text) {
  static constexpr std::string_view special = "\\`*[]<>#|&";
  std::string result;
  for (const char c : escape(text)) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Prints one line per model: a table for people, or one for a model card.
void print_models(Console& console, std::span<const ListedModel> models) {
  const std::array<Column, column_count> columns = {{{"file", Align::left, Narrow::shorten},
                                                     {"name", Align::left, Narrow::shorten},
                                                     {"architecture", Align::left, Narrow::hide},
                                                     {"params", Align::right},
                                                     {"type"},
                                                     {"bpw", Align::right, Narrow::hide},
                                                     {"size", Align::right},
                                                     {"context", Align::right, Narrow::hide}}};
  print_table(console, columns, models.size(), [&](std::size_t i, std::span<std::string> cells) {
    Row row = row_of(models[i]);
    row[2] = escape(row[2]);
    std::move(row.begin(), row.end(), cells.begin());
  });
}

void print_models_markdown(Console& console, std::span<const ListedModel> models) {
  Output& out = console.out();
  out.write(
      "| File | Name | Architecture | Parameters | Type | Bits per weight | Size | Context |\n");
  out.write("| --- | --- | --- | ---: | --- | ---: | ---: | ---: |\n");
  for (const ListedModel& model : models) {
    for (const std::string& cell : row_of(model)) out.print("| {} ", markdown_text(cell));
    out.write("|\n");
  }
}

void write_model(JsonStream& json, const ListedModel& model) {
  const auto object = json.object(Layout::line);
  write_members(json, model);
  if (!model.is_verified) json.member("verified", false);
}

/// The pairs among files, and the projectors that have none.
std::vector<ListedPair> pairs_of(std::span<const PairFacts> facts,
                                 std::span<const std::string> names) {
  std::vector<ListedPair> listed;
  std::vector<bool> is_paired(facts.size());
  for (const ProjectorPair& pair : find_pairs(facts)) {
    is_paired[pair.projector] = true;
    listed.push_back({names[pair.model], names[pair.projector], name_of(pair.strength)});
  }
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].is_projector && !is_paired[i]) listed.push_back({std::nullopt, names[i], {}});
  }
  return listed;
}

void print_pairs(Console& console, std::span<const ListedPair> pairs) {
  const std::array<Column, 3> columns = {{{"model", Align::left, Narrow::shorten},
                                          {"projector", Align::left, Narrow::shorten},
                                          {"match", Align::left}}};
  print_table(console, columns, pairs.size(), [&](std::size_t i, std::span<std::string> cells) {
    cells[0] = pairs[i].model.value_or("-");
    cells[1] = pairs[i].projector;
    cells[2] = pairs[i].model ? pairs[i].match : "none is here";
  });
}

void sort_models(std::vector<ListedModel>& models, ListOrder order) {
  if (order == ListOrder::found) return;
  const auto number = [order](const ListedModel& model) {
    return order == ListOrder::size         ? model.file_bytes
           : order == ListOrder::parameters ? model.parameter_count.value_or(0)
                                            : model.context_length.value_or(0);
  };
  std::ranges::stable_sort(models, [&](const ListedModel& a, const ListedModel& b) {
    return order == ListOrder::name ? natural_less(a.file, b.file) : number(a) > number(b);
  });
}

/// The listing while it is gathered; JSON is written as it comes, unless it has to be sorted.
class Listing {
 public:
  Listing(Console& console, const ListRequest& request)
      : console_(console), request_(request), json_(console.out()) {
    if (console.is_json()) json_.begin_array();
  }
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  /// `shown` is the file's name in a line for people.
  bool add(const std::string& file, std::string shown) {
    const Result<Model> model = console_.open_model(file);
    if (!model) {
      if (console_.is_json()) write_error_json(json_, file, model.error());
      console_.finish(console_.fail(file, model.error()));
    } else {
      facts_.push_back(pair_facts(*model));
      names_.push_back(console_.is_json() ? file : shown);
      take(list_model(names_.back(), *model, console_.foreign()));
    }
    const bool is_full =
        request_.order == ListOrder::found && request_.limit != 0 && count_ >= request_.limit;
    return !is_full && console_.out().is_open() && stop_signal() == 0;
  }

  /// A model, whether it was opened or not.
  void take(ListedModel model) {
    ++count_;
    if (request_.style == ListStyle::pairs) return;
    const bool is_cut = request_.order != ListOrder::found || request_.limit != 0;
    console_.is_json() && !is_cut ? write_model(json_, model) : models_.push_back(std::move(model));
  }

  void print() {
    if (request_.style == ListStyle::pairs) return print_only_pairs();
    sort_models(models_, request_.order);
    if (request_.limit != 0 && models_.size() > request_.limit) {
      models_.erase(models_.begin() + static_cast<std::ptrdiff_t>(request_.limit), models_.end());
    }
    if (console_.is_json()) {
      for (const ListedModel& model : models_) write_model(json_, model);
      return json_.end();
    }
    if (models_.empty()) return;
    if (request_.style == ListStyle::markdown) return print_models_markdown(console_, models_);
    print_models(console_, models_);
    const std::vector<ListedPair> pairs = pairs_of(facts_, names_);
    if (pairs.empty()) return;
    console_.out().put('\n');
    print_pairs(console_, pairs);
  }

 private:
  void print_only_pairs() {
    const std::vector<ListedPair> pairs = pairs_of(facts_, names_);
    if (!console_.is_json()) return print_pairs(console_, pairs);
    for (const ListedPair& pair : pairs) {
      const auto object = json_.object(Layout::line);
      write_members(json_, pair);
    }
    json_.end();
  }

  Console& console_;
  ListRequest request_;
  std::uint64_t count_ = 0;
  JsonStream json_;
  std::vector<ListedModel> models_;
  std::vector<PairFacts> facts_;  // of the models that were opened
  std::vector<std::string> names_;
};

/// A path without the folder that was listed.
std::string below(const std::string& folder, const std::string& path) {
  std::string start = folder;
  if (!start.ends_with('/')) start += '/';
  return path.starts_with(start) ? path.substr(start.size()) : path;
}

/// The file type that a name has as a word of its own: the longest, so that Q4_K_M is no Q4_K.
std::string type_of_name(std::string_view name) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const std::string upper = upper_case(name.substr(name.rfind('/') + 1));
  std::string_view best;
  for (const FileTypeInfo& type : file_types) {
    const std::size_t at = upper.find(type.name);
    if (at == std::string::npos || type.name.size() < best.size()) continue;
    const std::size_t end = at + type.name.size();
    const bool is_word =
        (at == 0 || !is_letter(upper[at - 1])) && (end == upper.size() || !is_letter(upper[end]));
    if (is_word) best = type.name;
  }
  return std::string(best);
}

void list_repository(Console& console, Listing& listing, const std::string& place,
                     RepositoryHeads heads) {
  const Result<std::vector<RepositoryModel>> models = console.remote().list(console, place);
  if (!models) return console.finish(console.fail(place, models.error()));
  for (const RepositoryModel& model : *models) {
    if (heads == RepositoryHeads::fetched) {
      if (!listing.add(model.reference, model.name)) return;
      continue;
    }
    ListedModel listed;
    listed.file = console.is_json() ? model.reference : model.name;
    listed.type = type_of_name(model.name);
    listed.file_bytes = model.file_bytes;
    listing.take(std::move(listed));
  }
  if (!models->empty()) return;
  console.complain(place, "there is no model here: no file has a name that ends as that of one");
  console.finish(ExitCode::negative);
}

}  // namespace

ListedModel list_model(const std::string& file, const Model& model, const ForeignFile* foreign) {
  const Summary summary = summarize(model);
  ListedModel listed{
      .file = file,
      .name = owned(summary.name),
      .architecture = owned(summary.architecture),
      .parameter_count = summary.parameter_count,
      .type = std::string(file_type_name(summary.file_type.value_or(~0ull))),
      .bits_per_weight = summary.bits_per_weight,
      .file_bytes = foreign != nullptr ? foreign->file_bytes : total_file_bytes(model),
      .context_length = summary.context_length,
      .is_verified = model.is_verified()};
  if (listed.type.empty() && !summary.types.empty()) {
    listed.type = type_text(summary.types.front().type);
  }
  return listed;
}

void list_places(Console& console, std::span<const std::string> places, const ListRequest& request,
                 RepositoryHeads heads) {
  Listing listing(console, request);
  for (const std::string& place : places) {
    if (stop_signal() != 0 || !console.out().is_open()) break;
    if (console.remote().is_repository(place)) {
      list_repository(console, listing, place, heads);
      continue;
    }
    if (!is_folder(place)) {
      listing.add(place, place);
      continue;
    }
    const FolderCounts counts = for_each_model(
        console, place,
        [&](const std::string& file) {
          return listing.add(file, places.size() == 1 ? below(place, file) : file);
        },
        [](const std::string&, const std::string&) {});
    if (counts.models != 0) continue;
    console.complain(place, "there is no model here: no file has a name that ends in .gguf");
    console.finish(ExitCode::negative);
  }
  listing.print();
}

}  // namespace ingot::cli
