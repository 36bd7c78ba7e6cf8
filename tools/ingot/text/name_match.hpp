// SPDX-License-Identifier: MIT
// Names as people mean them: globs, and an order in which blk.2 comes before blk.10.
#pragma once

#include <functional>
#include <ingot/model.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// Whether all of `text` matches `glob`: `*` any characters, `?` one, `[a-z]` one of a set,
/// `[!a-z]` one outside, and a backslash before a character takes it as it is. Time is at most
/// |glob| x |text|.
[[nodiscard]] bool matches_glob(std::string_view glob, std::string_view text) noexcept;

/// What finds the names that a pattern means: a glob of the whole name, or `re:` and a regular
/// expression that is found somewhere in it. Throws CLI::ValidationError if that is none.
using NameMatcher = std::function<bool(std::string_view name)>;
[[nodiscard]] NameMatcher name_matcher(const std::string& pattern);

/// The names that a user asked for by globs or `re:` expressions; without any, all names.
class NameFilter {
 public:
  explicit NameFilter(const std::vector<std::string>& globs);

  [[nodiscard]] bool matches(std::string_view name);

  /// The globs that no name has matched so far.
  [[nodiscard]] std::vector<std::string_view> unmatched() const;

 private:
  struct Glob {
    std::string_view text;
    NameMatcher matches;
    bool has_matched = false;
  };
  std::vector<Glob> globs_;
};

/// The names that a model has, as candidates for one that is misspelt.
[[nodiscard]] inline std::vector<std::string> key_names(const Model& model) {
  std::vector<std::string> names;
  for (const KeyValue& entry : model.metadata()) names.emplace_back(entry.key);
  return names;
}
[[nodiscard]] inline std::vector<std::string> tensor_names(const Model& model) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : model.tensors()) names.emplace_back(tensor.name);
  return names;
}

/// Whether `a` comes before `b` where runs of digits count as numbers.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b) noexcept;

}  // namespace ingot::cli
