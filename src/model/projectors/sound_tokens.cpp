// SPDX-License-Identifier: MIT
// How many tokens a sound takes: the frames that tools/mtmd/mtmd-audio.cpp of llama.cpp cuts it
// into, and what clip_n_output_tokens (clip.cpp) makes of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ranges.hpp"
#include "ingot/projectors.hpp"
#include "ingot/text.hpp"
#include "model/open/model_header.hpp"

namespace ingot {
namespace detail {

/// What becomes of the sounds of a type of projectors.
struct SoundType {
  std::string_view name;
  /// Tokens of so many samples, which are at least one; the numbers are those of the keys.
  std::int64_t (*count)(std::int64_t samples, std::int64_t number, std::int64_t second);
  std::string_view begin = {};  ///< Around the sound.
  std::string_view end = {};
  std::array<std::string_view, 2> keys = {};
  std::int64_t rate = 16000;  ///< Samples a second.
};

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// Frames of 10 milliseconds, one around each border.
std::int64_t centered_frames(std::int64_t samples) { return samples / 160 + 1; }
/// A convolution that takes every second frame.
std::int64_t halved(std::int64_t frames) { return (frames + 1) / 2; }

/// Windows of 30 seconds. As 30 seconds of silence follow every sound, one of just 30 has two.
std::int64_t windows(std::int64_t samples) {
  constexpr std::int64_t shortest = 201;  // half of what a frame looks at, and one more
  return (std::max(samples, shortest) / 160 + 3001) / 3000;
}
std::int64_t stacked(std::int64_t samples, std::int64_t stack, std::int64_t) {
  return windows(samples) * (ceil_div(3000, stack) / 2);
}
std::int64_t stacked_and_pooled(std::int64_t samples, std::int64_t stack, std::int64_t) {
  return windows(samples) * (ceil_div(3000, stack) / 2 / 2);
}
std::int64_t pooled(std::int64_t samples, std::int64_t, std::int64_t) {
  return windows(samples) * 750;
}
std::int64_t with_ends(std::int64_t samples, std::int64_t stack, std::int64_t) {
  return windows(samples) * (1500 / stack + 2);
}
/// Each 100 frames, those of the last part padded, become 13.
std::int64_t hundreds(std::int64_t samples, std::int64_t, std::int64_t) {
  return ceil_div(centered_frames(samples), 100) * 13;
}
std::int64_t eighths(std::int64_t samples, std::int64_t, std::int64_t) {
  return halved(halved(halved(centered_frames(samples))));
}
/// Parts of 30 seconds, whose frames of 20 milliseconds begin 10 before the sound.
std::int64_t quarters(std::int64_t samples, std::int64_t, std::int64_t) {
  std::int64_t tokens = 0;
  for (; samples > 0; samples -= 480'000) {
    tokens += halved(halved((std::min<std::int64_t>(samples, 480'000) - 161) / 160 + 1));
  }
  return tokens;
}
std::int64_t waves(std::int64_t samples, std::int64_t, std::int64_t) {
  return ceil_div(samples, 640);
}
/// Pairs of frames go into windows, of which each has as many tokens as its queries.
std::int64_t queried(std::int64_t samples, std::int64_t window, std::int64_t rate) {
  return ceil_div(centered_frames(samples) / 2, window) * (window / rate);
}
/// A quarter of the frames, in groups.
std::int64_t grouped(std::int64_t samples, std::int64_t group, std::int64_t) {
  return ceil_div((halved(samples / 240 + 1) - 2) / 2 + 1, group);
}

constexpr std::array<std::string_view, 2> stack_key = {"clip.audio.projector.stack_factor"};

// Facts of init_audio (tools/mtmd/mtmd.cpp) of llama.cpp b12211.
constexpr SoundType sound_types[] = {
    {.name = "ultravox", .count = stacked, .keys = stack_key},
    {.name = "meralion", .count = stacked, .keys = stack_key},
    {.name = "voxtral", .count = stacked_and_pooled, .begin = "[BEGIN_AUDIO]", .keys = stack_key},
    {"qwen2a", pooled, "<|audio_bos|>", "<|audio_eos|>"},
    {"qwen2.5o", pooled, "<|audio_bos|>", "<|audio_eos|>"},
    {"musicflamingo", pooled, "<sound>"},
    {.name = "glma", .count = with_ends, .keys = stack_key},
    {"qwen3a", hundreds, "<|audio_start|>", "<|audio_end|>"},
    {"lfm2a", eighths},
    {"parakeet", eighths},
    {"gemma4a", quarters, "<|audio>", "<audio|>"},
    {"gemma4ua", waves, "<|audio>", "<audio|>"},
    {.name = "granite_speech",
     .count = queried,
     .keys = {"clip.audio.projector.window_size", "clip.audio.projector.downsample_rate"}},
    {.name = "mimo_audio",
     .count = grouped,
     .begin = "<|mimo_audio_start|>",
     .end = "<|mimo_audio_end|>",
     .keys = {"clip.audio.local_group_size"},
     .rate = 24000},
};

}  // namespace
}  // namespace detail

Result<ProjectorSounds> ProjectorSounds::read(const Model& projector) {
  const ModelHeader header(projector);
  const auto type = header.text("clip.projector_type");
  const std::string_view name =
      type ? *type : header.text("clip.audio.projector_type").value_or(std::string_view());
  if (name.empty() || header.number("clip.has_audio_encoder", std::nullopt).value_or(0) == 0) {
    return fail(Errc::invalid_argument, "projector", "it has no encoder of sounds");
  }
  ProjectorSounds sounds;
  sounds.type_ = find_row(detail::sound_types, &detail::SoundType::name, name);
  if (sounds.type_ == nullptr) {
    return fail(Errc::estimate_impossible, "clip.projector_type",
                "how many tokens a projector of type \"" + escape_shortened(name, 60) +
                    "\" makes of a sound is not known");
  }
  for (std::size_t i = 0; i < sounds.numbers_.size(); ++i) {
    const std::string key(sounds.type_->keys[i]);
    const auto number =
        key.empty() ? std::optional(std::int64_t{1}) : header.number(key, std::nullopt);
    constexpr std::int64_t most = 1500;  // frames of a window
    if (!number || *number < 1 || *number > most) {
      return fail(Errc::estimate_impossible, key,
                  number ? "it is no number from 1 to " + std::to_string(most) : "it is missing");
    }
    sounds.numbers_[i] = *number;
  }
  return sounds;
}

Result<SoundTokens> ProjectorSounds::count(double seconds) const {
  if (!(seconds > 0) || seconds > max_sound_seconds) {
    return fail(Errc::invalid_argument, "sound",
                "a sound has up to " + std::to_string(max_sound_seconds) + " seconds");
  }
  const auto samples = std::llround(seconds * static_cast<double>(type_->rate));
  const std::int64_t tokens =
      type_->count(std::max<std::int64_t>(samples, 1), numbers_[0], numbers_[1]);
  SoundTokens sound;
  sound.tokens = static_cast<std::uint64_t>(std::max<std::int64_t>(tokens, 0));
  for (const std::string_view text : {type_->begin, type_->end}) {
    if (!text.empty()) sound.marks.push_back({std::string(text)});
  }
  return sound;
}

}  // namespace ingot
