// SPDX-License-Identifier: MIT
// A JSON text as a tree that keeps the order of its members, within limits and without recursion.
//
// It is for files of tens of megabytes, such as tokenizer.json: a value takes 24 bytes, a quarter
// of what it takes in nlohmann::json, which is for small texts and for JSON that is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/checked.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot {

class JsonTree;
template <class Item>
class JsonRange;
struct JsonMember;

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
  /// The value of any kind of number; nothing for other values.
  [[nodiscard]] INGOT_EXPORT std::optional<double> number() const noexcept;

  /// The number of elements or members; linear in it.
  [[nodiscard]] INGOT_EXPORT std::size_t size() const noexcept;
  /// The value of a member; of the last one, if several have this name. Linear.
  [[nodiscard]] INGOT_EXPORT JsonView operator[](std::string_view name) const noexcept;
  /// An element; no value beyond the end. Linear.
  [[nodiscard]] INGOT_EXPORT JsonView at(std::size_t index) const noexcept;

  /// The elements of an array, or the members of an object, in order; empty for other values.
  [[nodiscard]] JsonRange<JsonView> elements() const noexcept;
  [[nodiscard]] JsonRange<JsonMember> members() const noexcept;

 private:
  friend class JsonTree;
  template <class Item>
  friend class JsonRange;
  JsonView(const JsonTree* tree, std::uint32_t node) : tree_(tree), node_(node) {}

  const JsonTree* tree_ = nullptr;
  std::uint32_t node_ = 0;
};

struct JsonMember {
  std::string_view name;
  JsonView value;
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
  template <class Item>
  friend class JsonRange;

  enum class Kind : std::uint8_t { null, boolean, integer, real, text, array, object };

  /// A value or a name. Nodes are in the order of the text; the value of a member follows its name.
  struct Node {
    std::uint64_t payload = 0;  // the number's bits, or where the text begins in texts_
    std::uint32_t length = 0;   // bytes of the text, or values directly in this one
    std::uint32_t next = 0;     // the node after this value and all in it
    Kind kind = Kind::null;
  };

  [[nodiscard]] const Node& node(std::uint32_t index) const noexcept { return nodes_[index]; }
  [[nodiscard]] std::string_view text_of(const Node& node) const noexcept {
    return std::string_view(texts_).substr(to_size(node.payload), node.length);
  }

  std::vector<Node> nodes_;
  std::string texts_;
};

/// The values directly in another one, for loops.
template <class Item>
class JsonRange {
 public:
  class Iterator {
   public:
    Iterator(const JsonTree* tree, std::uint32_t node) : tree_(tree), node_(node) {}

    [[nodiscard]] Item operator*() const noexcept {
      if constexpr (is_named) {
        return {tree_->text_of(tree_->node(node_)), JsonView(tree_, node_ + 1)};
      } else {
        return JsonView(tree_, node_);
      }
    }
    Iterator& operator++() noexcept {
      node_ = tree_->node(is_named ? node_ + 1 : node_).next;
      return *this;
    }
    [[nodiscard]] bool operator==(const Iterator&) const = default;

   private:
    static constexpr bool is_named = std::is_same_v<Item, JsonMember>;
    const JsonTree* tree_;
    std::uint32_t node_;
  };

  /// The values inside a value; empty for no value.
  JsonRange(const JsonTree* tree, std::uint32_t node)
      : begin_(tree, node + 1), end_(tree, tree != nullptr ? tree->node(node).next : node + 1) {}

  [[nodiscard]] Iterator begin() const noexcept { return begin_; }
  [[nodiscard]] Iterator end() const noexcept { return end_; }

 private:
  Iterator begin_;
  Iterator end_;
};

inline JsonRange<JsonView> JsonView::elements() const noexcept {
  return {is_array() ? tree_ : nullptr, node_};
}
inline JsonRange<JsonMember> JsonView::members() const noexcept {
  return {is_object() ? tree_ : nullptr, node_};
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

}  // namespace ingot
