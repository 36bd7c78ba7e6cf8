// SPDX-License-Identifier: MIT
// Property: whatever opens takes a bounded number of tokens for an image of any size and a sound of
// any length, or has an error; and files are paired only as projector and model.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "ingot/projectors.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

void count_tokens(const ProjectorImages& images, std::uint32_t width, std::uint32_t height) {
  const Result<ImageTokens> image = images.count(width, height);
  if (!image) {
    require(image.error().code != Errc::internal);
    return;
  }
  require(image->pictures == image->columns * image->rows + 1 && image->pictures <= 4097);
  for (const ImageMark& mark : image->marks) require(!mark.text.empty() && mark.count > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::array<std::uint16_t, 2> sides = {1024, 768};
  if (size >= sizeof sides) std::memcpy(sides.data(), data + size - sizeof sides, sizeof sides);
  const auto bytes = std::as_bytes(std::span(data, size));
  const Limits limits{.max_header_bytes = size, .max_keys = size, .max_tensors = size};
  const Result<Model> model = Model::open_memory(bytes, {.is_header_only = true, .limits = limits});
  if (!model) return 0;
  if (const Result<ProjectorImages> images = ProjectorImages::read(*model)) {
    count_tokens(*images, sides[0], sides[1]);
    count_tokens(*images, max_image_side, 1);
  }
  if (const Result<ProjectorSounds> sounds = ProjectorSounds::read(*model)) {
    const Result<SoundTokens> sound = sounds->count(sides[0] / 256.0);
    require(sound ? sound->tokens <= 1'500'000 : sound.error().code == Errc::invalid_argument);
    require(!sounds->count(max_sound_seconds + 1.0));
  }
  PairFacts projector = pair_facts(*model);
  PairFacts taker;
  taker.vision_width = projector.vision_width;
  taker.fed_layers = projector.fed_layers;
  taker.identities = projector.identities;
  const std::array files = {projector, taker};
  for (const ProjectorPair& pair : find_pairs(files)) {
    require(files[pair.projector].is_projector && !files[pair.model].is_projector);
    require(pair.strength == match_pair(files[pair.model], files[pair.projector]));
    require(!name_of(pair.strength).empty());
  }
  for (const std::string_view text : image_token_texts(projector.vision_type)) {
    require(!text.empty());
  }
  return 0;
}
