// SPDX-License-Identifier: MIT
#include "ingot/token_stream.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ingot/parallel.hpp"
#include "work/threads/ordered_pipeline.hpp"

namespace ingot {
namespace {

/// A part on its way from the reader to the taker.
struct Part {
  std::uint64_t begin = 0;
  std::string text;
  EncodeOptions options;
  TokenizedText tokens;
  Result<void> encoded = {};
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

constexpr unsigned max_threads = 16;

/// What a thread keeps from part to part.
struct Nothing {};

}  // namespace

Result<void> encode_stream(const Tokenizer& tokenizer, const ReadText& read, const TakeTokens& take,
                           const EncodeStreamOptions& options) {
  PartReader reader(tokenizer, read, options);
  Result<Part> first = reader.next();
  // A text of one part needs one thread.
  const unsigned threads = reader.is_done() ? 1 : threads_for(options.thread_count, max_threads);
  work::OrderedPipeline<Part, Nothing> pipeline(
      0, threads, [&](std::uint64_t, Part& part, Nothing&) {
        part.encoded = encode_part(tokenizer, options.with_ranges, part);
      });
  Result<void> are_read = {};
  std::size_t held_bytes = 0;
  const auto add = [&](Result<Part> part) {
    if (!part) {
      are_read = fail(std::move(part.error()));
      return;
    }
    held_bytes += part->text.size();
    pipeline.add(std::move(*part));
  };
  // Parts that had to grow are few at a time.
  const auto has_room = [&] {
    return pipeline.is_empty() ||
           (pipeline.has_room() && held_bytes / pipeline.size() < options.part_bytes);
  };
  add(std::move(first));
  while (true) {
    if (are_read && !reader.is_done() && has_room()) {
      add(reader.next());
      continue;
    }
    if (pipeline.is_empty()) return are_read;
    const Part part = std::move(pipeline.next());  // its memory ends with it
    pipeline.release();
    held_bytes -= part.text.size();
    INGOT_TRY_VOID(part.encoded);
    INGOT_TRY_VOID(take({part.begin, part.text, part.tokens.ids, part.tokens.ranges}));
  }
}

}  // namespace ingot
