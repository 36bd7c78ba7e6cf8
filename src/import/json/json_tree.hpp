// SPDX-License-Identifier: MIT
// A JSON text as a tree that keeps the order of its members, in bounds and without recursion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot::hf {

class JsonTree;

/// A value of a tree, or no value at all: then every question has the answer "none", so that paths
/// into a file of unknown form need no checks between. Cheap to copy; valid as long as its tree.
class JsonView {
 public:
  JsonView() = default;

  [[nodiscard]] bool exists() const noexcept { return tree_ != nullptr; }
  [[nodiscard]] bool is_null() const noexcept;
  [[nodiscard]] bool is_object() const noexcept;
  [[nodiscard]] bool is_array() const noexcept;
  [[nodiscard]] bool is_text() const noexcept;

  /// The text; empty if this is none.
  [[nodiscard]] INGOT_EXPORT std::string_view text() const noexcept;
  [[nodiscard]] INGOT_EXPORT std::optional<bool> boolean() const noexcept;
  /// A number that is written as an integer and fits.
  [[nodiscard]] INGOT_EXPORT std::optional<std::int64_t> integer() const noexcept;
  /// Any number.
  [[nodiscard]] INGOT_EXPORT std::optional<double> number() const noexcept;

  /// How many elements or members; linear in it.
  [[nodiscard]] INGOT_EXPORT std::size_t size() const noexcept;
  /// The value of a member; of the last one, if several have this name. Linear.
  [[nodiscard]] INGOT_EXPORT JsonView operator[](std::string_view name) const noexcept;
  /// An element; no value beyond the end. Linear.
  [[nodiscard]] INGOT_EXPORT JsonView at(std::size_t index) const noexcept;

  /// Calls `use(value)` for each element, or `use(name, value)` for each member, in order, as long
  /// as it returns true.
  template <class Use>
  void each_element(Use use) const;
  template <class Use>
  void each_member(Use use) const;

 private:
  friend class JsonTree;
  JsonView(const JsonTree* tree, std::uint32_t node) : tree_(tree), node_(node) {}

  const JsonTree* tree_ = nullptr;
  std::uint32_t node_ = 0;
};

/// Limits of a tree.
struct JsonLimits {
  std::size_t depth = 100;
  std::size_t values = std::size_t{8} << 20;  ///< Names of members count as values.
};

/// Owns the values. Movable; views stay valid only while it stays where it is.
class JsonTree {
 public:
  JsonTree() = default;

  /// @param file  the name of the file, for messages.
  /// @return      Errc::import_refused with the byte offset for a text that is not JSON;
  ///              Errc::limit_exceeded.
  ///
  /// Linear; 24 bytes a value and the bytes of its texts.
  [[nodiscard]] INGOT_EXPORT static Result<JsonTree> parse(std::string_view text,
                                                           const std::string& file,
                                                           const JsonLimits& limits = {});

  /// The value of the whole text; no value for a tree that was not parsed.
  [[nodiscard]] JsonView root() const noexcept {
    return nodes_.empty() ? JsonView() : JsonView(this, 0);
  }

 private:
  friend class JsonView;
  friend class JsonTreeBuilder;

  enum class Kind : std::uint8_t { null, boolean, integer, real, text, array, object };

  /// In the order of the text; the value of a member follows its name.
  struct Node {
    std::uint64_t payload = 0;  // the number's bits, or where the text begins in texts_
    std::uint32_t length = 0;   // bytes of the text, or values directly in this one
    std::uint32_t next = 0;     // the node after this value and all in it
    Kind kind = Kind::null;
  };

  [[nodiscard]] const Node& node(std::uint32_t index) const noexcept { return nodes_[index]; }
  [[nodiscard]] std::string_view text_of(const Node& node) const noexcept {
    return std::string_view(texts_).substr(node.payload, node.length);
  }

  std::vector<Node> nodes_;
  std::string texts_;
};

template <class Use>
void JsonView::each_element(Use use) const {
  if (!is_array()) return;
  const std::uint32_t end = tree_->node(node_).next;
  for (std::uint32_t i = node_ + 1; i < end; i = tree_->node(i).next) {
    if (!use(JsonView(tree_, i))) return;
  }
}

template <class Use>
void JsonView::each_member(Use use) const {
  if (!is_object()) return;
  const std::uint32_t end = tree_->node(node_).next;
  for (std::uint32_t i = node_ + 1; i < end; i = tree_->node(i + 1).next) {
    if (!use(tree_->text_of(tree_->node(i)), JsonView(tree_, i + 1))) return;
  }
}

inline bool JsonView::is_null() const noexcept {
  return exists() && tree_->node(node_).kind == JsonTree::Kind::null;
}
inline bool JsonView::is_object() const noexcept {
  return exists() && tree_->node(node_).kind == JsonTree::Kind::object;
}
inline bool JsonView::is_array() const noexcept {
  return exists() && tree_->node(node_).kind == JsonTree::Kind::array;
}
inline bool JsonView::is_text() const noexcept {
  return exists() && tree_->node(node_).kind == JsonTree::Kind::text;
}

}  // namespace ingot::hf
