// SPDX-License-Identifier: MIT
#include "evaluation/part_maker.hpp"

namespace ingot::evaluation {

Result<void> PartMaker::add_streams(Layer& layer) {
  const std::size_t width = settings_.width;
  for (const auto& [name, norm] : std::initializer_list<std::pair<std::string, Norm*>>{
           {"post_ffw_norm_1", &layer.dense_norm},
           {"pre_ffw_norm_2", &layer.expert_norm},
           {"post_ffw_norm_2", &layer.post_expert_norm}}) {
    INGOT_TRY(*norm, finder_.norm(name));
    INGOT_TRY_VOID(check(name, *norm, width));
  }
  INGOT_TRY(const std::vector<float> scale, finder_.numbers("layer_output_scale.weight"));
  if (!scale.empty()) layer.output_scale = scale[0];
  LayerInput& input = layer.input;
  INGOT_TRY(input.gate, finder_.matrix("inp_gate"));
  if (input.gate.exists()) {
    INGOT_TRY(input.out, finder_.matrix("proj"));
    INGOT_TRY(input.norm, norm_of("post_norm", width));
    INGOT_TRY_VOID(check("inp_gate", input.gate, width, input.gate.row_count));
    INGOT_TRY_VOID(check("proj", input.out, input.gate.row_count, width));
  }
  StreamMix& mix = layer.streams;
  INGOT_TRY(mix.router, finder_.matrix("altup_router"));
  if (!mix.router.exists()) return {};
  const std::size_t count = mix.router.row_count;
  INGOT_TRY(mix.router_norm, norm_of("altup_router_norm", width));
  INGOT_TRY(mix.prediction, finder_.matrix("altup_predict_coef"));
  INGOT_TRY(mix.correction, finder_.matrix("altup_correct_coef"));
  INGOT_TRY(mix.scale, numbers_of("altup_correct_scale.weight", width));
  INGOT_TRY(mix.side_down, finder_.matrix("laurel_l"));
  INGOT_TRY(mix.side_up, finder_.matrix("laurel_r"));
  INGOT_TRY(mix.side_norm, norm_of("laurel_post_norm", width));
  INGOT_TRY_VOID(check("altup_router", mix.router, width, count));
  INGOT_TRY_VOID(check("altup_predict_coef", mix.prediction, count, count * count));
  INGOT_TRY_VOID(check("altup_correct_coef", mix.correction, count, count));
  INGOT_TRY_VOID(check("laurel_l", mix.side_down, width, mix.side_down.row_count));
  return check("laurel_r", mix.side_up, mix.side_down.row_count, width);
}

}  // namespace ingot::evaluation
