// SPDX-License-Identifier: MIT
// Finds the slot of every name. The rules are those of the reference engine, oddities included:
// a scope knows all names that are read or set in it before any of it runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/compile/name_table.hpp"
#include "chat/compile/syntax_tree.hpp"
#include "chat/values/arena.hpp"
#include "chat/values/template_error.hpp"

namespace ingot::chat {

struct Program {
  Body body;
  Scope scope;
  std::uint16_t slot_count = 0;
  /// Variables that are read and that nobody sets or knows, by their ids.
  std::vector<const Name*> free_names;
};

class ScopeResolver {
 public:
  ScopeResolver(Arena& arena, const NameTable& names);

  /// Completes the nodes of `body`.
  [[nodiscard]] Program resolve(Body body);

  /// What forbids to run the template although it could be parsed.
  [[nodiscard]] const std::optional<TemplateError>& error() const noexcept { return error_; }

 private:
  /// A name in a scope that is open.
  struct Entry {
    std::uint32_t scope = 0;
    std::uint16_t activation = 0;
    std::uint16_t slot = 0;
  };
  struct OpenScope {
    std::uint32_t number = 0;
    std::vector<SlotStart> starts;
    std::vector<std::uint16_t> slots;
    std::vector<const Name*> names;
    bool is_soft = false;  ///< in a branch: an unknown filter fails when it is reached
    std::uint32_t branch_depth = 0;
  };
  /// What has slots of its own: the template, a macro, a recursive loop.
  struct Activation {
    std::uint32_t slot_count = 0;
    std::uint32_t loop_depth = 0;
  };

  void open_scope();
  [[nodiscard]] Scope close_scope();
  void open_activation() { activations_.push_back({}); }
  [[nodiscard]] std::uint16_t close_activation();

  [[nodiscard]] const Entry* find(const Name* name) const;
  [[nodiscard]] bool is_in_scope(const Name* name) const;
  std::uint16_t add_slot(const Name* name);
  std::uint16_t declare_parameter(const Name* name);
  std::uint16_t declare_special(std::string_view name);
  void declare_load(const Name* name);
  void declare_store(const Name* name);
  void declare_target(const Node& target, bool is_parameter);
  void declare(const Node& node);
  void declare_all(Body body);

  void bind(Node& node);
  void bind_all(Body body);
  void bind_soft(Node& node);
  void bind_name(NameNode& node);
  void bind_target(Node& target);
  void bind_apply(ApplyNode& node);
  void bind_if(IfNode& node);
  void bind_for(ForNode& node);
  void bind_loop_test(ForNode& node);
  Node* copy_target(const Node& target);
  void bind_block(BlockNode& node);
  void bind_with(WithNode& node);
  void bind_macro(MacroNode& node);
  void declare_macro_specials(MacroNode& node);
  void bind_jump(const Node& node);

  /// Whether a walk meets a read of a name before anything is assigned to it. Open: neither is
  /// there.
  enum class Search : std::uint8_t { open, read, assigned };
  [[nodiscard]] Search search(const Node& node, const Name* name, bool is_target);
  [[nodiscard]] Search search_parts(const Node& node, const Name* name, bool is_target);
  [[nodiscard]] bool reads(Body body, std::string_view name);
  void fail(std::uint32_t place, std::string reason);

  Arena& arena_;
  const NameTable& names_;
  std::vector<std::vector<Entry>> entries_;  ///< by name id; the innermost scope last
  std::vector<OpenScope> scopes_;
  std::vector<Activation> activations_;
  std::map<std::pair<const Node*, const Name*>, Search> searched_;
  std::uint32_t scope_count_ = 0;
  std::uint32_t enclosing_loops_ = 0;
  std::vector<bool> is_free_;  ///< by name id
  std::optional<TemplateError> error_;
  std::optional<TemplateError> jump_error_;  ///< reported if there is no other
};

}  // namespace ingot::chat
