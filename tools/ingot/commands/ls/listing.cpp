// SPDX-License-Identifier: MIT
#include "commands/ls/listing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <functional>
#include <ingot/describe.hpp>
#include <ingot/model.hpp>
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
#include "cli/imported_folder.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/table.hpp"
#include "commands/ls/entries.hpp"
#include "text/model_facts.hpp"
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
Row row_of(const Entry& entry) {
  const ListedModel& model = entry.facts;
  return {entry.shown,
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

/// Prints a table for a model card.
void print_markdown(Console& console, const std::vector<Entry>& entries) {
  Output& out = console.out();
  out.write(
      "| File | Name | Architecture | Parameters | Type | Bits per weight | Size | Context |\n");
  out.write("| --- | --- | --- | ---: | --- | ---: | ---: | ---: |\n");
  for (const Entry& entry : entries) {
    if (entry.refusal) continue;
    for (const std::string& cell : row_of(entry)) out.print("| {} ", markdown_text(cell));
    out.write("|\n");
  }
}

/// The listing while it is gathered.
class Listing {
 public:
  Listing(Console& console, const ListRequest& request)
      : console_(console), request_(request), is_wanted_(entry_filter(request)) {}

  /// `shown` is the file's name in a line for people; a file that the user did not name is of a
  /// folder, whose refused files are counted.
  bool add(const std::string& file, const std::string& shown, bool is_named) {
    const std::string path = console_.remote().is_meant(file) ? std::string() : file;
    Entry entry = path.empty() ? look_at_reference(file, shown)
                               : look_at(console_, {file, "local", path, {}}, shown);
    if (!is_wanted_(entry)) return goes_on();
    if (entry.refusal) refuse(file, *entry.refusal, is_named);
    entries_.push_back(std::move(entry));
    return goes_on();
  }

  /// A model of a server that was not opened.
  void take(Entry entry) {
    if (is_wanted_(entry)) entries_.push_back(std::move(entry));
  }

  /// Says how many files of a folder were refused since it was said last.
  void report_refused(const std::string& place) {
    const std::uint64_t count = std::exchange(refused_, 0);
    if (count == 0) return;
    console_.complain(place,
                      fmt::format("{} refused; 'ingot check' says why",
                                  count == 1 ? "1 file is" : fmt::format("{} files are", count)));
  }

  void print() {
    arrange(console_, entries_, request_);
    if (request_.style == ListStyle::pairs) return print_only_pairs(console_, entries_);
    if (console_.is_json()) {
      JsonStream json(console_.out());
      const auto array = json.array();
      for (const Entry& entry : entries_) write_found(json, entry, request_);
      return;
    }
    if (entries_.empty()) return;
    if (request_.style == ListStyle::markdown) return print_markdown(console_, entries_);
    print_entries(console_, entries_, request_);
    if (request_.finds_duplicates) print_sum(console_, entries_, true);
    const std::vector<ListedPair> pairs = pairs_of(console_, entries_);
    if (pairs.empty()) return;
    console_.out().put('\n');
    print_pairs(console_, pairs);
  }

 private:
  [[nodiscard]] bool goes_on() const {
    const bool is_full = request_.order == ListOrder::found && request_.limit != 0 &&
                         entries_.size() >= request_.limit;
    return !is_full && console_.out().is_open() && stop_signal() == 0;
  }

  /// A model on a server, or in the store that a reference leads to.
  Entry look_at_reference(const std::string& reference, const std::string& shown) {
    Entry entry;
    entry.shown = shown;
    entry.place.name = reference;
    entry.facts.file = reference;
    const Result<Model> model = console_.open_model(reference);
    if (!model) {
      entry.refusal = model.error();
      return entry;
    }
    add_facts(entry, reference, *model, console_.foreign());
    return entry;
  }

  void refuse(const std::string& file, const Error& error, bool is_named) {
    if (is_named) return console_.finish(console_.fail(file, error));
    ++refused_;
    console_.finish(category_of(error.code) == ErrorCategory::system ? ExitCode::system
                                                                     : ExitCode::refused);
  }

  Console& console_;
  ListRequest request_;
  std::function<bool(const Entry&)> is_wanted_;
  std::vector<Entry> entries_;
  std::uint64_t refused_ = 0;
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
      if (!listing.add(model.reference, model.name, true)) return;
      continue;
    }
    Entry entry;
    entry.shown = model.name;
    entry.facts.file = model.reference;
    entry.facts.type = type_of_name(model.name);
    entry.facts.file_bytes = model.file_bytes;
    listing.take(std::move(entry));
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
      listing.add(place, place, true);
      continue;
    }
    const auto add = [&](const std::string& path) {
      return listing.add(path, places.size() == 1 ? below(place, path) : path, false);
    };
    const FolderCounts counts = for_each_model(
        console, place, add, [](const std::string&, const std::string&) {},
        [&](const std::string& folder) {
          if (!has_model_to_import(folder)) return false;
          add(folder);
          return true;
        });
    listing.report_refused(place);
    if (counts.models != 0) continue;
    console.complain(place,
                     "there is no model here: no file has a name that ends in .gguf, "
                     "and no folder is one of Hugging Face");
    console.finish(ExitCode::negative);
  }
  listing.print();
}

}  // namespace ingot::cli
