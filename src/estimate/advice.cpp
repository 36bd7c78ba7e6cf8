// SPDX-License-Identifier: MIT
// Advice on what would fit, by bisection over the one function that estimates.
#include <algorithm>
#include <functional>

#include "base/ascii.hpp"
#include "estimate/profile_state.hpp"
#include "ingot/estimate.hpp"

namespace ingot {
namespace {

constexpr std::uint64_t context_step = 256;
/// A shorter context is no advice.
constexpr std::uint64_t least_context = 512;
/// For models without a context length.
constexpr std::uint64_t usual_most_context = std::uint64_t{1} << 20;

bool fits(const MemoryEstimate& estimate) noexcept {
  return estimate.verdict == Verdict::fits || estimate.verdict == Verdict::tight;
}

bool has_limit(const RunOptions& options) noexcept {
  return !options.devices.empty() || options.host_bytes.has_value();
}

/// The largest number of [low, high] that `holds`, which holds for all numbers below one that it
/// holds for; nothing if it does not hold for `low`.
std::optional<std::uint64_t> largest(std::uint64_t low, std::uint64_t high,
                                     const std::function<bool(std::uint64_t)>& holds) {
  if (low > high || !holds(low)) return std::nullopt;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (holds(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

class Adviser {
 public:
  Adviser(const MemoryProfile& profile, const RunOptions& options)
      : profile_(profile), options_(options) {}

  Result<Advice> run() {
    INGOT_TRY(const MemoryEstimate now, profile_.estimate(options_));
    if (!has_limit(options_)) return Advice{};
    Advice advice;
    if (!options_.devices.empty()) advice.gpu_layers = max_gpu_layers();
    advice.context = longest_context();
    if (!fits(now)) {
      add_changes(advice, now);
    }
    return advice;
  }

 private:
  [[nodiscard]] bool run_fits(const RunOptions& options) const {
    const Result<MemoryEstimate> estimate = profile_.estimate(options);
    return estimate && fits(*estimate);
  }

  /// Whether the devices, whatever the host does, hold it.
  [[nodiscard]] bool devices_fit(RunOptions options) const {
    options.host_bytes.reset();
    return run_fits(options);
  }

  [[nodiscard]] std::optional<std::uint64_t> max_gpu_layers() const {
    return largest(0, profile_.layer_count() + 1, [&](std::uint64_t count) {
      RunOptions changed = options_;
      changed.gpu_layers = static_cast<std::int64_t>(count);
      return devices_fit(std::move(changed));
    });
  }

  [[nodiscard]] std::optional<std::uint64_t> longest_context() const {
    const std::uint64_t model = profile_.context_length();
    const std::uint64_t most =
        std::min(model > 0 ? model : usual_most_context, max_context) * sharing();
    const auto steps =
        largest(1, std::max<std::uint64_t>(most / context_step, 1), [&](std::uint64_t step) {
          RunOptions changed = options_;
          changed.context = step * context_step;
          return run_fits(changed);
        });
    if (!steps) return std::nullopt;
    // The largest step may lie below a length that is no multiple.
    return *steps == most / context_step && most > context_step ? most : *steps * context_step;
  }

  /// The sequences that divide the context among them.
  [[nodiscard]] std::uint64_t sharing() const noexcept {
    return options_.is_cache_unified ? 1 : std::max<std::uint64_t>(options_.sequences, 1);
  }

  void add_changes(Advice& advice, const MemoryEstimate& now) const {
    add_first_that_fits(advice, ChangeKind::micro_batch, smaller_batches(options_));
    add_first_that_fits(advice, ChangeKind::cache_type, smaller_caches(options_));
    if (advice.changes.empty()) {
      std::vector<RunOptions> both;
      for (const RunOptions& changed : smaller_caches(options_)) {
        for (RunOptions& smaller : smaller_batches(changed)) both.push_back(std::move(smaller));
      }
      add_first_that_fits(advice, ChangeKind::both, both);
    }
    add_experts_on_host(advice);
    RunOptions fewer = options_;
    if (advice.gpu_layers && *advice.gpu_layers > 0) {
      fewer.gpu_layers = static_cast<std::int64_t>(*advice.gpu_layers);
      if (*advice.gpu_layers != static_cast<std::uint64_t>(now.gpu_layers)) {
        add_first_that_fits(advice, ChangeKind::gpu_layers, {fewer});
      }
    }
    if (advice.context && *advice.context >= least_context && *advice.context < now.context) {
      RunOptions shorter = options_;
      shorter.context = *advice.context;
      add_first_that_fits(advice, ChangeKind::context, {shorter});
    }
    add_smaller_weights(advice, now);
  }

  void add_first_that_fits(Advice& advice, ChangeKind kind,
                           const std::vector<RunOptions>& candidates) const {
    for (const RunOptions& candidate : candidates) {
      if (!run_fits(candidate)) continue;
      advice.changes.push_back({kind, candidate, 0});
      return;
    }
  }

  [[nodiscard]] static std::vector<RunOptions> smaller_batches(const RunOptions& options) {
    std::vector<RunOptions> smaller;
    for (std::uint64_t size = options.micro_batch / 2; size >= 64; size /= 2) {
      smaller.push_back(options);
      smaller.back().micro_batch = size;
    }
    return smaller;
  }

  [[nodiscard]] static std::vector<RunOptions> smaller_caches(const RunOptions& options) {
    std::vector<RunOptions> smaller;
    const double now =
        find_type(options.key_type) == nullptr ? 0 : find_type(options.key_type)->bits_per_weight();
    for (const TensorType type : {TensorType::q8_0, TensorType::q4_0}) {
      if (find_type(type)->bits_per_weight() >= now) continue;
      smaller.push_back(options);
      smaller.back().key_type = type;
      smaller.back().value_type = type;
    }
    return smaller;
  }

  /// The fewest layers whose experts have to stay on the host.
  void add_experts_on_host(Advice& advice) const {
    if (!profile_.has_experts() || options_.devices.empty()) return;
    const std::uint64_t layers = profile_.layer_count();
    const auto changed_to = [&](std::uint64_t on_devices) {
      RunOptions changed = options_;
      changed.experts_on_host = layers - on_devices;
      return changed;
    };
    const auto most = largest(
        0, layers, [&](std::uint64_t on_devices) { return devices_fit(changed_to(on_devices)); });
    if (most && layers - *most > options_.experts_on_host) {
      add_first_that_fits(advice, ChangeKind::experts_on_host, {changed_to(*most)});
    }
  }

  /// How large the weights may be if nothing else changes.
  void add_smaller_weights(Advice& advice, const MemoryEstimate& now) const {
    double scale = 1;
    const auto consider = [&](const MemoryUse& use) {
      if (!use.capacity_bytes || use.weights_bytes == 0) return;
      const std::uint64_t other = use.total_bytes - use.weights_bytes;
      const std::uint64_t room = *use.capacity_bytes > other ? *use.capacity_bytes - other : 0;
      scale = std::min(scale, static_cast<double>(room) / static_cast<double>(use.weights_bytes));
    };
    for (const MemoryUse& use : now.devices) consider(use);
    consider(now.host);
    const double weights = scale * static_cast<double>(now.weights_bytes);
    if (scale < 1 && weights >= 1) {
      advice.changes.push_back(
          {ChangeKind::weights, options_, static_cast<std::uint64_t>(weights)});
    }
  }

  const MemoryProfile& profile_;
  const RunOptions& options_;
};

}  // namespace

std::string_view name_of(ChangeKind kind) noexcept {
  struct Row {
    ChangeKind kind;
    std::string_view name;
  };
  constexpr Row rows[] = {{ChangeKind::micro_batch, "ubatch_size"},
                          {ChangeKind::cache_type, "cache_type"},
                          {ChangeKind::both, "cache_type_and_ubatch_size"},
                          {ChangeKind::experts_on_host, "n_cpu_moe"},
                          {ChangeKind::gpu_layers, "gpu_layers"},
                          {ChangeKind::context, "ctx_size"},
                          {ChangeKind::weights, "quantization"}};
  const Row* const row = std::ranges::find(rows, kind, &Row::kind);
  return row == std::end(rows) ? std::string_view() : row->name;
}

std::string option_text(const Change& change) {
  const RunOptions& run = change.options;
  const auto word = [](TensorType type) {
    const TensorTypeInfo* const info = find_type(type);
    return info == nullptr ? std::string() : lower_case(info->name);
  };
  const std::string batch = "--ubatch-size " + std::to_string(run.micro_batch);
  const std::string cache =
      "--cache-type-k " + word(run.key_type) + " --cache-type-v " + word(run.value_type);
  switch (change.kind) {
    case ChangeKind::micro_batch:
      return batch;
    case ChangeKind::cache_type:
      return cache;
    case ChangeKind::both:
      return cache + " " + batch;
    case ChangeKind::experts_on_host:
      return "--n-cpu-moe " + std::to_string(run.experts_on_host);
    case ChangeKind::gpu_layers:
      return "--gpu-layers " + std::to_string(run.gpu_layers);
    case ChangeKind::context:
      return "--ctx-size " + std::to_string(run.context);
    case ChangeKind::weights:
      break;
  }
  return {};
}

Result<Advice> MemoryProfile::advise(const RunOptions& options) const {
  return Adviser(*this, options).run();
}

Result<RunReport> MemoryProfile::report(const RunOptions& options) const {
  RunReport report{.architecture = architecture(),
                   .is_known_architecture = is_known_architecture(),
                   .context_length = context_length(),
                   .layer_count = layer_count(),
                   .options = options,
                   .estimate = {},
                   .advice = {},
                   .notes = {notes().begin(), notes().end()},
                   .not_counted = {}};
  INGOT_TRY(report.estimate, estimate(options));
  INGOT_TRY(report.advice, advise(options));
  if (options.devices.empty()) {
    report.advice.smallest_card_bytes =
        smallest_card(report.estimate.context).value_or(std::nullopt);
  } else {
    report.not_counted.emplace_back("what a driver keeps (CUDA: 300 to 600 MiB)");
  }
  report.not_counted.emplace_back("draft models");
  report.not_counted.emplace_back("--split-mode row");
  return report;
}

Result<std::uint64_t> MemoryProfile::cache_growth() const {
  constexpr std::uint64_t tokens = 1024;
  RunOptions options;
  options.context = tokens;
  const std::uint64_t length = std::min(
      context_length() > 2 * tokens ? context_length() : std::uint64_t{32768}, max_context);
  INGOT_TRY(const MemoryEstimate first, estimate(options));
  options.context = length;
  INGOT_TRY(const MemoryEstimate last, estimate(options));
  const std::uint64_t grown = last.cache_bytes - std::min(first.cache_bytes, last.cache_bytes);
  const std::uint64_t steps = std::max<std::uint64_t>((last.context - first.context) / tokens, 1);
  return grown / steps;
}

Result<std::optional<std::uint64_t>> MemoryProfile::smallest_card(std::uint64_t context) const {
  RunOptions options;
  options.context = context;
  for (const std::uint64_t size : common_memory_sizes()) {
    options.devices = {Device{"card", usable_device_bytes(size), 0}};
    INGOT_TRY(const MemoryEstimate estimate, estimate(options));
    if (fits(estimate)) return size;
  }
  return std::nullopt;
}

}  // namespace ingot
