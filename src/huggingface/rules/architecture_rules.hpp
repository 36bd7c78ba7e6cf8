// SPDX-License-Identifier: MIT
// The import's rules for each architecture: the content of the JSON files of this folder.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "huggingface/rules/name_pattern.hpp"
#include "huggingface/rules/rule_expression.hpp"
#include "huggingface/rules/transform_rule.hpp"
#include "ingot/error.hpp"
#include "ingot/types.hpp"

namespace ingot::huggingface {

/// The rule that gives a key its value: "vocab_size: u32 = vocab_size when tie_word_embeddings?".
struct KeyRule {
  std::string key = {};   ///< The key without the architecture's prefix, unless it begins with
                          ///< general., tokenizer., diffusion. or xielu.
  std::string type = {};  ///< u32, f32, bool, str, or arr[...] of one of them.
  Expression value = {};
  Expression when = {};  ///< If set, the key is written only if this is true.

  /// Instead of a key: a group of keys that a function makes, e.g. "rope_scaling".
  std::string group = {};

  /// Instead of a key: other rules, with members of config.json replaced (`NAME?`: only where
  /// absent).
  std::vector<KeyRule> included = {};
  std::vector<std::pair<std::string, Expression>> replaced = {};
  std::vector<std::string> without = {};
};

/// One replacement in all names: a text anywhere, at the beginning or at the end.
struct RenameRule {
  enum class Place : std::uint8_t {
    anywhere,
    prefix,
    suffix,
    numbered,  ///< At the beginning, before a number, to which the layers of config.json are added.
  };
  Place place = Place::anywhere;
  std::string text = {};
  std::string replacement = {};  ///< `{layers}` is the number of the layers of config.json.
};

/// Models of a class that GGUF cannot express, as the reference converter refuses them.
struct RefusalRule {
  Expression when = {};
  std::string because = {};  ///< What config.json would have to state, and why.
};

/// A file of weights that the index does not name, if the folder has it.
struct OtherFileRule {
  std::string file = {};
  std::string prefix = {};       ///< What its tensors' names get in front.
  bool is_dense_module = false;  ///< Read only with ImportOptions::dense_modules.
};

/// A tensor that is made of numbers of config.json.
struct ExtraTensorRule {
  std::string tensor = {};
  bool is_llama3_factors = false;
  Expression sines = {};      ///< The width of a table of the sines and cosines of positions.
  double default_factor = 8;  ///< The default of the Llama 3 factors.
  Expression size = {};       ///< The turned part of a head, of the Llama 3 factors; unset: all.
  Expression values = {};     ///< A list of numbers, used otherwise.
  Expression when = {};
};

/// The type of some tensors of the result, whatever type others of their name have.
struct TypeRule {
  std::vector<NamePattern> names = {};  ///< Names in GGUF.
  TensorType type = TensorType::f32;
  bool is_half_if_asked = false;  ///< F16 where that is asked for.
  bool is_as_weights = false;     ///< The type that is asked for.
};

/// The rule for writing a model of the architecture as a folder. Everything else follows from the
/// rules of the import.
struct FolderRule {
  Expression when = {};  ///< If set, the rule applies only to models for which this is true.
  std::string model_class = {};
  std::string tokenizer_class = {};  ///< The class for vocabularies of SentencePiece.
  /// Members of config.json that no key holds, in order. Beside the members that keys gave,
  /// `has(tensor_NAME)` tests for a tensor: `tensor_attn_q_bias` for blk.N.attn_q.bias, and
  /// `key_NAME` is a key of the architecture: `key_ssm_inner_size` for ssm.inner_size.
  std::vector<std::pair<std::string, Expression>> members = {};
  std::vector<std::string> preferred = {};  ///< The preferred ones of several names
                                            ///< of a member.
  /// The names of tensors, to which `.weight` or `.bias` is appended where they do not end in `!`.
  std::map<std::string, std::string> names_by_kind = {};
};

/// Models of a class whose rules are those of another entry.
struct VariantRule {
  std::string text = {};         ///< A text that tells them: in the name of the folder or the
                                 ///< first heading of its card, in lower case.
  Expression when = {};          ///< Or what is true of their config.json.
  std::string model_class = {};  ///< Whose rules count.
};

struct Architecture {
  std::string name = {};  ///< The name in `general.architecture`.
  std::vector<std::string> classes = {};
  std::vector<VariantRule> variants = {};
  std::vector<RefusalRule> refusals = {};
  std::vector<std::string> tokenizer = {};  ///< The steps of the tokenizer, in order.
  std::vector<KeyRule> keys = {};
  std::vector<KeyRule> keys_after_tokenizer = {};
  std::vector<KeyRule> keys_before_others = {};
  std::vector<std::string> tensors = {};  ///< Kinds of names/tensors.json.
  /// Members of config.json that others stand for, in order, before anything is made of them.
  std::vector<std::pair<std::string, Expression>> config = {};
  Expression extra_layers = {};  ///< The number of layers that config.json does not count.
  Expression layers = {};        ///< The number that names of layers stay below.
  /// If set, layers that predict further tokens are imported only as a draft, and these tensors of
  /// the model with them, as they are named after the renames.
  std::vector<NamePattern> shared_with_draft = {};
  bool layers_differ = false;     ///< Layers have different parts by design.
  bool has_empty_layers = false;  ///< Layers may have no tensors at all.
  bool keeps_types = false;       ///< Weights keep their types; FP8 becomes Q8_0.
  bool is_draft = false;          ///< Another model has its tokenizer and perhaps embeddings.
  std::vector<OtherFileRule> other_files = {};
  std::vector<RenameRule> renames = {};
  std::vector<NamePattern> drops = {};
  /// If set, the tensors that are imported, after the renames; the drops of all architectures do
  /// not count then.
  std::vector<NamePattern> keeps = {};
  std::vector<TypeRule> types = {};  ///< The first that fits counts.
  std::vector<TransformRule> transforms = {};
  std::vector<ExtraTensorRule> extra_tensors = {};
  std::vector<FolderRule> folders = {};  ///< The first that applies counts; none: no way back.
  bool has_folder_names = false;         ///< Without `folders`: the tensors alone have a way back.
};

/// A kind of tensor: the name in GGUF and the names in model folders, without `.weight`.
struct TensorKind {
  std::string kind;
  std::string name;
  std::vector<std::string> from;
};

/// A file of rules.
struct RuleText {
  std::string_view file;
  std::string_view text;
};

/// The JSON files of this folder; cmake/embed_texts.cmake makes the source.
[[nodiscard]] std::span<const RuleText> rule_texts();

/// The table of all rules. Immutable; thread-safe.
class RuleTable {
 public:
  [[nodiscard]] static Result<RuleTable> parse(std::span<const RuleText> files);
  /// The rules that Ingot comes with. No class is known if they have a fault, which a
  /// test excludes.
  [[nodiscard]] INGOT_EXPORT static const RuleTable& builtin();

  [[nodiscard]] const Architecture* find(std::string_view model_class) const;
  /// The rules for the projector of a class, which may have others for its text model.
  [[nodiscard]] const Architecture* find_projector(std::string_view model_class) const;
  [[nodiscard]] const std::vector<Architecture>& architectures() const { return architectures_; }
  /// The names of all classes, sorted. Entries of variants that are no classes have a colon.
  [[nodiscard]] std::vector<std::string> classes() const;
  [[nodiscard]] std::vector<std::string> projector_classes() const;
  [[nodiscard]] const std::vector<TensorKind>& tensor_kinds() const { return tensor_kinds_; }
  /// Names that no architecture imports, before and after the renames.
  [[nodiscard]] const std::vector<NamePattern>& drops() const { return drops_; }
  [[nodiscard]] const std::vector<NamePattern>& late_drops() const { return late_drops_; }
  /// Tensors of the result that are always F32.
  [[nodiscard]] const std::vector<NamePattern>& always_f32() const { return always_f32_; }
  /// The rule that all folders share: the names of tensors, and of members that have several names.
  [[nodiscard]] const FolderRule& folder() const { return folder_; }

 private:
  std::vector<Architecture> architectures_;
  std::map<std::string, std::size_t, std::less<>> by_class_;
  std::map<std::string, Architecture, std::less<>> projectors_;
  std::vector<TensorKind> tensor_kinds_;
  std::vector<NamePattern> drops_;
  std::vector<NamePattern> late_drops_;
  std::vector<NamePattern> always_f32_;
  FolderRule folder_;
};

/// The config as the architecture means it: with other members, and with the layers beyond those
/// that it counts.
[[nodiscard]] Result<Config> settled_config(Config config, const Architecture& architecture,
                                            std::span<const NamedShape> tensors);

/// Whether a name fits one of the patterns.
[[nodiscard]] bool fits_one(std::span<const NamePattern> patterns, std::string_view name);

}  // namespace ingot::huggingface
