// SPDX-License-Identifier: MIT
#include "estimate/architecture_rule.hpp"

#include <algorithm>
#include <array>

namespace ingot::estimate {
namespace {

constexpr ArchitectureRule row(std::string_view name, Purpose purpose) {
  ArchitectureRule rule;
  rule.name = name;
  rule.purpose = purpose;
  return rule;
}

constexpr std::array rules = {
#define INGOT_ARCHITECTURE(name, windows, period, window, layers, own_cache, state, recurrent) \
  ArchitectureRule{name,      Purpose::generates, Windows::windows,    period, window, layers, \
                   own_cache, State::state,       Recurrent::recurrent},
#define INGOT_ATTENTION(name) row(name, Purpose::generates),
#define INGOT_CACHELESS(name) row(name, Purpose::generates_without_cache),
#define INGOT_ENCODER(name) row(name, Purpose::encodes),
#include "estimate/architectures.def"
#undef INGOT_ARCHITECTURE
#undef INGOT_ATTENTION
#undef INGOT_CACHELESS
#undef INGOT_ENCODER
};

}  // namespace

const ArchitectureRule* find_architecture_rule(std::string_view name) noexcept {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const ArchitectureRule& rule) { return rule.name == name; });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace ingot::estimate
