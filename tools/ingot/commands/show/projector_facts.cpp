// SPDX-License-Identifier: MIT
#include "commands/show/projector_facts.hpp"

#include <fmt/core.h>

#include <optional>

#include "text/words.hpp"

namespace ingot::cli {
namespace {

using Items = std::vector<std::string>;
using FactNumber = std::optional<std::uint64_t>;

Items encoder_items(const std::optional<std::string_view>& type, const FactNumber& layers,
                    const FactNumber& width, const FactNumber& output) {
  Items items;
  if (type) items.push_back("projector " + escape_shortened(*type, 24));
  if (layers) items.push_back(plural(*layers, "layer", "layers"));
  if (width) items.push_back(fmt::format("width {}", *width));
  if (output) items.push_back(fmt::format("gives width {}", *output));
  return items;
}

}  // namespace

std::vector<std::pair<std::string_view, Items>> projector_facts(const Summary& summary) {
  if (!summary.projector) return {};
  const ProjectorSummary& projector = *summary.projector;
  Items image;
  if (const FactNumber& size = projector.image_size) {
    image.push_back(fmt::format("{0} x {0} pixels", *size));
  }
  if (const FactNumber& size = projector.patch_size) {
    image.push_back(fmt::format("patches of {0} x {0}", *size));
  }
  if (const FactNumber& tokens = projector.image_tokens) {
    image.push_back(plural(*tokens, "token", "tokens"));
  }
  Items sound;
  if (projector.mel_bins)
    sound.push_back(fmt::format("frames of {} mel bins", *projector.mel_bins));
  if (const FactNumber& tokens = projector.audio_tokens) {
    sound.push_back(plural(*tokens, "token", "tokens") + " for 30 seconds");
  }
  return {{"vision", encoder_items(projector.vision_type, projector.vision_layers,
                                   projector.vision_width, projector.vision_output)},
          {"image", std::move(image)},
          {"audio", encoder_items(projector.audio_type, projector.audio_layers,
                                  projector.audio_width, projector.audio_output)},
          {"sound", std::move(sound)}};
}

}  // namespace ingot::cli
