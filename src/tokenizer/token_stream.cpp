// SPDX-License-Identifier: MIT
#include "ingot/token_stream.hpp"

#include <algorithm>
#include <string>
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
constexpr std::size_t max_parts = 16;

}  // namespace

Result<void> encode_stream(const Tokenizer& tokenizer, const ReadText& read, const TakeTokens& take,
                           const EncodeStreamOptions& options) {
  PartReader reader(tokenizer, read, options);
  const std::size_t batch_parts = std::min<std::size_t>(
      std::size_t{2} * threads_for(options.thread_count, max_parts), max_parts);
  while (!reader.is_done()) {
    std::vector<Part> batch;
    std::size_t batch_bytes = 0;
    // Parts that had to grow are few at a time.
    while (!reader.is_done() && batch.size() < batch_parts &&
           batch_bytes < batch_parts * options.part_bytes) {
      INGOT_TRY(Part part, reader.next());
      batch_bytes += part.text.size();
      batch.push_back(std::move(part));
    }
    INGOT_TRY_VOID(
        spread(batch.size(), 1, options.thread_count, [&](std::uint64_t first, std::uint64_t) {
          return encode_part(tokenizer, options.with_ranges, batch[first]);
        }));
    for (const Part& part : batch) {
      INGOT_TRY_VOID(take({part.begin, part.text, part.tokens.ids, part.tokens.ranges}));
    }
  }
  return {};
}

}  // namespace ingot
