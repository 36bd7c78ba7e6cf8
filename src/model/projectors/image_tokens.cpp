// SPDX-License-Identifier: MIT
// How many tokens an image takes. Floats are those of the engine: where a product is a whole number
// only nearly, the next patch depends on them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "ingot/text.hpp"
#include "model/projectors/image_types.hpp"

namespace ingot {
namespace detail {
namespace {

/// More tiles than any type makes: a header that leads to more is a mistake.
constexpr std::int64_t max_tiles = 4096;

/// An image after it was cut.
struct Cut {
  ImageSize whole = {};  ///< 0 x 0: there is none.
  ImageSize tile = {};
  std::int64_t columns = 0;  ///< 0: there are no tiles.
  std::int64_t rows = 0;
  bool is_marked = true;  ///< The whole has its marks.
};

std::int64_t floor_by(float x, std::int64_t unit) {
  return static_cast<std::int64_t>(std::floor(x / static_cast<float>(unit))) * unit;
}
std::int64_t ceil_by(double x, std::int64_t unit) {
  return static_cast<std::int64_t>(std::ceil(x / static_cast<double>(unit))) * unit;
}
std::int64_t round_by(const ImageType& type, std::int64_t x, std::int64_t unit) {
  const double units = static_cast<double>(x) / static_cast<double>(unit);
  const double rounded = type.rounds_even ? std::nearbyint(units) : std::round(units);
  return static_cast<std::int64_t>(rounded) * unit;
}

/// The size that keeps the shape, of whole units and between two areas (calc_size_preserved_ratio).
ImageSize scale_to_area(const ImageSettings& set, ImageSize image, std::int64_t unit,
                        std::int64_t longest) {
  const auto width = static_cast<float>(image.width);
  const auto height = static_cast<float>(image.height);
  ImageSize size = {std::max(unit, round_by(*set.type, image.width, unit)),
                    std::max(unit, round_by(*set.type, image.height, unit))};
  if (longest > 0) {
    const auto longer = static_cast<double>(std::max(image.width, image.height));
    double scale = static_cast<double>(longest) / longer;
    if (set.type->sizing == Sizing::longest_edge) scale = std::min(scale, 1.0);
    size = {ceil_by(static_cast<double>(image.width) * scale, unit),
            ceil_by(static_cast<double>(image.height) * scale, unit)};
  }
  const std::int64_t area = size.width * size.height;
  if (set.most > 0 && area > set.most) {
    const float beta = std::sqrt(height * width / static_cast<float>(set.most));
    return {std::max(unit, floor_by(width / beta, unit)),
            std::max(unit, floor_by(height / beta, unit))};
  }
  if (set.least > 0 && area < set.least) {
    const float beta = std::sqrt(static_cast<float>(set.least) / (height * width));
    return {ceil_by(width * beta, unit), ceil_by(height * beta, unit)};
  }
  return size;
}

/// The size that keeps the shape, of whole units, smaller step by step until it fits the area.
ImageSize scale_in_steps(const ImageSettings& set, ImageSize image) {
  const std::int64_t unit = set.patch * set.merge;
  const auto scaled = [&](std::int64_t side, float scale) {
    return std::max(unit, ceil_by(static_cast<float>(side) * scale, unit));
  };
  ImageSize size;
  for (float scale = 1.0F; scale > 0.0F; scale -= 0.02F) {
    size = {scaled(image.width, scale), scaled(image.height, scale)};
    if (size.width * size.height <= set.most) break;
  }
  return size;
}

/// The canvas on which most of the image is left, the smaller one of two (select_best_resolution).
ImageSize choose_canvas(ImageSize image, std::span<const ImageSize> canvases) {
  ImageSize best;
  std::int64_t least_waste = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_used = 0;
  for (const ImageSize& canvas : canvases) {
    const float scale =
        std::min(static_cast<float>(canvas.width) / static_cast<float>(image.width),
                 static_cast<float>(canvas.height) / static_cast<float>(image.height));
    const auto width = static_cast<std::int64_t>(static_cast<float>(image.width) * scale);
    const auto height = static_cast<std::int64_t>(static_cast<float>(image.height) * scale);
    const std::int64_t used = std::min(width * height, image.width * image.height);
    const std::int64_t waste = canvas.width * canvas.height - used;
    if (used < most_used || (used == most_used && waste >= least_waste)) continue;
    most_used = used;
    least_waste = waste;
    best = canvas;
  }
  return best;
}

Cut cut_for_canvas(const ImageSettings& set, ImageSize image) {
  Cut cut = {.whole = {set.side, set.side}, .tile = {set.side, set.side}};
  if (image.width <= set.side && image.height <= set.side) return cut;
  const ImageSize canvas = choose_canvas(image, set.canvases);
  cut.columns = canvas.width / set.side;
  cut.rows = canvas.height / set.side;
  return cut;
}

std::int64_t whole_units(std::int64_t length, std::int64_t unit) {
  const float units = std::round(static_cast<float>(length) / static_cast<float>(unit));
  return std::max(static_cast<std::int64_t>(units * static_cast<float>(unit)), unit);
}

/// The shape of the image with the area of a square (get_best_resize).
ImageSize scale_to_square(const ImageSettings& set, ImageSize image, bool may_grow) {
  if (may_grow || image.width * image.height > set.side * set.side) {
    const float ratio = static_cast<float>(image.width) / static_cast<float>(image.height);
    image.height = static_cast<std::int64_t>(static_cast<float>(set.side) / std::sqrt(ratio));
    image.width = static_cast<std::int64_t>(static_cast<float>(image.height) * ratio);
  }
  // That of MiniCPM-V 4.6 is made for a merge of four whatever the file has.
  const std::int64_t unit = set.patch * (set.type->counting == Counting::patches ? 4 : set.merge);
  return {whole_units(image.width, unit), whole_units(image.height, unit)};
}

/// Up to nine tiles whose grid has nearly the shape of the image (get_best_grid).
Cut cut_in_slices(const ImageSettings& set, ImageSize image) {
  if (set.type->counting == Counting::patches && set.merge == 2 &&
      image.width * image.height <= set.side * set.side) {
    return {.whole = scale_to_square(set, image, true)};
  }
  if (image.width <= set.side && image.height <= set.side) return {.whole = {set.side, set.side}};
  constexpr int most = 9;
  const auto width = static_cast<float>(image.width);
  const auto height = static_cast<float>(image.height);
  const auto wanted = static_cast<int>(
      std::fmin(std::ceil(width * height / static_cast<float>(set.side * set.side)), most));
  const float shape = std::log(width / height);
  Cut cut = {.whole = scale_to_square(set, image, false), .columns = 1, .rows = 1};
  float least = std::numeric_limits<float>::infinity();
  for (const int count : {wanted - 1, wanted, wanted + 1}) {
    if (count == 1 || count > most) continue;
    for (int columns = 1; columns <= count; ++columns) {
      if (count % columns != 0) continue;
      const int rows = count / columns;
      const float error =
          std::abs(shape - std::log(1.0F * static_cast<float>(columns) / static_cast<float>(rows)));
      if (error >= least) continue;
      least = error;
      cut.columns = columns;
      cut.rows = rows;
    }
  }
  const ImageSize part = {whole_units(image.width, cut.columns) / cut.columns,
                          whole_units(image.height, cut.rows) / cut.rows};
  cut.tile = scale_to_square(set, part, true);
  return cut;
}

Cut cut_for_idefics(const ImageSettings& set, ImageSize image) {
  const ImageSize size = scale_to_area(set, image, set.side, set.longest);
  return {.whole = {set.side, set.side},
          .tile = {set.side, set.side},
          .columns = size.width / set.side,
          .rows = size.height / set.side};
}

/// The grid of at least two tiles whose shape is nearest; of two alike the larger one if the image
/// covers half of it.
void choose_grid(Cut& cut, ImageSize image, std::int64_t least, std::int64_t most) {
  const float shape = static_cast<float>(image.width) / static_cast<float>(image.height);
  const auto area = static_cast<float>(image.width * image.height);
  std::vector<ImageSize> grids;
  for (std::int64_t columns = 1; columns <= most; ++columns) {
    for (std::int64_t rows = 1; columns * rows <= most; ++rows) {
      if (columns * rows >= least) grids.push_back({columns, rows});
    }
  }
  // The smaller ones first, of those the squarer ones.
  std::ranges::sort(grids, {}, [](const ImageSize& grid) {
    return std::tuple(grid.width * grid.height, std::max(grid.width, grid.height), grid.width);
  });
  cut.columns = cut.rows = 1;
  float least_off = std::numeric_limits<float>::max();
  for (const ImageSize& grid : grids) {
    const float off =
        std::abs(shape - static_cast<float>(grid.width) / static_cast<float>(grid.height));
    const auto canvas =
        static_cast<float>(cut.tile.width * cut.tile.width * grid.width * grid.height);
    if (off > least_off || (off == least_off && area <= 0.5F * canvas)) continue;
    least_off = off;
    cut.columns = grid.width;
    cut.rows = grid.height;
  }
}

Cut cut_for_lfm2(const ImageSettings& set, ImageSize image) {
  const std::int64_t unit = set.patch * set.merge;
  Cut cut = {.whole = scale_to_area(set, image, unit, 0), .tile = {512, 512}, .is_marked = false};
  const auto rounded = [&](std::int64_t side) {
    return std::max(set.patch, round_by(*set.type, side, unit));
  };
  // Twice the area of one picture is let through.
  if (rounded(image.width) * rounded(image.height) <= 2 * set.most) return cut;
  choose_grid(cut, image, 2, 10);
  cut.is_marked = true;
  return cut;
}

Cut cut_for_deepseek(const ImageSettings& set, ImageSize image) {
  constexpr std::int64_t tile = 640;
  Cut cut = {.whole = {1024, 1024}, .tile = {tile, tile}};
  if (image.width > tile || image.height > tile) {
    choose_grid(cut, image, set.least_tiles, set.most_tiles);
  }
  return cut;
}

Cut cut_image(const ImageSettings& set, ImageSize image) {
  switch (set.type->sizing) {
    case Sizing::aligned:
      return {.whole = scale_to_area(set, image, set.patch * set.merge, 0)};
    case Sizing::steps:
      return {.whole = scale_in_steps(set, image)};
    case Sizing::longest_edge:
      return {.whole = scale_to_area(set, image, set.patch * set.merge, set.longest)};
    case Sizing::canvas:
      return cut_for_canvas(set, image);
    case Sizing::slices:
      return cut_in_slices(set, image);
    case Sizing::idefics:
      return cut_for_idefics(set, image);
    case Sizing::lfm2:
      return cut_for_lfm2(set, image);
    case Sizing::deepseek:
      return cut_for_deepseek(set, image);
    case Sizing::fixed:
      break;
  }
  // LLaVA 1.6 has a list of canvases.
  if (!set.canvases.empty()) return cut_for_canvas(set, image);
  return {.whole = {set.side, set.side}};
}

std::int64_t tokens_of(const ImageSettings& set, ImageSize picture, bool is_whole) {
  const std::int64_t w = picture.width / set.patch;
  const std::int64_t h = picture.height / set.patch;
  const std::int64_t merge = set.merge;
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  switch (set.type->counting) {
    case Counting::patches:
      return w * h / (merge * merge);
    case Counting::halves:
      return picture.width / (2 * set.patch) * (picture.height / (2 * set.patch));
    case Counting::merged: {
      const std::int64_t rows = h / merge;
      return rows * (w / merge) + (set.has_breaks ? rows - 1 : 0);
    }
    case Counting::rounded_up:
      return up(picture.width, set.patch * merge) * up(picture.height, set.patch * merge);
    case Counting::strides:
      return up(w * h, merge * merge);
    case Counting::quarters:
      return w * h / 4;
    case Counting::quarters_2:
      return w * h / 4 + 2;
    case Counting::patches_2:
      return w * h + 2;
    case Counting::queries:
      return set.queries;
    case Counting::side:
      return w;
    case Counting::lines:
      return (w / merge + 1) * (h / merge) + 2;
    case Counting::deepseek:
      return is_whole ? 16 * 17 + 1 : w / 4 * (h / 4);
  }
  return 0;
}

/// The work space for a picture, at most: its colours, what a layer keeps, and positions; a mask
/// has a number of two bytes for each pair of patches. 0: not known.
std::uint64_t work_of(const ImageSettings& set, ImageSize picture) {
  const std::int64_t patches = picture.width / set.patch * (picture.height / set.patch);
  constexpr std::int64_t most = 1 << 22;  // 2^22 patches of 2^22 numbers: far below the limit
  if (set.type->graph == Graph::other || set.widest == 0 || patches > most) return 0;
  constexpr std::int64_t position_bytes = 32;
  const std::int64_t mask = set.type->graph == Graph::windowed ? 2 * patches * patches : 0;
  return static_cast<std::uint64_t>(12 * picture.width * picture.height + 4 * patches * set.widest +
                                    position_bytes * patches + mask);
}

void add_mark(std::vector<ImageMark>& marks, std::string_view text, std::int64_t count,
              bool is_token) {
  if (text.empty() || count <= 0) return;
  marks.push_back({std::string(text), static_cast<std::uint64_t>(count), is_token});
}

std::string label_of(std::string_view form, std::int64_t row, std::int64_t column) {
  std::string label(form);
  for (const auto& [place, number] : {std::pair("{y}", row), std::pair("{x}", column)}) {
    label.replace(label.find(place), 3, format_digits(static_cast<std::uint64_t>(number)));
  }
  return label;
}

std::vector<ImageMark> marks_of(const ImageSettings& set, const Cut& cut) {
  const TileMarks texts = tile_marks(set.type->name, set.version);
  const std::int64_t tiles = cut.columns * cut.rows;
  std::vector<ImageMark> marks;
  add_mark(marks, set.type->begin, 1, false);
  if (cut.is_marked) {
    for (const std::string_view text : texts.whole_begin) add_mark(marks, text, 1, true);
    for (const std::string_view text : texts.whole_end) add_mark(marks, text, 1, true);
  }
  if (tiles > 0) {
    add_mark(marks, texts.all_begin, 1, true);
    add_mark(marks, texts.all_end, 1, true);
    add_mark(marks, texts.tile_begin, tiles, true);
    add_mark(marks, texts.tile_end, tiles, true);
    add_mark(marks, texts.row_end, cut.rows - 1, true);
    for (std::int64_t i = 0; i < (texts.tile_label.empty() ? 0 : tiles); ++i) {
      add_mark(marks, label_of(texts.tile_label, i / cut.columns + 1, i % cut.columns + 1), 1,
               false);
    }
  }
  add_mark(marks, set.type->end, 1, false);
  return marks;
}

}  // namespace
}  // namespace detail

ProjectorImages::ProjectorImages(std::shared_ptr<const detail::ImageSettings> settings) noexcept
    : settings_(std::move(settings)) {}

Result<ImageTokens> ProjectorImages::count(std::uint32_t width, std::uint32_t height) const {
  if (width == 0 || height == 0 || width > max_image_side || height > max_image_side) {
    return fail(Errc::invalid_argument, "image size",
                "a side of an image is from 1 to " + std::to_string(max_image_side) + " pixels");
  }
  const detail::ImageSettings& set = *settings_;
  const detail::Cut cut = detail::cut_image(set, {width, height});
  const std::int64_t tiles = cut.columns * cut.rows;
  if (cut.columns > detail::max_tiles || tiles > detail::max_tiles) {
    return fail(
        Errc::estimate_impossible, "clip.vision.image_size",
        "the image would be cut into more than " + std::to_string(detail::max_tiles) + " tiles");
  }
  std::int64_t tokens = detail::tokens_of(set, cut.whole, true);
  if (set.type->counting == detail::Counting::deepseek) {
    // The tiles of a row are one picture, whose lines have an end each.
    const std::int64_t side = cut.tile.width / (4 * set.patch);
    tokens += cut.rows * (side * cut.columns + 1) * side;
  } else {
    tokens += tiles * detail::tokens_of(set, cut.tile, false);
  }
  return ImageTokens{
      .tokens = static_cast<std::uint64_t>(tokens),
      .pictures = static_cast<std::uint64_t>(tiles + 1),
      .columns = static_cast<std::uint64_t>(cut.columns),
      .rows = static_cast<std::uint64_t>(cut.rows),
      .work_bytes = std::max(detail::work_of(set, cut.whole), detail::work_of(set, cut.tile)),
      .marks = detail::marks_of(set, cut)};
}

std::vector<std::string_view> image_token_texts(std::string_view type) {
  std::vector<std::string_view> texts;
  const auto add = [&](std::string_view text) {
    // Line ends are in every vocabulary; what has several marks is no token.
    if (text.size() > 2 && std::ranges::count(text, '<') < 2) texts.push_back(text);
  };
  const detail::ImageType* row = detail::find_image_type(type);
  if (row != nullptr && !row->marks_vary) {
    add(row->begin);
    add(row->end);
    const detail::TileMarks marks = detail::tile_marks(type, 0);
    for (const std::string_view text : marks.whole_begin) add(text);
    for (const std::string_view text : marks.whole_end) add(text);
  }
  return texts;
}

}  // namespace ingot
