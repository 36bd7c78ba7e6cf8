// SPDX-License-Identifier: MIT
// Begin, end, failures and limits of a rendering.
#include "chat/render/render.hpp"

#include <algorithm>

#include "chat/values/numbers.hpp"

namespace ingot::chat {
namespace {

/// Deeper input than this is no conversation.
constexpr std::uint32_t max_value_depth = 500;

/// Sizes are kept in 32 bits.
constexpr std::uint64_t max_size = std::uint64_t{1} << 30;

ChatLimits within_32_bits(ChatLimits limits) {
  for (std::uint64_t* limit :
       {&limits.max_output_bytes, &limits.max_string_bytes, &limits.max_elements}) {
    *limit = std::min(*limit, max_size);
  }
  return limits;
}

std::string undefined_reason(const Undefined* undefined) {
  if (undefined == nullptr) return "the value is undefined";
  const std::string text(undefined->text);
  const std::string owner(type_name(undefined->owner));
  switch (undefined->reason) {
    case Undefined::Reason::name:
      return "'" + text + "' is undefined";
    case Undefined::Reason::attribute:
      return undefined->owner == Kind::none
                 ? "'None' has no attribute '" + text + "'"
                 : "'" + owner + " object' has no attribute '" + text + "'";
    case Undefined::Reason::element:
      return (undefined->owner == Kind::none ? "None" : owner + " object") + " has no element " +
             text;
    case Undefined::Reason::unsafe:
      return "access to attribute '" + text + "' of '" + owner + "' object is unsafe";
    case Undefined::Reason::hint:
      return text;
  }
  return text;
}

}  // namespace

std::string_view type_name(Kind kind) noexcept {
  constexpr std::string_view names[] = {
#define INGOT_KIND(kind, type) type,
#include "chat/values/kinds.def"
#undef INGOT_KIND
  };
  return names[static_cast<std::size_t>(kind)];
}

Render::Render(const CompiledTemplate& compiled, const ChatOptions& options)
    : compiled_(compiled),
      options_(options),
      limits_(within_32_bits(options.limits)),
      variables_(compiled.names.names().size()),
      steps_left_(options.limits.max_steps) {}

void Render::set_variable(std::string_view name, const ChatValue& value, std::uint8_t origin) {
  const Name* known = compiled_.names.find(name);
  if (known == nullptr) return;
  variables_[known->id] = import(value, 0).with_origin(origin);
}

/// The caller's variable of a name, or the global function.
Value Render::variable(const Name* name) const {
  const Value& given = variables_[name->id];
  if (given.is_given() || name->global == nullptr) return given;
  return Value::of(Kind::function, &Value::bound, &name->global_function);
}

bool Render::run() {
  if (error_.code != Errc::internal) return false;  // a variable could not be taken over
  activation_ = new_activation(nullptr, compiled_.program.slot_count);
  enter(compiled_.program.scope);
  // A failure that no value carries, as that of a comparison, ends the last step here.
  return execute_all(compiled_.program.body) != Flow::failed && error_.code == Errc::internal;
}

ChatText Render::take_text() {
  ChatText result;
  std::uint64_t begin = 0;
  result.runs.reserve(output_.runs().size());
  for (const TextRun& run : output_.runs()) {
    ChatRun& last = result.runs.emplace_back();
    last.offset_bytes = begin;
    last.size_bytes = run.end - begin;
    last.is_input = (run.origin & from_input) != 0;
    last.is_generated = (run.origin & from_generation) != 0;
    begin = run.end;
  }
  result.text = output_.take_bytes();
  return result;
}

Failed Render::fail(Errc code, std::string reason) {
  if (error_.code == Errc::internal) {
    error_.code = code;
    error_.reason = std::move(reason);
    error_.place = place_;
  }
  return {};
}

Failed Render::fail_limit(std::string_view limit, std::uint64_t value) {
  return fail(Errc::limit_exceeded,
              "more than " + std::string(limit) + " = " + std::to_string(value));
}

Failed Render::fail_undefined(const Value& value) {
  const bool is_unsafe =
      value.undefined != nullptr && value.undefined->reason == Undefined::Reason::unsafe;
  return fail(is_unsafe ? Errc::chat_security : Errc::chat_undefined,
              undefined_reason(value.undefined));
}

bool Render::out_of_steps() {
  steps_left_ = 0;
  return fail_limit("max_steps", limits().max_steps);
}

bool Render::allow(std::string_view limit, std::uint64_t most, std::uint64_t count) {
  return is_within(limit, most, count) &&
         is_within("max_memory_bytes", limits().max_memory_bytes, arena_.used_bytes()) &&
         spend_on(count);
}

Value Render::import(const ChatValue& value, std::uint32_t depth) {
  if (depth > max_value_depth) return fail_limit("the depth of an input value", max_value_depth);
  Value result = Value::none();
  if (const auto* text = value.string()) {
    if (!allow_bytes(text->size())) return Value::failure();
    result = Value::text_of(*text);
  } else if (const auto* digits = value.digits()) {
    if (!allow_bytes(digits->text.size())) return Value::failure();
    result = Value::text_of(digits->text, from_template, Kind::digits);
  } else if (const auto* boolean = value.boolean()) {
    result = Value::of(*boolean);
  } else if (const auto* integer = value.integer()) {
    result = Value::of(*integer);
  } else if (const auto* real = value.real()) {
    result = Value::of(*real);
  } else if (const auto* members = value.members()) {
    result = import_object(*members, depth);
  } else if (const auto* elements = value.elements()) {
    if (!allow_elements(elements->size())) return Value::failure();
    auto* items = arena_.make_array<Value>(elements->size());
    for (std::size_t i = 0; i < elements->size(); ++i) {
      INGOT_VALUE(items[i], import((*elements)[i], depth + 1));
    }
    result = Value::of(arena_.make<List>(items, static_cast<std::uint32_t>(elements->size())));
  }
  return result.with_origin(from_input);
}

Value Render::import_object(const ChatValue::Object& members, std::uint32_t depth) {
  if (!allow_elements(members.size())) return Value::failure();
  Object* object = new_object(members.size());
  for (const ChatValue::Member& member : members) {
    if (!allow_bytes(member.name.size())) return Value::failure();
    INGOT_VALUE(const Value value, import(member.value, depth + 1));
    if (!insert(*object, Value::text_of(member.name, from_input), value)) return Value::failure();
  }
  return Value::of(object);
}

}  // namespace ingot::chat
