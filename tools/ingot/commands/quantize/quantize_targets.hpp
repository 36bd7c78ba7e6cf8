// SPDX-License-Identifier: MIT
// The results that the arguments of `ingot quantize` ask for.
#pragma once

#include <string>
#include <vector>

#include "commands/quantize/quantize_run.hpp"

namespace ingot::cli {

/// One result of a run.
struct QuantizeTarget {
  std::string out;
  std::string type;  ///< Empty if the types follow from --target-bpw or --target-size.
};

/// Whether the types follow from bits or bytes to reach.
[[nodiscard]] bool has_target(const QuantizeRequest& options);

/// IN OUT TYPE, or IN TYPE...; with a target there is no TYPE, and a plan needs no OUT. Returns the
/// fault of arguments that belong together; empty if there is none.
///
/// @param in  the path that names of results begin with if OUT is left out.
[[nodiscard]] std::string resolve_arguments(QuantizeRequest& options, std::string in,
                                            std::vector<QuantizeTarget>& targets);

}  // namespace ingot::cli
