// SPDX-License-Identifier: MIT
// The functions of the table of filters.
#pragma once

#include "chat/render/render.hpp"

namespace ingot::chat {

// Texts.
[[nodiscard]] Value filter_capitalize(Call& call);
[[nodiscard]] Value filter_center(Call& call);
[[nodiscard]] Value filter_escape(Call& call);
[[nodiscard]] Value filter_force_escape(Call& call);
[[nodiscard]] Value filter_format(Call& call);
[[nodiscard]] Value filter_indent(Call& call);
[[nodiscard]] Value filter_join(Call& call);
[[nodiscard]] Value filter_lower(Call& call);
[[nodiscard]] Value filter_pprint(Call& call);
[[nodiscard]] Value filter_replace(Call& call);
[[nodiscard]] Value filter_safe(Call& call);
[[nodiscard]] Value filter_string(Call& call);
[[nodiscard]] Value filter_striptags(Call& call);
[[nodiscard]] Value filter_title(Call& call);
[[nodiscard]] Value filter_trim(Call& call);
[[nodiscard]] Value filter_truncate(Call& call);
[[nodiscard]] Value filter_upper(Call& call);
[[nodiscard]] Value filter_urlencode(Call& call);
[[nodiscard]] Value filter_wordcount(Call& call);
[[nodiscard]] Value filter_wordwrap(Call& call);
[[nodiscard]] Value filter_xmlattr(Call& call);

// Numbers.
[[nodiscard]] Value filter_abs(Call& call);
[[nodiscard]] Value filter_filesizeformat(Call& call);
[[nodiscard]] Value filter_float(Call& call);
[[nodiscard]] Value filter_int(Call& call);
[[nodiscard]] Value filter_round(Call& call);

// Lists and objects.
[[nodiscard]] Value filter_attr(Call& call);
[[nodiscard]] Value filter_batch(Call& call);
[[nodiscard]] Value filter_default(Call& call);
[[nodiscard]] Value filter_dictsort(Call& call);
[[nodiscard]] Value filter_first(Call& call);
[[nodiscard]] Value filter_groupby(Call& call);
[[nodiscard]] Value filter_items(Call& call);
[[nodiscard]] Value filter_last(Call& call);
[[nodiscard]] Value filter_length(Call& call);
[[nodiscard]] Value filter_list(Call& call);
[[nodiscard]] Value filter_map(Call& call);
[[nodiscard]] Value filter_max(Call& call);
[[nodiscard]] Value filter_min(Call& call);
[[nodiscard]] Value filter_random(Call& call);
[[nodiscard]] Value filter_reject(Call& call);
[[nodiscard]] Value filter_rejectattr(Call& call);
[[nodiscard]] Value filter_reverse(Call& call);
[[nodiscard]] Value filter_select(Call& call);
[[nodiscard]] Value filter_selectattr(Call& call);
[[nodiscard]] Value filter_slice(Call& call);
[[nodiscard]] Value filter_sort(Call& call);
[[nodiscard]] Value filter_sum(Call& call);
[[nodiscard]] Value filter_unique(Call& call);

[[nodiscard]] Value filter_tojson(Call& call);

}  // namespace ingot::chat
