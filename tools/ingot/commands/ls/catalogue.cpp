// SPDX-License-Identifier: MIT
#include "commands/ls/catalogue.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/local_models.hpp>
#include <ingot/model_digests.hpp>
#include <ingot/text.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "system/system.hpp"
#include "text/model_facts.hpp"
#include "text/name_match.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// Which file a path leads to: links to one file are one.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;

/// A model of the catalogue. Texts are raw bytes of files and names.
struct Entry {
  LocalModel place;
  std::optional<ListedModel> facts;  ///< Nothing of a file that is refused.
  std::string refusal;
  std::optional<std::string> license;
  bool has_chat_template = false;
  bool is_split = false;
  std::uint64_t tensor_bytes = 0;
  std::size_t tensor_count = 0;
  std::uint64_t file_bytes = 0;
  std::int64_t modified_at = 0;  ///< Seconds since 1970.
  FileIdentity file;
  std::optional<std::string> duplicate_of;  ///< The name of the first model with the same weights.
  bool has_own_bytes = false;  ///< Of a duplicate: whether no model before it is the same file.
};

Entry look_at(Console& console, LocalModel place) {
  Entry entry;
  if (system::FileFacts facts; system::look_at(place.path, facts)) {
    entry.file = {facts.device, facts.inode};
    entry.file_bytes = facts.size_bytes;
    entry.modified_at = facts.modified_ns / 1'000'000'000;
  }
  const Result<Model> model = console.open_stored(place.path);
  if (model) {
    entry.facts = list_model(place.name, *model, console.foreign());
    entry.file_bytes = entry.facts->file_bytes;
    if (const auto text = find_text(*model, "general.license")) entry.license = *text;
    entry.has_chat_template = find_text(*model, "tokenizer.chat_template").has_value();
    entry.is_split = model->is_split();
    entry.tensor_count = model->tensors().size();
    for (const TensorInfo& tensor : model->tensors()) entry.tensor_bytes += tensor.size_bytes;
  } else {
    entry.refusal = model.error().message();
  }
  entry.place = std::move(place);
  return entry;
}

/// The digests of an entry that are asked for; nothing if its bytes cannot be read.
std::optional<ModelDigests> digests_of(Console& console, const Entry& entry,
                                       const DigestRequest& request) {
  const Result<Model> model = console.open_stored(entry.place.path, FileAccess::read);
  if (!model) return std::nullopt;
  Progress progress(console, entry.place.name, entry.file_bytes);
  Result<ModelDigests> digests = compute_digests(*model, request, [&](std::uint64_t done) {
    progress.update(done);
    return stop_signal() == 0;
  });
  return digests ? std::optional(*std::move(digests)) : std::nullopt;
}

/// Finds models with the same weights. Those are read only where their number and size allow that
/// they are equal, and once for each file.
void find_duplicates(Console& console, std::vector<Entry>& entries) {
  std::map<std::pair<std::uint64_t, std::size_t>, std::vector<Entry*>> alike;
  for (Entry& entry : entries) {
    if (entry.tensor_count > 0) alike[{entry.tensor_bytes, entry.tensor_count}].push_back(&entry);
  }
  const DigestRequest weights = {.algorithms = {DigestAlgorithm::xxh3_128},
                                 .has_files = false,
                                 .has_tensors = false,
                                 .has_weights = true,
                                 .thread_count = console.threads()};
  for (const auto& [shape, group] : alike) {
    if (group.size() < 2) continue;
    std::map<FileIdentity, std::string> digests;
    std::map<std::string, const Entry*> firsts;
    for (Entry* entry : group) {
      auto known = digests.find(entry->file);
      entry->has_own_bytes = known == digests.end();
      if (entry->has_own_bytes) {
        const auto found = digests_of(console, *entry, weights);
        if (!found) continue;
        known = digests.emplace(entry->file, found->weights[DigestAlgorithm::xxh3_128]).first;
      }
      const auto [first, is_new] = firsts.emplace(known->second, entry);
      if (!is_new) entry->duplicate_of = first->second->place.name;
    }
  }
}

/// Adds the digest of a file; of a set of shards each has its own.
void add_digest(Console& console, Entry& entry) {
  if (entry.place.sha256 || entry.is_split) return;
  const auto digests = digests_of(console, entry, {.has_tensors = false});
  if (digests) entry.place.sha256 = digests->files.front()[DigestAlgorithm::sha256];
}

void sort_entries(std::vector<Entry>& entries, ListOrder order) {
  const auto number = [order](const Entry& entry) -> std::uint64_t {
    if (order == ListOrder::size) return entry.file_bytes;
    if (order == ListOrder::date) return static_cast<std::uint64_t>(entry.modified_at);
    if (!entry.facts) return 0;
    return order == ListOrder::parameters ? entry.facts->parameter_count.value_or(0)
                                          : entry.facts->context_length.value_or(0);
  };
  if (order == ListOrder::found) return;
  std::ranges::stable_sort(entries, [&](const Entry& a, const Entry& b) {
    return order == ListOrder::name ? natural_less(a.place.name, b.place.name)
                                    : number(a) > number(b);
  });
}

void write_entry(JsonStream& json, const Entry& entry, const CatalogueRequest& request) {
  const ListedModel facts = entry.facts.value_or(ListedModel{});
  write_members(json, entry.place);
  json.member("title", facts.name);
  json.member("architecture", facts.architecture);
  json.member("parameters", facts.parameter_count);
  json.text_or_null("type", facts.type);
  json.member("bits_per_weight", facts.bits_per_weight);
  json.member("size_bytes", entry.file_bytes);
  json.member("context_length", facts.context_length);
  json.member("license", entry.license);
  json.member("chat_template", entry.has_chat_template);
  json.member("modified_at", entry.modified_at);
  if (request.finds_duplicates) json.member("duplicate_of", entry.duplicate_of);
  json.text_or_null("error", entry.refusal);
}

void print_entries(Console& console, const std::vector<Entry>& entries,
                   const CatalogueRequest& request) {
  std::vector<Column> columns = {{"name", Align::left, Narrow::shorten},
                                 {"architecture", Align::left, Narrow::hide},
                                 {"params", Align::right},
                                 {"type"},
                                 {"size", Align::right},
                                 {"context", Align::right, Narrow::hide},
                                 {"license", Align::left, Narrow::hide},
                                 {"chat", Align::left, Narrow::hide},
                                 {"date", Align::left, Narrow::hide}};
  if (request.has_digests) columns.push_back({"sha256", Align::left, Narrow::hide});
  if (request.finds_duplicates)
    columns.push_back({"same weights as", Align::left, Narrow::shorten});
  print_table(console, columns, entries.size(), [&](std::size_t i, std::span<std::string> cells) {
    const Entry& entry = entries[i];
    const ListedModel facts = entry.facts.value_or(ListedModel{});
    cells[0] = entry.place.name;
    cells[1] = entry.facts ? escape(facts.architecture.value_or("-")) : "refused";
    const std::uint64_t parameters = facts.parameter_count.value_or(0);
    cells[2] = parameters > 0 ? format_count(parameters) : "-";
    cells[3] = facts.type.empty() ? "-" : facts.type;
    cells[4] = format_bytes(entry.file_bytes);
    cells[5] = facts.context_length ? format_digits(*facts.context_length) : "-";
    cells[6] = escape_shortened(entry.license.value_or("-"), 20);
    cells[7] = entry.has_chat_template ? "yes" : "-";
    cells[8] = time_text(entry.modified_at).substr(0, 10);
    std::size_t next = 9;
    if (request.has_digests) cells[next++] = entry.place.sha256.value_or("-");
    if (request.finds_duplicates) cells[next++] = entry.duplicate_of.value_or("-");
  });
}

/// What all of them take on the disk; files that several names lead to count once.
void print_sum(Console& console, const std::vector<Entry>& entries, bool finds_duplicates) {
  std::set<FileIdentity> files;
  std::uint64_t all_bytes = 0;
  std::uint64_t won_bytes = 0;
  std::size_t duplicate_count = 0;
  for (const Entry& entry : entries) {
    if (files.insert(entry.file).second) all_bytes += entry.file_bytes;
    if (!entry.duplicate_of) continue;
    ++duplicate_count;
    if (entry.has_own_bytes) won_bytes += entry.file_bytes;
  }
  console.out().print("\n{}, {}\n", plural(entries.size(), "model", "models"),
                      format_bytes(all_bytes));
  if (!finds_duplicates) return;
  console.out().print("{} of the weights of a model above; without, {} less\n",
                      plural(duplicate_count, "duplicate", "duplicates"), format_bytes(won_bytes));
}

}  // namespace

void list_catalogue(Console& console, const CatalogueRequest& request) {
  const OrderlyStop orderly_stop;
  const auto matches = request.pattern.empty() ? NameMatcher() : name_matcher(request.pattern);
  std::vector<Entry> entries;
  for (LocalModel& place : list_local_models(local_stores())) {
    if (stop_signal() != 0) return console.finish(ExitCode::interrupted);
    Entry entry = look_at(console, std::move(place));
    const bool is_wanted = !matches || matches(entry.place.name) ||
                           (entry.facts && matches(entry.facts->architecture.value_or("")));
    if (is_wanted) entries.push_back(std::move(entry));
  }
  if (request.finds_duplicates) find_duplicates(console, entries);
  sort_entries(entries, request.list.order);
  if (request.list.limit != 0 && entries.size() > request.list.limit) {
    entries.resize(request.list.limit);
  }
  if (request.has_digests) {
    for (Entry& entry : entries) add_digest(console, entry);
  }
  if (console.is_json()) {
    JsonStream json(console.out());
    json.objects(entries, [&](const Entry& entry) { write_entry(json, entry, request); });
  } else if (!entries.empty()) {
    print_entries(console, entries, request);
    print_sum(console, entries, request.finds_duplicates);
  }
  if (!entries.empty()) return;
  console.complain("", request.pattern.empty()
                           ? "no program keeps a model on this system where 'ingot help ls' says; "
                             "'ingot ls .' lists this folder"
                           : "no model of this system fits the pattern");
  console.finish(ExitCode::negative);
}

}  // namespace ingot::cli
