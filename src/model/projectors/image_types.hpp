// SPDX-License-Identifier: MIT
// The types of projectors of images: one row each.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/projectors.hpp"

namespace ingot::detail {

/// What the engine makes of an image before the encoder sees it; the names are those of its classes
/// (tools/mtmd/mtmd-image.cpp).
enum class Sizing : std::uint8_t {
  fixed,         ///< fixed_size: one square.
  aligned,       ///< dyn_size: its own shape, sides whole patches, between two areas.
  steps,         ///< youtuvl: its own shape, smaller by 1/50 until its patches are few enough.
  longest_edge,  ///< longest_edge: its own shape with a longer side of so many pixels.
  canvas,        ///< llava_uhd: tiles of the canvas of a list that loses least; with the whole.
  slices,        ///< llava_uhd without a list: up to nine tiles of its own shape, with the whole.
  idefics,       ///< idefics3: tiles of the longest edge, with the whole.
  lfm2,          ///< lfm2: tiles of 512 pixels where it is large, with the whole.
  deepseek,      ///< deepseekocr: rows of tiles where it is large, with the whole.
  step3,         ///< step3vl: tiles of 504 pixels where it is large or narrow, with the whole.
  granite        ///< granite: tiles of the canvas of a list, joined, with the whole.
};

/// The tokens of a picture of w x h patches (clip_n_output_tokens of tools/mtmd/clip.cpp).
enum class Counting : std::uint8_t {
  patches,     ///< w h / merge^2
  halves,      ///< floor(w / 2) floor(h / 2)
  merged,      ///< floor(w / merge) floor(h / merge), with breaks another for all rows but one
  rounded_up,  ///< ceil(w / merge) ceil(h / merge)
  strides,     ///< ceil(w h / merge^2)
  quarters,    ///< w h / 4
  quarters_2,  ///< w h / 4 + 2, the ends of the image
  patches_2,   ///< w h + 2
  queries,     ///< as many as the resampler has
  side,        ///< w, as the keys of Gemma 3n want it
  lines,       ///< (w / merge + 1) (h / merge) + 2: each row has an end
  deepseek,    ///< w h / 16, a token at the end of each row, one more after the whole
  sixteenths,  ///< w h / 16, one more after the whole
  windows      ///< queries of windows; all tiles together have an end of each row
};

/// The key of the factor that a row calls merge.
enum class MergeKey : std::uint8_t { none, scale_factor, spatial_merge_size, window_side };

/// What the work space of the encoder depends on.
enum class Graph : std::uint8_t {
  other,    ///< Not known.
  plain,    ///< A transformer over the patches.
  windowed  ///< The same with a mask of all pairs of patches.
};

struct ImageType {
  std::string_view name;
  Sizing sizing;
  Counting counting;
  std::int64_t merge = 1;  ///< Where the key is missing.
  MergeKey key = MergeKey::none;
  /// Limits of the tokens; with `reads_limits` the keys of pixels count if they are there.
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool reads_limits = false;
  bool rounds_even = false;     ///< Half a unit becomes the even number; else a whole one.
  std::string_view begin = {};  ///< Around the image.
  std::string_view end = {};
  bool marks_vary = false;  ///< Other vocabularies have other texts, of as many tokens.
  Graph graph = Graph::other;
};

/// Texts around the pictures of an image that is cut. `{y}` and `{x}` are the row and the column.
struct TileMarks {
  std::vector<std::string_view> whole_begin = {};
  std::vector<std::string_view> whole_end = {};
  std::string_view all_begin = {};
  std::string_view all_end = {};
  std::string_view tile_begin = {};
  std::string_view tile_label = {};  ///< Instead of `tile_begin`: a text, not a token.
  std::string_view tile_end = {};
  std::string_view row_end = {};  ///< After each row but the last.
};

[[nodiscard]] std::span<const ImageType> image_types() noexcept;
[[nodiscard]] const ImageType* find_image_type(std::string_view name) noexcept;
[[nodiscard]] TileMarks tile_marks(std::string_view type, std::int64_t version);

struct ImageSize {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

/// The numbers of a header that tokens depend on; pixels but for the counts.
struct ImageSettings {
  const ImageType* type = nullptr;
  std::int64_t side = 0;  ///< Of the image that the encoder is made for.
  std::int64_t patch = 0;
  std::int64_t merge = 1;
  std::int64_t least = 0;  ///< Of a picture's area; 0: not limited.
  std::int64_t most = 0;
  std::int64_t longest = 0;  ///< Of the longer side; 0: none.
  std::int64_t queries = 0;  ///< Of the resampler; of a side of a window.
  std::int64_t version = 0;  ///< Of MiniCPM-V.
  std::int64_t least_tiles = 0;
  std::int64_t most_tiles = 0;
  bool has_breaks = false;
  bool has_mask = false;    ///< Some layers see windows.
  std::int64_t widest = 0;  ///< Numbers that a layer keeps of a patch at once, at most; 0: unknown.
  std::vector<ImageSize> canvases = {};
};

}  // namespace ingot::detail
