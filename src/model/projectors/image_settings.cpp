// SPDX-License-Identifier: MIT
// The numbers of a projector's header that the tokens of an image depend on.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "ingot/text.hpp"
#include "model/open/model_header.hpp"
#include "model/projectors/image_types.hpp"

namespace ingot {
namespace detail {
namespace {

/// Largest values of keys that the engine takes (sanity checks of load_hparams).
constexpr std::int64_t max_side = 8192;
constexpr std::int64_t max_factor = 1024;

/// Reads the numbers of a header, with the defaults of the engine.
class SettingsReader {
 public:
  explicit SettingsReader(const Model& model) : header_(model) {}

  Result<ImageSettings> read(const ImageType& type) {
    ImageSettings set = {.type = &type};
    const bool is_deepseek = type.sizing == Sizing::deepseek;  // whose keys do not count
    INGOT_TRY(set.side, number("clip.vision.image_size", is_deepseek ? 1024 : -1, max_side));
    INGOT_TRY(set.patch, number("clip.vision.patch_size", -1, max_factor));
    if (is_deepseek) set.patch = 16;
    INGOT_TRY(set.merge, number(merge_key(type.key), type.merge, max_factor));
    INGOT_TRY_VOID(read_limits(set));
    INGOT_TRY(set.version, number("clip.minicpmv_version", 2, 1 << 30));
    INGOT_TRY(set.queries, number("clip.minicpmv_query_num", set.version == 2 ? 96 : 64, 1 << 20));
    if (type.counting == Counting::windows) {
      INGOT_TRY(set.queries, number("clip.vision.projector.query_side", -1, max_factor));
    }
    set.has_mask = type.graph == Graph::windowed ||
                   header_.number("clip.vision.n_wa_pattern", std::nullopt).value_or(0) > 0;
    set.has_breaks = header_.has_tensor("v.token_embd.img_break");
    set.widest = widest();
    INGOT_TRY_VOID(read_tiles(set));
    const bool has_side = type.sizing != Sizing::aligned && type.sizing != Sizing::steps;
    if (set.patch == 0 || set.merge == 0 || (has_side && set.side == 0)) {
      return fail(Errc::estimate_impossible, "clip.vision", "a side of an image or patch is 0");
    }
    return set;
  }

 private:
  static std::string_view merge_key(MergeKey key) {
    switch (key) {
      case MergeKey::scale_factor:
        return "clip.vision.projector.scale_factor";
      case MergeKey::spatial_merge_size:
        return "clip.vision.spatial_merge_size";
      case MergeKey::window_side:
        return "clip.vision.projector.window_side";
      case MergeKey::none:
        break;
    }
    return {};
  }

  /// The numbers that a layer keeps of a patch at once, at most, as compute buffers of the engine
  /// show: states, queries, keys and values beside what they are made of, or the states and what
  /// is between the two matrices. 0 for sizes that make no sense.
  [[nodiscard]] std::int64_t widest() const {
    const std::int64_t width =
        header_.number("clip.vision.embedding_length", std::nullopt).value_or(0);
    const auto side_of_up = [&](std::size_t dimension) {
      return header_.tensor_size("v.blk.0.ffn_up.weight", dimension).value_or(0);
    };
    const std::int64_t inner = std::max(side_of_up(0), side_of_up(1));
    constexpr std::int64_t most = 1 << 20;
    if (width <= 0 || width > most || inner <= 0 || inner > most) return 0;
    const bool is_joined = header_.has_tensor("v.blk.0.attn_qkv.weight");
    const bool is_gated = header_.has_tensor("v.blk.0.ffn_gate.weight");
    return std::max(width * (is_joined ? 7 : 5), (width + inner) * (is_gated ? 2 : 1));
  }

  /// A negative default: the key is needed.
  Result<std::int64_t> number(std::string_view key, std::int64_t otherwise, std::int64_t most) {
    const std::optional<std::int64_t> found =
        key.empty() ? std::nullopt : header_.number(key, std::nullopt);
    const std::int64_t value = found.value_or(otherwise);
    if (value >= 0 && value <= most) return value;
    return fail(Errc::estimate_impossible, std::string(key),
                found ? "it is no number from 0 to " + std::to_string(most) : "it is missing");
  }

  Result<void> read_limits(ImageSettings& set) {
    const ImageType& type = *set.type;
    const std::int64_t area = set.patch * set.patch * set.merge * set.merge;
    set.least = type.least * area;
    set.most = type.most * area;
    if (!type.reads_limits) return {};
    const auto is_given = [&](std::string_view key) {
      return header_.number(key, 0).value_or(0) > 0;
    };
    const bool is_pair = type.name == "kimik25";  // whose keys count together
    if (is_pair &&
        !(is_given("clip.vision.image_min_pixels") && is_given("clip.vision.image_max_pixels"))) {
      return {};
    }
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const bool is_needed = type.most == 0;
    INGOT_TRY(set.least, number("clip.vision.image_min_pixels", is_needed ? -1 : set.least, most));
    INGOT_TRY(set.most, number("clip.vision.image_max_pixels", is_needed ? -1 : set.most, most));
    return {};
  }

  Result<void> read_tiles(ImageSettings& set) {
    const Sizing sizing = set.type->sizing;
    const std::string_view name = set.type->name;
    std::int64_t longest = 0;
    if (sizing == Sizing::longest_edge) longest = set.side;
    INGOT_TRY(set.longest, number("clip.vision.preproc_image_size", longest, max_image_side));
    if (sizing == Sizing::step3 && set.longest == 0) set.longest = 3024;
    const bool is_row = sizing == Sizing::deepseek;
    const std::int64_t most = set.type->counting == Counting::sixteenths ? 6 : is_row ? 9 : 12;
    INGOT_TRY(set.least_tiles, number("clip.vision.preproc_min_tiles", is_row ? 2 : 1, 256));
    INGOT_TRY(set.most_tiles, number("clip.vision.preproc_max_tiles", most, 256));
    if (name == "llama4") add_canvases(set, 3, 3, 2, 9);
    if (name == "internvl") {
      add_canvases(set, set.most_tiles, set.most_tiles, set.least_tiles, set.most_tiles);
    }
    if (sizing != Sizing::fixed && sizing != Sizing::granite) return {};
    // Pairs of width and height, of LLaVA 1.6 and Granite.
    const std::uint64_t count = header_.array_size("clip.vision.image_grid_pinpoints").value_or(0);
    if (sizing == Sizing::granite && count < 2) {
      return fail(Errc::estimate_impossible, "clip.vision.image_grid_pinpoints", "it is missing");
    }
    if (count > 512) {
      return fail(Errc::estimate_impossible, "clip.vision.image_grid_pinpoints", "it is too long");
    }
    for (std::uint64_t i = 0; i + 1 < count; i += 2) {
      const auto width = header_.number("clip.vision.image_grid_pinpoints", i).value_or(0);
      const auto height = header_.number("clip.vision.image_grid_pinpoints", i + 1).value_or(0);
      if (width <= 0 || height <= 0 || width > max_image_side || height > max_image_side) {
        return fail(Errc::estimate_impossible, "clip.vision.image_grid_pinpoints",
                    "an element is no side of an image");
      }
      set.canvases.push_back({width, height});
    }
    return {};
  }

  static void add_canvases(ImageSettings& set, std::int64_t columns, std::int64_t rows,
                           std::int64_t least, std::int64_t most) {
    for (std::int64_t x = 1; x <= columns; ++x) {
      for (std::int64_t y = 1; y <= rows; ++y) {
        if (x * y < least || x * y > most) continue;
        set.canvases.push_back({x * set.side, y * set.side});
      }
    }
  }

  ModelHeader header_;
};

}  // namespace
}  // namespace detail

Result<ProjectorImages> ProjectorImages::read(const Model& projector) {
  const ModelHeader header(projector);
  const auto type = header.text("clip.projector_type");
  const std::string_view name =
      type ? *type : header.text("clip.vision.projector_type").value_or(std::string_view());
  if (name.empty() || header.number("clip.has_vision_encoder", std::nullopt).value_or(0) == 0) {
    return fail(Errc::invalid_argument, "projector", "it has no encoder of images");
  }
  const detail::ImageType* row = detail::find_image_type(name);
  if (row == nullptr) {
    return fail(Errc::estimate_impossible, "clip.projector_type",
                "how many tokens a projector of type \"" + escape_shortened(name, 60) +
                    "\" makes of an image is not known");
  }
  INGOT_TRY(auto settings, detail::SettingsReader(projector).read(*row));
  return ProjectorImages(std::make_shared<const detail::ImageSettings>(std::move(settings)));
}

}  // namespace ingot
