// SPDX-License-Identifier: MIT
// The settings of sampling that generation_config.json and keys have in common.
#pragma once

#include <cstdint>
#include <string_view>

namespace ingot::huggingface {

/// A setting of generation: the member of generation_config.json (the first of two that is there),
/// the key, and its type.
struct SamplingKey {
  enum Type : std::uint8_t { text, integer, real };
  std::string_view member;
  std::string_view other_member;
  std::string_view key;
  Type type;
};

/// The rows are in the order of the keys.
inline constexpr SamplingKey sampling_keys[] = {
    {"sequence", {}, "general.sampling.sequence", SamplingKey::text},
    {"top_k", {}, "general.sampling.top_k", SamplingKey::integer},
    {"top_p", {}, "general.sampling.top_p", SamplingKey::real},
    {"min_p", {}, "general.sampling.min_p", SamplingKey::real},
    {"xtc_probability", {}, "general.sampling.xtc_probability", SamplingKey::real},
    {"xtc_threshold", {}, "general.sampling.xtc_threshold", SamplingKey::real},
    {"temperature", {}, "general.sampling.temp", SamplingKey::real},
    {"penalty_last_n", {}, "general.sampling.penalty_last_n", SamplingKey::integer},
    {"penalty_repeat", "repetition_penalty", "general.sampling.penalty_repeat", SamplingKey::real},
    {"mirostat", {}, "general.sampling.mirostat", SamplingKey::integer},
    {"mirostat_tau", {}, "general.sampling.mirostat_tau", SamplingKey::real},
    {"mirostat_eta", {}, "general.sampling.mirostat_eta", SamplingKey::real},
};

}  // namespace ingot::huggingface
