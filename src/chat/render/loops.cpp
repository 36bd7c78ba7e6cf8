// SPDX-License-Identifier: MIT
// `for`, and the variable `loop`.
#include <utility>

#include "chat/render/render.hpp"

namespace ingot::chat {

Flow Render::execute_for(const ForNode& node) {
  INGOT_TRY(const Value iterable, evaluate(*node.iterable));
  return run_loop(node, iterable, 0, activation_);
}

/// The elements that pass the test of the `for`, as a list.
Value Render::filter_loop(const ForNode& node, const Value& iterable) {
  INGOT_TRY(Iteration iteration, iterate(heap_, iterable));
  std::vector<Value> kept;
  while (true) {
    INGOT_TRY(const Value element, next(heap_, iteration));
    if (!element.is_given()) break;
    if (!heap_.spend(1)) return Failed();
    enter(node.test_scope);
    if (!assign(*node.test_target, element)) return Failed();
    INGOT_TRY(const Value test, evaluate(*node.test));
    if (is_true(test)) kept.push_back(element);
  }
  leave(node.test_scope);
  return heap_.new_list(kept);
}

/// Runs a loop over `iterable`. A recursive one has an activation of its own within `outer`.
Flow Render::run_loop(const ForNode& node, Value iterable, std::int64_t depth0, Activation* outer) {
  Activation* const caller = activation_;
  if (node.is_recursive && !heap_.allow_elements(node.slot_count)) return Flow::failed;
  if (node.is_recursive) activation_ = new_activation(outer, node.slot_count);
  heap_.set_place(node.iterable->place);
  if (node.test != nullptr) iterable = filter_loop(node, iterable);
  Flow flow = Flow::failed;
  Loop* loop = node.loop_slot == no_slot ? nullptr : heap_.arena().make<Loop>();
  Loop unnamed;
  Loop& state = loop == nullptr ? unnamed : *loop;
  state.node = &node;
  state.outer = outer;
  state.depth0 = depth0;
  const auto walk = iterable.failed() ? std::nullopt : iterate(heap_, iterable);
  if (walk) {
    state.iteration = *walk;
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
                                                : next(heap_, loop.iteration);
    if (element.failed()) return Flow::failed;
    if (!element.is_given()) return Flow::next;
    if (!heap_.allow_elements(0)) return Flow::failed;
    has_run = true;
    ++loop.index0;
    loop.before = std::exchange(loop.current, element);
    if (node.loop_slot != no_slot) {
      activation_->slots[node.loop_slot] = Value::of(&loop);
    }
    if (!assign(*node.target, element)) return Flow::failed;
    enter(node.body_scope);
    const Flow flow = execute_all(node.body);
    leave(node.body_scope);
    if (flow == Flow::failed) return flow;
    if (flow == Flow::break_loop) return Flow::next;
  }
}

/// `loop(elements)` in a recursive loop: its text.
Value Render::call_loop(Loop& loop, const Arguments& arguments) {
  if (!loop.node->is_recursive) {
    return heap_.fail("The loop must have the 'recursive' marker to be called recursively.");
  }
  if (arguments.positional.size() != 1 || !arguments.keywords.empty()) {
    return heap_.fail("loop() takes one argument");
  }
  if (calls_ >= heap_.limits().max_depth)
    return heap_.fail_limit("max_depth", heap_.limits().max_depth);
  ++calls_;
  const Value text = heap_.text_from([&] {
    return run_loop(*loop.node, arguments.positional[0], loop.depth0 + 1, loop.outer) !=
           Flow::failed;
  });
  --calls_;
  return text;
}

}  // namespace ingot::chat
