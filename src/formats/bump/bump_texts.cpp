// SPDX-License-Identifier: MIT
#include "formats/bump/bump_texts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/ascii.hpp"

namespace ingot::formats {
namespace {

using formats::BumpRole;
using formats::BumpSection;

/// A text as Python's json writes it: everything beyond ASCII escaped.
std::string ascii_json(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// `  "name": value`, with a comma before all but the first.
class Object {
 public:
  void add(std::string_view name, const std::string& value) {
    text_ += (text_.empty() ? "{\n  \"" : ",\n  \"");
    text_.append(name).append("\": ").append(value);
  }
  void add(std::string_view name, std::uint64_t number) { add(name, std::to_string(number)); }
  [[nodiscard]] std::string end() const { return text_ + "\n}\n"; }

 private:
  std::string text_;
};

std::string dtype_name(TensorType type) {
  return type == TensorType::f32 ? "fp32" : lower_case(find_type(type)->name);
}

std::string section_name(const BumpSection& section, std::uint32_t version) {
  if (section.role == BumpRole::final_ln_weight && version == 3) return "final_ln_gamma";
  return formats::name_of(section);
}

}  // namespace

std::string python_float(double number) {
  // The shortest digits are the same in every form; d.ddde-07 shows them and the exponent.
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                 std::chars_format::scientific)
                       .ptr;
  const std::string text(buffer.data(), end);
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return text;
  const std::string sign = text[0] == '-' ? "-" : "";
  std::string digits = text.substr(sign.size(), e - sign.size());
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole + 1) digits.append(whole + 1 - digits.size(), '0');
  return sign + digits.insert(whole, ".");
}

std::string bump_config_text(const BumpPlan& plan) {
  const formats::BumpShape& shape = plan.shape;
  Object config;
  config.add("architectures", std::string("[\n    \"LlamaForCausalLM\"\n  ]"));
  config.add("model_type", ascii_json(plan.architecture));
  config.add("num_hidden_layers", shape.layers);
  config.add("hidden_size", shape.embedding);
  config.add("intermediate_size", shape.feed_forward);
  config.add("num_attention_heads", shape.heads);
  config.add("num_key_value_heads", shape.kv_heads);
  config.add("vocab_size", shape.vocabulary);
  config.add("max_position_embeddings", shape.context);
  config.add("rms_norm_eps", python_float(plan.epsilon));
  config.add("rope_theta", python_float(plan.rope_theta));
  return config.end();
}

std::string bump_manifest_text(const BumpPlan& plan) {
  const formats::BumpShape& shape = plan.shape;
  Object manifest;
  manifest.add("version", 5);
  manifest.add("model", ascii_json(plan.architecture));
  manifest.add("num_layers", shape.layers);
  manifest.add("embed_dim", shape.embedding);
  manifest.add("num_heads", shape.heads);
  manifest.add("num_kv_heads", shape.kv_heads);
  manifest.add("head_dim", shape.head_width);
  manifest.add("intermediate_size", shape.feed_forward);
  manifest.add("vocab_size", shape.vocabulary);
  manifest.add("context_length", shape.context);
  manifest.add("has_attention_biases", std::string(plan.has_attention_biases ? "true" : "false"));
  std::string entries = "[";
  std::uint64_t offset = formats::bump_header_bytes + 4 + plan.table.size();
  for (const BumpSection& section : plan.sections) {
    entries += entries.size() > 1 ? ",\n    {\n" : "\n    {\n";
    entries += "      \"name\": " + ascii_json(section_name(section, plan.version)) + ",\n";
    entries += "      \"dtype\": " + ascii_json(dtype_name(section.type)) + ",\n";
    entries += "      \"file_offset\": " + std::to_string(offset) + ",\n";
    entries += "      \"size\": " + std::to_string(section.size_bytes) + "\n    }";
    offset += section.size_bytes;
  }
  manifest.add("entries", entries + "\n  ]");
  return manifest.end();
}

}  // namespace ingot::formats
