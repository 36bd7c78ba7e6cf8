// SPDX-License-Identifier: MIT
// What the values of a rendering know: where they lie, what they may take, and what has failed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "chat/values/arena.hpp"
#include "chat/values/runtime_value.hpp"
#include "chat/values/template_error.hpp"
#include "chat/values/text_output.hpp"
#include "ingot/chat.hpp"

namespace ingot::chat {

class Heap {
 public:
  /// Keeps a reference to the options.
  explicit Heap(const ChatOptions& options);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // --- failures -------------------------------------------------------------------------------
  /// The first failure stays, with the place of what ran.
  Failed fail(Errc code, std::string reason);
  Failed fail(std::string reason) { return fail(Errc::chat_failed, std::move(reason)); }
  Failed fail_limit(std::string_view limit, std::uint64_t value);
  /// Fails as the use of an undefined value does.
  Failed fail_undefined(const Value& value);
  [[nodiscard]] std::optional<TemplateError>& failure() noexcept { return failure_; }
  /// The byte of the source whose operation runs now.
  void set_place(std::uint32_t place) noexcept { place_ = place; }
  [[nodiscard]] std::uint32_t place() const noexcept { return place_; }

  // --- limits ---------------------------------------------------------------------------------
  /// Counts work; false if there is no more to spend.
  [[nodiscard]] bool spend(std::uint64_t steps) {
    if (steps >= steps_left_) return out_of_steps();
    steps_left_ -= steps;
    return true;
  }
  /// Counts the work of copying or comparing so many bytes or elements.
  [[nodiscard]] bool spend_on(std::uint64_t count) { return spend(1 + (count >> 4)); }
  /// Counts the work of looking up every character of so many bytes in a table.
  [[nodiscard]] bool spend_on_characters(std::uint64_t bytes) { return spend(1 + (bytes >> 2)); }
  [[nodiscard]] std::uint64_t steps_used() const noexcept {
    return limits_.max_steps - steps_left_;
  }
  [[nodiscard]] const ChatLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] const ChatOptions& options() const noexcept { return options_; }
  /// False, after a failure, if a count is above the limit of a name.
  [[nodiscard]] bool is_within(std::string_view limit, std::uint64_t most, std::uint64_t count) {
    return count <= most || fail_limit(limit, most);
  }
  /// False, after a failure, if no text has so many bytes, or no list so many elements.
  [[nodiscard]] bool fits_text(std::uint64_t bytes) {
    return is_within("max_string_bytes", limits_.max_string_bytes, bytes);
  }
  [[nodiscard]] bool fits_list(std::uint64_t count) {
    return is_within("max_elements", limits_.max_elements, count);
  }
  /// False, after a failure, if a text of so many bytes may not be made. Counts the work.
  [[nodiscard]] bool allow_bytes(std::uint64_t bytes) {
    return fits_text(bytes) && allow_memory(bytes);
  }
  /// The same for several copies of a text.
  [[nodiscard]] bool allow_copies(std::uint64_t count, std::uint64_t bytes) {
    return fits_text(count) && allow_bytes(count * bytes);
  }
  [[nodiscard]] bool allow_elements(std::uint64_t count) {
    return fits_list(count) && allow_memory(count);
  }
  /// False, after a failure, if the output is too long.
  [[nodiscard]] bool allow_output() {
    return is_within("max_output_bytes", limits_.max_output_bytes, output_.size_bytes());
  }
  /// Begins to print a container, perhaps within others; false, after a failure, if it is too deep.
  [[nodiscard]] bool begin_container();
  void end_container() noexcept { --container_depth_; }

  // --- memory ---------------------------------------------------------------------------------
  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  [[nodiscard]] TextOutput& output() noexcept { return output_; }
  /// What `append` adds to the output, as a string; a failure if it gives false.
  template <class Append>
  Value text_from(Append&& append) {
    const auto mark = output_.begin();
    if (append()) return take_string(mark);
    output_.end(mark);
    return Failed();
  }
  /// The text since a mark as a string; ends the mark.
  Value take_string(const TextOutput::Mark& mark);
  /// Copies.
  Value new_string(std::string_view text, std::uint8_t origin = from_template);
  /// A part of a string, by bytes, without copying.
  Value part_of(const Value& text, std::size_t begin, std::size_t end);
  /// Copies.
  Value new_list(std::span<const Value> items, Kind kind = Kind::list);
  Value new_undefined(Undefined::Reason reason, std::string_view text, Kind owner = Kind::missing);
  [[nodiscard]] Object* new_object(std::size_t capacity);

 private:
  [[nodiscard]] bool allow_memory(std::uint64_t count) {
    return is_within("max_memory_bytes", limits_.max_memory_bytes, arena_.used_bytes()) &&
           spend_on(count);
  }
  bool out_of_steps();

  const ChatOptions& options_;
  const ChatLimits limits_;
  Arena arena_;
  TextOutput output_;
  std::optional<TemplateError> failure_;
  std::uint64_t steps_left_ = 0;
  std::uint32_t place_ = 0;
  std::uint32_t container_depth_ = 0;
};

}  // namespace ingot::chat
