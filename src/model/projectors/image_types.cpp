// SPDX-License-Identifier: MIT
#include "model/projectors/image_types.hpp"

#include "base/ranges.hpp"

namespace ingot::detail {
namespace {

using enum Sizing;

constexpr ImageType qwen_vl(std::string_view name) {
  return {.name = name,
          .sizing = aligned,
          .counting = Counting::halves,
          .merge = 2,
          .key = MergeKey::spatial_merge_size,
          .least = 8,
          .most = 4096,
          .rounds_even = true,
          .begin = "<|vision_start|>",
          .end = "<|vision_end|>"};
}

// Facts of load_hparams (tools/mtmd/clip.cpp) and init_vision (mtmd.cpp) of llama.cpp b12211.
constexpr ImageType types[] = {
    {"mlp", fixed, Counting::patches},
    {"ldp", fixed, Counting::quarters},
    {"ldpv2", fixed, Counting::quarters},
    {"adapter", fixed, Counting::quarters_2},
    {"cogvlm", fixed, Counting::patches_2},
    {"janus_pro", fixed, Counting::patches},
    {.name = "gemma3",
     .sizing = fixed,
     .counting = Counting::patches,
     .merge = 4,
     .key = MergeKey::scale_factor,
     .begin = "<start_of_image>",
     .end = "<end_of_image>"},
    {.name = "gemma4v",
     .sizing = aligned,
     .counting = Counting::patches,
     .merge = 3,
     .key = MergeKey::scale_factor,
     .least = 70,
     .most = 1120,
     .begin = "<|image>",
     .end = "<image|>"},
    {.name = "gemma4uv",
     .sizing = aligned,
     .counting = Counting::patches,
     .merge = 3,
     .key = MergeKey::scale_factor,
     .least = 70,
     .most = 1120,
     .begin = "<|image>",
     .end = "<image|>"},
    {.name = "gemma3nv",
     .sizing = fixed,
     .counting = Counting::side,
     .begin = "<start_of_image>",
     .end = "<end_of_image>"},
    qwen_vl("qwen2vl_merger"),
    qwen_vl("qwen2.5vl_merger"),
    qwen_vl("qwen2.5o"),
    qwen_vl("qwen3vl_merger"),
    {.name = "glm4v",
     .sizing = aligned,
     .counting = Counting::halves,
     .merge = 2,
     .key = MergeKey::spatial_merge_size,
     .least = 8,
     .most = 4096,
     .begin = "<|begin_of_image|>",
     .end = "<|end_of_image|>"},
    {.name = "hunyuanvl",
     .sizing = aligned,
     .counting = Counting::lines,
     .merge = 2,
     .key = MergeKey::spatial_merge_size,
     .least = 256,
     .most = 16384,
     .reads_limits = true,
     .begin = "<\uff5chy_place\u2581holder\u2581no\u2581100\uff5c>",
     .end = "<\uff5chy_place\u2581holder\u2581no\u2581101\uff5c>"},
    {.name = "paddleocr",
     .sizing = aligned,
     .counting = Counting::strides,
     .merge = 2,
     .reads_limits = true,
     .begin = "<|IMAGE_START|>",
     .end = "<|IMAGE_END|>"},
    {.name = "kimivl",
     .sizing = aligned,
     .counting = Counting::rounded_up,
     .key = MergeKey::scale_factor,
     .least = 8,
     .most = 1024,
     .begin = "<|media_start|>",
     .end = "<|media_end|>"},
    {.name = "kimik25",
     .sizing = aligned,
     .counting = Counting::rounded_up,
     .key = MergeKey::scale_factor,
     .least = 2,
     .most = 4096,
     .reads_limits = true,
     .begin = "<|media_begin|>",
     .end = "<|media_end|>",
     .marks_vary = true},  // GLM-5V has those of glm4v
    {.name = "phi4", .sizing = aligned, .counting = Counting::patches, .reads_limits = true},
    {.name = "dots_ocr",
     .sizing = aligned,
     .counting = Counting::patches,
     .key = MergeKey::scale_factor,
     .reads_limits = true,
     .begin = "<|img|>",
     .end = "<|endofimg|>"},
    {.name = "youtuvl",
     .sizing = steps,
     .counting = Counting::halves,
     .merge = 2,
     .key = MergeKey::spatial_merge_size,
     .least = 1,
     .most = 62500,
     .begin = "<|vision_start|>",
     .end = "<|vision_end|>"},
    {.name = "nemotron_v2_vl",
     .sizing = fixed,
     .counting = Counting::patches,
     .key = MergeKey::scale_factor},
    {.name = "pixtral",
     .sizing = aligned,
     .counting = Counting::merged,
     .key = MergeKey::spatial_merge_size,
     .least = 8,
     .most = 1024,
     .end = "[IMG_END]"},
    {.name = "lightonocr",
     .sizing = longest_edge,
     .counting = Counting::merged,
     .key = MergeKey::spatial_merge_size,
     .begin = "<|im_start|>",
     .end = "<|im_end|>"},
    {.name = "llama4",
     .sizing = canvas,
     .counting = Counting::patches,
     .key = MergeKey::scale_factor,
     .begin = "<|image_start|>",
     .end = "<|image_end|>"},
    {.name = "internvl",
     .sizing = canvas,
     .counting = Counting::patches,
     .key = MergeKey::scale_factor,
     .begin = "<img>",
     .end = "</img>"},
    {.name = "resampler", .sizing = slices, .counting = Counting::queries},
    {.name = "minicpmv4_6",
     .sizing = slices,
     .counting = Counting::patches,
     .merge = 4,
     .key = MergeKey::scale_factor,
     .begin = "<image_id>0</image_id>"},
    {.name = "idefics3",
     .sizing = idefics,
     .counting = Counting::patches,
     .key = MergeKey::scale_factor},
    {.name = "lfm2",
     .sizing = lfm2,
     .counting = Counting::rounded_up,
     .key = MergeKey::scale_factor,
     .least = 64,
     .most = 256,
     .rounds_even = true,
     .begin = "<|image_start|>",
     .end = "<|image_end|>"},
    {.name = "deepseekocr", .sizing = deepseek, .counting = Counting::deepseek, .end = "\n"},
};

}  // namespace

std::span<const ImageType> image_types() noexcept { return types; }

const ImageType* find_image_type(std::string_view name) noexcept {
  return find_row(types, &ImageType::name, name);
}

TileMarks tile_marks(std::string_view type, std::int64_t version) {
  if (type == "resampler" && version == 2) {
    return {.whole_begin = {"<image>"},
            .whole_end = {"</image>"},
            .all_begin = "<slice>",
            .all_end = "</slice>",
            .tile_begin = "<image>",
            .tile_end = "</image>",
            .row_end = "\n"};
  }
  if (type == "resampler" || type == "minicpmv4_6") {
    return {.whole_begin = {"<image>"},
            .whole_end = {"</image>"},
            .tile_begin = "<slice>",
            .tile_end = "</slice>",
            .row_end = "\n"};
  }
  if (type == "idefics3") {
    return {.whole_begin = {"\n\n", "<fake_token_around_image>", "<global-img>"},
            .whole_end = {"<fake_token_around_image>"},
            .tile_label = "<fake_token_around_image><row_{y}_col_{x}>",
            .row_end = "\n"};
  }
  if (type == "lfm2") {
    return {.whole_begin = {"<|img_thumbnail|>"}, .tile_label = "<|img_row_{y}_col_{x}|>"};
  }
  return {};
}

}  // namespace ingot::detail
