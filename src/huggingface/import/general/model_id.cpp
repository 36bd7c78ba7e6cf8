// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "base/real_number.hpp"
#include "base/strings.hpp"
#include "ingot/model_card.hpp"

namespace ingot {
namespace {

/// Bytes of characters beyond ASCII do.
bool counts_as_letter(char c) { return is_letter(c) || static_cast<unsigned char>(c) >= 0x80; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F); }

/// Takes a match of a pattern from the front of a text in lower case.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool take_any(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == characters.npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Takes one digit or more.
  bool take_number() {
    const std::string_view before = rest_;
    while (!rest_.empty() && is_digit(rest_.front())) rest_.remove_prefix(1);
    return rest_.size() < before.size();
  }
  [[nodiscard]] bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

/// (v|iter)?\d+([.]\d+)*
bool is_version(std::string_view text) {
  Scanner scanner(text);
  if (!scanner.take("iter")) scanner.take("v");
  do {
    if (!scanner.take_number()) return false;
  } while (scanner.take("."));
  return scanner.is_at_end();
}

/// i?q\d(_\w)*|b?fp?(16|32)
bool is_encoding(std::string_view text) {
  Scanner floating(text);
  floating.take("b");
  if (floating.take("f")) {
    floating.take("p");
    if ((floating.take("16") || floating.take("32")) && floating.is_at_end()) return true;
  }
  Scanner quantized(text);
  quantized.take("i");
  if (!quantized.take("q") || !quantized.take_any("0123456789")) return false;
  while (quantized.take("_")) {
    if (!quantized.take_any("abcdefghijklmnopqrstuvwxyz0123456789_")) return false;
  }
  return quantized.is_at_end();
}

/// \d+([._]\d+)?[KMBT][\d]?, to the end
bool take_count(Scanner& scanner) {
  if (!scanner.take_number()) return false;
  if (scanner.take_any("._") && !scanner.take_number()) return false;
  if (!scanner.take_any("kmbt")) return false;
  scanner.take_any("0123456789");
  return scanner.is_at_end();
}

/// A\d+([._]\d+)?[KMBT][\d]?: the parameters that a token uses
bool is_active_size(std::string_view text) {
  Scanner scanner(text);
  return scanner.take("a") && take_count(scanner);
}

/// ([A]|\d+[x])?\d+([._]\d+)?[KMBT][\d]?, or a word
bool is_size(std::string_view text) {
  constexpr std::array<std::string_view, 6> words = {"small", "mini", "medium",
                                                     "large", "xl",   "xxl"};
  if (std::ranges::find(words, text) != words.end()) return true;
  Scanner scanner(text);
  if (!scanner.take("a")) {
    Scanner experts = scanner;
    if (experts.take_number() && experts.take("x")) scanner = experts;
  }
  return take_count(scanner);
}

bool is_finetune(std::string_view text) {
  constexpr std::array<std::string_view, 4> words = {"chat", "instruct", "vision", "lora"};
  return std::ranges::find(words, text) != words.end();
}

enum Mark : unsigned { basename = 1, size = 2, finetune = 4, version = 8, encoding = 16 };

struct Part {
  std::string text;
  unsigned marks = 0;
};

std::vector<Part> split(std::string_view name) {
  std::vector<Part> parts;
  while (!name.empty()) {
    const std::string_view part = take_part(name, '-');
    if (!part.empty()) parts.push_back({std::string(part)});
  }
  return parts;
}

/// "7b1" is "7.1B", "1_5b" is "1.5B".
std::string plain_size(std::string text) {
  std::ranges::replace(text, '_', '.');
  if (is_digit(text.back())) {
    const std::string tail = {'.', text.back(), text[text.size() - 2]};
    text.replace(text.size() - 2, 2, tail);
  }
  if (text.size() > 1 && is_digit(text[text.size() - 2]) && is_lower(text.back())) {
    text.back() = static_cast<char>(text.back() - 'a' + 'A');
  }
  return text;
}

/// The number that a plain size stands for; nothing for "8x7B", "A3B" and "xl".
std::optional<double> number_of(std::string_view size) {
  double number = 0;
  const char* const end = size.data() + size.size() - 1;
  const auto [stop, error] = read_real(size.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  constexpr std::string_view units = "KMBT";
  for (std::size_t i = 0; i <= std::min(units.find(size.back()), units.size() - 1); ++i) {
    number *= 1000;
  }
  return number;
}

/// Whether the distance of a number from that of the parameters is more than seven eighths of it.
bool is_distant(double number, std::uint64_t parameter_count) {
  // Rounded down, without an overflow.
  const std::uint64_t bound = 7 * (parameter_count / 8) + 7 * (parameter_count % 8) / 8;
  return std::abs(number - static_cast<double>(parameter_count)) > static_cast<double>(bound);
}

/// Whether a size is too far from the number of parameters to be that of the model; then it is
/// likely a context length.
///
/// @param next  the part after it. In "26B-A4B" the parameters may be those that a token uses.
bool is_far(std::string_view size, std::string_view next, std::int64_t parameter_count) {
  const std::optional<double> number = number_of(size);
  if (!number) return false;
  const auto total = parameter_count < 0 ? 0 - static_cast<std::uint64_t>(parameter_count)
                                         : static_cast<std::uint64_t>(parameter_count);
  if (is_active_size(lower_case(next))) {
    const std::string active = plain_size(std::string(next.substr(1)));
    const std::optional<double> used = number_of(active);
    if (used && !is_distant(*used, total)) return false;
  }
  // An adapter need not have all layers.
  if (parameter_count < 0) return *number < static_cast<double>(total / 8);
  return is_distant(*number, total);
}

void mark_size(Part& part, std::string_view next, std::int64_t parameter_count) {
  part.text = plain_size(std::move(part.text));
  if (parameter_count != 0 && is_far(part.text, next, parameter_count)) {
    part.marks |= finetune;
    part.text.back() = lower_case(part.text.back());
  } else {
    part.marks |= size;
  }
}

void mark(std::vector<Part>& parts, std::int64_t parameter_count) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    const std::string lower = lower_case(std::string_view(part.text));
    if (is_version(lower)) {
      part.marks |= version;
    } else if (is_encoding(lower)) {
      part.marks |= encoding;
      for (char& c : part.text) c = is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    } else if (i > 0 && is_size(lower)) {
      mark_size(part, i + 1 < parts.size() ? parts[i + 1].text : std::string_view(),
                parameter_count);
    } else if (i > 0 && is_finetune(lower)) {
      // An adapter is one anyway.
      part.marks |= parameter_count < 0 && lower == "lora" ? encoding : finetune;
    }
  }
}

/// Words are no sizes where there is a size with digits.
void unmark_size_words(std::vector<Part>& parts) {
  const auto has_digit = [](const Part& part) {
    return (part.marks & size) != 0 && std::ranges::any_of(part.text, ingot::is_digit);
  };
  if (std::ranges::none_of(parts, has_digit)) return;
  for (Part& part : parts) {
    if (!has_digit(part)) part.marks &= ~unsigned{size};
  }
}

void mark_basename(std::vector<Part>& parts) {
  bool is_start = true;
  for (Part& part : parts) {
    const bool is_plain = part.marks == 0;
    is_start = is_start &&
               ((is_plain && counts_as_letter(part.text.front())) || (part.marks & version) != 0);
    if (is_start) {
      part.marks |= basename;
    } else if (is_plain) {
      part.marks |= finetune;
    }
  }
  // Versions at the end do not belong to it.
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if ((part->marks & basename) == 0 || part->marks == basename) break;
    part->marks &= ~unsigned{basename};
  }
}

/// The texts of the parts that a mark is on, and another is not, joined with "-".
std::optional<std::string> join(const std::vector<Part>& parts, unsigned wanted, unsigned unwanted,
                                bool is_unique = false) {
  std::vector<std::string_view> texts;
  for (const Part& part : parts) {
    if ((part.marks & wanted) == 0 || (part.marks & unwanted) != 0) continue;
    if (is_unique && std::ranges::find(texts, part.text) != texts.end()) continue;
    texts.push_back(part.text);
  }
  if (texts.empty()) return std::nullopt;
  return joined(texts, "-");
}

/// v\d+(\.\d+)*|\d.*
bool keeps_its_case(std::string_view word) {
  return is_digit(word.front()) || (word.front() == 'v' && is_version(word));
}

std::string title_word(std::string_view word) {
  std::string title(word);
  const bool is_lower_case =
      std::ranges::any_of(word, is_lower) && std::ranges::none_of(word, is_upper);
  if (!is_lower_case || keeps_its_case(word)) return title;
  bool follows_letter = false;
  for (char& c : title) {
    if (is_lower(c) && !follows_letter) c = static_cast<char>(c - 'a' + 'A');
    follows_letter = counts_as_letter(c);
  }
  return title;
}

}  // namespace

ModelId parse_model_id(std::string_view id, std::int64_t parameter_count) {
  ModelId result;
  result.full_name = id;
  if (id.find(' ') != id.npos) return result;  // a name for people
  const std::size_t slash = id.find('/');
  if (slash != id.npos) {
    if (!id.starts_with('.')) result.organization = id.substr(0, slash);
    result.full_name = id.substr(slash + 1);
  }
  std::vector<Part> parts = split(result.full_name);
  mark(parts, parameter_count);
  unmark_size_words(parts);
  mark_basename(parts);
  result.size_label = join(parts, size, 0, true);
  result.finetune = join(parts, finetune, 0);
  result.version = join(parts, version, basename);
  // A single part may be anything.
  if (result.size_label || result.finetune || result.version) {
    result.basename = join(parts, basename, 0);
  }
  return result;
}

std::string model_title(std::string_view name) {
  std::string title;
  std::size_t i = 0;
  const auto separates = [&](std::size_t at) { return name[at] == '-' || is_blank(name[at]); };
  while (i < name.size()) {
    if (separates(i)) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < name.size() && !separates(end)) ++end;
    if (!title.empty()) title += ' ';
    title += title_word(name.substr(i, end - i));
    i = end;
  }
  return title;
}

}  // namespace ingot
