// SPDX-License-Identifier: MIT
// Work that many threads do out of order, handed out in order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/checked.hpp"

namespace ingot::work {

/// The number of items made ahead, enough work while one item is written.
inline constexpr std::size_t usual_items_ahead = 8;

/// Makes items 0 ... count - 1 with `thread_count` threads, the calling one included, and gives
/// them to the caller in order. While the caller does something else, writing for instance, the
/// other threads run ahead, by a bounded number of items; while it waits, it works too. The caller
/// may add items, of which it fills the slots itself with what they are made of.
///
/// Slot    holds an item; reused, so that its memory is allocated once.
/// Scratch memory of one thread.
template <class Slot, class Scratch>
class OrderedPipeline {
 public:
  using Make = std::function<void(std::uint64_t item, Slot& slot, Scratch& scratch)>;

  /// Slots of an earlier pipeline keep their memory. Beside one for each thread there are
  /// `items_ahead` of them.
  OrderedPipeline(std::uint64_t count, unsigned thread_count, Make make,
                  std::vector<Slot> slots = {}, std::size_t items_ahead = usual_items_ahead)
      : count_(count), make_(std::move(make)), places_(thread_count + items_ahead) {
    slots.resize(places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) places_[i].slot = std::move(slots[i]);
    helpers_.reserve(thread_count);
    for (unsigned i = 1; i < thread_count; ++i) {
      try {
        helpers_.emplace_back([this] { help(); });
      } catch (const std::system_error&) {
        break;  // the system has no more threads; the existing ones do the work
      }
    }
  }
  OrderedPipeline(const OrderedPipeline&) = delete;
  OrderedPipeline& operator=(const OrderedPipeline&) = delete;

  ~OrderedPipeline() {
    {
      const std::lock_guard lock(mutex_);
      is_ended_ = true;
    }
    changed_.notify_all();
  }

  /// Items that may be in work at once.
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  /// Whether all items were released.
  [[nodiscard]] bool is_empty() const noexcept { return taken_ == count_; }
  /// Whether an item can be added.
  [[nodiscard]] bool has_room() const noexcept { return count_ < taken_ + places_.size(); }

  /// Adds an item, for which there must be room.
  void add(Slot slot) {
    {
      const std::lock_guard lock(mutex_);
      places_[to_size(count_ % places_.size())].slot = std::move(slot);
      ++count_;
    }
    changed_.notify_one();
  }

  /// The next item, valid until `release`. Throws the exception that making it threw.
  [[nodiscard]] Slot& next() {
    std::unique_lock lock(mutex_);
    Place& place = places_[to_size(taken_ % places_.size())];
    while (!place.is_ready) {
      if (can_start()) {
        make_one(lock, scratch_);
      } else {
        ready_.wait(lock);
      }
    }
    if (place.exception) std::rethrow_exception(place.exception);
    return place.slot;
  }

  /// Releases the item that `next` gave.
  void release() {
    {
      const std::lock_guard lock(mutex_);
      places_[to_size(taken_ % places_.size())].is_ready = false;
      ++taken_;
    }
    changed_.notify_one();
  }

  /// Takes the slots, for the next pipeline; all items must be released.
  [[nodiscard]] std::vector<Slot> take_slots() {
    std::vector<Slot> slots;
    for (Place& place : places_) slots.push_back(std::move(place.slot));
    return slots;
  }

 private:
  struct Place {
    Slot slot;
    bool is_ready = false;
    std::exception_ptr exception;
  };

  [[nodiscard]] bool can_start() const noexcept {
    return started_ < count_ && started_ < taken_ + places_.size();
  }

  void make_one(std::unique_lock<std::mutex>& lock, Scratch& scratch) {
    const std::uint64_t item = started_++;
    Place& place = places_[to_size(item % places_.size())];
    lock.unlock();
    std::exception_ptr exception;
    try {
      make_(item, place.slot, scratch);
    } catch (...) {
      exception = std::current_exception();
    }
    lock.lock();
    place.exception = std::move(exception);
    place.is_ready = true;
    ready_.notify_one();
  }

  void help() {
    Scratch scratch;
    std::unique_lock lock(mutex_);
    while (!is_ended_) {
      if (can_start()) {
        make_one(lock, scratch);
      } else {
        changed_.wait(lock);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;    // an item is ready
  std::condition_variable changed_;  // there is room or a new item, or the work has ended
  std::uint64_t count_;              // like taken_ changed by the calling thread alone
  bool is_ended_ = false;
  std::uint64_t started_ = 0;
  std::uint64_t taken_ = 0;
  Make make_;
  std::vector<Place> places_;
  Scratch scratch_;                    // scratch memory of the calling thread
  std::vector<std::jthread> helpers_;  // declared last: they end before the members that they use
};

}  // namespace ingot::work
