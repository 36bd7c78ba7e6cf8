// SPDX-License-Identifier: MIT
#include "chat/values/heap.hpp"

#include <algorithm>

namespace ingot::chat {
namespace {

/// Containers within containers that are printed; Python's own limit is near.
constexpr std::uint32_t max_container_depth = 400;

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
  std::string text(undefined->text);
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

Heap::Heap(const ChatOptions& options)
    : options_(options),
      limits_(within_32_bits(options.limits)),
      steps_left_(options.limits.max_steps) {}

Failed Heap::fail(Errc code, std::string reason) {
  if (!failure_) failure_ = TemplateError{code, place_, std::move(reason), {}};
  return {};
}

Failed Heap::fail_limit(std::string_view limit, std::uint64_t value) {
  return fail(Errc::limit_exceeded,
              "more than " + std::string(limit) + " = " + std::to_string(value));
}

Failed Heap::fail_undefined(const Value& value) {
  const bool is_unsafe =
      value.undefined != nullptr && value.undefined->reason == Undefined::Reason::unsafe;
  return fail(is_unsafe ? Errc::chat_security : Errc::chat_undefined,
              undefined_reason(value.undefined));
}

bool Heap::out_of_steps() {
  steps_left_ = 0;
  return fail_limit("max_steps", limits_.max_steps);
}

bool Heap::begin_container() {
  constexpr std::string_view limit = "the depth of a value that is printed";
  if (!is_within(limit, max_container_depth, container_depth_ + 1)) return false;
  ++container_depth_;
  return true;
}

Value Heap::new_string(std::string_view text, std::uint8_t origin) {
  if (!allow_bytes(text.size())) return Failed();
  return Value::text_of(arena_.copy(text), origin);
}

Value Heap::take_string(const TextOutput::Mark& mark) {
  const std::string_view text = output_.text_since(mark);
  const std::size_t run_count = output_.run_count_since(mark);
  const TextRun* runs = output_.runs_since(mark);
  Value result = Value::failure();
  if (!allow_bytes(text.size())) {
    // the failure is noted
  } else if (run_count <= 1) {
    result = Value::text_of(arena_.copy(text), run_count == 0 ? std::uint8_t{0} : runs->origin);
  } else {
    auto* copies = arena_.make_array<TextRun>(run_count);
    for (std::size_t i = 0; i < run_count; ++i) {
      copies[i] = {runs[i].end - static_cast<std::uint32_t>(mark.size_bytes), runs[i].origin};
    }
    result = Value::text_of(text);
    result.mixed = arena_.make<MixedText>(arena_.copy(text).data(), copies,
                                          static_cast<std::uint32_t>(run_count));
    result.flags = Value::is_mixed_flag;
  }
  output_.end(mark);
  return result;
}

Value Heap::part_of(const Value& text, std::size_t begin, std::size_t end) {
  if (begin == 0 && end == text.size) return text;
  const std::string_view part = text.text().substr(begin, end - begin);
  const auto markup = static_cast<std::uint8_t>(text.flags & Value::is_markup_flag);
  if (!text.is_mixed()) {
    return Value::text_of(part, static_cast<std::uint8_t>(text.origin() | markup));
  }
  std::vector<TextRun> runs;
  std::uint32_t size = 0;
  for_each_run(text, begin, end, [&](std::string_view run, std::uint8_t origin) {
    size += static_cast<std::uint32_t>(run.size());
    runs.push_back({size, origin});
  });
  if (runs.size() <= 1) {
    const std::uint8_t origin = runs.empty() ? std::uint8_t{0} : runs[0].origin;
    return Value::text_of(part, static_cast<std::uint8_t>(origin | markup));
  }
  Value result = Value::text_of(part);
  result.mixed = arena_.make<MixedText>(part.data(), arena_.copy(runs).data(),
                                        static_cast<std::uint32_t>(runs.size()));
  result.flags = static_cast<std::uint8_t>(Value::is_mixed_flag | markup);
  return result;
}

Value Heap::new_list(std::span<const Value> items, Kind kind) {
  if (!allow_elements(items.size())) return Failed();
  auto* copies = arena_.make_array<Value>(items.size());
  std::copy(items.begin(), items.end(), copies);
  return Value::of(arena_.make<List>(copies, static_cast<std::uint32_t>(items.size())), kind);
}

Value Heap::new_undefined(Undefined::Reason reason, std::string_view text, Kind owner) {
  return Value::of(arena_.make<Undefined>(reason, owner, text));
}

Object* Heap::new_object(std::size_t capacity) {
  auto* pairs = arena_.make_array<Pair>(capacity);
  return arena_.make<Object>(pairs, 0u, static_cast<std::uint32_t>(capacity));
}

}  // namespace ingot::chat
