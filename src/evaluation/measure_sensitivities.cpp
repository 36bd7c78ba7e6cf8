// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/checked.hpp"
#include "evaluation/chunk_runner.hpp"
#include "evaluation/divergence.hpp"
#include "evaluation/probe.hpp"
#include "ingot/evaluate.hpp"

namespace ingot {
namespace {

using namespace evaluation;

/// Tensors that are measured side by side.
struct Group {
  std::size_t first_layer = 0;  ///< The layer whose inputs all measurements start from.
  bool is_embedding = false;
  std::vector<const TensorInfo*> tensors = {};
};

void add_tensor(Group& group, const Matrix& matrix) {
  if (!matrix.exists() || std::ranges::find(group.tensors, matrix.tensor) != group.tensors.end()) {
    return;  // parts of a fused matrix are one tensor
  }
  group.tensors.push_back(matrix.tensor);
}

std::vector<Group> groups_of(const Network& network) {
  std::vector<Group> groups = {{.is_embedding = true}};
  add_tensor(groups[0], network.embedding);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    Group group{.first_layer = i};
    for (const Matrix* matrix : network.layers[i].matrices()) add_tensor(group, *matrix);
    groups.push_back(std::move(group));
  }
  groups.push_back({.first_layer = network.layers.size()});
  // A tied matrix is measured once, in both of its places.
  if (network.output.tensor != network.embedding.tensor) add_tensor(groups.back(), network.output);
  return groups;
}

/// One measurement of a whole model.
class Measurement {
 public:
  Measurement(const Model& model, const TextChunks& text, const SensitivityOptions& options)
      : model_(model), text_(text), options_(options) {}

  Result<std::vector<TensorSensitivity>> run() {
    INGOT_TRY_VOID(ChunkRunner::check(text_));
    INGOT_TRY(ForwardPass base, ForwardPass::make(model_, options_.run));
    INGOT_TRY_VOID(check_predicts(base.network()));
    passes_.push_back(std::move(base));
    groups_ = groups_of(network());
    for (Group& group : groups_) {
      std::erase_if(group.tensors, [&](const TensorInfo* tensor) { return !is_wanted(*tensor); });
    }
    const auto is_done = [](const Group& group) { return group.tensors.empty(); };
    if (std::ranges::all_of(groups_, is_done)) return std::move(found_);
    ChunkRunner runner(text_, options_.run, count_layers());
    INGOT_TRY_VOID(runner.check_memory(memory_for(runner)));
    INGOT_TRY_VOID(run_base(runner));
    for (const Group& group : groups_) {
      INGOT_TRY_VOID(measure(runner, group));
      INGOT_TRY_VOID(advance(runner, group));
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] const Network& network() const noexcept { return passes_[0].network(); }

  [[nodiscard]] bool is_wanted(const TensorInfo& tensor) const {
    const bool is_known = options_.is_known && options_.is_known(tensor.name);
    return !is_known && evaluation::probe_type(tensor).has_value();
  }

  /// Layers that every chunk passes. A comparison counts as one.
  [[nodiscard]] std::uint64_t count_layers() const {
    const std::uint64_t layers = network().layers.size();
    std::uint64_t count = 2 * layers;  // the base: once to its end, once layer by layer
    for (const Group& group : groups_) {
      count += group.tensors.size() * (layers - group.first_layer + 1);
    }
    return count;
  }

  [[nodiscard]] std::uint64_t memory_for(const ChunkRunner& runner) const {
    const Batch batch = runner.largest_batch();
    std::uint64_t most = 0;
    for (const Group& group : groups_) most = std::max<std::uint64_t>(most, group.tensors.size());
    const std::uint64_t state_bytes = panel_tokens * network().state_features() * sizeof(float);
    const std::uint64_t batches = divide_up(text_.chunk_count(), batch.chunk_count);
    const std::uint64_t scored =
        batch.chunk_count * evaluation::scored_of_chunk(text_.chunk_tokens);
    return state_bytes * batch.panel_count() * (2 * batches + most + 1) +
           passes_[0].memory_for(batch) +
           (most + 1) * evaluation::comparison_memory(passes_, scored);
  }

  /// The inputs of the first layer, and the last states.
  Result<void> run_base(ChunkRunner& runner) {
    return runner.for_each_batch([&](const Batch& batch, std::size_t first) -> Result<void> {
      INGOT_TRY(Panels states, passes_[0].embed(batch, runner.ids_of(batch, first)));
      inputs_.push_back(states.copy());
      INGOT_TRY_VOID(passes_[0].run_layers(batch, 0, network().layers.size(), states,
                                           [&] { return runner.count_layer(batch); }));
      INGOT_TRY_VOID(passes_[0].finish(states));
      outputs_.push_back(std::move(states));
      return {};
    });
  }

  /// Makes the inputs of the layer of a group those of the next one.
  Result<void> advance(ChunkRunner& runner, const Group& group) {
    const std::size_t layer = group.first_layer;
    if (group.is_embedding || layer == network().layers.size()) return {};
    std::size_t index = 0;
    return runner.for_each_batch([&](const Batch& batch, std::size_t) {
      return passes_[0].run_layers(batch, layer, layer + 1, inputs_[index++],
                                   [&] { return runner.count_layer(batch); });
    });
  }

  Result<void> measure(ChunkRunner& runner, const Group& group) {
    std::vector<TensorSensitivity> measured;
    for (const TensorInfo* tensor : group.tensors) {
      INGOT_TRY(Probe probe, evaluation::make_probe(model_, *tensor, options_.importance,
                                                    options_.run.thread_count));
      if (!(probe.relative_error > 0.0)) continue;  // it loses nothing
      INGOT_TRY(ForwardPass pass, ForwardPass::make(model_, options_.run));
      pass.work().replace(std::move(probe.substitute));
      passes_.push_back(std::move(pass));
      measured.push_back({.name = std::string(tensor->name),
                          .relative_error = probe.relative_error,
                          .weighted_error = probe.weighted_error});
    }
    std::vector<std::vector<double>> divergences(measured.size());
    std::size_t index = 0;
    if (!measured.empty()) {
      INGOT_TRY_VOID(runner.for_each_batch([&](const Batch& batch, std::size_t first) {
        return compare(runner, group, batch, first, index++, divergences);
      }));
    }
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const MeanEstimate estimate = mean_of_chunks(divergences[i]);
      measured[i].divergence = estimate.mean;
      measured[i].divergence_error = estimate.error;
      if (options_.measured) options_.measured(measured[i]);
      found_.push_back(std::move(measured[i]));
    }
    passes_.erase(passes_.begin() + 1, passes_.end());
    return {};
  }

  /// Runs the passes of a group on a batch and adds the divergence of each chunk.
  Result<void> compare(ChunkRunner& runner, const Group& group, const Batch& batch,
                       std::size_t first_chunk, std::size_t batch_index,
                       std::vector<std::vector<double>>& divergences) {
    const auto ids = runner.ids_of(batch, first_chunk);
    std::vector<Panels> states;
    states.push_back(outputs_[batch_index].copy());
    for (ForwardPass& pass : std::span(passes_).subspan(1)) {
      if (group.first_layer == network().layers.size()) {
        states.push_back(outputs_[batch_index].copy());
      } else {
        INGOT_TRY(Panels state, group.is_embedding ? pass.embed(batch, ids)
                                                   : Result<Panels>(inputs_[batch_index].copy()));
        INGOT_TRY_VOID(pass.run_layers(batch, group.first_layer, network().layers.size(), state,
                                       [&] { return runner.count_layer(batch); }));
        INGOT_TRY_VOID(pass.finish(state));
        states.push_back(std::move(state));
      }
      if (!runner.count_layer(batch)) return fail(Errc::interrupted, {});
    }
    INGOT_TRY(
        const std::vector<TokenFigures> figures,
        evaluation::compare_predictions(passes_, states, evaluation::scored_tokens(batch, ids)));
    const std::size_t count = evaluation::scored_of_chunk(text_.chunk_tokens);
    for (std::size_t at = 0; at < figures.size(); at += count) {
      for (std::size_t i = 0; i < divergences.size(); ++i) {
        double sum = 0.0;
        for (std::size_t t = at; t < at + count; ++t) sum += figures[t].others[i].divergence;
        divergences[i].push_back(sum / static_cast<double>(count));
      }
    }
    return {};
  }

  const Model& model_;
  const TextChunks& text_;
  const SensitivityOptions& options_;
  std::vector<ForwardPass> passes_;  // the base, then those of the group at hand
  std::vector<Group> groups_;
  std::vector<Panels> inputs_;   // inputs of the present layer, for each batch
  std::vector<Panels> outputs_;  // outputs of the base
  std::vector<TensorSensitivity> found_;
};

}  // namespace

Result<std::vector<TensorSensitivity>> measure_sensitivities(const Model& model,
                                                             const TextChunks& text,
                                                             const SensitivityOptions& options) {
  return Measurement(model, text, options).run();
}

}  // namespace ingot
