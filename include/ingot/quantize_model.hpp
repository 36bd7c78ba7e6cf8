// SPDX-License-Identifier: MIT
// Quantize a whole model (target ingot::convert): first a plan, which can be looked at, then the
// work, which streams.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/imatrix.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/quantize.hpp"
#include "ingot/recipe.hpp"
#include "ingot/sensitivity.hpp"
#include "ingot/split.hpp"
#include "ingot/tensor_profile.hpp"

namespace ingot {

/// Receives the bytes done so far; false ends the work with Errc::interrupted. Called from one
/// thread at a time.
using QuantizeProgress = std::function<bool(std::uint64_t done_bytes)>;

struct QuantizeModelOptions {
  /// The mixture; nullptr if there is a target.
  const Recipe* recipe = nullptr;
  RecipeOptions types = {};  ///< `has_importance` is set from `importance`.

  // Instead of a recipe: types are chosen so that the error is least among all choices that fit.
  std::optional<double> target_bits_per_weight = {};    ///< Over all tensors.
  std::optional<std::uint64_t> target_file_bytes = {};  ///< The whole file, header included.
  /// What the error of each tensor costs, for a target; borrowed. Tensors that it lacks count as
  /// the median of those that it has.
  std::span<const TensorSensitivity> sensitivities = {};

  const ImportanceMatrix* importance = nullptr;  ///< Borrowed.
  std::string importance_name = {};              ///< The value of the key quantize.imatrix.file.

  Effort effort = Effort::automatic;  ///< The effort for each block, also when types are measured.
  /// With Effort::best, matrices whose second moments `importance` has are rounded so that later
  /// weights of a row make good the errors of earlier ones (error feedback).
  bool uses_feedback = true;

  bool keeps_shards = false;  ///< Order tensors by the shard that they are in.

  bool allows_requantize = false;  ///< Tensors that are quantized already are quantized again.
  bool has_index = false;          ///< Write a layout index.
  bool allows_nan = false;         ///< NaN and infinities are quantized as far as types can.

  /// Called when all keys of the result are set, to change some.
  std::function<Result<void>(ModelWriter&)> adjust_metadata = {};

  unsigned thread_count = 0;  ///< 0: as many as the machine has cores. The bytes are the same.

  /// Limit of the memory of the process while it writes, what it held before included; 0: none.
  /// Fewer threads work, and less ahead, so that it is kept; the bytes are the same. Planning is
  /// not limited. Pages of a mapped file count as memory, so open the model with FileAccess::read.
  std::uint64_t max_memory_bytes = 0;

  /// The file of a result is OUT.ingot-quantizing until it is whole, with notes beside it. It stays
  /// if the process is killed, or ends with an error when a tensor is finished. For results of one
  /// file.
  bool keeps_parts = false;
  /// Goes on with what such a process of the same model, plan and options has left: tensors whose
  /// bytes have the digests that it noted. Without any it begins anew. Sets `keeps_parts`.
  bool resumes = false;
  /// What else the bytes depend on, and what neither plan nor model show, such as the files of a
  /// folder that is imported; parts of another key are not used.
  std::string resume_key = {};
};

template <class Visitor>
void describe_options(Visitor& visit, QuantizeModelOptions& options) {
  visit("recipe", options.recipe);
  describe_options(visit, options.types);
  visit("target_bpw", options.target_bits_per_weight);
  visit("target_size", options.target_file_bytes);
  visit("effort", options.effort);
  visit("feedback", options.uses_feedback);
  visit("keep_split", options.keeps_shards);
  visit("allow_requantize", options.allows_requantize);
  visit("allow_nan", options.allows_nan);
  visit("threads", options.thread_count);
  visit("max_memory", options.max_memory_bytes);
  visit("resume", options.resumes);
}

/// The plan of one tensor.
struct PlannedTensor {
  const TensorInfo* source = nullptr;  ///< The tensor in the model.
  TypeChoice choice;
  std::uint64_t size_bytes = 0;  ///< The bytes of the tensor in the result.
  bool has_importance = false;   ///< The matrix has data for it, and its new type uses it.
  bool has_feedback = false;     ///< It is encoded with error feedback.
  /// The lattice that its weights lie on, with Effort::automatic, by a sample.
  std::optional<WeightGrid> grid = {};
  Effort effort = Effort::reference;  ///< How its blocks are chosen; for `automatic`, effort_for.
  double estimated_cost = 0.0;        ///< What TargetOutcome adds up, if there is a target.
  std::string explanation = {};       ///< What `explain` says of the choice.

  [[nodiscard]] bool is_copied() const noexcept { return source->type == choice.type; }
};

template <class Visitor>
void describe(Visitor& visit, const PlannedTensor& tensor) {
  visit("name", tensor.source->name, "", "the tensor");
  visit("shape", tensor.source->shape, "", "the fastest-varying dimension first");
  visit("from", tensor.source->type, "", "its type in the model");
  visit("to", tensor.choice.type, "", "its type in the result");
  visit("bytes_before", tensor.source->size_bytes, "bytes", "in the model");
  visit("bytes", tensor.size_bytes, "bytes", "in the result");
  visit("reason", tensor.choice.reason, "", "why it gets this type, for scripts");
  visit("explanation", tensor.explanation, "", "the same for people");
  visit("importance", tensor.has_importance, "", "whether importance data is used");
  visit("feedback", tensor.has_feedback, "",
        "whether it is encoded with error feedback, by second moments");
  visit("lattice", tensor.grid, "",
        "the lattice that its weights lie on, by a sample; null if on none, or with another effort "
        "than `auto`");
  visit("searched", tensor.effort != Effort::reference, "",
        "whether its blocks are searched for, or made by the lattice");
}

/// How well a target was met. Costs are expected divergences of the predictions in nats per token
/// where sensitivities are known, else numbers without a unit.
struct TargetOutcome {
  double cost = 0.0;   ///< The cost of all tensors that the target decides about.
  double bound = 0.0;  ///< No choice of types that fits costs less.
};

template <class Visitor>
void describe(Visitor& visit, const TargetOutcome& target) {
  constexpr const char* unit = "nats per token, or none";
  visit("cost", target.cost, unit, "of the types that were chosen");
  visit("bound", target.bound, unit, "no choice of types that fits costs less");
}

/// The plan of a model. Valid as long as the model.
struct QuantizePlan {
  std::vector<PlannedTensor> tensors;      ///< All tensors in the order of the result.
  std::optional<std::uint32_t> file_type;  ///< Empty: as in the source.
  std::optional<TargetOutcome> target;     ///< Nothing unless the options have a target.
  std::uint64_t element_count = 0;
  std::uint64_t source_bytes = 0;  ///< The bytes of all tensors, without padding.
  std::uint64_t size_bytes = 0;    ///< The bytes of all tensors of the result, without padding.

  /// Bits of the result or of the source for each weight; 0 without weights.
  [[nodiscard]] double bits_per_weight() const noexcept { return bits_per_weight(size_bytes); }
  [[nodiscard]] double source_bits_per_weight() const noexcept {
    return bits_per_weight(source_bytes);
  }

 private:
  [[nodiscard]] double bits_per_weight(std::uint64_t bytes) const noexcept {
    return element_count == 0
               ? 0.0
               : 8.0 * static_cast<double>(bytes) / static_cast<double>(element_count);
  }
};

/// The members of the plan as a whole; each of its tensors is described by itself.
template <class Visitor>
void describe(Visitor& visit, const QuantizePlan& plan) {
  visit("file_type", plan.file_type, "",
        "`general.file_type` of the result; null if it stays as it is");
  visit("elements", plan.element_count, "weights", "of all tensors");
  visit("bytes_before", plan.source_bytes, "bytes", "of all tensors, without padding");
  visit("bytes", plan.size_bytes, "bytes", "of all tensors of the result, without padding");
  visit("bits_per_weight", plan.bits_per_weight(), "bits", "of the result");
  visit("target", plan.target, "",
        "how well a target was met; null without one. With sensitivities, costs are expected "
        "divergences");
}

/// Chooses types and checks everything that can be checked before the work.
///
/// @param progress  of measuring, where there is a target; in bytes of the source.
/// @return  Errc::no_architecture if the result, after `adjust_metadata`, would have no
///          general.architecture; Errc::requantize_refused, weights_required, imatrix_mismatch,
///          imatrix_invalid, target_too_small, unsupported_type (for types that only a lenient
///          reader opens), errors of choose_types and of reading.
[[nodiscard]] INGOT_EXPORT Result<QuantizePlan> plan_quantization(
    const Model& model, const QuantizeModelOptions& options, const QuantizeProgress& progress = {});

/// How far a tensor is from its source. Sums over all elements, the same for any thread count.
struct TensorError {
  QuantizationError plain;
  double weighted_error = 0.0;    ///< Squares times the importance of their columns; 0 without.
  double weighted_signal = 0.0;   ///< The same of the source.
  double weighted_product = 0.0;  ///< Source times result times importance.
  double product = 0.0;           ///< Source times result, of tensors without importance.
  double output_error = 0.0;      ///< Squares in the outputs of the tensor, by second moments.
  double output_signal = 0.0;     ///< The same of the source; 0 without second moments.

  /// Root of error over signal, each weighted (unweighted where there are no weights): 0.05 means
  /// that a weight is off by a twentieth of its size.
  [[nodiscard]] INGOT_EXPORT double relative() const noexcept;

  /// Root of output_error over output_signal: 0.05 means that an output of the tensor is off by a
  /// twentieth of its size. Empty without second moments.
  [[nodiscard]] INGOT_EXPORT std::optional<double> relative_output() const noexcept;

  /// How much of the source the result is, in its direction: below 1 it is shorter, which costs a
  /// model more than the same error without direction. 1 for a source of zeros.
  [[nodiscard]] INGOT_EXPORT double slope() const noexcept;

  /// Adds the error of other elements. The order matters to the last digits.
  INGOT_EXPORT void add(const TensorError& other) noexcept;
};

template <class Visitor>
void describe(Visitor& visit, const TensorError& error) {
  describe(visit, error.plain);
  visit("relative", error.relative(), "", "root of error over signal");
  visit("weighted", error.weighted_signal > 0.0, "",
        "whether importances weight `relative` and `slope`");
  visit("slope", error.slope(), "", "how much of the source the result is: below 1 it is shorter");
  visit("output", error.relative_output(), "",
        "root of error over signal of the tensor's outputs; null without second moments");
}

/// A file of the result: the whole model, unless it is said to be one of a set of shards.
struct QuantizedShard {
  std::string path = {};
  std::size_t first_tensor = 0;                  ///< Its index in the plan.
  std::optional<std::size_t> tensor_count = {};  ///< Default: all from the first one on.
  std::uint16_t index = 0;                       ///< The number of the shard, from 0.
  std::uint16_t count = 0;  ///< 0: the model is one file and gets no split.* keys.
};

/// The shards of a plan that was made with `keeps_shards`: as many as the model has, each with the
/// tensors of its counterpart; of a model in one file, that file. The paths are empty.
[[nodiscard]] INGOT_EXPORT std::vector<QuantizedShard> kept_shards(const Model& model,
                                                                   const QuantizePlan& plan);

/// The shards that plan_split would cut the result into; known before there is a result, so that
/// each can be made by itself, on another machine for instance. The paths are empty.
/// Errc::split_impossible where no cut keeps the limits.
[[nodiscard]] INGOT_EXPORT Result<std::vector<QuantizedShard>> cut_shards(
    const Model& model, const QuantizePlan& plan, const QuantizeModelOptions& options,
    const SplitLimits& limits);

/// Writes the model, or one shard of it, as planned: atomically, its space reserved before the
/// work. Streams in chunks of 256 Ki elements or one row; memory is bounded by these, not by
/// tensors.
///
/// @param replace   whether an existing file may be replaced, else Errc::already_exists.
/// @param progress  in bytes of the file.
/// @return  the error of each of its tensors, in their order; copied ones have none.
///          Errc::weight_not_finite names tensor and position; Errc::index_out_of_range if the
///          shard is not of the plan; Errc::invalid_argument if a file that is the whole model
///          would lack some of its tensors; errors of reading and writing.
[[nodiscard]] INGOT_EXPORT Result<std::vector<TensorError>> quantize_model(
    const Model& model, const QuantizePlan& plan, const QuantizeModelOptions& options,
    const QuantizedShard& shard, bool replace, const QuantizeProgress& progress = {});

/// `quantize_model` for shards of one set, by ascending index: they get their names when all are
/// complete. Old and new files never lie beside one another under these names, and the first shard
/// comes last. `progress` counts the bytes of all files.
[[nodiscard]] INGOT_EXPORT Result<std::vector<TensorError>> quantize_set(
    const Model& model, const QuantizePlan& plan, const QuantizeModelOptions& options,
    std::span<const QuantizedShard> shards, bool replace, const QuantizeProgress& progress = {});

/// One of several results that are made of a model at once. All of it is borrowed.
struct PlannedResult {
  const QuantizePlan* plan = nullptr;
  const QuantizeModelOptions* options = nullptr;  ///< Those of the plan.
  std::span<const QuantizedShard> shards = {};    ///< The same as for `quantize_set`.
};

/// `quantize_set` for several results, each tensor of the model being read and decoded once for
/// all of them, and encoded once for all that want the same of it: the bytes are the same. No file
/// gets its name before all are complete. Memory grows with the number of results, by some chunks
/// for each.
///
/// @param results   one or more; their plans have the same tensors in the same order. The first
///                  one's options give the number of threads and the limit of memory.
/// @param progress  in bytes of all files.
/// @return  the errors of each result's tensors. Errc::invalid_argument if there is no result, or
///          the plans differ in their tensors, or shards are not in ascending order, or the limit
///          of memory is too small, with the least that suffices, or parts of a set of shards are
///          to be kept.
[[nodiscard]] INGOT_EXPORT Result<std::vector<std::vector<TensorError>>> quantize_together(
    const Model& model, std::span<const PlannedResult> results, bool replace,
    const QuantizeProgress& progress = {});

/// The size of the file that `quantize_model` writes.
[[nodiscard]] INGOT_EXPORT Result<std::uint64_t> quantized_file_bytes(
    const Model& model, const QuantizePlan& plan, const QuantizeModelOptions& options,
    const QuantizedShard& shard);

}  // namespace ingot
