// SPDX-License-Identifier: MIT
// Property: a model card, a generation config, a file of replacements and a folder's name are
// refused, or give keys of general.* and a file name without slashes.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "byte_input.hpp"
#include "huggingface/import/general/general_keys.hpp"
#include "ingot/model_card.hpp"
#include "ingot/store.hpp"
#include "ingot/text.hpp"

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ByteInput input(data, size);
  const auto kind = input.take<std::uint8_t>();
  huggingface::ParameterCounts counts;
  counts.total = input.take<std::int64_t>();
  counts.expert_count = kind & 4;
  const std::string text = input.rest();
  static_cast<void>(model_title(text));
  static_cast<void>(parse_model_id(text, counts.total));
  const auto card = parse_model_card(text, "README.md");
  fuzz::require(card.has_value() || card.error().code != Errc::internal);
  static_cast<void>(parse_yaml(text, "release.yaml"));
  const auto same = parse_yaml("text: " + yaml_scalar(text), "release.yaml");
  fuzz::require(same.has_value() && (!is_utf8(text) || (*same)["text"].text == text));
  MemoryStore store;
  store.add(kind % 2 == 0 ? "m/README.md" : "m/generation_config.json",
            std::as_bytes(std::span(text)));
  ImportOptions options;
  if (kind & 8) options.metadata = text;
  if (kind & 16) options.folder_name = text;
  const auto folder = huggingface::ModelFolder::open(store, "m");
  fuzz::require(folder.has_value());
  huggingface::KeyPlan keys;
  const auto outcome = huggingface::add_general_keys(*folder, counts, options, keys);
  if (!outcome) {
    fuzz::require(outcome.error().code != Errc::internal);
    return 0;
  }
  for (const KeyValue& key : keys.entries()) fuzz::require(key.key.starts_with("general."));
  fuzz::require(huggingface::default_file_name(keys, "F16").find('/') == std::string::npos);
  return 0;
}
