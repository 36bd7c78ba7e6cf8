// SPDX-License-Identifier: MIT
#include "commands/fit/fit_result.hpp"

#include <fmt/format.h>

#include <array>
#include <ingot/recipe.hpp>

#include "commands/fit/engine_command.hpp"

namespace ingot::cli {
namespace {

// Those that people publish and that need no importance matrix, each larger than the one before.
constexpr std::array<std::string_view, 9> ladder = {
    "Q2_K", "Q3_K_M", "IQ4_XS", "Q4_K_S", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "BF16"};

Result<std::vector<TensorType>> types_as(const Model& model, const Recipe& recipe) {
  INGOT_TRY(const std::vector<TypeChoice> choices,
            choose_types(model.tensors(), traits_of(model), recipe, {}));
  std::vector<TensorType> types;
  types.reserve(choices.size());
  for (const TypeChoice& choice : choices) types.push_back(choice.type);
  return types;
}

}  // namespace

bool is_recipe(std::string_view name) { return find_recipe(name) != nullptr; }

Result<MemoryProfile> profile_as(const Model& model, std::string_view recipe_name) {
  const Recipe* recipe = find_recipe(recipe_name);
  if (recipe == nullptr) return fail(Errc::invalid_argument, std::string(recipe_name));
  INGOT_TRY(const std::vector<TensorType> types, types_as(model, *recipe));
  return MemoryProfile::read(model, types);
}

std::span<const std::string_view> usual_quantizations() noexcept { return ladder; }

std::optional<QuantizedSize> largest_quantization(const Model& model, std::uint64_t max_bytes) {
  const auto size_of = [&](std::string_view name) -> std::optional<QuantizedSize> {
    const Result<MemoryProfile> profile = profile_as(model, name);
    if (!profile || profile->weights_bytes() > max_bytes) return std::nullopt;
    return QuantizedSize{name, profile->weights_bytes()};
  };
  std::optional<QuantizedSize> largest;
  std::size_t low = 0;
  std::size_t high = ladder.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const std::optional<QuantizedSize> size = size_of(ladder[middle]);
    if (size) largest = size;
    (size ? low : high) = size ? middle + 1 : middle;
  }
  return largest;
}

std::vector<std::string_view> not_counted(const RunOptions& options) {
  std::vector<std::string_view> parts;
  if (!options.devices.empty()) {
    parts.emplace_back("what a driver keeps (CUDA: 300 to 600 MiB)");
  }
  parts.emplace_back("draft models");
  parts.emplace_back("--split-mode row");
  return parts;
}

std::string option_text(const Change& change) {
  const RunOptions& run = change.options;
  const std::string batch = fmt::format("--ubatch-size {}", run.micro_batch);
  const std::string cache = fmt::format("--cache-type-k {} --cache-type-v {}",
                                        engine_word(run.key_type), engine_word(run.value_type));
  switch (change.kind) {
    case ChangeKind::micro_batch:
      return batch;
    case ChangeKind::cache_type:
      return cache;
    case ChangeKind::both:
      return cache + " " + batch;
    case ChangeKind::experts_on_host:
      return fmt::format("--n-cpu-moe {}", run.experts_on_host);
    case ChangeKind::gpu_layers:
      return fmt::format("--gpu-layers {}", run.gpu_layers);
    case ChangeKind::context:
      return fmt::format("--ctx-size {}", run.context);
    case ChangeKind::weights:
      break;
  }
  return {};
}

}  // namespace ingot::cli
