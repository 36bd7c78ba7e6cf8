// SPDX-License-Identifier: MIT
// `for`, and the variable `loop`.
#include <utility>

#include "chat/render/render.hpp"

namespace ingot::chat {

Flow Render::execute_for(const ForNode& node) {
  INGOT_VALUE(const Value iterable, evaluate(*node.iterable));
  return run_loop(node, iterable, 0, activation_);
}

/// The elements that pass the test of the `for`, as a list.
Value Render::filter_loop(const ForNode& node, const Value& iterable) {
  Iteration iteration;
  if (!iterate(iterable, iteration)) return Value::failure();
  std::vector<Value> kept;
  while (true) {
    INGOT_VALUE(const Value element, next(iteration));
    if (!element.is_given()) break;
    if (!spend(1)) return Value::failure();
    enter(node.test_scope);
    if (!assign(*node.test_target, element)) return Value::failure();
    INGOT_VALUE(const Value test, evaluate(*node.test));
    if (is_true(test)) kept.push_back(element);
  }
  leave(node.test_scope);
  return new_list(kept);
}

/// Runs a loop over `iterable`. A recursive one has an activation of its own within `outer`.
Flow Render::run_loop(const ForNode& node, Value iterable, std::int64_t depth0, Activation* outer) {
  Activation* const caller = activation_;
  if (node.is_recursive && !allow_elements(node.slot_count)) return Flow::failed;
  if (node.is_recursive) activation_ = new_activation(outer, node.slot_count);
  place_ = node.iterable->place;
  if (node.test != nullptr) iterable = filter_loop(node, iterable);
  Flow flow = Flow::failed;
  Loop* loop = node.loop_slot == no_slot ? nullptr : arena_.make<Loop>();
  Loop unnamed;
  Loop& state = loop == nullptr ? unnamed : *loop;
  state.node = &node;
  state.outer = outer;
  state.depth0 = depth0;
  if (!iterable.failed() && iterate(iterable, state.iteration)) {
    bool has_run = false;
    flow = run_iterations(state, has_run);
    if (flow == Flow::next && !has_run) flow = execute_in_scope(node.else_scope, node.otherwise);
  }
  activation_ = caller;
  return flow;
}

Flow Render::run_iterations(Loop& loop, bool& has_run) {
  const ForNode& node = *loop.node;
  while (true) {
    const Value element = loop.after.is_given() ? std::exchange(loop.after, {})
                          : loop.is_at_end      ? Value()
                                                : next(loop.iteration);
    if (element.failed()) return Flow::failed;
    if (!element.is_given()) return Flow::next;
    if (!allow_elements(0)) return Flow::failed;
    has_run = true;
    ++loop.index0;
    loop.before = std::exchange(loop.current, element);
    if (node.loop_slot != no_slot) {
      activation_->slots[node.loop_slot] = Value::of(Kind::loop, &Value::loop, &loop);
    }
    if (!assign(*node.target, element)) return Flow::failed;
    enter(node.body_scope);
    const Flow flow = execute_all(node.body);
    leave(node.body_scope);
    if (flow == Flow::failed) return flow;
    if (flow == Flow::break_loop) return Flow::next;
  }
}

/// The element after the current one; missing at the end.
Value Render::peek(Loop& loop) {
  if (!loop.after.is_given() && !loop.is_at_end) {
    loop.after = next(loop.iteration);
    loop.is_at_end = !loop.after.is_given();
  }
  return loop.after;
}

/// A walk whose length is unknown is made a list first.
std::int64_t Render::length_of(Loop& loop) {
  if (loop.length >= 0) return loop.length;
  loop.length = count_of(loop.iteration.source);
  if (loop.length >= 0) return loop.length;
  std::vector<Value> rest;
  while (true) {
    const Value element = next(loop.iteration);
    if (!element.is_given() || element.failed()) break;
    rest.push_back(element);
    if (!spend(1)) break;
  }
  const auto rest_count = static_cast<std::int64_t>(rest.size());
  loop.length = rest_count + loop.index0 + 1 + (loop.after.is_given() ? 1 : 0);
  const Value list = new_list(rest);
  if (!list.failed()) loop.iteration = {list, 0};
  return loop.length;
}

Value Render::loop_attribute(Loop& loop, std::string_view name) {
  if (name == "index") return Value::of(loop.index0 + 1);
  if (name == "index0") return Value::of(loop.index0);
  if (name == "first") return Value::of(loop.index0 == 0);
  if (name == "last") {
    INGOT_VALUE(const Value after, peek(loop));
    return Value::of(!after.is_given());
  }
  if (name == "length") return Value::of(length_of(loop));
  if (name == "revindex") return Value::of(length_of(loop) - loop.index0);
  if (name == "revindex0") return Value::of(length_of(loop) - loop.index0 - 1);
  if (name == "depth") return Value::of(loop.depth0 + 1);
  if (name == "depth0") return Value::of(loop.depth0);
  if (name == "previtem") {
    return loop.index0 > 0 ? loop.before
                           : new_undefined(Undefined::Reason::hint, "there is no previous item");
  }
  if (name == "nextitem") {
    INGOT_VALUE(const Value after, peek(loop));
    return after.is_given() ? after
                            : new_undefined(Undefined::Reason::hint, "there is no next item");
  }
  return {};
}

/// `loop(elements)` in a recursive loop: its text.
Value Render::call_loop(Loop& loop, const Arguments& arguments) {
  if (!loop.node->is_recursive) {
    return fail("The loop must have the 'recursive' marker to be called recursively.");
  }
  if (arguments.positional.size() != 1 || !arguments.keywords.empty()) {
    return fail("loop() takes one argument");
  }
  if (calls_ >= limits().max_depth) return fail_limit("max_depth", limits().max_depth);
  ++calls_;
  const Value text = text_from([&] {
    return run_loop(*loop.node, arguments.positional[0], loop.depth0 + 1, loop.outer) !=
           Flow::failed;
  });
  --calls_;
  return text;
}

}  // namespace ingot::chat
