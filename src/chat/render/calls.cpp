// SPDX-License-Identifier: MIT
// Calls: arguments find their parameters.
#include <algorithm>

#include "chat/render/render.hpp"

namespace ingot::chat {
Value Render::call(const Value& callee, const Arguments& arguments) {
  switch (callee.kind) {
    case Kind::macro:
      return call_macro(*callee.closure, arguments);
    case Kind::function:
      return call_builtin(heap_, *callee.bound->builtin, callee.bound->self, arguments);
    case Kind::loop:
      return call_loop(*callee.loop, arguments);
    case Kind::joiner:
      if (!callee.joiner->is_used) {
        callee.joiner->is_used = true;
        return Value::text_of("");
      }
      return callee.joiner->separator;
    case Kind::undefined:
      return heap_.fail_undefined(callee);
    default:
      return heap_.fail("'" + std::string(type_name(callee.kind)) + "' object is not callable");
  }
}

Value Render::evaluate_call(const CallNode& node, const Value* caller) {
  INGOT_TRY(const Value callee, evaluate(*node.callee));
  INGOT_TRY(const Arguments arguments, evaluate_arguments(node.arguments, caller));
  heap_.set_place(node.callee->place);
  return call(callee, arguments);
}

/// Puts arguments into the slots of a macro; those that are left out stay missing.
bool Render::bind_parameters(const MacroNode& node, const Arguments& arguments,
                             Activation& activation) {
  const std::size_t count = node.parameters.size();
  const std::size_t positional = std::min(count, arguments.positional.size());
  for (std::size_t i = 0; i < positional; ++i) {
    activation.slots[node.parameters[i]->slot] = arguments.positional[i];
  }
  Object* others = heap_.new_object(0);
  Value caller;
  for (const Keyword& keyword : arguments.keywords) {
    if (!heap_.spend_on(count)) return false;
    const auto* parameter = std::find_if(
        node.parameters.data() + positional, node.parameters.data() + count,
        [&](const NameNode* candidate) { return candidate->name->text == keyword.name; });
    if (parameter != node.parameters.data() + count) {
      activation.slots[(*parameter)->slot] = keyword.value;
    } else if (keyword.name == "caller" && node.caller_slot != no_slot) {
      caller = keyword.value;
    } else if (!insert(heap_, *others, Value::text_of(keyword.name), keyword.value)) {
      return false;
    }
  }
  if (node.caller_slot != no_slot) {
    activation.slots[node.caller_slot] =
        caller.is_given() ? caller
                          : heap_.new_undefined(Undefined::Reason::hint, "No caller defined");
  }
  const auto fail_macro = [&](const std::string& reason) -> bool {
    return heap_.fail("macro '" + std::string(node.name) + "' " + reason);
  };
  if (node.kwargs_slot != no_slot) {
    activation.slots[node.kwargs_slot] = Value::of(others);
  } else if (others->count > 0) {
    return fail_macro("takes no keyword argument '" + std::string(others->pairs[0].key.text()) +
                      "'");
  }
  const std::span<const Value> more = arguments.positional.subspan(positional);
  if (node.varargs_slot != no_slot) {
    const Value tuple = heap_.new_list(more, Kind::tuple);
    activation.slots[node.varargs_slot] = tuple;
    return !tuple.failed();
  }
  if (more.empty()) return true;
  return fail_macro("takes not more than " + std::to_string(count) + " argument(s)");
}

/// Evaluates the defaults of parameters that are missing, in their order.
bool Render::set_defaults(const MacroNode& node) {
  const std::size_t without_default = node.parameters.size() - node.defaults.size();
  for (std::size_t i = 0; i < node.parameters.size(); ++i) {
    const NameNode& parameter = *node.parameters[i];
    if (activation_->slots[parameter.slot].is_given()) continue;
    Value value;
    if (i >= without_default) {
      value = evaluate(*node.defaults[i - without_default]);
    } else {
      if (!heap_.spend_on(parameter.name->text.size())) return false;
      const std::string hint =
          "parameter '" + std::string(parameter.name->text) + "' was not provided";
      value =
          heap_.new_undefined(Undefined::Reason::hint, heap_.arena().copy(std::string_view(hint)));
    }
    if (value.failed()) return false;
    activation_->slots[parameter.slot] = value;
  }
  return true;
}

Value Render::call_macro(Closure& closure, const Arguments& arguments) {
  const auto& node = static_cast<const MacroNode&>(*closure.macro);
  const std::uint32_t place = heap_.place();
  if (calls_ >= heap_.limits().max_depth)
    return heap_.fail_limit("max_depth", heap_.limits().max_depth);
  if (!heap_.allow_elements(node.slot_count) || !heap_.spend_on(node.parameters.size()))
    return Failed();
  ++calls_;
  Activation* const caller = activation_;
  const auto mark = heap_.output().begin();
  Activation* const own = new_activation(closure.outer, node.slot_count);
  bool is_done = bind_parameters(node, arguments, *own);
  activation_ = own;
  if (is_done) {
    enter(node.scope);
    is_done = set_defaults(node) && execute_all(node.body) != Flow::failed;
    leave(node.scope);
  }
  activation_ = caller;
  --calls_;
  if (is_done) {
    const Value text = heap_.take_string(mark);
    return escapes_output_ ? text.with_markup(true) : text;
  }
  heap_.output().end(mark);
  if (heap_.failure()) heap_.failure()->calls.push_back({std::string(node.name), place});
  return Failed();
}

}  // namespace ingot::chat
