// SPDX-License-Identifier: MIT
// Projectors at work: the tokens that an image or a sound takes, and the model that a projector
// belongs to, from headers alone.
//
//   const auto images = ingot::ProjectorImages::read(*mmproj);
//   if (!images) return complain(images.error());
//   const auto tokens = images->count(1024, 768);
//   if (tokens) reserve(tokens->tokens);  // ProjectorSounds does the same for seconds of sound
//
// The numbers are those of llama.cpp (tools/mtmd). All functions here are thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"

namespace ingot {

/// A text that the engine puts around the states of an image or a sound.
struct ImageMark {
  std::string text;
  std::uint64_t count = 1;
  bool is_token = false;  ///< It is one token; else it is encoded as texts are.
};

template <class Visitor>
void describe(Visitor& visit, const ImageMark& mark) {
  visit("text", mark.text, "", "that the engine puts around it");
  visit("count", mark.count, "", "how often");
  visit("token", mark.is_token, "", "it is one token; else it is encoded as texts are");
}

/// What becomes of an image.
struct ImageTokens {
  std::uint64_t tokens = 0;    ///< States that the projector makes, each in the place of a token.
  std::uint64_t pictures = 1;  ///< Pictures that the encoder sees: tiles, and the whole.
  std::uint64_t columns = 0;   ///< Of the tiles; 0: the image is not cut.
  std::uint64_t rows = 0;
  /// Work space of the encoder for the largest picture, with flash attention, at most; 0: unknown.
  std::uint64_t work_bytes = 0;
  std::vector<ImageMark> marks;
};

template <class Visitor>
void describe(Visitor& visit, const ImageTokens& image) {
  visit("tokens", image.tokens, "tokens", "states that the projector makes of the image");
  visit("pictures", image.pictures, "", "that the encoder sees: tiles, and the whole image");
  visit("columns", image.columns, "tiles", "side by side; 0 if the image is not cut");
  visit("rows", image.rows, "tiles", "one below the other");
  visit("work_bytes", image.work_bytes, "bytes",
        "work space of the encoder for the largest picture, at most; 0 if it is not known");
  visit("marks", image.marks, "", "texts around the image");
}

namespace detail {
struct ImageSettings;
}

/// The most pixels that a side of an image may have.
inline constexpr std::uint32_t max_image_side = 65536;

/// How a projector takes images. Cheap to copy; independent of the model that it was read from.
class INGOT_EXPORT ProjectorImages {
 public:
  /// Errc::invalid_argument if the file is no projector of images; Errc::estimate_impossible if the
  /// tokens of its type are not known, or a key that they depend on makes no sense.
  [[nodiscard]] static Result<ProjectorImages> read(const Model& projector);

  /// The tokens of an image. Errc::invalid_argument for a side of 0 or above max_image_side;
  /// Errc::estimate_impossible for more tiles than any engine makes.
  [[nodiscard]] Result<ImageTokens> count(std::uint32_t width, std::uint32_t height) const;

 private:
  explicit ProjectorImages(std::shared_ptr<const detail::ImageSettings> settings) noexcept;
  std::shared_ptr<const detail::ImageSettings> settings_;
};

/// What becomes of a sound.
struct SoundTokens {
  std::uint64_t tokens = 0;  ///< States that the projector makes, each in the place of a token.
  std::vector<ImageMark> marks;
};

template <class Visitor>
void describe(Visitor& visit, const SoundTokens& sound) {
  visit("tokens", sound.tokens, "tokens", "states that the projector makes of the sound");
  visit("marks", sound.marks, "", "texts around the sound");
}

namespace detail {
struct SoundType;
}

/// The longest sound whose tokens are counted: a week.
inline constexpr std::uint32_t max_sound_seconds = 604'800;

/// How a projector takes sounds. Cheap to copy; independent of the model that it was read from.
class INGOT_EXPORT ProjectorSounds {
 public:
  /// Errc::invalid_argument if the file is no projector of sounds; Errc::estimate_impossible if the
  /// tokens of its type are not known, or a key that they depend on makes no sense.
  [[nodiscard]] static Result<ProjectorSounds> read(const Model& projector);

  /// The tokens of a sound. Errc::invalid_argument for none, or more than max_sound_seconds.
  [[nodiscard]] Result<SoundTokens> count(double seconds) const;

 private:
  ProjectorSounds() = default;
  const detail::SoundType* type_ = nullptr;
  std::array<std::int64_t, 2> numbers_ = {};
};

/// The texts around an image that a vocabulary has to have as tokens, of this type of projectors.
[[nodiscard]] INGOT_EXPORT std::vector<std::string_view> image_token_texts(std::string_view type);

// ------------------------------------------------------------------------------------------------
// Pairs
// ------------------------------------------------------------------------------------------------

/// What tells which model a file was made of. Texts are copies.
struct PairFacts {
  bool is_projector = false;
  std::string vision_type;  ///< Of a projector; empty: none.
  std::string audio_type;
  std::optional<std::uint64_t> vision_width;  ///< What the projector gives, or the model takes.
  std::optional<std::uint64_t> audio_width;
  std::uint64_t fed_layers = 0;         ///< Layers beside the first that images go into.
  std::vector<std::string> identities;  ///< Names of it and its base models, as compared.
  std::string basename;                 ///< The same of `general.basename`.
  /// Texts around images that the vocabulary has as tokens, or that the projector asks for; sorted.
  std::vector<std::string> tokens;
};

[[nodiscard]] INGOT_EXPORT PairFacts pair_facts(const Model& model);

/// How well two files fit, from bad to good.
enum class PairStrength : std::uint8_t {
  impossible,  ///< The widths differ, or one of them is no projector and no model with a width.
  unrelated,   ///< The widths are equal, the names are of different models.
  unnamed,     ///< The widths are equal, and one of the two says nothing of what it is.
  related,     ///< The names begin alike: `general.basename`.
  same         ///< A name or a base model is the same.
};

/// "impossible", "unrelated", "unnamed", "related", "same"
[[nodiscard]] INGOT_EXPORT std::string_view name_of(PairStrength strength) noexcept;

[[nodiscard]] INGOT_EXPORT PairStrength match_pair(const PairFacts& model,
                                                   const PairFacts& projector);

/// Indices of two files of a list.
struct ProjectorPair {
  std::size_t model = 0;
  std::size_t projector = 0;
  PairStrength strength = PairStrength::same;
};

/// The pairs among files: each model with the projectors that fit it best, `related` or better; of
/// those without names the ones that have no other choice. O(models x projectors).
[[nodiscard]] INGOT_EXPORT std::vector<ProjectorPair> find_pairs(std::span<const PairFacts> files);

}  // namespace ingot
