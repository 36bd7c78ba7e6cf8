// SPDX-License-Identifier: MIT
#include "ingot/estimate.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ranges.hpp"
#include "estimate/profile_state.hpp"
#include "estimate/run_memory.hpp"
#include "estimate/run_plan.hpp"

namespace ingot {
namespace {

using namespace estimate;
using detail::ProfileState;

/// Copies of its inputs that the engine makes to keep several devices busy at once.
constexpr std::uint64_t pipeline_copies = 4;

/// The sums of one device or of the host while they grow.
struct Sums {
  CheckedNumber weights;
  CheckedNumber repacked;
  CheckedNumber read;
  CheckedNumber cache;
  CheckedNumber compute;
  CheckedNumber output;
  CheckedNumber projector;
  std::uint64_t first_layer = 0;
  std::uint64_t layer_count = 0;
  bool has_output = false;

  [[nodiscard]] bool is_used() const noexcept { return layer_count > 0 || has_output; }
};

Verdict verdict_of(std::uint64_t total, const std::optional<std::uint64_t>& capacity) noexcept {
  if (!capacity) return Verdict::unknown;
  if (total > *capacity) return Verdict::does_not_fit;
  return total > *capacity - *capacity / 20 ? Verdict::tight : Verdict::fits;
}

Result<MemoryUse> to_use(const Sums& sums, std::string name,
                         std::optional<std::uint64_t> capacity) {
  MemoryUse use;
  const CheckedNumber total =
      sums.weights + sums.cache + sums.compute + sums.output + sums.projector;
  if (!total.value() || !sums.read.value()) return fail(Errc::size_overflow, std::move(name));
  use.name = std::move(name);
  use.first_layer = sums.first_layer;
  use.layer_count = sums.layer_count;
  use.has_output = sums.has_output;
  use.weights_bytes = *sums.weights.value();
  use.cache_bytes = *sums.cache.value();
  use.compute_bytes = *sums.compute.value();
  use.output_bytes = *sums.output.value();
  use.projector_bytes = *sums.projector.value();
  use.total_bytes = *total.value();
  use.weights_read_bytes = *sums.read.value();
  use.capacity_bytes = capacity;
  use.verdict = verdict_of(use.total_bytes, capacity);
  return use;
}

/// One estimate while it is made.
class Estimator {
 public:
  Estimator(const ProfileState& profile, const RunOptions& options, const RunPlan& plan)
      : profile_(profile),
        options_(options),
        plan_(plan),
        space_(work_space_of(profile, plan)),
        devices_(options.devices.size()) {}

  Result<MemoryEstimate> run() {
    INGOT_TRY(image_, image());
    place_layers();
    place_output();
    place_the_rest();
    add_work_space();
    return result();
  }

 private:
  [[nodiscard]] Sums& at(std::size_t place) noexcept {
    return place == RunPlan::on_host ? host_ : devices_[place];
  }

  void place_layers() {
    for (std::size_t i = 0; i < profile_.layers.size(); ++i) {
      const Layer& layer = profile_.layers[i];
      const Weights& weights = layer.weights;
      Sums& sums = at(plan_.places[i]);
      if (sums.layer_count == 0) sums.first_layer = i;
      ++sums.layer_count;
      const bool splits = i < options_.experts_on_host;
      Sums& experts = splits ? host_ : sums;
      sums.weights += weights.bytes - weights.expert_bytes;
      sums.read += weights.read_bytes - weights.expert_read_bytes;
      experts.weights += weights.expert_bytes;
      experts.read += weights.expert_read_bytes;
      host_.repacked += plan_.places[i] == RunPlan::on_host ? weights.repacked_bytes
                        : splits ? std::min(weights.expert_bytes, weights.repacked_bytes)
                                 : 0;
      if (plan_.places[i] == RunPlan::on_host || (splits && weights.expert_bytes > 0)) {
        largest_host_tensor_ = std::max(largest_host_tensor_, weights.largest_bytes);
      }
      place_cache(layer, options_.offloads_cache ? sums : host_);
    }
    if (!profile_.router) return;
    Sums& last = at(plan_.places[profile_.layers.size() - 1]);
    place_cache(*profile_.router, options_.offloads_cache ? last : host_);
  }

  void place_cache(const Layer& layer, Sums& sums) {
    const LayerCache cache = cache_of(layer, profile_, options_, plan_);
    sums.cache += cache.bytes();
    cache_ += cache.bytes();
    if (cache.cells > 0) {
      count(cache.kind, cache.cells, plan_.streams, cache.key_bytes, cache.value_bytes);
    }
    if (cache.compressed_cells > 0) {
      count(CacheKind::compressed, cache.compressed_cells, plan_.streams, cache.compressed_bytes,
            cache.compressor_bytes);
    }
    if (layer.has_cache && layer.indexer_width > 0) {
      count(CacheKind::indexer, layer.compressed > 0 ? cache.compressed_cells : cache.cells,
            plan_.streams, cache.indexer_key_bytes, cache.indexer_value_bytes);
    }
    if (layer.is_recurrent) {
      count(CacheKind::recurrent, options_.sequences, 1, cache.rolling_bytes, cache.state_bytes);
    }
  }

  /// Adds a layer to the caches of its kind and size.
  void count(CacheKind kind, std::uint64_t cells, std::uint64_t streams, CheckedNumber keys,
             CheckedNumber values) {
    const auto found = std::ranges::find_if(
        caches_, [&](const CacheUse& each) { return each.kind == kind && each.cells == cells; });
    CacheUse& use = found != caches_.end()
                        ? *found
                        : caches_.emplace_back(CacheUse{kind, cells, streams, 0, 0, 0});
    use.layers += kind == CacheKind::recurrent ? 1 : profile_.loops;
    // Their sum is checked as a part of all caches.
    use.key_bytes += keys.value().value_or(0);
    use.value_bytes += values.value().value_or(0);
  }

  void place_output() {
    Sums& sums = at(plan_.places.back());
    sums.has_output = true;
    sums.weights += profile_.output.bytes;
    sums.read += profile_.output.read_bytes;
    sums.read += profile_.tied_bytes;
    if (plan_.places.back() == RunPlan::on_host) {
      host_.repacked += profile_.output.repacked_bytes;
      largest_host_tensor_ = std::max(largest_host_tensor_, profile_.output.largest_bytes);
    } else {
      sums.weights += profile_.tied_bytes;  // a second copy: the first stays with the input
    }
  }

  void place_the_rest() {
    host_.weights += profile_.input.bytes;
    for (Sums& device : devices_) {
      if (device.layer_count > 0) device.weights += profile_.everywhere.bytes;
    }
    // A model without layers, whose architecture is not known, keeps them on the host.
    if (host_.layer_count > 0 || profile_.layers.empty()) {
      host_.weights += profile_.everywhere.bytes;
    }
    (devices_.empty() ? host_ : devices_.front()).projector =
        CheckedNumber(profile_.projector_bytes) + image_.work_bytes;
    const CheckedNumber row =
        CheckedNumber(profile_.vocabulary) + (options_.wants_embeddings ? profile_.embedding : 0);
    host_.output = CheckedNumber(4) * options_.sequences * row;
  }

  void add_work_space() {
    if (devices_.empty()) {
      host_.compute = space_.on_host();
      return;
    }
    std::size_t used = 0;
    for (const Sums& device : devices_) used += device.is_used() ? 1 : 0;
    const bool is_whole = plan_.gpu_layers == profile_.layers.size() + 1;
    const bool is_pipeline = used > 1 && is_whole && options_.offloads_cache;
    const CheckedNumber copies = is_pipeline ? pipeline_copies : 1;
    host_.compute = copies * space_.mask + CheckedNumber(2) * space_.embedding;
    if (used == 0) {  // The first device still computes long batches, with weights copied over.
      devices_.front().compute =
          max(space_.layers_on_device(), space_.output_on_device()) + largest_host_tensor_;
    }
    for (Sums& device : devices_) {
      if (!device.is_used()) continue;
      if (device.layer_count > 0) {
        // Weights on the host are copied over for long batches, one tensor at a time.
        device.compute = space_.layers_on_device() + largest_host_tensor_;
      }
      if (is_pipeline) add_pipeline(device);
      if (device.has_output) device.compute = max(device.compute, output_of(is_pipeline));
    }
  }

  void add_pipeline(Sums& device) const {
    device.compute += CheckedNumber(pipeline_copies - 1) * space_.mask +
                      CheckedNumber(pipeline_copies) * space_.embedding;
  }

  [[nodiscard]] CheckedNumber output_of(bool is_pipeline) const {
    if (!is_pipeline) return space_.output_on_device();
    // Measured: the copies of the mask and seven rows of width for each token.
    return space_.output_on_device() + CheckedNumber(pipeline_copies) * space_.mask +
           CheckedNumber(7) * space_.embedding;
  }

  Result<MemoryEstimate> result() {
    MemoryEstimate estimate;
    estimate.context = plan_.context;
    estimate.context_per_sequence = plan_.context_per_sequence;
    estimate.sequences = options_.sequences;
    estimate.micro_batch = plan_.micro_batch;
    const auto image_tokens = checked_mul(image_.tokens, options_.images);
    if (!image_tokens) return fail(Errc::size_overflow, "the tokens of the images");
    estimate.image_tokens = *image_tokens;
    INGOT_TRY(estimate.audio_tokens, tokens_of_sound());
    estimate.uses_flash_attention = plan_.uses_flash_attention;
    estimate.gpu_layers = static_cast<std::int64_t>(plan_.gpu_layers);
    estimate.weights_bytes = profile_.weights_bytes;
    if (!cache_.value() || !host_.output.value()) return fail(Errc::size_overflow, "the cache");
    estimate.cache_bytes = *cache_.value();
    estimate.output_bytes = *host_.output.value();
    std::ranges::stable_sort(caches_, {}, &CacheUse::kind);
    estimate.caches = std::move(caches_);
    INGOT_TRY(estimate.compute, terms_of(space_));
    INGOT_TRY(estimate.host, to_use(host_, "host", options_.host_bytes));
    if (options_.maps_file) {
      const std::uint64_t repacked =
          options_.repacks_weights ? host_.repacked.value().value_or(0) : 0;
      estimate.host.mapped_bytes =
          estimate.host.weights_bytes - std::min(repacked, estimate.host.weights_bytes);
    }
    estimate.verdict = estimate.host.verdict;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const Device& device = options_.devices[i];
      INGOT_TRY(MemoryUse use, to_use(devices_[i], device.name, device.usable_bytes));
      if (estimate.verdict == Verdict::unknown || use.verdict > estimate.verdict) {
        estimate.verdict = use.verdict;
      }
      estimate.devices.push_back(std::move(use));
    }
    if (estimate.host.verdict != Verdict::unknown) {
      estimate.verdict = std::max(estimate.verdict, estimate.host.verdict);
    }
    add_bounds(estimate);
    return estimate;
  }

  [[nodiscard]] Result<ImageTokens> image() const {
    if (options_.images == 0) return ImageTokens();
    if (!profile_.images) {
      return fail(Errc::invalid_argument, "images", "no projector of images is beside the model");
    }
    INGOT_TRY(const ProjectorImages images, *profile_.images);
    return images.count(options_.image_size[0], options_.image_size[1]);
  }

  [[nodiscard]] Result<std::uint64_t> tokens_of_sound() const {
    if (options_.audio_seconds == 0) return 0;
    if (!profile_.sounds) {
      return fail(Errc::invalid_argument, "sound", "no projector of sounds is beside the model");
    }
    INGOT_TRY(const ProjectorSounds sounds, *profile_.sounds);
    INGOT_TRY(const SoundTokens sound, sounds.count(options_.audio_seconds));
    return sound.tokens;
  }

  /// The time that reading takes, place after place, as layers follow one another.
  void add_bounds(MemoryEstimate& estimate) const {
    double at_start = 0;
    double at_end = 0;
    const auto add = [&](const MemoryUse& use, double bandwidth) {
      const auto weights = static_cast<double>(use.weights_read_bytes);
      if (weights <= 0 && use.cache_bytes == 0) return true;
      if (!(bandwidth > 0)) return false;
      at_start += weights / bandwidth;
      at_end += (weights + static_cast<double>(use.cache_bytes)) / bandwidth;
      return true;
    };
    bool is_known = add(estimate.host, options_.host_bandwidth);
    for (std::size_t i = 0; i < estimate.devices.size() && is_known; ++i) {
      is_known = add(estimate.devices[i], options_.devices[i].bandwidth);
    }
    if (!is_known || !(at_start > 0)) return;
    estimate.bound_at_start = 1 / at_start;
    estimate.bound_at_end = 1 / at_end;
  }

  const ProfileState& profile_;
  const RunOptions& options_;
  const RunPlan& plan_;
  WorkSpace space_;
  std::vector<Sums> devices_;
  Sums host_;
  ImageTokens image_;  ///< Of one image, if there are any.
  CheckedNumber cache_;
  std::vector<CacheUse> caches_;
  std::uint64_t largest_host_tensor_ = 0;
};

}  // namespace

Result<MemoryEstimate> MemoryProfile::estimate(const RunOptions& options) const {
  INGOT_TRY(const RunPlan plan, plan_run(*state_, options));
  return Estimator(*state_, options, plan).run();
}

Result<MemoryEstimate> estimate_memory(const Model& model, const RunOptions& options) {
  INGOT_TRY(const MemoryProfile profile, MemoryProfile::read(model));
  return profile.estimate(options);
}

std::string_view name_of(CacheKind kind) noexcept {
  constexpr std::array<std::string_view, 6> names = {"full",      "sliding", "latent",
                                                     "recurrent", "indexer", "compressed"};
  return name_at(names, kind);
}

std::string_view name_of(Verdict verdict) noexcept {
  constexpr std::array<std::string_view, 4> names = {"fits", "tight", "does_not_fit", "unknown"};
  return name_at(names, verdict);
}

}  // namespace ingot
