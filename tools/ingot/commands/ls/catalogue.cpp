// SPDX-License-Identifier: MIT
#include "commands/ls/catalogue.hpp"

#include <ingot/local_models.hpp>
#include <utility>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "commands/ls/entries.hpp"

namespace ingot::cli {

void list_catalogue(Console& console, const ListRequest& request) {
  const OrderlyStop orderly_stop;
  const auto is_wanted = entry_filter(request);
  std::vector<Entry> entries;
  for (LocalModel& place : list_local_models(local_stores())) {
    if (stop_signal() != 0) return console.finish(ExitCode::interrupted);
    const std::string name = place.name;
    Entry entry = look_at(console, std::move(place), name);
    if (is_wanted(entry)) entries.push_back(std::move(entry));
  }
  arrange(console, entries, request);
  if (request.style == ListStyle::pairs && !entries.empty()) {
    print_only_pairs(console, entries);
  } else if (console.is_json()) {
    JsonStream json(console.out());
    json.objects(entries, [&](const Entry& entry) { write_stored(json, entry, request); });
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
