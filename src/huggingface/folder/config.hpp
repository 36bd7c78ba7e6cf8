// SPDX-License-Identifier: MIT
// config.json of a model folder.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "huggingface/folder/model_folder.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// The most layers that a model may have.
inline constexpr std::uint64_t max_layers = 10'000;

/// The members of config.json, with those of the text model laid over them, and the rotary
/// parameters brought into one form. Immutable; thread-safe.
class Config {
 public:
  [[nodiscard]] static Result<Config> read(const ModelFolder& folder);
  [[nodiscard]] static Result<Config> parse(std::string_view text, const std::string& subject);
  /// Members that stand for a config, as they are. An object.
  [[nodiscard]] static Config of(nlohmann::json values, std::string model_class);

  /// All members; those of the text model replace others of the same name. Always an object.
  [[nodiscard]] const nlohmann::json& values() const noexcept { return values_; }
  /// The rotary parameters as a whole, and those of the layers with full attention. Objects.
  [[nodiscard]] const nlohmann::json& rope_root() const noexcept { return rope_root_; }
  [[nodiscard]] const nlohmann::json& rope() const noexcept { return rope_; }
  /// The model's class, e.g. "LlamaForCausalLM".
  [[nodiscard]] const std::string& model_class() const noexcept { return model_class_; }

  /// The first of `names` that is a member, even a null one; a dot descends into an object.
  [[nodiscard]] const nlohmann::json* find_member(std::span<const std::string> names) const;
  /// A member that is not null; a dot descends into an object.
  [[nodiscard]] const nlohmann::json* find(std::string_view name) const;

  /// A whole number from 0 on; nothing if it is absent or null; an error if it is anything else.
  [[nodiscard]] Result<std::optional<std::uint64_t>> find_count(std::string_view name) const;

  /// The number of all layers: those of config.json and the extra ones.
  [[nodiscard]] Result<std::uint64_t> layer_count() const;
  /// Layers after those that config.json counts, for predicting more tokens.
  [[nodiscard]] std::uint64_t extra_layers() const noexcept { return extra_layers_; }

  /// A copy of the config with some members replaced, also those of the rotary parameters; a dot
  /// descends into an object.
  [[nodiscard]] Config with(const nlohmann::json& replaced, const nlohmann::json& added) const;
  [[nodiscard]] Config without(std::string_view name) const;
  [[nodiscard]] Config with_extra_layers(std::uint64_t count) const;

 private:
  void settle_rope();

  nlohmann::json values_;
  nlohmann::json rope_root_;
  nlohmann::json rope_;
  std::string model_class_;
  std::uint64_t extra_layers_ = 0;
};

/// A whole number from 0 on, in a message about `name` if it is anything else. 4.0 is 4.
[[nodiscard]] Result<std::uint64_t> count_of(const nlohmann::json& value, std::string_view name);

}  // namespace ingot::huggingface
