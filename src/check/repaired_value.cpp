// SPDX-License-Identifier: MIT
#include "check/repaired_value.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace ingot::check {
namespace {

std::string_view without_nuls(std::string_view text) noexcept {
  while (text.ends_with('\0')) text.remove_suffix(1);
  return text;
}

/// An array whose elements are not all copied yet.
struct Level {
  Array::Iterator next;
  OwnedValue made;
};

class ValueRepairer {
 public:
  explicit ValueRepairer(bool cuts_nuls) noexcept : cuts_nuls_(cuts_nuls) {}

  Result<RepairedValue> repair(const Value& value) {
    if (!value.is_array()) return finish(repair_single(value));
    enter(value.as_array());
    for (;;) {
      Level& level = levels_.back();
      if (level.next != Array::Iterator{}) {
        const Value element = *level.next;
        ++level.next;
        if (element.is_array()) {
          enter(element.as_array());
        } else {
          INGOT_TRY_VOID(level.made.append(repair_single(element)));
        }
        continue;
      }
      OwnedValue made = std::move(level.made);
      levels_.pop_back();
      if (levels_.empty()) return finish(std::move(made));
      INGOT_TRY_VOID(levels_.back().made.append(made));
    }
  }

 private:
  void enter(const Array& array) {
    levels_.push_back({array.begin(), OwnedValue::array(array.element_type())});
  }

  RepairedValue finish(OwnedValue made) const { return {std::move(made), has_set_bools_}; }

  OwnedValue repair_single(const Value& value) {
    if (value.type() == ValueType::boolean) {
      has_set_bools_ = has_set_bools_ || value.bytes()[0] > std::byte{1};
      return OwnedValue::boolean(value.get<bool>().value_or(false));
    }
    if (value.type() == ValueType::string && cuts_nuls_) {
      const std::string_view text = value.get<std::string_view>().value_or("");
      return OwnedValue::string(without_nuls(text));
    }
    return OwnedValue::copy_of(value);
  }

  bool cuts_nuls_;
  bool has_set_bools_ = false;
  std::vector<Level> levels_;  // outermost first
};

}  // namespace

Result<RepairedValue> repair_value(const Value& value, bool cuts_nuls) {
  return ValueRepairer(cuts_nuls).repair(value);
}

}  // namespace ingot::check
