// SPDX-License-Identifier: MIT
// `"%s is %d" % (name, count)`
#pragma once

#include "chat/values/operations.hpp"

namespace ingot::chat {

/// `format` is a string; `arguments` a tuple, an object for `%(name)s`, or one value.
[[nodiscard]] Value percent_format(Heap& heap, const Value& format, const Value& arguments);

}  // namespace ingot::chat
