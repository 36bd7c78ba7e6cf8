// SPDX-License-Identifier: MIT
// Property: whatever opens has an estimate or an error, for any options; the parts of an estimate
// add up; what advice names fits; and any text is a device, a size or refused.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "ingot/estimate.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Options from the last bytes of the input.
RunOptions options_of(const std::uint8_t* data, std::size_t size) {
  std::uint8_t bytes[16] = {};
  const std::size_t count = size < sizeof bytes ? size : sizeof bytes;
  std::memcpy(bytes, data + size - count, count);
  RunOptions options;
  options.context = std::uint64_t{bytes[0]} << (bytes[1] % 32);
  options.batch = std::uint64_t{1} << (bytes[2] % 40);
  options.micro_batch = std::uint64_t{bytes[3]} << (bytes[4] % 48);
  options.sequences = bytes[5];
  options.key_type = live_tensor_types[bytes[6] % live_tensor_types.size()].type;
  options.value_type = (bytes[7] & 1) != 0 ? options.key_type : TensorType::f16;
  options.flash_attention = static_cast<FlashAttention>(bytes[7] / 2 % 3);
  options.is_cache_unified = (bytes[8] & 1) != 0;
  options.keeps_full_windows = (bytes[8] & 2) != 0;
  options.offloads_cache = (bytes[8] & 4) == 0;
  options.wants_embeddings = (bytes[8] & 8) != 0;
  options.repacks_weights = (bytes[8] & 16) != 0;
  options.gpu_layers = static_cast<std::int64_t>(bytes[9]) - 1;
  options.experts_on_host = bytes[10];
  for (int i = 0; i < bytes[11] % 4; ++i) {
    options.devices.push_back({"gpu", std::uint64_t{bytes[12]} << (bytes[13] % 56), 1e9});
  }
  if ((bytes[14] & 1) != 0) options.host_bytes = std::uint64_t{bytes[15]} << (bytes[14] % 56);
  return options;
}

void require_sum(const MemoryUse& use) {
  require(use.total_bytes == use.weights_bytes + use.cache_bytes + use.compute_bytes +
                                 use.output_bytes + use.projector_bytes);
  require(use.mapped_bytes <= use.weights_bytes);
  if (use.capacity_bytes) {
    require((use.verdict == Verdict::does_not_fit) == (use.total_bytes > *use.capacity_bytes));
  }
}

void require_good(const MemoryEstimate& estimate) {
  std::uint64_t cache_bytes = estimate.host.cache_bytes;
  std::uint64_t kinds_bytes = 0;
  require_sum(estimate.host);
  for (const MemoryUse& use : estimate.devices) {
    require_sum(use);
    cache_bytes += use.cache_bytes;
  }
  for (const CacheUse& use : estimate.caches) {
    kinds_bytes += use.key_bytes + use.value_bytes;
    require(!name_of(use.kind).empty() && use.layers > 0);
  }
  require(cache_bytes == estimate.cache_bytes && kinds_bytes == estimate.cache_bytes);
  require(!name_of(estimate.verdict).empty());
}

void estimate_all(const MemoryProfile& profile, const RunOptions& options) {
  static_cast<void>(profile.cache_growth());
  static_cast<void>(profile.smallest_card(options.context));
  const Result<MemoryEstimate> estimate = profile.estimate(options);
  const Result<Advice> advice = profile.advise(options);
  require(estimate.has_value() == advice.has_value());
  if (!estimate) {
    require(estimate.error().code != Errc::internal);
    return;
  }
  require_good(*estimate);
  for (const Change& change : advice->changes) {
    require(option_text(change).empty() == (change.kind == ChangeKind::weights));
    if (change.kind == ChangeKind::weights) continue;
    const Result<MemoryEstimate> changed = profile.estimate(change.options);
    require(changed && changed->verdict != Verdict::does_not_fit);
  }
}

void parse_texts(std::string_view text) {
  const auto size_bytes = parse_memory_size(text);
  require(!size_bytes || *size_bytes > 0);
  const Result<Device> device = parse_device(text);
  require(device.has_value() == size_bytes.has_value() || device.has_value());
  if (size_bytes) require(usable_device_bytes(*size_bytes) <= *size_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require(!device_models().empty() && !common_memory_sizes().empty());
  const auto bytes = std::as_bytes(std::span(data, size));
  parse_texts({reinterpret_cast<const char*>(data), size < 24 ? size : 24});
  const Limits limits{.max_header_bytes = size, .max_keys = size, .max_tensors = size};
  const Result<Model> model = Model::open_memory(bytes, {.is_header_only = true, .limits = limits});
  if (!model) return 0;
  const RunOptions options = options_of(data, size);
  Result<MemoryProfile> profile = MemoryProfile::read(*model);
  require(profile.has_value() || !estimate_memory(*model, options).has_value());
  if (!profile) return 0;
  require(profile->weights_bytes() > 0 || model->tensors().size() > 0);
  estimate_all(*profile, options);
  if (profile->add_companion(*model)) estimate_all(*profile, options);
  return 0;
}
