// SPDX-License-Identifier: MIT
// Memory estimates for C.
#include <algorithm>
#include <span>
#include <string>

#include "capi/core/boundary.hpp"
#include "ingot/estimate.hpp"

namespace {

using namespace ingot;
using capi::at_boundary;
using capi::require;
using capi::require_below;
using capi::take_over;

// The sizes of the structs in the first version of the ABI. They stay when a struct grows.
constexpr std::size_t first_run_options_size =
    offsetof(ingot_run_options, keeps_full_windows) + sizeof(std::uint32_t);
constexpr std::size_t first_estimate_size =
    offsetof(ingot_memory_estimate, verdict) + sizeof(std::int32_t);
constexpr std::size_t first_use_size = offsetof(ingot_memory_use, verdict) + sizeof(std::int32_t);

static_assert(static_cast<int>(Verdict::fits) == INGOT_FITS &&
              static_cast<int>(Verdict::tight) == INGOT_FITS_TIGHTLY &&
              static_cast<int>(Verdict::does_not_fit) == INGOT_DOES_NOT_FIT &&
              static_cast<int>(Verdict::unknown) == INGOT_FITS_UNKNOWN);

Result<void> take_type(TensorType& type, const char* name) {
  if (name == nullptr) return {};
  const TensorTypeInfo* info = find_type(std::string_view(name));
  if (info == nullptr) return fail(Errc::invalid_argument, "type", name);
  type = info->type;
  return {};
}

Result<RunOptions> convert(const ingot_run_options* options) {
  INGOT_TRY(const ingot_run_options given, capi::known_options(options, first_run_options_size));
  RunOptions run;
  take_over(run.context, given.context);
  take_over(run.batch, given.batch);
  take_over(run.micro_batch, given.micro_batch);
  take_over(run.sequences, given.sequences);
  INGOT_TRY_VOID(take_type(run.key_type, given.key_type));
  INGOT_TRY_VOID(take_type(run.value_type, given.value_type));
  INGOT_TRY_VOID(require(given.device_bytes != nullptr || given.device_count == 0, "device_bytes"));
  if (given.device_count > max_devices) {
    return fail(Errc::invalid_argument, "device_count", std::to_string(given.device_count));
  }
  const std::span devices(given.device_bytes, static_cast<std::size_t>(given.device_count));
  for (const std::uint64_t bytes : devices) run.devices.push_back({"device", bytes, 0});
  if (given.host_bytes != 0) run.host_bytes = given.host_bytes;
  if (given.limits_gpu_layers != 0) {
    constexpr std::uint64_t most = 1U << 30;
    run.gpu_layers = static_cast<std::int64_t>(std::min(given.gpu_layers, most));
  }
  if (given.is_without_flash_attention != 0) run.flash_attention = FlashAttention::off;
  run.is_cache_unified = given.is_cache_unified != 0;
  run.keeps_full_windows = given.keeps_full_windows != 0;
  return run;
}

Result<MemoryEstimate> estimate_run(const ingot_model* model, const ingot_run_options* options) {
  INGOT_TRY_VOID(require(model != nullptr, "model"));
  INGOT_TRY(const RunOptions run, convert(options));
  return estimate_memory(model->model, run);
}

ingot_memory_use to_c(const MemoryUse& use) noexcept {
  ingot_memory_use result = {};
  result.layer_count = use.layer_count;
  result.weights_bytes = use.weights_bytes;
  result.cache_bytes = use.cache_bytes;
  result.compute_bytes = use.compute_bytes;
  result.output_bytes = use.output_bytes;
  result.total_bytes = use.total_bytes;
  result.verdict = static_cast<std::int32_t>(use.verdict);
  return result;
}

}  // namespace

ingot_code ingot_estimate(const ingot_model* model, const ingot_run_options* options,
                          ingot_memory_estimate* estimate, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(estimate != nullptr, "estimate"));
    INGOT_TRY(const MemoryEstimate made, estimate_run(model, options));
    ingot_memory_estimate result = {};
    result.context = made.context;
    result.context_per_sequence = made.context_per_sequence;
    result.weights_bytes = made.weights_bytes;
    result.cache_bytes = made.cache_bytes;
    result.output_bytes = made.output_bytes;
    result.gpu_layers = static_cast<std::uint64_t>(made.gpu_layers);
    result.verdict = static_cast<std::int32_t>(made.verdict);
    return capi::hand_out(result, estimate, first_estimate_size);
  });
}

ingot_code ingot_estimate_place(const ingot_model* model, const ingot_run_options* options,
                                uint64_t place, ingot_memory_use* use, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(use != nullptr, "use"));
    INGOT_TRY(const MemoryEstimate made, estimate_run(model, options));
    if (place != INGOT_HOST) INGOT_TRY_VOID(require_below(place, made.devices.size(), "place"));
    const MemoryUse& found =
        place == INGOT_HOST ? made.host : made.devices[static_cast<std::size_t>(place)];
    return capi::hand_out(to_c(found), use, first_use_size);
  });
}
