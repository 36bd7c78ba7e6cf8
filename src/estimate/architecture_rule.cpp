// SPDX-License-Identifier: MIT
#include "estimate/architecture_rule.hpp"

#include <array>

#include "base/find_row.hpp"

namespace ingot::estimate {
namespace {

constexpr ArchitectureRule row(std::string_view name, Purpose purpose) {
  return {.name = name, .purpose = purpose};
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
  return find_row(rules, &ArchitectureRule::name, name);
}

}  // namespace ingot::estimate
