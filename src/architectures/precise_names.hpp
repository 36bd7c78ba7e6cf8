// SPDX-License-Identifier: MIT
// Tensors that no engine and no quantizer wants in a type of few bits.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ingot::architectures {

// Tensors that lose too much or gain too little: llama.cpp's list. The name contains one of these.
inline constexpr std::string_view precise_parts[] = {"_norm.weight",
                                                     "ffn_gate_inp.weight",
                                                     "ffn_gate_tid2eid.weight",
                                                     "altup",
                                                     "laurel",
                                                     "per_layer_model_proj",
                                                     "ssm_conv1d",
                                                     "shortconv.conv.weight",
                                                     "indexer.k_proj.weight",
                                                     "indexer.q_proj.weight",
                                                     "time_mix_first.weight",
                                                     "time_mix_w0.weight",
                                                     "time_mix_w1.weight",
                                                     "time_mix_w2.weight",
                                                     "time_mix_v0.weight",
                                                     "time_mix_v1.weight",
                                                     "time_mix_v2.weight",
                                                     "time_mix_a0.weight",
                                                     "time_mix_a1.weight",
                                                     "time_mix_a2.weight",
                                                     "time_mix_g1.weight",
                                                     "time_mix_g2.weight",
                                                     "time_mix_decay_w1.weight",
                                                     "time_mix_decay_w2.weight",
                                                     "time_mix_lerp_fused.weight",
                                                     "attn_rel_b.weight",
                                                     ".position_embd",
                                                     "sam.pos_embd",
                                                     "sam.neck.",
                                                     "sam.net_",
                                                     ".rel_pos",
                                                     ".patch_embd",
                                                     ".patch_merger",
                                                     "a.rvq.codebook",
                                                     "mm.a.code_embd"};

/// Whether a tensor of this name keeps a type of floating point numbers, whatever the recipe.
inline bool has_precise_name(std::string_view name) noexcept {
  if (!name.ends_with("weight")) return true;
  if (name == "position_embd.weight" || name == "token_types.weight") return true;
  return std::any_of(
      std::begin(precise_parts), std::end(precise_parts),
      [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

}  // namespace ingot::architectures
