// SPDX-License-Identifier: MIT
// Whether the values of standard keys have their forms.
#pragma once

#include "ingot/metadata.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::check {

[[nodiscard]] bool has_form(const Value& value, KeyForm form);

}  // namespace ingot::check
