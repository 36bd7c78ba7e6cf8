// SPDX-License-Identifier: MIT
// Rules about sets of files.
#include <string>

#include "check/rules.hpp"
#include "ingot/shard_name.hpp"
#include "ingot/text.hpp"

namespace ingot::check::rules {

void shard_missing(Inspection& inspection) {
  for (const Error& notice : inspection.model().notices()) {
    if (notice.code != Errc::shard_missing) continue;
    inspection.report_model(
        (notice.subject.empty() ? "" : "\"" + escape(notice.subject) + "\" is missing; ") +
        notice.detail);
  }
}

void split_keys(Inspection& inspection) {
  const Model& model = inspection.model();
  for (const Error& notice : model.notices()) {
    if (notice.code != Errc::shard_keys_wrong) continue;
    inspection.report({.key = notice.subject}, notice.detail);
  }
  if (model.find(split_index_key) != nullptr && model.find(split_count_key) == nullptr) {
    inspection.report({.key = split_index_key}, "there is no split.count");
  }
  const Value* count = model.find(split_count_key);
  if (count != nullptr && count->get<std::uint64_t>().value_or(1) == 0) {
    inspection.report({.file_offset = count->file_offset(), .key = split_count_key},
                      "it is 0, and there is a file");
  }
  // Where a shard is missing, or a set is one file, nobody has compared the total yet.
  const Value* total = model.find(split_tensors_key);
  if (total == nullptr || !model.notices().empty()) return;
  const Result<std::uint64_t> number = total->get<std::uint64_t>();
  if (number && *number < model.tensors().size()) {
    inspection.report({.file_offset = total->file_offset(), .key = split_tensors_key},
                      "it is " + std::to_string(*number) + ", there are " +
                          std::to_string(model.tensors().size()) + " tensors");
  }
}

void shards_mixed(Inspection& inspection) {
  const auto files = inspection.model().files();
  for (std::size_t i = 1; i < files.size(); ++i) {
    const auto differs = [&](const char* what) {
      inspection.report({.file = i}, std::string("it differs from the first shard in its ") + what);
    };
    if (files[i].version != files[0].version) differs("version");
    if (files[i].byte_order != files[0].byte_order) differs("byte order");
    if (files[i].alignment != files[0].alignment) differs("alignment");
    for (const KeyValue& entry : files[i].metadata) {
      if (entry.key != "general.architecture") continue;
      if (entry.value.get<std::string_view>().value_or("") != inspection.architecture()) {
        differs("architecture");
      }
    }
  }
}

}  // namespace ingot::check::rules
