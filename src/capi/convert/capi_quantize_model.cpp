// SPDX-License-Identifier: MIT
// Quantizing whole models for C.
#include <cstddef>
#include <optional>

#include "capi/core/boundary.hpp"
#include "ingot/quantize_model.h"
#include "ingot/quantize_model.hpp"

namespace {

using namespace ingot;
using capi::at_boundary;
using capi::require;

// The size of the struct in its first version. It stays when the struct grows.
constexpr std::size_t first_options_size =
    offsetof(ingot_quantize_model_options, user) + sizeof(void*);

Result<QuantizeModelOptions> convert(const ingot_quantize_model_options& given,
                                     const char* mixture) {
  QuantizeModelOptions options;
  if (given.effort > INGOT_EFFORT_AUTO) {
    return fail(Errc::invalid_argument, "effort", std::to_string(given.effort));
  }
  options.effort = static_cast<Effort>(given.effort);
  options.thread_count = given.thread_count;
  options.allows_requantize = given.allows_requantize != 0;
  if (given.bits_per_weight != 0) options.target_bits_per_weight = given.bits_per_weight;
  if (mixture != nullptr) {
    options.recipe = find_recipe(std::string_view(mixture));
    if (options.recipe == nullptr) {
      return fail(Errc::invalid_argument, "mixture", std::string(mixture) + " is not known");
    }
  }
  if ((options.recipe != nullptr) == options.target_bits_per_weight.has_value()) {
    return fail(Errc::invalid_argument, "mixture",
                "a mixture is needed, or bits_per_weight in its place");
  }
  return options;
}

}  // namespace

ingot_code ingot_quantize_model(const ingot_model* model, const char* mixture, const char* path,
                                const ingot_quantize_model_options* given, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(model != nullptr, "model"));
    INGOT_TRY_VOID(require(path != nullptr, "path"));
    INGOT_TRY(const ingot_quantize_model_options known,
              capi::known_options(given, first_options_size));
    INGOT_TRY(QuantizeModelOptions options, convert(known, mixture));
    std::optional<ImportanceMatrix> importance;
    if (known.importance != nullptr) {
      INGOT_TRY(importance, ImportanceMatrix::open(known.importance));
      options.importance = &*importance;
      options.importance_name = known.importance;
    }
    const QuantizedShard whole = {.path = path};
    std::uint64_t file_bytes = 0;
    const auto go_on = [&](std::uint64_t done) {
      return known.progress == nullptr || known.progress(known.user, done, file_bytes) == 0;
    };
    INGOT_TRY(const QuantizePlan plan, plan_quantization(model->model, options));
    INGOT_TRY(file_bytes, quantized_file_bytes(model->model, plan, options, whole));
    INGOT_TRY_VOID(
        quantize_model(model->model, plan, options, whole, known.may_replace != 0, go_on));
    return {};
  });
}
