// SPDX-License-Identifier: MIT
// Rules about sets of files.
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "base/messages.hpp"
#include "check/rules.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"

namespace ingot::check::rules {

void shard_missing(Inspection& inspection) {
  for (const Error& notice : inspection.model().notices()) {
    if (notice.code != Errc::shard_missing) continue;
    inspection.report_model(
        (notice.subject.empty() ? "" : quoted_name(notice.subject) + " is missing; ") +
        notice.detail);
  }
}

void split_keys(Inspection& inspection) {
  const Model& model = inspection.model();
  for (const Error& notice : model.notices()) {
    if (notice.code != Errc::shard_keys_wrong) continue;
    inspection.report({.key = notice.subject}, notice.detail);
  }
  if (model.find(keys::split_no) != nullptr && model.find(keys::split_count) == nullptr) {
    inspection.report({.key = keys::split_no}, "there is no split.count");
  }
  const Value* count = model.find(keys::split_count);
  if (count != nullptr && count->get<std::uint64_t>().value_or(1) == 0) {
    inspection.report_key(keys::split_count, "it is 0, and there is a file");
  }
  // Where a shard is missing, or a set is one file, the total was not compared yet.
  if (!model.notices().empty()) return;
  const Result<std::uint64_t> number = model.get<std::uint64_t>(keys::split_tensors_count);
  if (number && *number < model.tensors().size()) {
    inspection.report_key(keys::split_tensors_count,
                          "it is " + std::to_string(*number) + ", there are " +
                              std::to_string(model.tensors().size()) + " tensors");
  }
}

namespace {

/// The common properties of the weights of one kind in a file: "blk.0.ffn_up.weight" and
/// "blk.7.ffn_up.weight" are of one kind.
using Kinds = std::map<std::string, std::set<std::uint64_t>, std::less<>>;
constexpr std::size_t max_kinds = 4096;  // of one file; models have some dozens
constexpr std::size_t least_kinds = 3;   // fewer in common prove nothing

std::string kind_of(std::string_view name) {
  std::string kind;
  for (const char c : name) {
    if (!is_digit(c)) {
      kind += c;
    } else if (!kind.ends_with('#')) {
      kind += '#';
    }
  }
  return kind;
}

template <class Property>
Kinds collect(const ModelFile& file, const Property& property) {
  Kinds kinds;
  for (const TensorInfo& tensor : file.tensors) {
    // One-dimensional ones are F32 and equally long in all models of a family.
    if (tensor.shape.size() < 2 || kinds.size() > max_kinds) continue;
    kinds[kind_of(tensor.name)].insert(property(tensor));
  }
  return kinds;
}

/// Whether two files have kinds in common, and none of these has anything in common.
bool differ_in_all(const Kinds& a, const Kinds& b) {
  std::size_t common = 0;
  for (const auto& [kind, values] : a) {
    const auto other = b.find(kind);
    if (other == b.end()) continue;
    ++common;
    for (const std::uint64_t value : values) {
      if (other->second.contains(value)) return false;
    }
  }
  return common >= least_kinds;
}

/// Two sets with the same names and cuts still differ in their weights: files of one model agree in
/// some kind of weights at least.
template <class Property>
void compare_kinds(Inspection& inspection, const char* what, const Property& property) {
  const auto files = inspection.model().files();
  std::size_t reference = 0;
  Kinds expected;
  for (std::size_t i = 0; i < files.size(); ++i) {
    Kinds kinds = collect(files[i], property);
    if (expected.size() < least_kinds) {
      expected = std::move(kinds);
      reference = i;
    } else if (differ_in_all(expected, kinds)) {
      inspection.report({.file = i}, std::string("each kind of weights in it has ") + what +
                                         " than in " + quoted_name(files[reference].path));
    }
  }
}

}  // namespace

void shards_mixed(Inspection& inspection) {
  if (inspection.model().files().size() > 1) {
    compare_kinds(inspection, "another type",
                  [](const TensorInfo& tensor) { return std::uint64_t(tensor.type); });
    compare_kinds(inspection, "other rows",
                  [](const TensorInfo& tensor) { return tensor.shape[0]; });
  }
  const auto files = inspection.model().files();
  for (std::size_t i = 1; i < files.size(); ++i) {
    const auto differs = [&](const char* what) {
      inspection.report({.file = i}, std::string("it differs from the first shard in its ") + what);
    };
    if (files[i].version != files[0].version) differs("version");
    if (files[i].byte_order != files[0].byte_order) differs("byte order");
    if (files[i].alignment != files[0].alignment) differs("alignment");
    for (const KeyValue& entry : files[i].metadata) {
      if (entry.key != keys::general_architecture) continue;
      if (entry.value.get<std::string_view>().value_or("") != inspection.architecture()) {
        differs("architecture");
      }
    }
  }
}

}  // namespace ingot::check::rules
