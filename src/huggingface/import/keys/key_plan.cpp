// SPDX-License-Identifier: MIT
#include "huggingface/import/keys/key_plan.hpp"

namespace ingot::huggingface {

void KeyPlan::add(const KeyPlan& other) {
  for (const KeyValue& entry : other.entries()) {
    from(other.origin_of(entry.key));
    set_value(entry.key, entry.value);
  }
}

std::string KeyPlan::origin_of(std::string_view key) const {
  const auto found = origins_.find(std::string(key));
  return found == origins_.end() ? std::string() : found->second;
}

}  // namespace ingot::huggingface
