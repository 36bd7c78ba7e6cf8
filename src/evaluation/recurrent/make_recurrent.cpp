// SPDX-License-Identifier: MIT
// The parts of a layer with a state.
#include <algorithm>

#include "evaluation/part_maker.hpp"

namespace ingot::evaluation {

Result<void> PartMaker::check(const std::string& name, const Matrix& matrix, std::size_t columns,
                              std::size_t rows) const {
  if (matrix.columns == columns && matrix.row_count == rows) return {};
  return contradicts(name, std::to_string(matrix.columns) + " x " +
                               std::to_string(matrix.row_count) + " contradicts " +
                               std::to_string(columns) + " x " + std::to_string(rows));
}

Result<void> PartMaker::check(const std::string& name, const Norm& norm, std::size_t size) const {
  const auto fits = [&](const std::vector<float>& numbers) {
    return numbers.empty() || numbers.size() == size;
  };
  if (fits(norm.weight) && fits(norm.bias)) return {};
  return contradicts(name, "it is not a norm of " + std::to_string(size) + " features");
}

Result<void> PartMaker::check(const std::string& name, const std::vector<float>& numbers,
                              std::size_t size) const {
  if (numbers.size() == size) return {};
  return refuse(finder_.full_name(name),
                std::to_string(numbers.size()) + " numbers, in place of " + std::to_string(size));
}

Result<Norm> PartMaker::norm_of(const std::string& name, std::size_t size) {
  INGOT_TRY(Norm norm, finder_.norm(name));
  INGOT_TRY_VOID(check(name, norm, size));
  return norm;
}

Result<std::vector<float>> PartMaker::numbers_of(const std::string& name, std::size_t size) {
  INGOT_TRY(std::vector<float> numbers, finder_.numbers(name));
  INGOT_TRY_VOID(check(name, numbers, size));
  return numbers;
}

Result<Convolution> PartMaker::convolution(const std::string& name, std::size_t features) {
  Convolution made;
  INGOT_TRY(made.kernel, finder_.numbers(name + ".weight"));
  INGOT_TRY(made.bias, finder_.numbers(name + ".bias"));
  made.taps = made.kernel.size() / features;
  if (made.taps == 0 || made.kernel.size() != made.taps * features) {
    return contradicts(name, "it has not one kernel for each feature");
  }
  if (!made.bias.empty()) INGOT_TRY_VOID(check(name + ".bias", made.bias, features));
  return made;
}

Result<std::size_t> PartMaker::size_by_key(std::string_view suffix) const {
  INGOT_TRY(const std::size_t size, read_layer_size(model_, settings_, suffix, index_, 0));
  if (size > 0) return size;
  return refuse(settings_.prefix + std::string(suffix), "it must be above 0");
}

Result<ShortConvolution> PartMaker::short_convolution() {
  const std::size_t width = settings_.width;
  ShortConvolution made;
  INGOT_TRY(made.in, finder_.matrix("shortconv.in_proj"));
  INGOT_TRY(made.convolution, convolution("shortconv.conv", width));
  INGOT_TRY(made.out, finder_.matrix("shortconv.out_proj"));
  INGOT_TRY_VOID(check("shortconv.in_proj", made.in, width, 3 * width));
  INGOT_TRY_VOID(check("shortconv.out_proj", made.out, width, width));
  return made;
}

/// What makes steps, inputs and outputs of the values.
Result<void> PartMaker::add_mix(StateSpace& made) {
  const std::size_t inner = made.out.columns;
  INGOT_TRY(made.step, finder_.matrix("ssm_dt"));
  const std::size_t rank = made.step.columns;
  INGOT_TRY_VOID(check("ssm_dt", made.step, rank, made.head_count));
  if (made.mix.row_count <= rank || (made.mix.row_count - rank) % 2 != 0) {
    return contradicts("ssm_x", "it has no room for inputs and outputs of a state");
  }
  made.state_size = (made.mix.row_count - rank) / 2;
  INGOT_TRY_VOID(check("ssm_x", made.mix, inner, made.mix.row_count));
  INGOT_TRY(made.step_norm, norm_of("ssm_dt_norm", rank));
  INGOT_TRY(made.input_norm, norm_of("ssm_b_norm", made.state_size));
  INGOT_TRY(made.output_norm, norm_of("ssm_c_norm", made.state_size));
  const bool has_norms = model_.get_or(settings_.prefix + "ssm.dt_b_c_rms", false);
  for (Norm* norm : {&made.step_norm, &made.input_norm, &made.output_norm}) {
    norm->is_applied = norm->is_applied || has_norms;
  }
  return {};
}

Result<StateSpace> PartMaker::state_space() {
  const std::size_t width = settings_.width;
  StateSpace made;
  INGOT_TRY(made.in, finder_.matrix("ssm_in"));
  INGOT_TRY(made.out, finder_.matrix("ssm_out"));
  INGOT_TRY(made.skip, finder_.numbers("ssm_d"));
  const std::size_t inner = made.out.columns;
  made.head_count = made.skip.size();
  if (made.head_count == 0 || inner % made.head_count != 0) {
    return refuse(finder_.full_name("ssm_d"), "its heads have no equal parts of the features");
  }
  made.head_size = inner / made.head_count;
  INGOT_TRY(made.mix, finder_.matrix("ssm_x"));
  std::size_t mixed = inner;  // features of the convolution
  if (made.mix.exists()) {
    INGOT_TRY_VOID(add_mix(made));
  } else {
    INGOT_TRY(made.group_count, size_by_key("ssm.group_count"));
    INGOT_TRY(made.state_size, size_by_key("ssm.state_size"));
    mixed += 2 * made.group_count * made.state_size;
    INGOT_TRY(made.step_bias, numbers_of("ssm_dt.bias", made.head_count));
  }
  if (made.head_count % made.group_count != 0) {
    return refuse(settings_.prefix + "ssm.group_count", "its groups have no equal parts of heads");
  }
  INGOT_TRY(made.convolution, convolution("ssm_conv1d", mixed));
  INGOT_TRY(made.decay, finder_.numbers("ssm_a"));
  if (made.decay.size() != made.head_count) {
    INGOT_TRY_VOID(check("ssm_a", made.decay, made.head_count * made.state_size));
  }
  INGOT_TRY(made.norm, norm_of("ssm_norm", inner));
  const std::size_t steps = made.mix.exists() ? 0 : made.head_count;
  INGOT_TRY_VOID(check("ssm_in", made.in, width, inner + mixed + steps));
  INGOT_TRY_VOID(check("ssm_out", made.out, inner, width));
  return made;
}

/// Queries, keys and values, and their convolution.
Result<void> PartMaker::add_delta_inputs(DeltaNet& made) {
  for (const char* name : {"attn_qkv", "ssm_in", "attn_q", "attn_k", "attn_v"}) {
    INGOT_TRY(Matrix matrix, finder_.matrix(name));
    if (matrix.exists()) made.in.push_back(std::move(matrix));
    if (made.in.size() == 1 && std::string_view(name) == "ssm_in") break;
  }
  std::size_t rows = 0;
  for (const Matrix& matrix : made.in) {
    INGOT_TRY_VOID(check("attn_qkv", matrix, settings_.width, matrix.row_count));
    rows += matrix.row_count;
  }
  const std::size_t values = made.head_count * made.head_size;
  const std::size_t features = made.gate.empty() ? rows - std::min(rows, values) : rows;
  const std::size_t keys = (features - std::min(features, values)) / 2;
  made.key_head_count = keys / made.head_size;
  if (made.key_head_count == 0 || features != 2 * made.key_head_count * made.head_size + values ||
      made.head_count % made.key_head_count != 0) {
    return contradicts("attn_qkv", "its heads do not go together");
  }
  if (!finder_.is_expected("ssm_conv1d_q")) {
    INGOT_TRY(made.convolution, convolution("ssm_conv1d", features));
    return {};
  }
  for (const char* name : {"ssm_conv1d_q", "ssm_conv1d_k", "ssm_conv1d_v"}) {
    INGOT_TRY(const Convolution part, convolution(name, values));
    if (made.convolution.taps != 0 && part.taps != made.convolution.taps) {
      return contradicts(name, "its kernels are longer or shorter than the others");
    }
    made.convolution.taps = part.taps;
    made.convolution.kernel.insert(made.convolution.kernel.end(), part.kernel.begin(),
                                   part.kernel.end());
  }
  return {};
}

/// Matrices that follow each other: those of the names that exist.
Result<std::vector<Matrix>> PartMaker::chain(std::initializer_list<const char*> names,
                                             std::size_t rows) {
  std::vector<Matrix> made;
  std::size_t columns = settings_.width;
  for (const char* name : names) {
    INGOT_TRY(Matrix matrix, finder_.matrix(name));
    if (!matrix.exists()) continue;
    INGOT_TRY_VOID(check(name, matrix, columns, matrix.row_count));
    columns = matrix.row_count;
    made.push_back(std::move(matrix));
  }
  if (!made.empty() && rows > 0 && columns != rows) {
    return contradicts(*names.begin(), "it does not make " + std::to_string(rows) + " features");
  }
  return made;
}

Result<DeltaNet> PartMaker::delta_net() {
  DeltaNet made;
  INGOT_TRY(made.norm, finder_.norm("ssm_norm"));
  made.head_size = made.norm.weight.size();
  const char* out = finder_.is_expected("ssm_out") ? "ssm_out" : "attn_output";
  INGOT_TRY(made.out, finder_.matrix(out));
  if (made.head_size == 0 || made.out.columns % made.head_size != 0) {
    return contradicts("ssm_norm", "its features are no part of all heads");
  }
  made.head_count = made.out.columns / made.head_size;
  INGOT_TRY_VOID(check(out, made.out, made.out.columns, settings_.width));
  INGOT_TRY(made.gate, chain({"attn_gate", "ssm_g_a", "ssm_g_b"}, made.out.columns));
  INGOT_TRY_VOID(add_delta_inputs(made));
  INGOT_TRY(made.decay, chain({"ssm_alpha", "ssm_f_a", "ssm_f_b"}, 0));
  INGOT_TRY(made.strength, finder_.matrix("ssm_beta"));
  INGOT_TRY(made.rates, finder_.matrix("ssm_ba"));
  std::size_t decays = made.head_count;
  if (made.rates.exists()) {
    INGOT_TRY_VOID(check("ssm_ba", made.rates, settings_.width, 2 * decays));
  } else {
    INGOT_TRY_VOID(check("ssm_beta", made.strength, settings_.width, decays));
    if (made.decay.empty()) return contradicts("ssm_alpha", "the layer needs it");
    decays = made.decay.back().row_count;
  }
  if (decays != made.head_count && decays != made.out.columns) {
    return contradicts("ssm_f_b", "it has neither one decay for each head nor for each feature");
  }
  INGOT_TRY(made.decay_bias, numbers_of("ssm_dt.bias", decays));
  INGOT_TRY(made.decay_factor, numbers_of("ssm_a", made.head_count));
  return made;
}

}  // namespace ingot::evaluation
