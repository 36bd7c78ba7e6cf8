// SPDX-License-Identifier: MIT
// Will it run? The memory that a model takes on every device, from its header alone.
//
//   const auto model = ingot::Model::open("model.gguf");
//   if (!model) return complain(model.error());
//   const auto profile = ingot::MemoryProfile::read(*model);
//   if (!profile) return complain(profile.error());
//   ingot::RunOptions options;
//   options.context = 32768;
//   options.devices = {*ingot::parse_device("rtx-4090")};
//   const auto estimate = profile->estimate(options);
//   if (estimate && estimate->verdict == ingot::Verdict::fits) run_it();
//
// The numbers are those of one engine, llama.cpp 0.5.0: what it allocates for weights, cache and
// the output of tokens is computed exactly, the work space of its graphs closely. Other engines
// differ in the last two. docs/estimate.md has the formulas, how far each was measured, and what is
// not counted (the driver's own memory, for one).
//
// A profile is read once; each estimate then takes microseconds, so searching through options is
// cheap. Profiles and all functions here are thread-safe; they read no weight, print nothing and
// fail with an Error where a header contradicts itself or a sum leaves 64 bits.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/types.hpp"

namespace ingot {

// ------------------------------------------------------------------------------------------------
// Devices
// ------------------------------------------------------------------------------------------------

/// A card or machine on the market: a row of devices.def.
struct DeviceModel {
  std::string_view name;  ///< The name on command lines: "rtx-4090", "m4-max-64".
  std::string_view label;
  std::uint64_t memory_bytes = 0;  ///< The nominal size.
  std::uint64_t usable_bytes = 0;  ///< The part that programs can have.
  double bandwidth = 0;            ///< Bytes a second; 0: unknown.
};

/// All devices, in the order of the table.
[[nodiscard]] INGOT_EXPORT std::span<const DeviceModel> device_models() noexcept;

/// The memory sizes of common cards, ascending, in bytes as sold: 4 GiB to 192 GiB.
[[nodiscard]] INGOT_EXPORT std::span<const std::uint64_t> common_memory_sizes() noexcept;

/// The part of a card's memory that programs can use: 97 %, as the driver takes the remainder.
[[nodiscard]] INGOT_EXPORT std::uint64_t usable_device_bytes(std::uint64_t memory_bytes) noexcept;

/// One device of a run.
struct Device {
  std::string name;
  std::uint64_t usable_bytes = 0;
  double bandwidth = 0;  ///< Bytes a second; 0: unknown.
};

/// Parses "24G" (a card of 24 x 2^30 bytes, less the driver's part) or a name of devices.def, in
/// upper or lower case, with or without dashes and the names of maker and family ("RTX 4060",
/// "4060", "NVIDIA GeForce RTX 4060"). Other bare numbers are what `parse_memory_size` says.
/// Errc::invalid_argument for other texts, with the names that begin so.
[[nodiscard]] INGOT_EXPORT Result<Device> parse_device(std::string_view text);

template <class Visitor>
void describe(Visitor& visit, const Device& device) {
  visit("name", device.name, "", "as its driver has it");
  visit("usable_bytes", device.usable_bytes, "bytes", "that programs can have");
  visit("bandwidth", device.bandwidth, "bytes a second", "of its memory; 0: unknown");
}

/// The memory of a machine.
struct ThisMachine {
  std::vector<Device> devices;              ///< Its cards, with the memory that is free.
  std::optional<std::uint64_t> host_bytes;  ///< The host's that programs can still have.
};

template <class Visitor>
void describe(Visitor& visit, const ThisMachine& machine) {
  visit("devices", machine.devices, "", "the cards, with the memory that is free");
  visit("host_bytes", machine.host_bytes, "bytes", "of the host that programs can still have");
}

/// Asks the system for the memory of the machine that this program runs on: NVIDIA's cards by the
/// library of their driver (NVML) if it is there, AMD's by the files of theirs; other cards are not
/// known, and parts of the host's memory below 1 GiB that a processor's own card has are none. Of
/// the host what Linux calls available, no more than the program's container may have (cgroup 2).
/// Takes up to a second where a driver has to wake.
[[nodiscard]] INGOT_EXPORT ThisMachine find_this_machine();

/// "64G", "1.5T", "32 GiB": memory, in powers of 1024. Bare numbers up to 1,024, with a fraction or
/// without, are GiB, up to 1,048,576 MiB, and others bytes. Nothing for all else, for zero, and for
/// 2^63 or more.
[[nodiscard]] INGOT_EXPORT std::optional<std::uint64_t> parse_memory_size(
    std::string_view text) noexcept;

// ------------------------------------------------------------------------------------------------
// Options
// ------------------------------------------------------------------------------------------------

enum class FlashAttention : std::uint8_t { automatic, on, off };

/// The options for running a model. The members have the meaning of llama.cpp's options.
struct RunOptions {
  std::uint64_t context = 0;        ///< --ctx-size: tokens of all sequences; 0: the model's own.
  std::uint64_t batch = 2048;       ///< --batch-size
  std::uint64_t micro_batch = 512;  ///< --ubatch-size
  std::uint64_t sequences = 1;      ///< --parallel
  TensorType key_type = TensorType::f16;                       ///< --cache-type-k
  TensorType value_type = TensorType::f16;                     ///< --cache-type-v
  FlashAttention flash_attention = FlashAttention::automatic;  ///< Automatic counts as on.
  bool is_cache_unified = false;    ///< --kv-unified: sequences share the context.
  bool keeps_full_windows = false;  ///< --swa-full
  bool offloads_cache = true;       ///< False means --no-kv-offload.
  bool wants_embeddings = false;    ///< --embeddings
  bool maps_file = true;            ///< False means --no-mmap.
  bool repacks_weights = true;      ///< False means --no-repack.

  std::vector<Device> devices;              ///< If empty, everything runs on the host.
  std::int64_t gpu_layers = -1;             ///< --gpu-layers: the number of last layers on devices;
                                            ///< negative: all.
  std::vector<double> tensor_split;         ///< Shares of the devices; empty: by usable bytes.
  std::uint64_t experts_on_host = 0;        ///< --n-cpu-moe: the number of first layers whose
                                            ///< experts stay on the host.
  std::optional<std::uint64_t> host_bytes;  ///< Memory of the host; nothing: not limited.
  double host_bandwidth = 0;                ///< Bytes a second; 0: unknown.

  std::uint64_t images = 0;  ///< Images in the context, for the projector beside the model.
  std::array<std::uint32_t, 2> image_size = {};  ///< Width and height of each, pixels.
  double audio_seconds = 0;  ///< Of a sound in the context, for the projector beside the model.
};

template <class Visitor>
void describe_options(Visitor& visit, RunOptions& options) {
  visit("ctx_size", options.context);
  visit("batch_size", options.batch);
  visit("ubatch_size", options.micro_batch);
  visit("parallel", options.sequences);
  visit("cache_type_k", options.key_type);
  visit("cache_type_v", options.value_type);
  visit("flash_attn", options.flash_attention);
  visit("kv_unified", options.is_cache_unified);
  visit("swa_full", options.keeps_full_windows);
  visit("kv_offload", options.offloads_cache);
  visit("embeddings", options.wants_embeddings);
  visit("mmap", options.maps_file);
  visit("repack", options.repacks_weights);
  visit("device", options.devices);
  visit("gpu_layers", options.gpu_layers);
  visit("tensor_split", options.tensor_split);
  visit("n_cpu_moe", options.experts_on_host);
  visit("host", options.host_bytes);
  visit("host_bandwidth", options.host_bandwidth);
  visit("images", options.images);
  visit("image_size", options.image_size);
  visit("audio_seconds", options.audio_seconds);
}

/// Largest values that are accepted: beyond them is a mistake, not a machine.
inline constexpr std::uint64_t max_context = std::uint64_t{1} << 30;
inline constexpr std::uint64_t max_sequences = 65536;
inline constexpr std::size_t max_devices = 64;

/// The types that the engine takes for --cache-type-k and -v.
inline constexpr std::array cache_types = {TensorType::f16,  TensorType::f32,  TensorType::bf16,
                                           TensorType::q8_0, TensorType::q5_1, TensorType::q5_0,
                                           TensorType::q4_1, TensorType::q4_0, TensorType::iq4_nl};

// ------------------------------------------------------------------------------------------------
// Estimates
// ------------------------------------------------------------------------------------------------

/// The memory of a layer for earlier tokens.
enum class CacheKind : std::uint8_t {
  full,       ///< keys and values of the whole context
  sliding,    ///< keys and values of a window
  latent,     ///< one compressed vector per token (MLA)
  recurrent,  ///< a state of fixed size
  indexer,    ///< the keys by which sparse attention selects tokens
  compressed  ///< one key for several tokens
};

/// "full", "sliding", "latent", "recurrent", "indexer", "compressed"
[[nodiscard]] INGOT_EXPORT std::string_view name_of(CacheKind kind) noexcept;

/// The layers whose cache is of one kind.
struct CacheUse {
  CacheKind kind = CacheKind::full;
  std::uint64_t cells = 0;    ///< Tokens of one sequence that a layer keeps; recurrent: states.
  std::uint64_t streams = 1;  ///< Separate caches: sequences that do not share one.
  std::uint64_t layers = 0;
  std::uint64_t key_bytes = 0;    ///< Recurrent: the rolling inputs.
  std::uint64_t value_bytes = 0;  ///< Recurrent: the state.
};

template <class Visitor>
void describe(Visitor& visit, const CacheUse& use) {
  visit("kind", use.kind, "",
        "`full`, `sliding`, `latent`, `recurrent`, `indexer` or `compressed`");
  visit("layers", use.layers, "layers", "with such a cache");
  visit("cells", use.cells, "tokens", "of one sequence that a layer keeps; recurrent: states");
  visit("streams", use.streams, "caches", "side by side: sequences that do not share one");
  visit("key_bytes", use.key_bytes, "bytes", "keys; recurrent: rolling inputs");
  visit("value_bytes", use.value_bytes, "bytes", "values; recurrent, compressed: states");
}

/// The work space of a graph: the largest of its phases rules. Bytes, for the whole model.
struct ComputeTerms {
  std::uint64_t mask = 0;  ///< Part of attention, feed_forward and experts.
  std::uint64_t output = 0;
  std::uint64_t attention = 0;
  std::uint64_t feed_forward = 0;
  std::uint64_t experts = 0;
  std::uint64_t state = 0;
  std::string_view largest;  ///< The name of the phase that rules: "output", "attention", ...
};

template <class Visitor>
void describe(Visitor& visit, const ComputeTerms& terms) {
  visit("mask_bytes", terms.mask, "bytes",
        "the mask, which is a part of attention, feed_forward and experts");
  visit("output_bytes", terms.output, "bytes", "the output");
  visit("attention_bytes", terms.attention, "bytes", "attention");
  visit("feed_forward_bytes", terms.feed_forward, "bytes", "the feed-forward part");
  visit("experts_bytes", terms.experts, "bytes", "the experts");
  visit("state_bytes", terms.state, "bytes", "states of recurrent layers");
  visit("largest", terms.largest, "", "the phase that rules: `output`, `attention`, ...");
}

enum class Verdict : std::uint8_t {
  fits,
  tight,  ///< fits with less than 5 % to spare
  does_not_fit,
  unknown  ///< no memory size was given
};

/// "fits", "tight", "does_not_fit", "unknown"
[[nodiscard]] INGOT_EXPORT std::string_view name_of(Verdict verdict) noexcept;

/// Whether it fits; nothing if that is unknown.
[[nodiscard]] constexpr std::optional<bool> fits(Verdict verdict) noexcept {
  if (verdict == Verdict::unknown) return std::nullopt;
  return verdict != Verdict::does_not_fit;
}

/// The content of one device, or of the host. Bytes.
struct MemoryUse {
  std::string name;
  std::uint64_t first_layer = 0;
  std::uint64_t layer_count = 0;
  bool has_output = false;  ///< The output matrix is here.
  std::uint64_t weights_bytes = 0;
  std::uint64_t mapped_bytes =
      0;  ///< The part of the weights in pages of the file, which the system can drop.
  std::uint64_t cache_bytes = 0;
  std::uint64_t compute_bytes = 0;
  std::uint64_t output_bytes = 0;  ///< Logits and embeddings of tokens.
  std::uint64_t projector_bytes =
      0;                          ///< A multimodal projector beside the model, with its work space.
  std::uint64_t total_bytes = 0;  ///< The sum of weights, cache, compute, output and projector.
  std::optional<std::uint64_t> capacity_bytes;
  Verdict verdict = Verdict::unknown;
  std::uint64_t weights_read_bytes = 0;  ///< Read to make one token.
};

template <class Visitor>
void describe(Visitor& visit, const MemoryUse& use) {
  visit("name", use.name, "", "the device as it was named, or `host`");
  visit("first_layer", use.first_layer, "", "the first layer that is here");
  visit("layer_count", use.layer_count, "layers", "that are here");
  visit("has_output", use.has_output, "", "whether the output matrix is here");
  visit("weights_bytes", use.weights_bytes, "bytes", "tensors");
  visit("mapped_bytes", use.mapped_bytes, "bytes",
        "of the tensors: pages of the file, which the system can drop");
  visit("cache_bytes", use.cache_bytes, "bytes", "the cache");
  visit("compute_bytes", use.compute_bytes, "bytes", "the work space");
  visit("output_bytes", use.output_bytes, "bytes", "logits and embeddings of tokens");
  visit("projector_bytes", use.projector_bytes, "bytes",
        "a projector beside the model; with images its work space, too, where it is known");
  visit("total_bytes", use.total_bytes, "bytes",
        "the sum of weights, cache, compute, output and projector");
  visit("weights_read_bytes", use.weights_read_bytes, "bytes", "that are read for one token");
  visit("capacity_bytes", use.capacity_bytes, "bytes", "that programs can have here");
  visit("verdict", use.verdict, "", "whether it fits here");
  visit("fits", fits(use.verdict), "", "the same as a bool");
}

struct MemoryEstimate {
  std::uint64_t context = 0;               ///< Tokens, rounded as the engine rounds.
  std::uint64_t context_per_sequence = 0;  ///< The part that one sequence can have.
  std::uint64_t sequences = 1;
  std::uint64_t micro_batch = 0;   ///< Tokens of one graph.
  std::uint64_t image_tokens = 0;  ///< Tokens of the context that the images take, all together.
  std::uint64_t audio_tokens = 0;  ///< Those of the sound.
  bool uses_flash_attention = true;
  std::int64_t gpu_layers = 0;  ///< The layers that are not on the host, the output counted as one.

  std::uint64_t weights_bytes = 0;  ///< Tensors that the engine loads, each once.
  std::uint64_t cache_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::vector<CacheUse> caches;  ///< The caches by kind.
  ComputeTerms compute;

  std::vector<MemoryUse> devices;
  MemoryUse host;
  Verdict verdict = Verdict::unknown;  ///< The worst of all.

  /// Tokens a second that reading weights allows, with an empty and with a full cache; a bound that
  /// no engine passes, not a prediction. Nothing where a bandwidth is missing.
  std::optional<double> bound_at_start;
  std::optional<double> bound_at_end;
};

/// A change that makes a run fit.
enum class ChangeKind : std::uint8_t {
  micro_batch,      ///< smaller steps through the prompt
  cache_type,       ///< a quantized cache
  both,             ///< these two together
  experts_on_host,  ///< experts of some layers stay on the host
  gpu_layers,       ///< fewer layers on the devices
  context,          ///< a shorter context
  weights           ///< a smaller quantization
};

/// "ubatch_size", "cache_type", "cache_type_and_ubatch_size", "n_cpu_moe", "gpu_layers",
/// "ctx_size", "quantization"
[[nodiscard]] INGOT_EXPORT std::string_view name_of(ChangeKind kind) noexcept;

/// One change that makes a run fit.
struct Change {
  ChangeKind kind = ChangeKind::micro_batch;
  RunOptions options;               ///< The options with the change made; unchanged for `weights`.
  std::uint64_t weights_bytes = 0;  ///< The size that all weights may have, for `weights`.
  std::string recipe = {};          ///< A mixture of that size, for `weights`, if one is known.
};

/// The options of a change as the engine's command line has them: "--ubatch-size 128". Empty for
/// `weights`.
[[nodiscard]] INGOT_EXPORT std::string option_text(const Change& change);

template <class Visitor>
void describe(Visitor& visit, const Change& change) {
  const bool is_weights = change.kind == ChangeKind::weights;
  visit("kind", change.kind, "",
        "`ubatch_size`, `cache_type`, `cache_type_and_ubatch_size`, `n_cpu_moe`, `gpu_layers`, "
        "`ctx_size` or `quantization`");
  visit("options", is_weights ? std::nullopt : std::optional(option_text(change)), "",
        "options to add; null for `quantization`");
  visit("weights_bytes", is_weights ? std::optional(change.weights_bytes) : std::nullopt, "bytes",
        "for `quantization`: how large all weights may be");
  visit("type", change.recipe.empty() ? std::nullopt : std::optional(change.recipe), "",
        "for `quantization`: the largest usual mixture that is so small");
}

struct Advice {
  /// The most layers that the devices hold, as a value of --gpu-layers; nothing without devices.
  std::optional<std::uint64_t> gpu_layers;
  /// Longest context that fits with all else unchanged, at most the model's own; nothing if none
  /// does, or if nothing limits it.
  std::optional<std::uint64_t> context;
  /// The smallest of common_memory_sizes() that holds all of it; nothing if none does, or where
  /// devices were given.
  std::optional<std::uint64_t> smallest_card_bytes;
  /// Single changes that are enough, the least felt first; none if it fits already.
  std::vector<Change> changes;
};

template <class Visitor>
void describe(Visitor& visit, const Advice& advice) {
  visit("gpu_layers", advice.gpu_layers, "layers",
        "the most that the devices hold, all else unchanged; null without devices");
  visit("context", advice.context, "tokens",
        "the longest that fits, all else unchanged; null if none does, or nothing limits it");
  visit("smallest_card_bytes", advice.smallest_card_bytes, "bytes",
        "the smallest common card that holds all of it, as it is sold; only without devices");
  visit("changes", advice.changes, "", "changes each of which is enough");
}

/// The full report on a run: its memory, whether that fits, and which changes would make it fit.
struct RunReport {
  std::string architecture;
  bool is_known_architecture = false;
  std::uint64_t context_length = 0;  ///< The model's own; 0: unknown.
  std::uint64_t layer_count = 0;     ///< Layers without the output.
  RunOptions options;
  MemoryEstimate estimate;
  Advice advice;
  std::vector<std::string> notes;             ///< See MemoryProfile::notes.
  std::vector<std::string_view> not_counted;  ///< The parts that the sums leave out for every
                                              ///< model.
};

/// A bound of speed, see MemoryEstimate::bound_at_start.
struct SpeedBound {
  std::optional<double> empty_cache;
  std::optional<double> full_cache;
};

template <class Visitor>
void describe(Visitor& visit, const SpeedBound& bound) {
  visit("empty_cache", bound.empty_cache, "tokens a second", "with an empty cache");
  visit("full_cache", bound.full_cache, "tokens a second", "with a full cache");
}

template <class Visitor>
void describe(Visitor& visit, const RunReport& report) {
  const MemoryEstimate& estimate = report.estimate;
  visit("architecture", report.architecture, "", "as stored");
  visit("is_known_architecture", report.is_known_architecture, "",
        "whether its rules are known; if not, see `notes`");
  visit("verdict", estimate.verdict, "",
        "`fits`, `tight` (less than 5 % to spare), `does_not_fit`, `unknown` (no size was given): "
        "the worst of all places");
  visit("fits", fits(estimate.verdict), "", "the same as a bool; null if unknown");
  visit("context", estimate.context, "tokens", "of all sequences, rounded as the engine rounds");
  visit("context_per_sequence", estimate.context_per_sequence, "tokens",
        "that one sequence can have");
  visit("context_length", report.context_length, "tokens",
        "context of the training; 0 if the file has none");
  visit("sequences", estimate.sequences, "", "sequences of the run");
  visit("images", report.options.images, "", "images in the context");
  visit("image_tokens", estimate.image_tokens, "tokens",
        "of the context that all images take, without the marks around them");
  visit("audio_seconds", report.options.audio_seconds, "seconds", "of a sound in the context");
  visit("audio_tokens", estimate.audio_tokens, "tokens",
        "of the context that the sound takes, without the marks around it");
  visit("batch_size", report.options.batch, "tokens", "of a batch");
  visit("ubatch_size", estimate.micro_batch, "tokens", "of one graph; never above the context");
  visit("cache_type_k", report.options.key_type, "", "type of the keys in the cache");
  visit("cache_type_v", report.options.value_type, "", "type of the values in the cache");
  visit("flash_attention", estimate.uses_flash_attention, "", "whether the run uses it");
  visit("layer_count", report.layer_count, "layers", "without the output");
  visit("gpu_layers", estimate.gpu_layers, "layers", "on devices, the output counted as one");
  visit("weights_bytes", estimate.weights_bytes, "bytes", "tensors that are loaded, each once");
  visit("cache_bytes", estimate.cache_bytes, "bytes", "the cache, of all places");
  visit("output_bytes", estimate.output_bytes, "bytes",
        "logits and embeddings of tokens, of all places");
  visit("caches", estimate.caches, "", "the cache by kind");
  visit("compute", estimate.compute, "", "the phases of a graph, if all of it runs on one place");
  visit("devices", estimate.devices, "", "what each device holds");
  visit("host", estimate.host, "", "what the host holds");
  visit("tokens_per_second_bound", SpeedBound{estimate.bound_at_start, estimate.bound_at_end}, "",
        "the limit that bandwidth sets; null without it");
  visit("advice", report.advice, "", "what would fit");
  visit("notes", report.notes, "", "sentences on what is assumed or left out for this model");
  visit("not_counted", report.not_counted, "", "what is left out for every model");
}

namespace detail {
struct ProfileState;
}

/// All facts of a header about memory. Cheap to move; independent of the model it was read from.
class INGOT_EXPORT MemoryProfile {
 public:
  /// Reads a model's header; linear in tensors and layers.
  ///
  /// @param types  the types to assume for the tensors, in their order, for a model that is yet to
  /// be
  ///               quantized; if empty, their own types.
  /// @return  Errc::estimate_impossible if needed facts are missing or contradict each other;
  ///          Errc::set_incomplete for a set of shards with one missing;
  ///          Errc::row_not_whole_blocks if a type does not fit a tensor.
  ///
  /// An unknown architecture is no error: weights are exact then, and everything else follows the
  /// ordinary formula, see `notes`.
  [[nodiscard]] static Result<MemoryProfile> read(const Model& model,
                                                  std::span<const TensorType> types = {});

  MemoryProfile(MemoryProfile&&) noexcept;
  MemoryProfile& operator=(MemoryProfile&&) noexcept;
  ~MemoryProfile();

  /// Adds a file that is loaded beside the model: an adapter, whose tensors lie with the layers
  /// they change, or a multimodal projector, which lies on the first device.
  /// Errc::invalid_argument for a file that is neither.
  [[nodiscard]] Result<void> add_companion(const Model& companion);

  [[nodiscard]] const std::string& architecture() const noexcept;
  [[nodiscard]] bool is_known_architecture() const noexcept;
  [[nodiscard]] std::uint64_t layer_count() const noexcept;     ///< Layers without the output.
  [[nodiscard]] std::uint64_t context_length() const noexcept;  ///< The model's own; 0: unknown.
  [[nodiscard]] std::uint64_t weights_bytes() const noexcept;   ///< Tensors that are loaded.
  [[nodiscard]] bool has_experts() const noexcept;
  /// Sentences on what the estimate assumes or leaves out for this model.
  [[nodiscard]] std::span<const std::string> notes() const noexcept;

  /// The memory of a run. O(layers).
  /// @return  Errc::run_refused for options that the engine refuses for this model (a cache type
  ///          whose blocks do not fit its heads, say); Errc::invalid_argument for ones that make no
  ///          sense; Errc::size_overflow.
  [[nodiscard]] Result<MemoryEstimate> estimate(const RunOptions& options) const;

  /// Changes that make a run fit, found by bisection over `estimate`; O(layers x log(context)).
  [[nodiscard]] Result<Advice> advise(const RunOptions& options) const;

  /// The estimate of a run, with advice. Errors as of `estimate`.
  [[nodiscard]] Result<RunReport> report(const RunOptions& options) const;

  /// The bytes by which the cache grows for each 1,024 tokens of context, averaged over the context
  /// of the model; f16.
  [[nodiscard]] Result<std::uint64_t> cache_growth() const;

  /// The smallest of common_memory_sizes() that holds all of the model with so much context (0: the
  /// model's own); nothing if none does.
  [[nodiscard]] Result<std::optional<std::uint64_t>> smallest_card(std::uint64_t context) const;

 private:
  explicit MemoryProfile(std::unique_ptr<detail::ProfileState> state) noexcept;
  std::unique_ptr<detail::ProfileState> state_;
};

/// A profile and one estimate in one call.
[[nodiscard]] INGOT_EXPORT Result<MemoryEstimate> estimate_memory(const Model& model,
                                                                  const RunOptions& options);

}  // namespace ingot
