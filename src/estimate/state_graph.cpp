// SPDX-License-Identifier: MIT
// Layers that keep a state in place of a cache, as llama.cpp 0.5.0 builds them.
#include <algorithm>

#include "estimate/graph_builder.hpp"

namespace ingot::estimate {

using Tensor = Graph::Tensor;

/// The output of a recurrent layer, for all tokens.
Tensor GraphBuilder::recur(const Layer& layer, Tensor input) {
  const LayerTensors& tensors = layer.tensors;
  if (profile_.rule->state == State::short_convolution) return short_convolution(input);
  if (tensors.delta_rows > 0) return delta_net(layer, input);
  if (tensors.state_parameter_rows == 0) return mamba2(layer, input);
  return profile_.state.groups == 0 && tensors.has_state_norms && !tensors.has_convolution_bias
             ? plamo_mamba(layer, input)
             : mamba(layer, input);
}

/// A part of the states of all sequences, copied out of where they are kept.
Tensor GraphBuilder::state_rows(CheckedNumber elements) {
  const Tensor found = graph_.make(states(elements), {sequences_});
  graph_.expand(found);
  return found;
}

/// A convolution over the tokens, with the last ones of the batch before.
Tensor GraphBuilder::convolve(CheckedNumber width, Tensor rolling, Tensor input) {
  const CheckedNumber before = width * (std::max<std::uint64_t>(profile_.state.kernel, 1) - 1);
  const Tensor joined = graph_.make(states(before) + rows(width), {rolling, input});
  graph_.store({joined});
  return graph_.make(rows(width), {joined});
}

/// The scan over the tokens; the new states lie behind its output.
Tensor GraphBuilder::scan(CheckedNumber width, Graph::Sources sources) {
  const Tensor scanned = graph_.make(rows(width) + states(profile_.state_elements), sources);
  graph_.expand(scanned);
  graph_.store({scanned});
  return scanned;
}

/// What was scanned, plus a share of what came in, times a gate.
Tensor GraphBuilder::gate_scanned(Tensor mixed, Tensor gate_source, Tensor scanned) {
  const CheckedNumber inner = profile_.state.inner;
  const Tensor gate = graph_.make(rows(inner), {gate_source});
  const Tensor direct = graph_.change(rows(inner), {mixed});
  const Tensor sum = add(inner, scanned.view(), direct);
  return graph_.make(rows(inner), {gate, sum});
}

Tensor GraphBuilder::mamba(const Layer& layer, Tensor input) {
  const StateSizes& sizes = profile_.state;
  const LayerTensors& tensors = layer.tensors;
  const Tensor rolling = state_rows(profile_.rolling_elements);
  const Tensor both = multiply(CheckedNumber(2) * sizes.inner, input);
  const Tensor mixed = convolve(sizes.inner, rolling, both);
  const Tensor parameters = multiply(tensors.state_parameter_rows, mixed);
  const Tensor narrow = graph_.make(rows(tensors.time_step_width), {parameters});
  const Tensor step = multiply(sizes.inner, narrow);
  // Without norms these two are read where they lie.
  const auto side = [&] {
    return tensors.has_state_norms ? graph_.make(rows(sizes.size), {parameters}) : parameters;
  };
  const Tensor scanned = scan(sizes.inner, {mixed.view(), step, side(), side(), sequences_});
  return multiply(width_, gate_scanned(mixed, both, scanned)).view();
}

Tensor GraphBuilder::mamba2(const Layer& layer, Tensor input) {
  const StateSizes& sizes = profile_.state;
  const LayerTensors& tensors = layer.tensors;
  const CheckedNumber width =
      CheckedNumber(sizes.inner) + CheckedNumber(2) * sizes.groups * sizes.size;
  const Tensor rolling = state_rows(profile_.rolling_elements);
  const Tensor all = multiply(tensors.state_rows, input);
  const Tensor mixed = convolve(width, rolling, all);
  const Tensor step = graph_.make(rows(sizes.heads), {all});
  const Tensor scanned =
      scan(sizes.inner, {mixed.view(), step, mixed.view(), mixed.view(), sequences_});
  Tensor gated = gate_scanned(mixed.view(), all, scanned);
  if (tensors.has_state_output_norm) gated = graph_.make(rows(sizes.inner), {gated});
  return multiply(width_, gated);
}

Tensor GraphBuilder::plamo_mamba(const Layer& layer, Tensor input) {
  const StateSizes& sizes = profile_.state;
  const LayerTensors& tensors = layer.tensors;
  const CheckedNumber both_widths = CheckedNumber(2) * sizes.inner;
  const Tensor rolling = state_rows(profile_.rolling_elements);
  const Tensor both = graph_.make(rows(both_widths), {multiply(both_widths, input)});
  const Tensor mixed = convolve(sizes.inner, rolling, graph_.make(rows(sizes.inner), {both}));
  const Tensor parameters = multiply(tensors.state_parameter_rows, mixed);
  const Tensor narrow = graph_.make(rows(tensors.time_step_width), {parameters});
  const Tensor step = multiply(sizes.heads, narrow);
  const Tensor from = graph_.make(rows(sizes.size), {parameters});
  const Tensor to = graph_.make(rows(sizes.size), {parameters});
  const Tensor scanned = scan(sizes.inner, {mixed.view(), step, from, to, sequences_});
  return multiply(width_, gate_scanned(mixed.view(), both, scanned)).view();
}

Tensor GraphBuilder::delta_net(const Layer& layer, Tensor input) {
  const StateSizes& sizes = profile_.state;
  const LayerTensors& tensors = layer.tensors;
  const CheckedNumber keys = CheckedNumber(sizes.groups) * sizes.size;
  const CheckedNumber values = sizes.inner;
  const CheckedNumber width = values + CheckedNumber(2) * keys;
  const Tensor rolling = state_rows(profile_.rolling_elements);
  Tensor all;
  Tensor joined;
  if (tensors.state_rows > 0) {  // one matrix, with the gate; its parts are put together anew
    all = multiply(tensors.state_rows, input);
    const Tensor query = graph_.make(rows(keys), {all});
    const Tensor key = graph_.make(rows(keys), {all});
    const Tensor pair = graph_.make(rows(CheckedNumber(2) * keys), {query, key});
    joined = graph_.make(rows(width), {pair, graph_.make(rows(values), {all})});
  } else {
    joined = multiply(width, input);
  }
  const Tensor mixed = convolve(width, rolling, joined);
  const Tensor old = state_rows(profile_.state_elements);
  const auto normed = [&] {
    const Tensor made = graph_.make(rows(keys), {mixed});
    const bool repeats = sizes.heads != sizes.groups && !tensors.has_separate_rates;
    return !repeats ? made : graph_.make(rows(values), {made});
  };
  const Tensor query = normed();
  const Tensor key = normed();
  const auto rates = [&](Tensor source) { return graph_.make(rows(sizes.heads), {source}); };
  const Tensor first = multiply(tensors.delta_rows, input);
  const Tensor second = tensors.has_separate_rates ? multiply(tensors.delta_rows, input) : first;
  const Tensor decay = rates(first);
  const Tensor scanned = scan(values, {query, key, mixed, decay, rates(second), old});
  const Tensor result = graph_.make(rows(values), {scanned});
  Tensor gate = tensors.state_rows > 0 ? graph_.make(rows(values), {all}) : multiply(values, input);
  gate = graph_.make(rows(values), {gate});
  return multiply(width_, add(values, result, gate)).view();
}

Tensor GraphBuilder::short_convolution(Tensor input) {
  const Tensor all = multiply(CheckedNumber(3) * width_, input);
  const Tensor product = graph_.make(rows(width_), {all, all});
  const Tensor rolling = state_rows(profile_.rolling_elements);
  const Tensor joined =
      graph_.make(states(profile_.rolling_elements) + rows(width_), {rolling, product});
  graph_.store({joined});
  const Tensor made = graph_.make(rows(width_), {joined});
  return multiply(width_, add(width_, all.view(), made)).view();
}

}  // namespace ingot::estimate
