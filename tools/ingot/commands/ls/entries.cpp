// SPDX-License-Identifier: MIT
#include "commands/ls/entries.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ingot/import.hpp>
#include <ingot/model_digests.hpp>
#include <ingot/summary.hpp>
#include <ingot/text.hpp>
#include <map>
#include <set>
#include <utility>

#include "cli/imported_folder.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "system/system.hpp"
#include "text/error_json.hpp"
#include "text/model_facts.hpp"
#include "text/name_match.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// Opens the model of an entry and calls use(model, foreign format or nullptr). A folder of Hugging
/// Face is the model that its import would make, and its remarks are for those who import it.
template <class Use>
Result<void> with_model(Console& console, const std::string& path, FileAccess access,
                        const Use& use) {
  if (has_model_to_import(path)) {
    INGOT_TRY(const auto import, plan_import(file_system(), path, {}));
    INGOT_TRY(const Model model, import->open_model());
    use(model, nullptr);
    return {};
  }
  INGOT_TRY(const Model model, console.open_stored(path, access));
  use(model, console.foreign());
  return {};
}

/// The digests of an entry that are asked for; nothing if its bytes cannot be read.
std::optional<ModelDigests> digests_of(Console& console, const Entry& entry,
                                       const DigestRequest& request) {
  Progress progress(console, entry.place.name, entry.facts.file_bytes);
  std::optional<ModelDigests> digests;
  const auto read = [&](const Model& model, const ForeignFile*) {
    Result<ModelDigests> computed = compute_digests(model, request, [&](std::uint64_t done) {
      progress.update(done);
      return stop_signal() == 0;
    });
    if (computed) digests = *std::move(computed);
  };
  if (!with_model(console, entry.place.path, FileAccess::read, read)) return std::nullopt;
  return digests;
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

/// Adds the digest of a file; of a set of shards each has its own, and a folder has none.
void add_digest(Console& console, Entry& entry) {
  const bool is_file = !entry.place.path.empty() && !entry.is_split && !is_folder(entry.place.path);
  if (entry.place.sha256 || entry.refusal || !is_file) return;
  const auto digests = digests_of(console, entry, {.has_tensors = false});
  if (digests) entry.place.sha256 = digests->files.front()[DigestAlgorithm::sha256];
}

void sort_entries(std::vector<Entry>& entries, ListOrder order) {
  if (order == ListOrder::found) return;
  const auto number = [order](const Entry& entry) -> std::uint64_t {
    if (order == ListOrder::size) return entry.facts.file_bytes;
    if (order == ListOrder::date)
      return static_cast<std::uint64_t>(std::max<std::int64_t>(entry.modified_at.value_or(0), 0));
    return order == ListOrder::parameters ? entry.facts.parameter_count.value_or(0)
                                          : entry.facts.context_length.value_or(0);
  };
  std::ranges::stable_sort(entries, [&](const Entry& a, const Entry& b) {
    return order == ListOrder::name ? natural_less(a.place.name, b.place.name)
                                    : number(a) > number(b);
  });
}

/// The facts that the files of folders and the models of stores have in common.
void write_facts(JsonStream& json, const Entry& entry, const ListRequest& request) {
  json.member("size_bytes", entry.facts.file_bytes);
  json.member("license", entry.license);
  json.member("chat_template", entry.has_chat_template);
  json.member("modified_at", entry.modified_at);
  if (request.finds_duplicates) json.member("duplicate_of", entry.duplicate_of);
}

}  // namespace

void add_facts(Entry& entry, const std::string& name, const Model& model,
               const ForeignFile* foreign) {
  entry.facts = list_model(name, model, foreign);
  entry.pair = pair_facts(model);
  if (const auto text = find_text(model, "general.license")) entry.license = *text;
  entry.has_chat_template = find_text(model, "tokenizer.chat_template").has_value();
}

Entry look_at(Console& console, LocalModel place, const std::string& shown) {
  Entry entry;
  entry.shown = shown;
  if (system::FileFacts facts; system::look_at(place.path, facts)) {
    entry.file = {facts.device, facts.inode};
    entry.facts.file_bytes = facts.size_bytes;
    entry.modified_at = facts.modified_ns / 1'000'000'000;
  }
  entry.facts.file = place.name;
  const auto read = [&](const Model& model, const ForeignFile* foreign) {
    add_facts(entry, place.name, model, foreign);
    entry.is_split = model.is_split();
    entry.tensor_count = model.tensors().size();
    for (const TensorInfo& tensor : model.tensors()) entry.tensor_bytes += tensor.size_bytes;
  };
  const Result<void> opened = with_model(console, place.path, FileAccess::map, read);
  if (!opened) entry.refusal = opened.error();
  entry.place = std::move(place);
  return entry;
}

std::function<bool(const Entry&)> entry_filter(const ListRequest& request) {
  if (request.pattern.empty()) return [](const Entry&) { return true; };
  return [matches = name_matcher(request.pattern)](const Entry& entry) {
    return matches(entry.shown) || matches(entry.facts.architecture.value_or(""));
  };
}

void arrange(Console& console, std::vector<Entry>& entries, const ListRequest& request) {
  if (request.finds_duplicates) find_duplicates(console, entries);
  sort_entries(entries, request.order);
  if (request.limit != 0 && entries.size() > request.limit) entries.resize(request.limit);
  if (!request.has_digests) return;
  for (Entry& entry : entries) add_digest(console, entry);
}

void write_stored(JsonStream& json, const Entry& entry, const ListRequest& request) {
  write_members(json, entry.place);
  json.member("file", entry.place.name);
  json.member("title", entry.facts.name);
  json.member("architecture", entry.facts.architecture);
  json.member("parameters", entry.facts.parameter_count);
  json.text_or_null("type", entry.facts.type);
  json.member("bits_per_weight", entry.facts.bits_per_weight);
  json.member("file_size", entry.facts.file_bytes);
  json.member("context_length", entry.facts.context_length);
  write_facts(json, entry, request);
  json.text_or_null("error", entry.refusal ? entry.refusal->message() : std::string());
}

void write_found(JsonStream& json, const Entry& entry, const ListRequest& request) {
  if (entry.refusal) return write_error_json(json, entry.facts.file, *entry.refusal);
  const auto object = json.object(Layout::line);
  write_members(json, entry.facts);
  json.text_or_null("store", entry.place.store);
  json.text_or_null("path", entry.place.path);
  json.member("sha256", entry.place.sha256);
  json.member("title", entry.facts.name);
  write_facts(json, entry, request);
  if (!entry.facts.is_verified) json.member("verified", false);
}

void print_entries(Console& console, const std::vector<Entry>& entries,
                   const ListRequest& request) {
  // What matters least is last, as narrow terminals leave it out first.
  std::vector<Column> columns = {{"model"},
                                 {"architecture", Align::left, Narrow::hide},
                                 {"params", Align::right, Narrow::hide},
                                 {"type", Align::left, Narrow::hide},
                                 {"size", Align::right, Narrow::hide},
                                 {"context", Align::right, Narrow::hide},
                                 {"license", Align::left, Narrow::hide},
                                 {"chat", Align::left, Narrow::hide},
                                 {"date", Align::left, Narrow::hide},
                                 {"bpw", Align::right, Narrow::hide},
                                 {"name", Align::left, Narrow::hide}};
  if (request.has_digests) columns.push_back({"sha256", Align::left, Narrow::hide});
  if (request.finds_duplicates) columns.push_back({"same weights as"});
  print_table(console, columns, entries.size(), [&](std::size_t i, std::span<std::string> cells) {
    const Entry& entry = entries[i];
    const ListedModel& facts = entry.facts;
    const std::uint64_t parameters = facts.parameter_count.value_or(0);
    cells[0] = escape(entry.shown);
    cells[1] = entry.refusal ? "refused" : escape(facts.architecture.value_or("-"));
    cells[2] = parameters > 0 ? format_count(parameters) : "-";
    cells[3] = facts.type.empty() ? "-" : facts.type;
    cells[4] = format_bytes(facts.file_bytes);
    cells[5] = facts.context_length ? format_digits(*facts.context_length) : "-";
    cells[6] = escape_shortened(entry.license.value_or("-"), 20);
    cells[7] = entry.has_chat_template ? "yes" : "-";
    cells[8] = entry.modified_at ? time_text(*entry.modified_at).substr(0, 10) : "-";
    cells[9] = facts.bits_per_weight ? fmt::format("{:.2f}", *facts.bits_per_weight) : "-";
    cells[10] = escape_shortened(facts.name.value_or("-"), 40);
    std::size_t next = 11;
    if (request.has_digests) cells[next++] = entry.place.sha256.value_or("-");
    if (request.finds_duplicates) cells[next++] = escape(entry.duplicate_of.value_or("-"));
  });
}

std::vector<ListedPair> pairs_of(const Console& console, const std::vector<Entry>& entries) {
  std::vector<PairFacts> facts;
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (!entry.pair) continue;
    facts.push_back(*entry.pair);
    names.push_back(console.is_json() ? entry.facts.file : entry.shown);
  }
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

void print_pairs(Console& console, const std::vector<ListedPair>& pairs) {
  const std::array<Column, 3> columns = {{{"model", Align::left, Narrow::shorten},
                                          {"projector", Align::left, Narrow::shorten},
                                          {"match", Align::left}}};
  print_table(console, columns, pairs.size(), [&](std::size_t i, std::span<std::string> cells) {
    cells[0] = pairs[i].model.value_or("-");
    cells[1] = pairs[i].projector;
    cells[2] = pairs[i].model ? pairs[i].match : "none is here";
  });
}

void print_only_pairs(Console& console, const std::vector<Entry>& entries) {
  const std::vector<ListedPair> pairs = pairs_of(console, entries);
  if (!console.is_json()) return print_pairs(console, pairs);
  JsonStream json(console.out());
  const auto array = json.array();
  for (const ListedPair& pair : pairs) {
    const auto object = json.object(Layout::line);
    write_members(json, pair);
  }
}

void print_sum(Console& console, const std::vector<Entry>& entries, bool finds_duplicates) {
  std::set<FileIdentity> files;
  std::uint64_t all_bytes = 0;
  std::uint64_t won_bytes = 0;
  std::size_t duplicate_count = 0;
  for (const Entry& entry : entries) {
    if (files.insert(entry.file).second) all_bytes += entry.facts.file_bytes;
    if (!entry.duplicate_of) continue;
    ++duplicate_count;
    if (entry.has_own_bytes) won_bytes += entry.facts.file_bytes;
  }
  console.out().print("\n{}, {}\n", plural(entries.size(), "model", "models"),
                      format_bytes(all_bytes));
  if (!finds_duplicates) return;
  console.out().print("{} of the weights of a model above; without, {} less\n",
                      plural(duplicate_count, "duplicate", "duplicates"), format_bytes(won_bytes));
}

}  // namespace ingot::cli
