// SPDX-License-Identifier: MIT
#include "ingot/token_stream.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ingot/parallel.hpp"

namespace ingot {
namespace {

/// A part on its way from the reader to the taker.
struct Part {
  std::uint64_t begin = 0;
  std::string text;
  EncodeOptions options;
  TokenizedText tokens;
};

/// Reads a text and cuts it where that changes nothing.
class PartReader {
 public:
  PartReader(const Tokenizer& tokenizer, const ReadText& read, const EncodeStreamOptions& options)
      : tokenizer_(tokenizer), read_(read), options_(options) {}

  [[nodiscard]] bool is_done() const noexcept { return is_done_; }

  Result<Part> next() {
    std::size_t wanted_bytes = std::max<std::size_t>(options_.part_bytes, 1);
    for (;;) {
      INGOT_TRY_VOID(fill(wanted_bytes));
      if (is_at_end_) return take(held_.size());
      const std::size_t cut = tokenizer_.find_cut(held_, options_.parse_special);
      if (cut != 0) return take(cut);
      if (wanted_bytes > Tokenizer::max_text_bytes) {
        return fail(Errc::limit_exceeded, "the text",
                    "it has " + std::to_string(wanted_bytes) +
                        " bytes without a place to cut it; this tokenizer needs it in parts");
      }
      wanted_bytes *= 2;
    }
  }

 private:
  Result<void> fill(std::size_t wanted_bytes) {
    while (!is_at_end_ && held_.size() < wanted_bytes) {
      const std::size_t old_bytes = held_.size();
      held_.resize(wanted_bytes);
      const Result<std::size_t> read_bytes = read_(std::span(held_).subspan(old_bytes));
      held_.resize(old_bytes + std::min(read_bytes.value_or(0), wanted_bytes - old_bytes));
      INGOT_TRY(const std::size_t count, read_bytes);
      is_at_end_ = count == 0;
    }
    return {};
  }

  Part take(std::size_t size_bytes) {
    Part part{.begin = begin_, .text = {}, .options = {}, .tokens = {}};
    is_done_ = is_at_end_ && size_bytes == held_.size();
    part.options = {.add_special = options_.add_special,
                    .parse_special = options_.parse_special,
                    .continues = begin_ != 0,
                    .is_continued = !is_done_};
    std::string rest = held_.substr(size_bytes);
    held_.resize(size_bytes);
    part.text = std::exchange(held_, std::move(rest));
    begin_ += size_bytes;
    return part;
  }

  const Tokenizer& tokenizer_;
  const ReadText& read_;
  const EncodeStreamOptions& options_;
  std::string held_;
  std::uint64_t begin_ = 0;  // offset of the held text
  bool is_at_end_ = false;
  bool is_done_ = false;
};

Result<void> encode_part(const Tokenizer& tokenizer, bool with_ranges, Part& part) {
  if (with_ranges) {
    INGOT_TRY(part.tokens, tokenizer.encode_with_offsets(part.text, part.options));
  } else {
    INGOT_TRY(part.tokens.ids, tokenizer.encode(part.text, part.options));
  }
  return {};
}

/// Parts that are in memory at once, however many threads there are.
constexpr std::size_t max_parts = 32;

/// Parts between the thread that reads, cuts and hands over, and those that encode. That thread
/// encodes, too, while it has nothing else to do.
class Pipeline {
 public:
  Pipeline(const Tokenizer& tokenizer, const EncodeStreamOptions& options)
      : tokenizer_(tokenizer),
        options_(options),
        thread_count_(threads_for(options.thread_count, max_parts / 2)),
        room_(std::size_t{2} * thread_count_) {}

  Result<void> run(PartReader& reader, const TakeTokens& take) {
    Result<void> read = {};
    while (true) {
      if (read && !reader.is_done() && has_room()) {
        Result<Part> part = reader.next();
        if (part) {
          push(std::move(*part));
        } else {
          read = fail(std::move(part.error()));
        }
      } else if (const std::unique_ptr<Work> done = take_front()) {
        if (done->exception) std::rethrow_exception(done->exception);
        INGOT_TRY_VOID(std::move(done->result));
        const Part& part = done->part;
        INGOT_TRY_VOID(take({part.begin, part.text, part.tokens.ids, part.tokens.ranges}));
      } else {
        return read;
      }
    }
  }

 private:
  struct Work {
    Part part;
    Result<void> result = {};
    std::exception_ptr exception = nullptr;
    bool is_done = false;
  };

  /// Parts that had to grow are few at a time.
  [[nodiscard]] bool has_room() const noexcept {
    return parts_.empty() || (parts_.size() < room_ && held_bytes_ / room_ < options_.part_bytes);
  }

  void push(Part part) {
    held_bytes_ += part.text.size();
    {
      const std::lock_guard lock(mutex_);
      parts_.push_back(std::make_unique<Work>(Work{.part = std::move(part)}));
    }
    changed_.notify_one();
    // A text of one part needs one thread.
    if (parts_.size() == 1 || helpers_.size() + 1 >= thread_count_) return;
    try {
      helpers_.emplace_back([this](const std::stop_token& stop) { help(stop); });
    } catch (const std::system_error&) {
      thread_count_ = 0;  // the system has no more threads; the existing ones do the work
    }
  }

  /// The first part, encoded; null if there is none.
  std::unique_ptr<Work> take_front() {
    std::unique_lock lock(mutex_);
    if (parts_.empty()) return nullptr;
    while (!parts_.front()->is_done) {
      if (begun_ < parts_.size()) {
        encode_next(lock);
      } else {
        done_.wait(lock);
      }
    }
    std::unique_ptr<Work> work = std::move(parts_.front());
    parts_.pop_front();
    --begun_;
    held_bytes_ -= work->part.text.size();
    return work;
  }

  void help(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return begun_ < parts_.size(); }) &&
           !stop.stop_requested()) {
      encode_next(lock);
    }
  }

  void encode_next(std::unique_lock<std::mutex>& lock) {
    Work& work = *parts_[begun_++];
    lock.unlock();
    try {
      work.result = encode_part(tokenizer_, options_.with_ranges, work.part);
    } catch (...) {
      work.exception = std::current_exception();
    }
    lock.lock();
    work.is_done = true;
    if (&work == parts_.front().get()) done_.notify_one();
  }

  const Tokenizer& tokenizer_;
  const EncodeStreamOptions& options_;
  unsigned thread_count_;
  const std::size_t room_;
  std::size_t held_bytes_ = 0;  // only the thread that reads looks at it
  std::mutex mutex_;
  std::condition_variable_any changed_;      // there is a part to encode, or the work has ended
  std::condition_variable done_;             // the first part is done
  std::deque<std::unique_ptr<Work>> parts_;  // changed by the thread that reads, under the mutex
  std::size_t begun_ = 0;                    // so many of the first parts are encoded, or being so
  std::vector<std::jthread> helpers_;  // declared last: they end before the members that they use
};

}  // namespace

Result<void> encode_stream(const Tokenizer& tokenizer, const ReadText& read, const TakeTokens& take,
                           const EncodeStreamOptions& options) {
  PartReader reader(tokenizer, read, options);
  return Pipeline(tokenizer, options).run(reader, take);
}

}  // namespace ingot
