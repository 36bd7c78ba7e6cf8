// SPDX-License-Identifier: MIT
// Manifests of llama-gguf-hash and of sha256sum, with and without --tag and escapes, pointers of
// Git LFS, and digests that stand alone.
//
// A line of the first kind is (printf) "%-8s  %-s  %s": algorithm, digits, then FILE for the
// weights of a whole model or FILE:TENSOR. Nothing separates the two but a colon, which both may
// hold; files mostly end in .gguf.

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/hexadecimal.hpp"
#include "compare/manifest_builder.hpp"

namespace ingot {

Failure fail_manifest(std::string_view where, std::string detail) {
  return fail(Errc::manifest_invalid, std::string(where), std::move(detail));
}

namespace {

constexpr std::string_view uuid_name = "uuid";
constexpr std::string_view gguf_ending = ".gguf";

std::optional<std::string> lower_hexadecimal(std::string_view text) {
  std::string digits = lower_case(text);
  return is_hexadecimal(digits, digits.size()) ? std::optional(digits) : std::nullopt;
}

struct Target {
  std::string_view file;
  std::optional<std::string_view> tensor;
};

Target split_target(std::string_view text) {
  const std::string ending_and_colon = std::string(gguf_ending) + ":";
  std::size_t colon = text.find(ending_and_colon);
  if (colon != std::string_view::npos) {
    colon += gguf_ending.size();
  } else if (text.ends_with(gguf_ending)) {
    return {text, std::nullopt};
  } else {
    colon = text.rfind(':');
  }
  if (colon == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

/// Takes the text up to the first blank, and the blanks after it, off the line.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  return word;
}

/// The content of a line that names its algorithm.
struct TaggedDigest {
  const DigestAlgorithmInfo* algorithm = nullptr;
  std::string_view file;  ///< The file; empty for a digest alone.
  std::string_view digits;
};

/// `SHA256 (FILE) = DIGITS`, as the tools of BSD and `sha256sum --tag` write it.
std::optional<TaggedDigest> read_bsd_line(std::string_view line) {
  constexpr std::string_view middle = ") = ";
  const std::size_t open = line.find(" (");
  const std::size_t close = line.rfind(middle);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return std::nullopt;
  }
  const DigestAlgorithmInfo* algorithm = find_digest_algorithm(lower_case(line.substr(0, open)));
  if (algorithm == nullptr) return std::nullopt;
  return TaggedDigest{algorithm, line.substr(open + 2, close - open - 2),
                      line.substr(close + middle.size())};
}

/// `sha256:DIGITS`
std::optional<TaggedDigest> read_prefixed(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const DigestAlgorithmInfo* algorithm = find_digest_algorithm(lower_case(word.substr(0, colon)));
  if (algorithm == nullptr) return std::nullopt;
  return TaggedDigest{algorithm, {}, word.substr(colon + 1)};
}

/// A name of a line that sha256sum begins with a backslash: it has escapes.
Result<std::string> unescaped(std::string_view name) {
  constexpr std::string_view letters = "\\nr";
  constexpr std::string_view meanings = "\\\n\r";
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '\\') {
      text += name[i];
      continue;
    }
    const std::size_t letter = ++i < name.size() ? letters.find(name[i]) : letters.npos;
    if (letter == letters.npos) return fail_manifest(name, "an escape that is not known");
    text += meanings[letter];
  }
  return text;
}

class LineReader {
 public:
  Result<void> read(std::string_view line) {
    if (line.starts_with(pointer_beginning)) is_pointer_ = true;
    if (is_pointer_) return read_pointer(line);
    const bool is_escaped = line.starts_with('\\');
    if (is_escaped) line.remove_prefix(1);
    if (auto tagged = read_bsd_line(line)) {
      INGOT_TRY(tagged->file, own_name(tagged->file, is_escaped));
      return put_tagged(*tagged);
    }
    const std::string_view first = take_word(line);
    if (auto prefixed = read_prefixed(first)) {
      prefixed->file = line;
      return put_tagged(*prefixed);
    }
    if (const DigestAlgorithmInfo* sum = find_sum(first)) {
      if (line.starts_with('*')) line.remove_prefix(1);  // read in binary mode
      INGOT_TRY(line, own_name(line, is_escaped));
      return put_digest(building_of(line).entry.digests, *sum, first, line);
    }
    const std::string_view digits = take_word(line);
    if (line.empty()) return fail_manifest(first, "a line with less than three words");
    const DigestAlgorithmInfo* algorithm = find_digest_algorithm(first);
    if (algorithm == nullptr && first != uuid_name) {
      // A text without a digest is no manifest.
      if (!lower_hexadecimal(digits)) return fail_manifest(digits, "not a digest");
      return {};
    }
    const Target target = split_target(line);
    Building& model = building_of(target.file);
    if (algorithm == nullptr) {
      INGOT_TRY(model.entry.uuid, normal_uuid(digits, target.file));
      return {};
    }
    DigestSet& digests = target.tensor ? tensor_of(model, *target.tensor) : model.entry.weights;
    return put_digest(digests, *algorithm, digits, line);
  }

  Result<std::vector<ManifestEntry>> take() {
    if (models_.empty()) return fail_manifest({}, "it has no digest that is known");
    std::vector<ManifestEntry> entries;
    entries.reserve(models_.size());
    for (Building& model : models_) entries.push_back(std::move(model.entry));
    return entries;
  }

 private:
  using Positions =
      std::unordered_map<std::string_view, std::size_t>;  // views into the text, or names_

  struct Building {
    ManifestEntry entry;
    Positions tensors;
  };

  /// The name of a line; valid as long as the text and this.
  Result<std::string_view> own_name(std::string_view name, bool is_escaped) {
    if (!is_escaped) return name;
    INGOT_TRY(std::string text, unescaped(name));
    return names_.emplace_back(std::move(text));
  }

  /// sha256sum and sha1sum name no algorithm: the length does.
  static const DigestAlgorithmInfo* find_sum(std::string_view word) {
    if (!lower_hexadecimal(word)) return nullptr;
    for (const DigestAlgorithm algorithm : {DigestAlgorithm::sha256, DigestAlgorithm::sha1}) {
      const DigestAlgorithmInfo& info = info_of(algorithm);
      if (word.size() == 2 * info.digest_bytes) return &info;
    }
    return nullptr;
  }

  /// A line of a pointer of Git LFS, which stands for one file without a name.
  Result<void> read_pointer(std::string_view line) {
    constexpr std::string_view digest = "oid ";
    if (!line.starts_with(digest)) return {};
    const auto tagged = read_prefixed(line.substr(digest.size()));
    if (!tagged) return fail_manifest(line, "not a digest that is known");
    return put_tagged(*tagged);
  }

  Result<void> put_tagged(const TaggedDigest& tagged) {
    return put_digest(building_of(tagged.file).entry.digests, *tagged.algorithm, tagged.digits,
                      tagged.file.empty() ? tagged.digits : tagged.file);
  }

  Building& building_of(std::string_view file) {
    const auto [found, is_new] = positions_.try_emplace(file, models_.size());
    if (is_new) {
      models_.emplace_back();
      models_.back().entry.file = file;
    }
    return models_[found->second];
  }

  static DigestSet& tensor_of(Building& model, std::string_view name) {
    std::vector<NamedDigests>& tensors = model.entry.tensors;
    const auto [found, is_new] = model.tensors.try_emplace(name, tensors.size());
    if (is_new) tensors.push_back({std::string(name), {}});
    return tensors[found->second].digests;
  }

  static constexpr std::string_view pointer_beginning = "version https://git-lfs";

  std::deque<std::string> names_;  // that were escaped; they stay where they are
  std::vector<Building> models_;
  Positions positions_;
  bool is_pointer_ = false;
};

}  // namespace

Result<void> put_digest(DigestSet& digests, const DigestAlgorithmInfo& algorithm,
                        std::string_view digits, std::string_view where) {
  std::optional<std::string> lower = lower_hexadecimal(digits);
  if (!lower || digits.size() != 2 * algorithm.digest_bytes) {
    return fail_manifest(where, "a digest by " + std::string(algorithm.name) + " has " +
                                    std::to_string(2 * algorithm.digest_bytes) +
                                    " hexadecimal digits");
  }
  std::string& place = digests[algorithm.algorithm];
  if (!place.empty() && place != *lower) {
    return fail_manifest(where, "two different digests by " + std::string(algorithm.name));
  }
  place = *std::move(lower);
  return {};
}

Result<std::string> normal_uuid(std::string_view text, std::string_view where) {
  constexpr std::string_view pattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  std::string digits(text);
  bool is_right = text.size() == pattern.size();
  for (std::size_t i = 0; is_right && i < pattern.size(); ++i) {
    is_right = (text[i] == '-') == (pattern[i] == '-');
  }
  std::erase(digits, '-');
  std::optional<std::string> lower = lower_hexadecimal(digits);
  if (!is_right || !lower) return fail_manifest(where, "not a UUID");
  for (const std::size_t dash : {20u, 16u, 12u, 8u}) lower->insert(dash, 1, '-');
  return *std::move(lower);
}

Result<std::vector<ManifestEntry>> parse_manifest_lines(std::string_view text) {
  LineReader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    INGOT_TRY_VOID(reader.read(line));
  }
  return reader.take();
}

}  // namespace ingot
