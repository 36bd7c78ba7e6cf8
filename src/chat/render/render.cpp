// SPDX-License-Identifier: MIT
// Begin and end of a rendering.
#include "chat/render/render.hpp"

namespace ingot::chat {

Render::Render(const CompiledTemplate& compiled, const ChatOptions& options)
    : heap_(options), compiled_(compiled), variables_(compiled.names.names().size()) {}

void Render::set_variable(std::string_view name, const ChatValue& value, std::uint8_t origin) {
  const Name* known = compiled_.names.find(name);
  if (known == nullptr) return;
  variables_[known->id] = import_value(heap_, value).with_origin(origin);
}

/// The caller's variable of a name, or the global function.
Value Render::variable(const Name* name) const {
  const Value& given = variables_[name->id];
  if (given.is_given() || name->global == nullptr) return given;
  return Value::of(&name->global_function);
}

tl::expected<ChatText, TemplateError> Render::run() {
  bool is_done = !heap_.failure();  // all variables could be taken over
  if (is_done) {
    activation_ = new_activation(nullptr, compiled_.program.slot_count);
    enter(compiled_.program.scope);
    is_done = execute_all(compiled_.program.body) != Flow::failed;
  }
  // A failure that no value carries, as that of a comparison, ends the last step here.
  if (is_done && !heap_.failure()) return take_text();
  return tl::make_unexpected(heap_.failure() ? std::move(*heap_.failure()) : TemplateError());
}

ChatText Render::take_text() {
  ChatText result;
  std::uint64_t begin = 0;
  result.runs.reserve(heap_.output().runs().size());
  for (const TextRun& run : heap_.output().runs()) {
    ChatRun& last = result.runs.emplace_back();
    last.offset_bytes = begin;
    last.size_bytes = run.end - begin;
    last.is_input = (run.origin & from_input) != 0;
    last.is_generated = (run.origin & from_generation) != 0;
    begin = run.end;
  }
  result.text = heap_.output().take_bytes();
  return result;
}

}  // namespace ingot::chat
