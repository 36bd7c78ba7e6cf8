// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "chat/compile/compiled_template.hpp"
#include "chat/compile/parser.hpp"
#include "chat/render/render.hpp"
#include "ingot/chat.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model.hpp"

namespace ingot {
namespace chat {
namespace {

Failure located(TemplateError error, const CompiledTemplate& compiled) {
  const SourcePlace place = compiled.source.place_of(error.place);
  TextExcerpt excerpt{.source_line = std::string(compiled.source.line_at(error.place)),
                      .calls = {}};
  for (TemplateError::Call& call : error.calls) {
    excerpt.calls.push_back({std::move(call.macro), compiled.source.place_of(call.place).line});
  }
  return fail({.code = error.code,
               .subject = compiled.name,
               .detail = std::move(error.reason),
               .line = place.line,
               .column = place.column,
               .excerpt = std::make_shared<const TextExcerpt>(std::move(excerpt))});
}

/// Parses and finds the slots of all names; what is wrong, if anything.
std::optional<TemplateError> compile(CompiledTemplate& compiled, const ChatLimits& limits) {
  Parser parser(compiled.source.text(), compiled.arena, compiled.names, {limits.max_nesting});
  const Body body = parser.parse();
  if (parser.error()) return parser.error();
  ScopeResolver resolver(compiled.arena, compiled.names);
  compiled.program = resolver.resolve(body);
  return resolver.error();
}

constexpr std::string_view template_key = ingot::keys::tokenizer_chat_template;

struct SpecialToken {
  std::string_view variable;
  std::string_view key;
};

constexpr std::array special_token_keys = {
    SpecialToken{"bos_token", ingot::keys::tokenizer_ggml_bos_token_id},
    SpecialToken{"eos_token", ingot::keys::tokenizer_ggml_eos_token_id},
    SpecialToken{"unk_token", ingot::keys::tokenizer_ggml_unknown_token_id},
    SpecialToken{"pad_token", ingot::keys::tokenizer_ggml_padding_token_id},
    SpecialToken{"sep_token", ingot::keys::tokenizer_ggml_seperator_token_id},
    SpecialToken{"cls_token", ingot::keys::tokenizer_ggml_cls_token_id},
    SpecialToken{"mask_token", ingot::keys::tokenizer_ggml_mask_token_id},
};

/// The text of a special token is the template's, whoever gives it: what a template writes by it
/// must become the control token.
std::uint8_t origin_of(std::string_view variable) noexcept {
  const bool is_special = std::ranges::any_of(
      special_token_keys, [&](const SpecialToken& token) { return token.variable == variable; });
  return is_special ? from_template : from_input;
}

void set_variables(Render& render, const ChatValue& object) {
  const auto* members = object.members();
  if (members == nullptr) return;
  for (const ChatValue::Member& member : *members) {
    render.set_variable(member.name, member.value, origin_of(member.name));
  }
}

void set_special_tokens(Render& render, const CompiledTemplate& compiled) {
  for (const auto& [name, text] : compiled.special_tokens) {
    render.set_variable(name, text, from_template);
  }
}

/// Reads the texts of the special tokens in one walk over the vocabulary.
void read_special_tokens(const Model& model, CompiledTemplate& compiled) {
  const ingot::Value* tokens = model.find(ingot::keys::tokenizer_ggml_tokens);
  if (tokens == nullptr) return;
  struct Wanted {
    std::uint64_t id;
    std::string_view variable;
  };
  std::vector<Wanted> wanted;
  for (const SpecialToken& token : special_token_keys) {
    const auto id = model.get<std::uint64_t>(token.key);
    if (id) wanted.push_back({*id, token.variable});
  }
  if (wanted.empty()) return;
  std::uint64_t last = 0;
  for (const Wanted& token : wanted) last = std::max(last, token.id);
  std::uint64_t id = 0;
  for (const ingot::Value token : tokens->as_array()) {
    for (const Wanted& candidate : wanted) {
      if (candidate.id != id) continue;
      const auto text = token.get<std::string_view>();
      if (text) compiled.special_tokens.emplace_back(candidate.variable, *text);
    }
    if (id++ == last) break;
  }
}

}  // namespace
}  // namespace chat

ChatTemplate::ChatTemplate(std::shared_ptr<const chat::CompiledTemplate> compiled)
    : compiled_(std::move(compiled)) {}

Result<ChatTemplate> ChatTemplate::make(std::string source, std::string name,
                                        const ChatLimits& limits) {
  return make_from(std::make_shared<chat::CompiledTemplate>(std::move(source), std::move(name)),
                   limits);
}

Result<ChatTemplate> ChatTemplate::make_from(
    const std::shared_ptr<chat::CompiledTemplate>& compiled, const ChatLimits& limits) {
  // Places are kept in 32 bits.
  const std::uint64_t max_bytes = std::min<std::uint64_t>(limits.max_source_bytes, 1u << 30);
  if (compiled->given_text.size() > max_bytes) {
    return fail(Errc::limit_exceeded, compiled->name,
                "more than max_source_bytes = " + std::to_string(max_bytes));
  }
  if (const auto error = chat::compile(*compiled, limits)) return chat::located(*error, *compiled);
  return ChatTemplate(compiled);
}

Result<ChatTemplate> ChatTemplate::make(const Model& model, std::string_view name,
                                        const ChatLimits& limits) {
  const std::string key = chat_template_key(name);
  const auto source = model.get<std::string_view>(key);
  if (!source && source.error().code == Errc::key_not_found) {
    return fail(Errc::chat_missing, std::string(name), "there is no key " + key);
  }
  if (!source) return fail(source.error());
  return make(model, std::string(*source), std::string(name), limits);
}

Result<ChatTemplate> ChatTemplate::make(const Model& model, std::string source, std::string name,
                                        const ChatLimits& limits) {
  const auto compiled =
      std::make_shared<chat::CompiledTemplate>(std::move(source), std::move(name));
  Result<ChatTemplate> result = make_from(compiled, limits);
  if (result) chat::read_special_tokens(model, *compiled);
  return result;
}

Result<ChatText> ChatTemplate::render(const ChatValue& messages, const ChatValue& tools,
                                      const ChatOptions& options) const {
  const ChatValue none;
  const ChatValue adds_prompt(options.add_generation_prompt);
  chat::Render render(*compiled_, options);
  chat::set_special_tokens(render, *compiled_);
  render.set_variable("messages", messages, chat::from_input);
  render.set_variable("tools", tools, chat::from_input);
  render.set_variable("documents", none, chat::from_input);
  render.set_variable("add_generation_prompt", adds_prompt, chat::from_input);
  return finish(render, options);
}

Result<ChatText> ChatTemplate::render_variables(const ChatValue& variables,
                                                const ChatOptions& options) const {
  chat::Render render(*compiled_, options);
  chat::set_special_tokens(render, *compiled_);
  chat::set_variables(render, variables);
  return finish(render, options);
}

Result<ChatText> ChatTemplate::finish(chat::Render& render, const ChatOptions& options) const {
  chat::set_variables(render, options.variables);
  auto text = render.run();
  if (text) return *std::move(text);
  return chat::located(std::move(text.error()), *compiled_);
}

std::vector<std::string> ChatTemplate::variables() const {
  std::vector<std::string> result;
  for (const chat::Name* name : compiled_->program.free_names) result.emplace_back(name->text);
  return result;
}

std::string_view ChatTemplate::name() const noexcept { return compiled_->name; }
std::string_view ChatTemplate::source() const noexcept { return compiled_->given_text; }

std::string chat_template_key(std::string_view name) {
  std::string key(chat::template_key);
  if (!name.empty()) key.append(".").append(name);
  return key;
}

std::vector<std::string> chat_template_names(const Model& model) {
  const std::string prefix = std::string(chat::template_key) + ".";
  std::vector<std::string> names;
  for (const KeyValue& entry : model.metadata()) {
    if (entry.key == chat::template_key) names.emplace_back();
    if (entry.key.starts_with(prefix)) names.emplace_back(entry.key.substr(prefix.size()));
  }
  return names;
}

}  // namespace ingot
