// SPDX-License-Identifier: MIT
// The findings of `ingot fit` about one model.
#pragma once

#include <cstdint>
#include <ingot/estimate.hpp>
#include <ingot/model.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// A mixture that a model can be quantized to, and how large it is then.
struct QuantizedSize {
  std::string_view recipe;
  std::uint64_t weights_bytes = 0;
};

struct FitResult : RunReport {
  const std::string& file;
  const Model& model;
  const MemoryProfile& profile;
  std::optional<QuantizedSize> smaller;  ///< The largest mixture that fits, if none does now.
};

/// Whether a mixture has that name.
[[nodiscard]] bool is_recipe(std::string_view name);

/// The types of all tensors after quantizing, and a profile of that; an error if a type fits no
/// row.
[[nodiscard]] Result<MemoryProfile> profile_as(const Model& model, std::string_view recipe);

/// The names of usual mixtures, the smallest first.
[[nodiscard]] std::span<const std::string_view> usual_quantizations() noexcept;

/// The largest usual mixture of at most `bytes`.
[[nodiscard]] std::optional<QuantizedSize> largest_quantization(const Model& model,
                                                                std::uint64_t max_bytes);

}  // namespace ingot::cli
