// SPDX-License-Identifier: MIT
// What the engine allocated, against what is estimated: headers of real models, and the sizes that
// llama.cpp's own libraries gave for them.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "ingot/estimate.hpp"
#include "ingot/summary.hpp"
#include "support/expect_error.hpp"
#include "support/mib.hpp"
#include "support/shared_files.hpp"

namespace ingot::test {
namespace {

using Json = nlohmann::json;

RunOptions options_of(const Json& given) {
  RunOptions options;
  options.context = given["n_ctx"];
  options.batch = given["n_batch"];
  options.micro_batch = given["n_ubatch"];
  options.sequences = given["n_seq"];
  options.key_type = find_type(given["type_k"].get<std::string>())->type;
  options.value_type = find_type(given["type_v"].get<std::string>())->type;
  const std::map<std::string, FlashAttention> flash = {{"auto", FlashAttention::automatic},
                                                       {"on", FlashAttention::on},
                                                       {"off", FlashAttention::off}};
  options.flash_attention = flash.at(given["flash_attention"]);
  options.is_cache_unified = given["kv_unified"];
  options.keeps_full_windows = given["swa_full"];
  options.wants_embeddings = given["embeddings"];
  options.gpu_layers = given.value("gpu_layers", -1);
  for (int i = 0; i < given.value("gpus", 0); ++i) {
    options.devices.push_back({"gpu" + std::to_string(i), std::uint64_t{24} << 30, 0});
  }
  return options;
}

/// Whether a work space is within a share of what was measured, or within some MiB of it.
testing::AssertionResult is_near(std::uint64_t estimated, std::uint64_t measured, double share,
                                 std::uint64_t slack_bytes) {
  const double distance = std::abs(static_cast<double>(estimated) - static_cast<double>(measured));
  if (distance <= share * static_cast<double>(measured) ||
      distance <= static_cast<double>(slack_bytes)) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << estimated << " for " << measured << ", "
                                     << 100 * distance / static_cast<double>(measured) << " % off";
}

class EstimateGolden : public SharedFilesTest {
 protected:
  void SetUp() override {
    require_files(folder_);
    if (HasFatalFailure() || IsSkipped()) return;
    std::ifstream(folder_ / "cases.json") >> cases_;
    for (const auto& [name, file] : cases_["models"].items()) {
      const auto model =
          Model::open(folder_ / file["head"].get<std::string>(), {.is_header_only = true});
      ASSERT_THAT(model, Succeeds()) << name;
      auto profile = MemoryProfile::read(*model);
      ASSERT_THAT(profile, Succeeds()) << name;
      EXPECT_TRUE(profile->is_known_architecture()) << name;
      const Value* heads = find_architecture_key(*model, "attention.head_count");
      heads_[name] = heads != nullptr ? heads->get<std::uint64_t>().value_or(0) : 0;
      profiles_.emplace(name, std::move(*profile));
    }
  }

  const std::filesystem::path folder_ = shared_folder() / "golden" / "estimate";
  Json cases_;
  std::map<std::string, MemoryProfile> profiles_;
  std::map<std::string, std::uint64_t> heads_;
};

TEST_F(EstimateGolden, HostsHoldWhatWasMeasured) {
  for (const Json& tested : cases_["cpu"]) {
    SCOPED_TRACE(tested.dump());
    const MemoryProfile& profile = profiles_.at(tested["model"]);
    const auto made = profile.estimate(options_of(tested["options"]));
    if (tested.contains("refused")) {
      EXPECT_THAT(made, FailsWith(Errc::run_refused));
      continue;
    }
    ASSERT_THAT(made, Succeeds());
    const Json& measured = tested["measured"];
    EXPECT_EQ(made->host.weights_bytes, measured["weights"]);
    EXPECT_EQ(made->cache_bytes, measured["cache"]);
    EXPECT_EQ(made->context, measured["n_ctx"]);
    ASSERT_EQ(made->caches.size(), measured["caches"].size());
    for (std::size_t i = 0; i < made->caches.size(); ++i) {
      EXPECT_EQ(made->caches[i].cells, measured["caches"][i]["cells"]);
      // The engine names all layers of a hybrid, also those that have no state.
      if (made->caches[i].kind == CacheKind::recurrent && made->caches.size() > 1) continue;
      EXPECT_EQ(made->caches[i].layers, measured["caches"][i]["layers"]);
    }
    EXPECT_TRUE(is_near(made->host.compute_bytes, measured["compute"], 0, mib / 64));
    const Json formula = tested.value("formula", Json::object());
    if (formula.contains("output")) {
      EXPECT_EQ(made->output_bytes, formula["output"]);
    }
  }
}

/// Whether a run has a tensor that the device of the measurements could not address, so that the
/// host computed with it: the logits of a micro-batch, or without flash attention the scores. Cards
/// address some GiB, so an estimate does not follow this.
bool is_too_large_for_stand_in(const MemoryEstimate& estimate, std::uint64_t heads) {
  constexpr std::uint64_t most_bytes = 128 * mib;  // what Vulkan guarantees for a buffer's range
  const std::uint64_t logits = estimate.output_bytes / estimate.sequences * estimate.micro_batch;
  const std::uint64_t scores = 4 * heads * estimate.context_per_sequence * estimate.micro_batch;
  return logits > most_bytes || (!estimate.uses_flash_attention && scores > most_bytes);
}

TEST_F(EstimateGolden, DevicesHoldWhatWasMeasured) {
  int compared = 0;
  int too_large = 0;
  for (const Json& tested : cases_["gpu"]) {
    SCOPED_TRACE(tested.dump());
    const MemoryProfile& profile = profiles_.at(tested["model"]);
    const auto made = profile.estimate(options_of(tested["options"]));
    ASSERT_THAT(made, Succeeds());
    std::vector<const MemoryUse*> places;
    for (const MemoryUse& use : made->devices) places.push_back(&use);
    places.push_back(&made->host);
    const bool is_whole = made->gpu_layers == static_cast<std::int64_t>(profile.layer_count()) + 1;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::string name = i + 1 < places.size() ? "gpu" + std::to_string(i) : "host";
      const Json& measured = tested["measured"][name];
      EXPECT_EQ(places[i]->weights_bytes, measured["weights"]) << name;
      EXPECT_EQ(places[i]->cache_bytes, measured["cache"]) << name;
      if (!is_whole) continue;
      if (is_too_large_for_stand_in(*made, heads_.at(tested["model"]))) {
        ++too_large;
        continue;
      }
      ++compared;
      EXPECT_TRUE(is_near(places[i]->compute_bytes, measured["compute"], 0.1, 8 * mib)) << name;
    }
  }
  EXPECT_EQ(compared, 50);
  EXPECT_EQ(too_large, 6);  // three runs, each with a device and the host
}

}  // namespace
}  // namespace ingot::test
