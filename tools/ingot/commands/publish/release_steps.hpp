// SPDX-License-Identifier: MIT
// The steps of a release: each type, the card, the digests.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "commands/publish/release_recipe.hpp"
#include "commands/publish/release_state.hpp"

namespace ingot::cli {

/// What a step would make.
struct PlannedFiles {
  std::vector<std::string> paths;
  std::optional<std::uint64_t> model_bytes = {};  ///< The size of the models among them.
};

/// A step. It runs where the digest of its inputs, or a file that it made, is another one.
struct ReleaseStep {
  std::string name;
  /// The text of everything that its result depends on. Valid once the steps before it have run.
  std::function<std::string()> inputs;
  /// Makes the files and names them.
  std::function<ExitCode(std::vector<std::string>& files)> run;
  /// Names the files that it would make, and writes none.
  std::function<ExitCode(PlannedFiles& planned)> plan;
};

/// The steps of a recipe, in their order. They borrow all arguments. Failures are printed.
[[nodiscard]] ExitCode make_steps(const ReleaseRecipe& recipe, const ReleaseState& state,
                                  Console& console, std::vector<ReleaseStep>& steps);

}  // namespace ingot::cli
