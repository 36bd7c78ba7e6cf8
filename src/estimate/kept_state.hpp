// SPDX-License-Identifier: MIT
// What layers keep beside the keys and values of their heads: states, and keys of indexers.
#pragma once

#include "estimate/header_reader.hpp"
#include "estimate/profile_state.hpp"
#include "ingot/architectures.hpp"
#include "ingot/model.hpp"

namespace ingot::estimate {

/// Reads what a recurrent layer keeps of a sequence. The heads of the layers are known already.
[[nodiscard]] Result<void> read_state_size(const HeaderReader& keys, detail::ProfileState& state);

/// Reads what the row of the architecture tells beside its statements about layers.
[[nodiscard]] Result<void> read_further_caches(const Architecture& row, const Model& model,
                                               detail::ProfileState& state);

}  // namespace ingot::estimate
