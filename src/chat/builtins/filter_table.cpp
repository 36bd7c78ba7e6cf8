// SPDX-License-Identifier: MIT
// All filters.
#include <algorithm>

#include "chat/builtins/filter_functions.hpp"

namespace ingot::chat {
namespace {

constexpr auto extra_accepted = Builtin::Extra::accepted;

constexpr Builtin filter_rows[] = {
    {"abs", filter_abs},
    {"attr", filter_attr, "name", 1},
    {"batch", filter_batch, "linecount fill_with", 1},
    {"capitalize", filter_capitalize},
    {"center", filter_center, "width"},
    {"count", filter_length},
    {"d", filter_default, "default_value boolean"},
    {"default", filter_default, "default_value boolean"},
    {"dictsort", filter_dictsort, "case_sensitive by reverse"},
    {"e", filter_escape},
    {"escape", filter_escape},
    {"filesizeformat", filter_filesizeformat, "binary"},
    {"first", filter_first},
    {"float", filter_float, "default"},
    {"forceescape", filter_force_escape},
    {"format", filter_format, "", 0, extra_accepted},
    {"groupby", filter_groupby, "attribute default case_sensitive", 1},
    {"indent", filter_indent, "width first blank"},
    {"int", filter_int, "default base"},
    {"items", filter_items},
    {"join", filter_join, "d attribute"},
    {"last", filter_last},
    {"length", filter_length},
    {"list", filter_list},
    {"lower", filter_lower},
    {"map", filter_map, "", 0, extra_accepted},
    {"max", filter_max, "case_sensitive attribute"},
    {"min", filter_min, "case_sensitive attribute"},
    {"pprint", filter_pprint},
    {"random", filter_random},
    {"reject", filter_reject, "", 0, extra_accepted},
    {"rejectattr", filter_rejectattr, "", 0, extra_accepted},
    {"replace", filter_replace, "old new count", 2},
    {"reverse", filter_reverse},
    {"round", filter_round, "precision method"},
    {"safe", filter_safe},
    {"select", filter_select, "", 0, extra_accepted},
    {"selectattr", filter_selectattr, "", 0, extra_accepted},
    {"slice", filter_slice, "slices fill_with", 1},
    {"sort", filter_sort, "reverse case_sensitive attribute"},
    {"string", filter_string},
    {"striptags", filter_striptags},
    {"sum", filter_sum, "attribute start"},
    {"title", filter_title},
    {"tojson", filter_tojson, "ensure_ascii indent separators sort_keys"},
    {"trim", filter_trim, "chars"},
    {"truncate", filter_truncate, "length killwords end leeway"},
    {"unique", filter_unique, "case_sensitive attribute"},
    {"upper", filter_upper},
    {"urlencode", filter_urlencode},
    {"wordcount", filter_wordcount},
    {"wordwrap", filter_wordwrap, "width break_long_words wrapstring break_on_hyphens"},
    {"xmlattr", filter_xmlattr, "autospace"},
};

}  // namespace

std::span<const Builtin> filters() noexcept { return filter_rows; }

const Builtin* find_builtin(std::span<const Builtin> table, std::string_view name) noexcept {
  const auto row = std::lower_bound(
      table.begin(), table.end(), name,
      [](const Builtin& candidate, std::string_view wanted) { return candidate.name < wanted; });
  return row != table.end() && row->name == name ? &*row : nullptr;
}

bool Call::integer(std::size_t index, std::int64_t fallback, std::int64_t& number) const {
  number = fallback;
  if (!has(index)) return true;
  const Value& value = arguments[index];
  if (value.is_integral()) {
    number = value.as_integer();
    return true;
  }
  if (value.is_undefined()) {
    render.fail_undefined(value);
  } else {
    render.fail("'" + std::string(type_name(value.kind)) +
                "' object cannot be interpreted as an integer");
  }
  return false;
}

bool Call::flag(std::size_t index, bool fallback) const {
  return has(index) ? render.is_true(arguments[index]) : fallback;
}

}  // namespace ingot::chat
