// SPDX-License-Identifier: MIT
#include "formats/json/json_tree.hpp"

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace ingot {

/// Takes the events of the JSON parser.
class JsonTreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonTreeBuilder(std::string file, const JsonLimits& limits)
      : file_(std::move(file)), limits_(limits) {}

  // The functions that the parser calls, by its names.
  bool null() override { return add(Kind::null, 0); }
  bool boolean(bool value) override { return add(Kind::boolean, value ? 1 : 0); }
  bool number_integer(number_integer_t value) override {
    return add(Kind::integer, static_cast<std::uint64_t>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= std::numeric_limits<std::int64_t>::max()) return add(Kind::integer, value);
    return number_float(static_cast<double>(value), {});
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add(Kind::real, std::bit_cast<std::uint64_t>(value));
  }
  bool string(string_t& text) override { return add_text(text, true); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& name) override { return add_text(name, false); }
  bool start_object(std::size_t) override { return open(Kind::object); }
  bool start_array(std::size_t) override { return open(Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    error_ = Error{Errc::import_refused, position == 0 ? 0 : position - 1, file_,
                   "the text is not JSON from here on"};
    return false;
  }

  [[nodiscard]] Result<JsonTree> take() {
    if (error_) return fail(*error_);
    return std::move(tree_);
  }

 private:
  using Kind = JsonTree::Kind;

  bool refuse(std::string what) {
    error_ = Error{Errc::limit_exceeded, Error::no_offset, file_, std::move(what)};
    return false;
  }

  bool add(Kind kind, std::uint64_t payload, std::uint32_t length = 0, bool counts = true) {
    if (tree_.nodes_.size() >= limits_.values) {
      return refuse("more than " + std::to_string(limits_.values) + " values");
    }
    const auto next = static_cast<std::uint32_t>(tree_.nodes_.size() + 1);
    if (counts && !open_.empty()) ++tree_.nodes_[open_.back()].length;
    tree_.nodes_.push_back({payload, length, next, kind});
    return true;
  }

  bool add_text(std::string_view text, bool counts) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) return refuse("a text of 4 GiB");
    const std::uint64_t begin = tree_.texts_.size();
    tree_.texts_.append(text);
    return add(Kind::text, begin, static_cast<std::uint32_t>(text.size()), counts);
  }

  bool open(Kind kind) {
    if (open_.size() == limits_.depth) {
      return refuse("nested deeper than " + std::to_string(limits_.depth));
    }
    if (!add(kind, 0)) return false;
    open_.push_back(static_cast<std::uint32_t>(tree_.nodes_.size() - 1));
    return true;
  }

  bool close() {
    tree_.nodes_[open_.back()].next = static_cast<std::uint32_t>(tree_.nodes_.size());
    open_.pop_back();
    return true;
  }

  std::string file_;
  JsonLimits limits_;
  JsonTree tree_;
  std::vector<std::uint32_t> open_;  // arrays and objects around the next value
  std::optional<Error> error_;
};

Result<JsonTree> JsonTree::parse(std::string_view text, const std::string& file,
                                 const JsonLimits& limits) {
  JsonTreeBuilder builder(file, limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string_view JsonView::text() const noexcept {
  return is_text() ? tree_->text_of(tree_->node(node_)) : std::string_view();
}

std::optional<bool> JsonView::boolean() const noexcept {
  if (!exists() || tree_->node(node_).kind != JsonTree::Kind::boolean) return std::nullopt;
  return tree_->node(node_).payload != 0;
}

std::optional<std::int64_t> JsonView::integer() const noexcept {
  if (!exists() || tree_->node(node_).kind != JsonTree::Kind::integer) return std::nullopt;
  return static_cast<std::int64_t>(tree_->node(node_).payload);
}

std::optional<double> JsonView::number() const noexcept {
  if (const auto whole = integer()) return static_cast<double>(*whole);
  if (!exists() || tree_->node(node_).kind != JsonTree::Kind::real) return std::nullopt;
  return std::bit_cast<double>(tree_->node(node_).payload);
}

std::size_t JsonView::size() const noexcept {
  return is_array() || is_object() ? tree_->node(node_).length : 0;
}

JsonView JsonView::operator[](std::string_view name) const noexcept {
  JsonView found;
  for (const auto& [member, value] : members()) {
    if (member == name) found = value;
  }
  return found;
}

JsonView JsonView::at(std::size_t index) const noexcept {
  for (const JsonView value : elements()) {
    if (index-- == 0) return value;
  }
  return {};
}

}  // namespace ingot
