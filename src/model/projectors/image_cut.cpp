// SPDX-License-Identifier: MIT
// How an image is scaled and cut into tiles. Floats are those of the engine: where a product is a
// whole number only nearly, the next patch depends on them.
#include "model/projectors/image_cut.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

namespace ingot::detail {
namespace {

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
  const std::int64_t tile = set.type->counting == Counting::sixteenths ? 768 : 640;
  Cut cut = {.whole = {1024, 1024}, .tile = {tile, tile}};
  if (image.width > tile || image.height > tile) {
    choose_grid(cut, image, set.least_tiles, set.most_tiles);
  }
  return cut;
}

/// The tiles along a side; what is left counts as one if it is more than a fifth of one.
std::int64_t steps_of(std::int64_t length, std::int64_t tile) {
  const float ratio = static_cast<float>(length) / static_cast<float>(tile);
  if (ratio < 1.0F) return 1;
  const float whole = std::floor(ratio);
  return static_cast<std::int64_t>(whole) + (ratio - whole > 0.2F ? 1 : 0);
}

Cut cut_for_step3(const ImageSettings& set, ImageSize image) {
  constexpr std::int64_t tile = 504;
  Cut cut = {.whole = {set.side, set.side}, .tile = {tile, tile}};
  const auto shape = [&] {
    return static_cast<float>(std::max(image.width, image.height)) /
           static_cast<float>(std::min(image.width, image.height));
  };
  if (std::min(image.width, image.height) < 32 && shape() > 4.0F) {
    image.width = image.height = std::max(image.width, image.height);
  }
  const std::int64_t longer = std::max(image.width, image.height);
  if (longer > set.longest) {
    const float scale = static_cast<float>(set.longest) / static_cast<float>(longer);
    const auto scaled = [&](std::int64_t side) {
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<float>(side) * scale));
    };
    image = {scaled(image.width), scaled(image.height)};
  }
  const std::int64_t shorter = std::min(image.width, image.height);
  std::int64_t window = shape() > 4.0F ? std::min(shorter, tile) : tile;
  if (std::max(image.width, image.height) <= set.side) window = shape() > 1.5F ? shorter : 0;
  if (window == 0) return cut;
  cut.columns = steps_of(image.width, window);
  cut.rows = steps_of(image.height, window);
  return cut;
}

}  // namespace

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
    case Sizing::step3:
      return cut_for_step3(set, image);
    case Sizing::granite: {
      const ImageSize canvas = choose_canvas(image, set.canvases);
      const ImageSize square = {set.side, set.side};
      return {square, square, canvas.width / set.side, canvas.height / set.side};
    }
    case Sizing::fixed:
      break;
  }
  // LLaVA 1.6 has a list of canvases.
  if (!set.canvases.empty()) return cut_for_canvas(set, image);
  return {.whole = {set.side, set.side}};
}

}  // namespace ingot::detail
