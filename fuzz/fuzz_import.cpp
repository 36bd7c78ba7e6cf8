// SPDX-License-Identifier: MIT
// Property: whatever config.json, the header of the weights and the rules hold, an import is
// refused, or is planned and written; nothing crashes, and no bug is reported.

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "huggingface/folder/config.hpp"
#include "huggingface/rules/architecture_rules.hpp"
#include "ingot/check_folder.hpp"
#include "ingot/import.hpp"
#include "ingot/store.hpp"

namespace {

using namespace ingot;

constexpr std::string_view tokenizer =
    R"({"model": {"type": "BPE", "vocab": {"yes": 0, "no": 1}, "merges": []}, "added_tokens": []})";

/// A safetensors file of zeros: embeddings, and tensors of a layer under names of llama.
std::string weights() {
  const std::string header =
      R"({"model.embed_tokens.weight": {"dtype": "F16", "shape": [2, 8], "data_offsets": [0, 32]},)"
      R"("model.layers.0.self_attn.q_proj.weight": {"dtype": "F16", "shape": [8, 8], "data_offsets": [32, 160]},)"
      R"("model.layers.0.input_layernorm.weight": {"dtype": "F16", "shape": [8], "data_offsets": [160, 176]}})";
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 4; ++i) file[i] = static_cast<char>(header.size() >> (8 * i) & 255);
  return file + header + std::string(176, '\0');
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Only the system can make a check fail, and each finding has a rule.
void check(const Store& store) {
  static_cast<void>(has_model_to_import(store, "m"));
  CheckOptions options;
  options.with_data = true;
  options.thread_count = 1;
  const auto checked = check_folder(store, "m", options, [](const Finding& finding) {
    if (finding.rule == nullptr || finding.message.empty()) std::abort();
  });
  if (!checked && checked.error().code == Errc::internal) std::abort();
}

void import(const std::string& config, std::string_view file) {
  MemoryStore store;
  store.add("m/config.json", bytes_of(config));
  store.add("m/tokenizer.json", bytes_of(tokenizer));
  store.add("m/model.safetensors", bytes_of(file));
  static_cast<void>(find_importable_class(store, "m"));
  check(store);
  ImportOptions options;
  options.pre = "default";
  options.thread_count = 1;
  const auto planned = plan_import(store, "m", options);
  if (!planned) {
    if (planned.error().code == Errc::internal) std::abort();
    return;
  }
  const Import& ready = **planned;
  if (!ready.file_bytes() || !ready.open_model()) std::abort();
}

/// Both halves of an adapter for a square matrix.
std::string adapter_weights() {
  const std::string name = "base_model.model.model.layers.0.self_attn.q_proj.lora_";
  const std::string header =
      "{\"" + name + R"(A.weight": {"dtype": "F16", "shape": [2, 8], "data_offsets": [0, 32]}, ")" +
      name + R"(B.weight": {"dtype": "F16", "shape": [8, 2], "data_offsets": [32, 64]}})";
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 4; ++i) file[i] = static_cast<char>(header.size() >> (8 * i) & 255);
  return file + header + std::string(64, '\0');
}

void import_adapter(const std::string& base, std::string_view config, std::string_view file) {
  MemoryStore store;
  store.add("b/config.json", bytes_of(base));
  store.add("a/adapter_config.json", bytes_of(config));
  store.add("a/adapter_model.safetensors", bytes_of(file));
  if (!find_adapter_base(store, "a")) std::abort();
  const auto planned = plan_adapter_import(store, "a", store, "b");
  if (!planned) {
    if (planned.error().code == Errc::internal) std::abort();
    return;
  }
  if (!(*planned)->file_bytes()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const std::string tensors = weights();
  static const std::vector<std::string> classes = huggingface::RuleTable::builtin().classes();
  const std::string& model_class = classes[data[0] % classes.size()];
  // The text as members of a configuration that begins well, as all of it, and as the weights.
  const std::string start = R"({"architectures": [")" + model_class +
                            R"("], "num_hidden_layers": 1, "hidden_size": 8, "n_embd": 8,)"
                            R"( "num_attention_heads": 2)";
  import(start + ", " + std::string(text) + "}", tensors);
  import(std::string(text), tensors);
  import(start + "}", text);
  static const std::string halves = adapter_weights();
  import_adapter(start + "}", R"({"lora_alpha": 16, )" + std::string(text) + "}", halves);
  import_adapter(start + "}", text, halves);
  import_adapter(start + "}", R"({"lora_alpha": 16, "fan_in_fan_out": true})", text);
  static_cast<void>(huggingface::Config::parse(text, "config.json"));
  const auto expression = huggingface::Expression::parse(text);
  const auto config = huggingface::Config::parse(start + "}", "config.json");
  if (expression && config) static_cast<void>(expression->evaluate({.config = *config}));
  const huggingface::RuleText files[] = {{"shared.json", text}, {"a.json", text}};
  static_cast<void>(huggingface::RuleTable::parse(files));
  const auto pattern = huggingface::NamePattern::parse(text.substr(0, 40));
  if (pattern) static_cast<void>(pattern->match("model.layers.0.mlp.experts.3.w1.weight"));
  return 0;
}
