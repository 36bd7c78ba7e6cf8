// SPDX-License-Identifier: MIT
#include "estimate/architecture_rule.hpp"

namespace ingot::estimate {

const ArchitectureRule* find_architecture_rule(std::string_view name) {
  const Architecture* architecture = find_architecture(name);
  return architecture != nullptr && architecture->memory ? &*architecture->memory : nullptr;
}

}  // namespace ingot::estimate
