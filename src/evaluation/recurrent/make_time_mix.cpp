// SPDX-License-Identifier: MIT
// The parts of the layers of RWKV.
#include "evaluation/part_maker.hpp"

namespace ingot::evaluation {

/// Two matrices over a narrow vector, NAME1 and NAME2, with the numbers that are added behind.
Result<LowRank> PartMaker::low_rank(const std::string& name, const std::string& bias,
                                    std::size_t rows) {
  LowRank made;
  INGOT_TRY(made.down, finder_.matrix(name + "1"));
  INGOT_TRY(made.up, finder_.matrix(name + "2"));
  if (!made.down.exists() || !made.up.exists()) return LowRank{};
  INGOT_TRY_VOID(check(name + "1", made.down, settings_.width, made.down.row_count));
  INGOT_TRY_VOID(check(name + "2", made.up, made.down.row_count, rows));
  if (bias.empty()) return made;
  INGOT_TRY(made.bias, numbers_of(bias + ".weight", rows));
  return made;
}

/// The weights of the mixes of a token with the one before it.
Result<void> PartMaker::add_shifts(TimeMix& made) {
  const std::size_t width = settings_.width;
  INGOT_TRY(made.shifts, finder_.numbers("time_mix_lerp_fused.weight"));
  if (made.shifts.empty()) {
    for (const char* part : {"w", "k", "v", "r", "g"}) {
      INGOT_TRY(const std::vector<float> one,
                numbers_of("time_mix_lerp_" + std::string(part) + ".weight", width));
      made.shifts.insert(made.shifts.end(), one.begin(), one.end());
    }
  }
  const std::size_t parts = made.narrow_gate.down.exists() ? 6 : 5;
  INGOT_TRY_VOID(check("time_mix_lerp_fused.weight", made.shifts, parts * width));
  if (made.corrects()) return {};
  INGOT_TRY(made.shift.down, finder_.matrix("time_mix_w1"));
  INGOT_TRY(made.shift.up, finder_.matrix("time_mix_w2"));
  INGOT_TRY(made.shift.bias, numbers_of("time_mix_lerp_x.weight", width));
  INGOT_TRY_VOID(check("time_mix_w1", made.shift.down, width, 5 * made.shift.up.columns));
  return check("time_mix_w2", made.shift.up, made.shift.up.columns, width);
}

/// What RWKV 7 has, whose states are corrected.
Result<void> PartMaker::add_corrections(TimeMix& made) {
  const std::size_t width = settings_.width;
  INGOT_TRY(made.decay, low_rank("time_mix_w", "time_mix_w0", width));
  INGOT_TRY(made.rate, low_rank("time_mix_a", "time_mix_a0", width));
  INGOT_TRY(made.narrow_gate, low_rank("time_mix_g", "", width));
  INGOT_TRY(made.rate_weights, numbers_of("time_mix_k_a.weight", width));
  INGOT_TRY(made.bonus, numbers_of("time_mix_r_k.weight", width));
  INGOT_TRY(LowRank residual, low_rank("time_mix_v", "time_mix_v0", width));
  if (index_ > 0) made.residual = std::move(residual);  // those of the first layer have no use
  if (made.decay.up.exists() && made.rate.up.exists()) return {};
  return contradicts("time_mix_w1", "the layer needs it");
}

Result<TimeMix> PartMaker::time_mix() {
  const std::size_t width = settings_.width;
  TimeMix made;
  INGOT_TRY(made.head_size, size_by_key("wkv.head_size"));
  if (width % made.head_size != 0) {
    return refuse(settings_.prefix + "wkv.head_size", "its heads are no equal parts of the width");
  }
  made.head_count = width / made.head_size;
  INGOT_TRY(made.query, finder_.matrix("time_mix_receptance"));
  INGOT_TRY(made.key, finder_.matrix("time_mix_key"));
  INGOT_TRY(made.value, finder_.matrix("time_mix_value"));
  INGOT_TRY(made.gate, finder_.matrix("time_mix_gate"));
  INGOT_TRY(made.out, finder_.matrix("time_mix_output"));
  INGOT_TRY(made.place_weights, finder_.numbers("time_mix_k_k.weight"));
  if (made.corrects()) {
    INGOT_TRY_VOID(check("time_mix_k_k.weight", made.place_weights, width));
    INGOT_TRY_VOID(add_corrections(made));
  } else {
    INGOT_TRY(made.decay, low_rank("time_mix_decay_w", "time_mix_decay", width));
    INGOT_TRY(made.bonus, finder_.numbers("time_mix_first.weight"));
    if (!made.bonus.empty()) INGOT_TRY_VOID(check("time_mix_first.weight", made.bonus, width));
    INGOT_TRY_VOID(check("time_mix_gate", made.gate, width, width));
  }
  INGOT_TRY_VOID(add_shifts(made));
  INGOT_TRY(made.norm, norm_of("time_mix_ln", width));
  made.norm.row_size = made.head_size;
  const std::size_t keys = made.key.row_count;
  if (keys == 0 || width % keys != 0 || keys % made.head_size != 0 ||
      (made.corrects() && keys != width)) {
    return contradicts("time_mix_key", "it has no whole heads");
  }
  INGOT_TRY_VOID(check("time_mix_receptance", made.query, width, width));
  INGOT_TRY_VOID(check("time_mix_key", made.key, width, keys));
  INGOT_TRY_VOID(check("time_mix_value", made.value, width, keys));
  INGOT_TRY_VOID(check("time_mix_output", made.out, width, width));
  return made;
}

Result<ChannelMix> PartMaker::channel_mix() {
  const std::size_t width = settings_.width;
  ChannelMix made;
  INGOT_TRY(made.key_shift, numbers_of("channel_mix_lerp_k.weight", width));
  INGOT_TRY(made.key, finder_.matrix("channel_mix_key"));
  INGOT_TRY(made.value, finder_.matrix("channel_mix_value"));
  INGOT_TRY(made.receptance, finder_.matrix("channel_mix_receptance"));
  if (made.receptance.exists()) {
    INGOT_TRY(made.receptance_shift, numbers_of("channel_mix_lerp_r.weight", width));
    INGOT_TRY_VOID(check("channel_mix_receptance", made.receptance, width, width));
  }
  INGOT_TRY_VOID(check("channel_mix_key", made.key, width, made.value.columns));
  INGOT_TRY_VOID(check("channel_mix_value", made.value, made.value.columns, width));
  return made;
}

}  // namespace ingot::evaluation
