// SPDX-License-Identifier: MIT
// How many tokens an image takes. Floats are those of the engine: where a product is a whole number
// only nearly, the next patch depends on them.
#include <algorithm>
#include <string>
#include <utility>

#include "ingot/text.hpp"
#include "model/projectors/image_cut.hpp"

namespace ingot {
namespace detail {
namespace {

/// More tiles than any type makes: a header that leads to more is a mistake.
constexpr std::int64_t max_tiles = 4096;

/// The lines of the joined tiles without those that the shape of the image leaves empty.
ImageSize joined_lines(const Cut& cut, ImageSize image, std::int64_t side) {
  ImageSize size = {cut.columns * side, cut.rows * side};
  const auto trimmed = [](std::int64_t whole, std::int64_t used) {
    return whole - (whole - std::min(used, whole)) / 2 * 2;
  };
  if (image.width * size.height > size.width * image.height) {
    size.height = trimmed(size.height, image.height * size.width / image.width);
  } else {
    size.width = trimmed(size.width, image.width * size.height / image.height);
  }
  return size;
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
    case Counting::sixteenths:
      return w * h / 16 + (is_whole ? 1 : 0);
    case Counting::windows:
      return w / merge * set.queries * (w / merge * set.queries);
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
  const std::int64_t mask = set.has_mask ? 2 * patches * patches : 0;
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
  } else if (set.type->counting == detail::Counting::windows) {
    const std::int64_t side = cut.tile.width / set.patch / set.merge * set.queries;
    const detail::ImageSize lines = detail::joined_lines(cut, {width, height}, side);
    tokens += lines.height * (lines.width + 1);
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
