// SPDX-License-Identifier: MIT
// Projectors: what the engine needs of each type is missed, and nothing else is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "check/rule_case.hpp"
#include "ingot/architectures.hpp"
#include "ingot/check.hpp"
#include "ingot/projectors.hpp"
#include "ingot/summary.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const Architecture& clip() { return *find_architecture("clip"); }

ArchitectureSample sample_of(std::string_view type) {
  // Small, as each test writes many.
  const std::int64_t width = type == "granite4_vision" ? 64 : 8;
  const SampleNumbers numbers = {
      {"vision.embedding_length", width}, {"audio.embedding_length", 8},
      {"vision.feed_forward_length", 16}, {"audio.feed_forward_length", 16},
      {"vision.sam.embedding_length", 8}, {"vision.projection_dim", 16},
      {"audio.projection_dim", 16}};
  auto sample = plan_architecture_sample(clip(), numbers, 0, type);
  EXPECT_TRUE(sample.has_value()) << type << ": " << sample.error().message();
  return sample ? *std::move(sample) : ArchitectureSample();
}

Bytes file_of(const ArchitectureSample& sample) {
  GgufBuilder file;
  file.pair("general.architecture", "clip").pair("general.type", "mmproj");
  for (const SampleKey& key : sample.keys) {
    if (key.is_array) {
      file.array_key(key.name, key.type, key.values.size());
      for (const auto& value : key.values) {
        if (key.type == ValueType::float32)
          file.number(static_cast<float>(std::get<double>(value)));
        else if (key.type == ValueType::boolean)
          file.u8(static_cast<std::uint8_t>(std::get<std::int64_t>(value)));
        else
          file.number(static_cast<std::int32_t>(std::get<std::int64_t>(value)));
      }
    } else if (const auto* text = std::get_if<std::string>(&key.values[0])) {
      file.pair(key.name, *text);
    } else if (const auto* real = std::get_if<double>(&key.values[0])) {
      file.pair(key.name, static_cast<float>(*real));
    } else if (key.type == ValueType::boolean) {
      file.pair(key.name, std::get<std::int64_t>(key.values[0]) != 0);
    } else {
      file.pair(key.name, static_cast<std::uint32_t>(std::get<std::int64_t>(key.values[0])));
    }
  }
  std::uint64_t offset = 0;
  for (const SampleTensor& tensor : sample.tensors) {
    std::uint64_t bytes = sizeof(float);
    for (const std::uint64_t size : tensor.shape) bytes *= size;
    file.tensor(tensor.name, tensor.shape, TensorType::f32, offset);
    offset += (bytes + 31) / 32 * 32;
  }
  return file.pad_to(32).data(offset).bytes();
}

/// The messages of what the rules about keys and tensors find.
std::set<std::string> findings_in(const ArchitectureSample& sample) {
  std::set<std::string> found;
  for (const Finding& finding : findings_of(file_of(sample), {.with_data = false})) {
    std::string text(finding.rule->name);
    if (text == "padding_not_zero") continue;  // the data of the sketch, which counts
    if (!finding.key.empty()) text += " " + std::string(finding.key);
    if (!finding.tensor.empty()) text += " " + std::string(finding.tensor);
    found.insert(text + ": " + finding.message);
  }
  return found;
}

SampleTensor& tensor_of(ArchitectureSample& sample, std::string_view name) {
  return *std::ranges::find(sample.tensors, name, &SampleTensor::name);
}
SampleKey& key_of(ArchitectureSample& sample, std::string_view name) {
  return *std::ranges::find(sample.keys, name, &SampleKey::name);
}

TEST(CheckProjector, FindsNothingInSamplesOfEveryType) {
  EXPECT_GE(clip().variants.size(), 30u);
  for (const std::string& type : clip().variants) {
    EXPECT_THAT(findings_in(sample_of(type)), IsEmpty()) << type;
  }
}

TEST(CheckProjector, MissesEachKeyAndTensorThatTheEngineNeeds) {
  for (const std::string& type : clip().variants) {
    const ArchitectureSample whole = sample_of(type);
    std::size_t needed = 0;
    for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
      if (whole.tensors[i].name.find("blk.1.") != std::string::npos) continue;  // as the first
      ArchitectureSample less = whole;
      less.tensors.erase(less.tensors.begin() + static_cast<std::ptrdiff_t>(i));
      const auto found = findings_in(less);
      // Without the joined matrix, the engine looks for the three apart; a file without any tensor
      // has a finding of its own.
      const bool is_special =
          whole.tensors[i].name.ends_with("attn_qkv.weight") || whole.tensors.size() == 1;
      const bool is_missed = std::ranges::any_of(found, [&](const std::string& text) {
        return text.starts_with("tensor_missing") &&
               (is_special || text.find(whole.tensors[i].name) != std::string::npos);
      });
      needed += is_missed;
      EXPECT_TRUE(is_missed || found.empty()) << type << ": " << whole.tensors[i].name;
    }
    // The feed-forward net of the layer, and the projector itself; that is all of one type.
    EXPECT_GE(needed, type == "gemma4ua" ? 1u : 4u) << type;
    for (const SampleKey& key : whole.keys) {
      if (!key.name.ends_with("embedding_length") && !key.name.ends_with("projection_dim"))
        continue;
      ArchitectureSample less = whole;
      std::erase_if(less.keys, [&](const SampleKey& each) { return each.name == key.name; });
      EXPECT_THAT(findings_in(less), Contains("key_missing " + key.name + ": it is missing"));
    }
  }
}

TEST(CheckProjector, FindsWidthsThatContradict) {
  for (const auto& [type, tensor, dimension] :
       {std::tuple("gemma3", "mm.input_projection.weight", 0),
        std::tuple("gemma3", "v.patch_embd.weight", 3), std::tuple("mlp", "mm.2.weight", 0),
        std::tuple("qwen3vl_merger", "v.deepstack.0.fc2.weight", 1),
        std::tuple("qwen2.5vl_merger", "v.patch_embd.weight.1", 0),
        std::tuple("internvl", "v.blk.1.attn_q.weight", 1),
        std::tuple("idefics3", "v.blk.0.ffn_down.weight", 0),
        std::tuple("gemma3nv", "v.blk.0.0.conv_pwl.weight", 2),
        std::tuple("gemma4uv", "v.position_embd.weight", 2),
        std::tuple("gemma4ua", "mm.a.input_projection.weight", 0),
        std::tuple("lfm2a", "a.blk.1.conv_pw1.weight", 1),
        std::tuple("ultravox", "mm.a.mlp.2.weight", 0), std::tuple("step3vl", "mm.1.weight", 2),
        std::tuple("deepseekocr2", "v.blk.1.attn_k.weight", 1),
        std::tuple("deepseekocr2", "v.resample_query_768.weight", 1),
        std::tuple("exaone4_5", "v.blk.0.attn_qkv.weight", 1),
        std::tuple("minimax_m3", "mm.merger.fc1.weight", 0),
        std::tuple("granite4_vision", "v.proj_blk.1.linear.weight", 1),
        std::tuple("granite_speech", "a.blk.1.conv_dw.weight", 0)}) {
    ArchitectureSample sample = sample_of(type);
    SampleTensor& wrong = tensor_of(sample, tensor);
    wrong.shape[static_cast<std::size_t>(dimension)] *= 2;
    EXPECT_THAT(findings_in(sample),
                Contains(HasSubstr("tensor_shape " + std::string(tensor) + ": shape is")))
        << type;
  }
}

TEST(CheckProjector, KnowsOldFilesByTheirTensors) {
  // The converters of old named the halves of the feed-forward nets the other way round.
  ArchitectureSample sample = sample_of("mlp");
  for (const char* layer : {"v.blk.0.", "v.blk.1."}) {
    std::swap(tensor_of(sample, std::string(layer) + "ffn_up.weight").shape,
              tensor_of(sample, std::string(layer) + "ffn_down.weight").shape);
    std::swap(tensor_of(sample, std::string(layer) + "ffn_up.bias").shape,
              tensor_of(sample, std::string(layer) + "ffn_down.bias").shape);
  }
  EXPECT_THAT(findings_in(sample), IsEmpty());
}

TEST(CheckProjector, NamesTypesThatItCannotCheck) {
  ArchitectureSample sample = sample_of("gemma3");
  key_of(sample, "clip.projector_type").values[0] = "dots3note_v";
  EXPECT_THAT(findings_in(sample),
              testing::ElementsAre("projector_type_unchecked: the tensors of a projector of type "
                                   "\"dots3note_v\" are not described"));
  key_of(sample, "clip.projector_type").values[0] = "gemma33";
  EXPECT_THAT(findings_in(sample),
              testing::ElementsAre("projector_type_unknown: the type \"gemma33\" is not known"));
  std::erase_if(sample.keys, [](const SampleKey& key) { return key.type == ValueType::boolean; });
  EXPECT_THAT(findings_in(sample),
              testing::ElementsAre("projector_type_unknown: no key says that it has an encoder"));
}

TEST(CheckProjector, FindsNumbersThatTheEngineRefuses) {
  ArchitectureSample sample = sample_of("internvl");
  key_of(sample, "clip.vision.attention.head_count").values[0] = std::int64_t{3};
  sample.keys.push_back({"clip.use_gelu", ValueType::boolean, false, {std::int64_t{1}}});
  sample.keys.push_back({"clip.use_silu", ValueType::boolean, false, {std::int64_t{1}}});
  EXPECT_THAT(
      findings_in(sample),
      testing::ElementsAre("key_implausible: the heads do not divide clip.vision.embedding_length",
                           "key_implausible: use_gelu and use_silu are both true"));
  sample = sample_of("gemma3");
  key_of(sample, "clip.vision.patch_size").values[0] = std::int64_t{0};
  EXPECT_THAT(findings_in(sample), Contains("key_implausible: clip.vision.patch_size is 0"));
}

TEST(CheckProjector, RefusesAProjectorWithoutTensors) {
  ArchitectureSample sample = sample_of("qwen3vl_merger");
  sample.tensors.clear();
  EXPECT_THAT(findings_in(sample), Contains(HasSubstr("tensor_missing: it has no tensors")));
}

/// What check says of a text model of this width beside a projector.
std::set<std::string> findings_beside(const ArchitectureSample& projector, std::uint32_t width,
                                      std::uint32_t fed_layers = 0) {
  const Bytes bytes = file_of(projector);
  const auto other = Model::open_memory(bytes);
  EXPECT_THAT(other, Succeeds());
  GgufBuilder file;
  file.pair("general.architecture", "qwen3vl").pair("qwen3vl.embedding_length", width);
  const Bytes text = file.pair("qwen3vl.n_deepstack_layers", fed_layers).bytes();
  CheckOptions options{.with_data = false};
  options.projector = &*other;
  options.is_wanted = [](const CheckRule& rule) { return rule.name.starts_with("projector_"); };
  std::set<std::string> found;
  for (const Finding& finding : findings_of(text, options)) found.insert(finding.message);
  return found;
}

TEST(CheckProjector, TellsWhetherItFitsAModel) {
  EXPECT_THAT(findings_beside(sample_of("gemma3"), 16), IsEmpty());
  EXPECT_THAT(findings_beside(sample_of("gemma3"), 512),
              testing::ElementsAre("the projector's images have width 16, the model takes 512"));
  EXPECT_THAT(findings_beside(sample_of("ultravox"), 512),
              testing::ElementsAre("the projector's sounds have width 16, the model takes 512"));
  EXPECT_THAT(findings_beside(sample_of("qwen3vl_merger"), 16, 1), IsEmpty());
  EXPECT_THAT(findings_beside(sample_of("qwen3vl_merger"), 16, 3),
              testing::ElementsAre("the projector feeds 1 layer beside the first, the model has 3 "
                                   "that are fed"));
  ArchitectureSample unknown = sample_of("gemma3");
  key_of(unknown, "clip.projector_type").values[0] = "yasa2";
  EXPECT_THAT(findings_beside(unknown, 16), testing::ElementsAre(HasSubstr("is not known")));
}

TEST(CheckProjector, IsSummarizedByItsTensors) {
  ArchitectureSample sample = sample_of("qwen2.5o");
  tensor_of(sample, "mm.a.fc.weight").shape[1] = 96;
  const Bytes bytes = file_of(sample);
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto projector = summarize(*model).projector;
  ASSERT_TRUE(projector.has_value());
  EXPECT_EQ(projector->vision_type, "qwen2.5o");
  EXPECT_EQ(projector->image_size, 112u);
  EXPECT_EQ(projector->image_tokens, 16u);
  EXPECT_EQ(projector->vision_output, 16u);
  EXPECT_EQ(projector->audio_tokens, 750u);
  EXPECT_EQ(projector->audio_output, 96u);
  EXPECT_EQ(projector->mel_bins, 16u);
}

/// An image or a sound.
struct MediumCase {
  std::string_view type;
  std::vector<std::pair<std::string, std::int64_t>> keys;  ///< Other values than the sample's.
  std::vector<std::uint64_t> tokens;
};

TEST(Projector, TakesTheTokensThatTheEngineCounts) {
  const std::pair<std::uint32_t, std::uint32_t> sizes[] = {
      {64, 64},    {70, 350},   {336, 336},   {448, 448},  {640, 480},  {800, 600},
      {1024, 768}, {768, 1024}, {1920, 1080}, {300, 2000}, {3000, 500}, {1330, 910}};
#define INGOT_BARE(...) __VA_ARGS__
#define INGOT_IMAGE_TOKENS(type, keys, tokens) {type, INGOT_BARE keys, INGOT_BARE tokens},
#define INGOT_SOUND_TOKENS(type, keys, tokens)
  const std::vector<MediumCase> cases = {
#include "golden/image_tokens.def"
  };
#undef INGOT_IMAGE_TOKENS
#undef INGOT_SOUND_TOKENS
  EXPECT_GE(cases.size(), 20u);
  for (const MediumCase& each : cases) {
    ArchitectureSample sample = sample_of(each.type);
    for (const auto& [suffix, number] : each.keys) {
      const std::string key = "clip.vision." + suffix;
      std::erase_if(sample.keys, [&](const SampleKey& known) { return known.name == key; });
      sample.keys.push_back({key, ValueType::uint32, false, {number}});
    }
    const Bytes bytes = file_of(sample);
    const auto model = Model::open_memory(bytes);
    ASSERT_THAT(model, Succeeds()) << each.type;
    const auto images = ProjectorImages::read(*model);
    ASSERT_THAT(images, Succeeds()) << each.type;
    ASSERT_EQ(each.tokens.size(), std::size(sizes)) << each.type;
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      const auto image = images->count(sizes[i].first, sizes[i].second);
      ASSERT_THAT(image, Succeeds()) << each.type;
      EXPECT_EQ(image->tokens, each.tokens[i])
          << each.type << " " << sizes[i].first << " x " << sizes[i].second;
    }
  }
}

TEST(Projector, TakesTheTokensOfSoundsThatTheEngineCounts) {
  const double seconds[] = {0.05, 0.5, 1, 7.993, 12.345, 29.99, 30, 61, 100.1};
#define INGOT_IMAGE_TOKENS(type, keys, tokens)
#define INGOT_SOUND_TOKENS(type, keys, tokens) {type, {}, INGOT_BARE tokens},
  const std::vector<MediumCase> cases = {
#include "golden/image_tokens.def"
  };
  EXPECT_GE(cases.size(), 10u);
  for (const MediumCase& each : cases) {
    const Bytes bytes = file_of(sample_of(each.type));
    const auto model = Model::open_memory(bytes);
    ASSERT_THAT(model, Succeeds()) << each.type;
    const auto sounds = ProjectorSounds::read(*model);
    ASSERT_THAT(sounds, Succeeds()) << each.type;
    ASSERT_EQ(each.tokens.size(), std::size(seconds)) << each.type;
    for (std::size_t i = 0; i < std::size(seconds); ++i) {
      const auto sound = sounds->count(seconds[i]);
      ASSERT_THAT(sound, Succeeds()) << each.type;
      EXPECT_EQ(sound->tokens, each.tokens[i]) << each.type << " " << seconds[i];
    }
  }
}

TEST(Projector, RefusesSoundsThatCannotBe) {
  const Bytes bytes = file_of(sample_of("ultravox"));
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto sounds = ProjectorSounds::read(*model);
  ASSERT_THAT(sounds, Succeeds());
  for (const double seconds : {0.0, -1.0, 1e6, std::nan("")}) {
    EXPECT_THAT(sounds->count(seconds), FailsWith(Errc::invalid_argument)) << seconds;
  }
  ArchitectureSample sample = sample_of("ultravox");
  key_of(sample, "clip.audio.projector.stack_factor").values = {std::int64_t{0}};
  const Bytes senseless = file_of(sample);
  const auto other = Model::open_memory(senseless);
  ASSERT_THAT(other, Succeeds());
  EXPECT_THAT(ProjectorSounds::read(*other), FailsWith(Errc::estimate_impossible));
  const Bytes images = file_of(sample_of("gemma3"));
  const auto seen = Model::open_memory(images);
  ASSERT_THAT(seen, Succeeds());
  EXPECT_THAT(ProjectorSounds::read(*seen), FailsWith(Errc::invalid_argument));
}

TEST(Projector, RefusesWhatHasNoTokens) {
  const auto error_of = [](const ArchitectureSample& sample, std::uint32_t width) {
    const Bytes bytes = file_of(sample);
    const auto model = Model::open_memory(bytes);
    EXPECT_THAT(model, Succeeds());
    const auto images = ProjectorImages::read(*model);
    if (!images) return images.error().detail;
    const auto image = images->count(width, 1);
    return image ? std::string("none") : image.error().detail;
  };
  ArchitectureSample sample = sample_of("idefics3");
  EXPECT_EQ(error_of(sample, 1), "none");
  EXPECT_THAT(error_of(sample, 0), HasSubstr("a side of an image is from 1 to 65536"));
  EXPECT_THAT(error_of(sample, max_image_side + 1), HasSubstr("from 1 to 65536"));
  key_of(sample, "clip.vision.image_size").values[0] = std::int64_t{1};
  EXPECT_THAT(error_of(sample, max_image_side), HasSubstr("more than 4096 tiles"));
  key_of(sample, "clip.vision.image_size").values[0] = std::int64_t{0};
  EXPECT_THAT(error_of(sample, 1), HasSubstr("is 0"));
  key_of(sample, "clip.projector_type").values[0] = "muse-glimmer";
  EXPECT_THAT(error_of(sample, 1),
              HasSubstr("type \"muse-glimmer\" makes of an image is not known"));
  EXPECT_THAT(error_of(sample_of("ultravox"), 1), HasSubstr("no encoder of images"));
}

}  // namespace
}  // namespace ingot::test
