// SPDX-License-Identifier: MIT
#include "formats/bump/bump_metadata.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "ingot/metadata_keys.hpp"

namespace ingot::formats {
namespace {

constexpr std::string_view epsilon_key = "attention.layer_norm_rms_epsilon";
constexpr std::string_view odd_epsilon_key = "norm_rms_eps";

/// A flag counts as one, too.
bool is_whole(ValueType type) { return is_integer(type) || type == ValueType::boolean; }

/// A number or flag as an integer. Errc::bump_cannot_hold if no header has room for it.
Result<std::uint64_t> read_integer(const std::string& key, const Value& value) {
  if (value.type() == ValueType::boolean) return value.get<bool>().value_or(false) ? 1u : 0u;
  const Result<std::uint64_t> number = value.get<std::uint64_t>();
  if (number && *number <= std::numeric_limits<std::uint32_t>::max()) return *number;
  return fail(Errc::bump_cannot_hold, key,
              "expected a number from 0 to 4294967295, found " +
                  (number ? std::to_string(*number) : std::string("a negative one")));
}

class KeyReader {
 public:
  KeyReader(const Model& model, std::vector<std::string> prefixes, bool is_strict)
      : model_(model), prefixes_(std::move(prefixes)), is_strict_(is_strict) {}

  Result<std::optional<std::uint64_t>> integer(std::string_view name) const {
    for (const std::string& prefix : prefixes_) {
      const std::string key = prefix + "." + std::string(name);
      const Value* value = model_.find(key);
      if (value == nullptr) continue;
      if (value->is_array() && !is_strict_) return same_in_all_layers(key, value->as_array());
      if (!is_whole(value->type())) continue;
      INGOT_TRY(const std::uint64_t number, read_integer(key, *value));
      return std::optional(number);
    }
    return std::optional<std::uint64_t>();
  }

  /// The first of the prefixes that has the key decides which of two names counts.
  Result<std::optional<double>> epsilon() const {
    for (const std::string& prefix : prefixes_) {
      const bool is_odd = is_strict_ && prefix == "llama";
      INGOT_TRY(std::optional<double> number,
                number_at(prefix, is_odd ? odd_epsilon_key : epsilon_key));
      if (!number && !is_strict_) {
        INGOT_TRY(number, number_at(prefix, odd_epsilon_key));
      }
      if (number) return number;
    }
    return std::optional<double>();
  }

  Result<std::optional<double>> number(std::string_view name) const {
    for (const std::string& prefix : prefixes_) {
      INGOT_TRY(const std::optional<double> found, number_at(prefix, name));
      if (found) return found;
    }
    return std::optional<double>();
  }

 private:
  /// A float of either width, or any integer.
  Result<std::optional<double>> number_at(const std::string& prefix, std::string_view name) const {
    const std::string key = prefix + "." + std::string(name);
    const Value* value = model_.find(key);
    if (value == nullptr) return std::optional<double>();
    double number = 0;
    if (is_float(value->type())) {
      number = value->get<double>().value_or(0);
    } else if (is_whole(value->type())) {
      INGOT_TRY(const std::uint64_t integer, read_integer(key, *value));
      number = static_cast<double>(integer);
    } else {
      return std::optional<double>();
    }
    if (std::isfinite(number)) return std::optional(number);
    return fail(Errc::bump_cannot_hold, key, "expected a finite number");
  }

  static Result<std::optional<std::uint64_t>> same_in_all_layers(const std::string& key,
                                                                 const Array& array) {
    std::optional<std::uint64_t> common;
    for (const Value element : array) {
      if (!is_whole(element.type())) return std::optional<std::uint64_t>();
      INGOT_TRY(const std::uint64_t number, read_integer(key, element));
      if (common && *common != number) {
        return fail(Errc::bump_cannot_hold, key,
                    "expected one number for all layers, found " + std::to_string(*common) +
                        " and " + std::to_string(number));
      }
      common = number;
    }
    return common;
  }

  const Model& model_;
  std::vector<std::string> prefixes_;
  bool is_strict_;
};

std::vector<std::string> prefixes_of(const BumpOptions& options, BumpCodes codes,
                                     const std::string& architecture) {
  if (!options.is_strictly_original) return {architecture};
  if (options.version == 4) return {"deepseek2", "mistral3", "mistral", "llama", "qwen2"};
  if (codes == BumpCodes::engine) return {"llama", "qwen2"};
  return {"llama"};
}

}  // namespace

Result<BumpMetadata> read_bump_metadata(const Model& model, const BumpOptions& options,
                                        BumpCodes codes) {
  BumpMetadata metadata;
  metadata.architecture = model.get_or<std::string_view>(keys::general_architecture, "llama");
  std::vector<std::string> prefixes = prefixes_of(options, codes, metadata.architecture);
  metadata.prefix = prefixes.size() == 1 ? prefixes[0] : "<architecture>";
  const KeyReader keys(model, std::move(prefixes), options.is_strictly_original);
  INGOT_TRY(metadata.layers, keys.integer("block_count"));
  INGOT_TRY(metadata.embedding, keys.integer("embedding_length"));
  INGOT_TRY(metadata.feed_forward, keys.integer("feed_forward_length"));
  INGOT_TRY(metadata.heads, keys.integer("attention.head_count"));
  INGOT_TRY(metadata.kv_heads, keys.integer("attention.head_count_kv"));
  INGOT_TRY(metadata.context, keys.integer("context_length"));
  INGOT_TRY(metadata.rope_theta, keys.number(suffixes::rope_freq_base));
  INGOT_TRY(metadata.epsilon, keys.epsilon());
  return metadata;
}

}  // namespace ingot::formats
