// SPDX-License-Identifier: MIT
#include "commands/fit/fit_result.hpp"

#include <array>
#include <ingot/recipe.hpp>

namespace ingot::cli {
namespace {

// The recipes that people publish and that need no importance matrix, each larger than the one
// before.
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

}  // namespace ingot::cli
