// SPDX-License-Identifier: MIT
#include "commands/quantize/quantize_importance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/text.hpp>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/imported_folder.hpp"
#include "commands/quantize/quantize_targets.hpp"
#include "commands/sensitivity/sensitivity_file.hpp"
#include "text/name_match.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

void remark_grids(const QuantizePlan& plan, const std::string& name, Console& console) {
  // Models have one lattice, or two or three.
  std::map<std::string, std::vector<const PlannedTensor*>> found;
  for (const PlannedTensor& planned : plan.tensors) {
    if (!planned.grid || planned.is_copied() || !is_quantized(planned.choice.type)) continue;
    const std::string_view outcome =
        planned.effort == Effort::reference
            ? "get types that do not hold it: they are rounded a second time"
            : "keep it, where --effort reference would round a second time";
    found[fmt::format("on a {}, {}", grid_text(*planned.grid), outcome)].push_back(&planned);
  }
  for (const auto& [text, tensors] : found) {
    console.remark(name, fmt::format("{}, such as {}, with weights {}",
                                     plural(tensors.size(), "tensor", "tensors"),
                                     escape(tensors[0]->source->name), text));
  }
}

void remark_moments(const QuantizePlan& plan, const std::string& name, Console& console) {
  bool is_any_quantized = false;
  for (const PlannedTensor& planned : plan.tensors) {
    if (planned.has_feedback) return;
    is_any_quantized |= !planned.is_copied() && is_quantized(planned.choice.type);
  }
  if (!is_any_quantized) return;
  console.remark(name,
                 "without second moments (`ingot imatrix collect --moments 256`) --effort best "
                 "lowers errors, but not on every text the divergence, and perplexity may rise; "
                 "`ingot evaluate` compares");
}

}  // namespace

Effort usable_effort(const QuantizeRequest& options, Console& console) {
  const Effort effort = options.settings.effort;
  if (effort != Effort::automatic) return effort;
  const bool is_remote = console.remote().opened_file(options.file).has_value() ||
                         is_remote_folder(console, options.file);
  return is_remote ? Effort::reference : effort;
}

void remark_effort(Effort effort, const QuantizePlan& plan, const std::string& name,
                   Console& console) {
  remark_grids(plan, name, console);
  if (effort == Effort::best) remark_moments(plan, name, console);
}

ExitCode open_importance(const QuantizeRequest& options, Console& console,
                         std::optional<ImportanceMatrix>& matrix) {
  for (const std::string& file : options.imatrix_files) {
    INGOT_CLI_TRY(ImportanceMatrix opened, ImportanceMatrix::open(file), console, file);
    if (!matrix) {
      matrix = std::move(opened);
    } else {
      INGOT_CLI_TRY_VOID(matrix->merge(std::move(opened)), console, file);
    }
  }
  if (!matrix) return ExitCode::done;
  const auto matchers = [](const std::vector<std::string>& parts) {
    std::vector<NameMatcher> all;
    for (const std::string& part : parts) {
      const bool is_pattern =
          part.starts_with("re:") || part.find_first_of("*?[") != std::string::npos;
      all.push_back(name_matcher(is_pattern ? part : "*" + part + "*"));
    }
    return all;
  };
  const std::vector<NameMatcher> included = matchers(options.include_weights);
  const std::vector<NameMatcher> excluded = matchers(options.exclude_weights);
  matrix->keep_if([&](std::string_view name) {
    const auto matches = [name](const NameMatcher& matcher) { return matcher(name); };
    return (included.empty() || std::ranges::any_of(included, matches)) &&
           std::ranges::none_of(excluded, matches);
  });
  return ExitCode::done;
}

ExitCode open_sensitivities(const QuantizeRequest& options, Console& console,
                            std::vector<TensorSensitivity>& sensitivities) {
  if (options.sensitivity.empty()) return ExitCode::done;
  auto found = read_sensitivity_file(options.sensitivity);
  if (found && !found->is_complete) {
    found =
        tl::unexpected<std::string>("its run was stopped; `ingot sensitivity --resume` goes on");
  }
  if (found && !found->part.empty()) {
    found = tl::unexpected(fmt::format(
        "it is part {}; `ingot sensitivity --join` makes the whole of all parts", found->part));
  }
  if (!found) return console.refuse(options.sensitivity, found.error(), ExitCode::refused);
  sensitivities = std::move(found->tensors);
  return ExitCode::done;
}

void remark_coverage(const ImportanceMatrix& matrix, const QuantizePlan& plan, const Model& model,
                     const std::string& name, Console& console) {
  std::size_t quantized = 0;
  std::size_t covered = 0;
  std::string missing;
  std::size_t missing_count = 0;
  for (const PlannedTensor& planned : plan.tensors) {
    if (planned.is_copied() || !is_quantized(planned.choice.type)) continue;
    ++quantized;
    if (matrix.find(planned.source->name) != nullptr) {
      ++covered;
    } else if (++missing_count <= 4 || console.is_verbose()) {
      missing += (missing.empty() ? "" : ", ") + escape(planned.source->name);
    } else if (missing_count == 5) {
      missing += ", ...";
    }
  }
  std::size_t unused = 0;
  for (const ImatrixEntry& entry : matrix.entries()) {
    if (model.find_tensor(entry.name) == nullptr) ++unused;
  }
  std::string text =
      fmt::format("importance data for {} of {} quantized tensors", covered, quantized);
  if (!missing.empty()) text += "; none for " + missing;
  if (unused > 0) text += fmt::format("; {} of its entries are of no tensor here", unused);
  console.remark(name, text);
}

}  // namespace ingot::cli
