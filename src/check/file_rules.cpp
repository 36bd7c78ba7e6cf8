// SPDX-License-Identifier: MIT
// Rules about a file as such: versions, alignment, what lies between and after the tensors.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/messages.hpp"
#include "check/rules.hpp"
#include "format/parse.hpp"
#include "ingot/layout_index.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"

namespace ingot::check::rules {
namespace {

using Files = std::span<const ModelFile>;

/// The tensors of a file by ascending offset; those without data come before one that begins there.
std::vector<const TensorInfo*> by_offset(const ModelFile& file) {
  std::vector<const TensorInfo*> sorted(file.tensors.size());
  std::transform(file.tensors.begin(), file.tensors.end(), sorted.begin(),
                 [](const TensorInfo& tensor) { return &tensor; });
  const auto before = [](const TensorInfo* a, const TensorInfo* b) {
    if (a->data_offset != b->data_offset) return a->data_offset < b->data_offset;
    return a->size_bytes < b->size_bytes;
  };
  if (!std::ranges::is_sorted(sorted, before)) {
    std::ranges::stable_sort(sorted, before);
  }
  return sorted;
}

/// Where the data of a file ends without any padding; all tensors lie within the file.
std::uint64_t end_of_data(const ModelFile& file) {
  return format::end_of_data(file.header_bytes, file.data_offset, file.tensors);
}

/// `position` with the padding after it, no further than the end of the file.
std::uint64_t padded(std::uint64_t position, const ModelFile& file) {
  return std::min(checked_align_up(position, file.alignment).value_or(file.file_bytes),
                  file.file_bytes);
}

/// A run of bytes that belongs to nothing.
struct Filler {
  std::uint64_t begin;
  std::uint64_t end;
  const char* name;
};

/// Everything between the header, the tensors and the end of their padding, by position.
std::vector<Filler> fillers(const ModelFile& file) {
  std::vector<Filler> found;
  std::uint64_t position = file.header_bytes;
  const char* name = "the padding before the data";
  const auto add = [&](std::uint64_t end) {
    if (end > position) found.push_back({position, end, name});
  };
  for (const TensorInfo* tensor : by_offset(file)) {
    if (tensor->size_bytes == 0) continue;
    add(file.data_offset + tensor->data_offset);
    position = file.data_offset + tensor->data_offset + tensor->size_bytes;
    name = "what lies between two tensors";
  }
  if (!file.tensors.empty()) name = "the padding after the last tensor";
  add(padded(position, file));
  return found;
}

/// Calls use(offset) for the first byte of the filler that is not zero. `budget_bytes` bounds what
/// is read; it is lowered.
void find_non_zero(Inspection& inspection, std::size_t file, const Filler& filler,
                   std::uint64_t& budget_bytes, const std::function<void(std::uint64_t)>& use) {
  std::vector<std::byte> buffer;
  for (std::uint64_t at = filler.begin; at < filler.end && budget_bytes != 0;) {
    const std::uint64_t wanted = std::min({filler.end - at, std::uint64_t{1} << 18, budget_bytes});
    buffer.resize(static_cast<std::size_t>(wanted));
    const Result<void> read = inspection.model().read_file_bytes(file, at, buffer);
    if (!read && read.error().code == Errc::not_mapped) return;  // a pipe, which is gone
    if (!read) return inspection.keep_failure(read.error());
    const auto odd =
        std::ranges::find_if(buffer, [](std::byte byte) { return byte != std::byte{0}; });
    if (odd != buffer.end()) return use(at + static_cast<std::uint64_t>(odd - buffer.begin()));
    at += wanted;
    budget_bytes -= wanted;
  }
}

/// Whether a loader that adds up padded sizes, tensor by tensor, finds every tensor.
bool is_sequential(const ModelFile& file, bool by_position) {
  std::uint64_t expected = 0;
  const auto fits = [&](const TensorInfo& tensor) {
    if (tensor.data_offset != expected) return false;
    expected = checked_align_up(expected + tensor.size_bytes, file.alignment).value_or(expected);
    return true;
  };
  if (!by_position) return std::ranges::all_of(file.tensors, fits);
  const std::vector<const TensorInfo*> sorted = by_offset(file);
  return std::ranges::all_of(sorted, [&](const TensorInfo* tensor) { return fits(*tensor); });
}

bool is_in_order(const ModelFile& file) {
  return std::ranges::is_sorted(file.tensors, [](const TensorInfo& a, const TensorInfo& b) {
    return a.data_offset < b.data_offset;
  });
}

template <class Use>
void for_each_file(const Inspection& inspection, const Use& use) {
  const Files files = inspection.model().files();
  for (std::size_t i = 0; i < files.size(); ++i) use(files[i], i);
}

}  // namespace

void old_magic(Inspection& inspection) {
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    if (file.has_old_magic) inspection.report({.file_offset = 0, .file = i}, "the magic is FUGG");
  });
}

void journal_beside(Inspection& inspection) {
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    for (const Error& notice : inspection.model().notices()) {
      // By another name the subject is what a link leads to.
      const bool is_about_file =
          inspection.model().files().size() == 1 || notice.subject.starts_with(file.path);
      if (notice.code == Errc::edit_unfinished && is_about_file) {
        inspection.report({.file = i},
                          "an edit was cut off: Ingot sees the file as it was before, through the "
                          "journal, and other programs see what is in it");
      }
      if (notice.code == Errc::journal_ignored && is_about_file) {
        inspection.report({.file = i},
                          "\"" + escape(notice.subject) + "\" is ignored: " + notice.detail);
      }
    }
  });
}

void index_wrong(Inspection& inspection) {
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    const bool has_index = std::ranges::any_of(
        file.metadata, [](const KeyValue& entry) { return entry.key == layout_index_key; });
    const Result<void> verified =
        has_index ? verify_layout_index(inspection.model(), i) : Result<void>();
    if (!verified) {
      inspection.report({.key = layout_index_key, .file = i},
                        verified.error().detail + "; a reader that uses it sees something else");
    }
  });
}

void old_version(Inspection& inspection) {
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    if (file.version == 1) inspection.report({.file_offset = 4, .file = i}, "it is version 1");
  });
}

void version1_value_type(Inspection& inspection) {
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (inspection.model().files()[file].version != 1) return;
    ValueType type = entry.value.type();
    if (type == ValueType::array) type = entry.value.as_array().element_type();
    if (type == ValueType::uint64 || type == ValueType::int64 || type == ValueType::float64) {
      inspection.report_key(entry, "a " + std::string(name_of(type)) + " in a file of version 1",
                            file);
    }
  });
}

void foreign_format(Inspection& inspection) {
  if (inspection.is_foreign()) inspection.report_model("loaders of GGUF files refuse it");
}

void big_endian(Inspection& inspection) {
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    if (file.byte_order == Endian::big) {
      inspection.report({.file_offset = 4, .file = i}, "the file is big-endian");
    }
  });
}

void trailing_nul(Inspection& inspection) {
  for (const Error& notice : inspection.model().notices()) {
    if (notice.code == Errc::trailing_nul_stripped) {
      inspection.report_model("strings count a trailing NUL byte, as some writers of 2023 did");
    }
  }
}

void alignment_not_portable(Inspection& inspection) {
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    if (std::has_single_bit(file.alignment)) return;
    inspection.report({.key = keys::general_alignment, .file = i},
                      "the alignment is " + std::to_string(file.alignment));
  });
}

void alignment_huge(Inspection& inspection) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 20;
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    if (file.alignment <= max_bytes) return;
    inspection.report({.key = keys::general_alignment, .file = i},
                      "the alignment is " + format_bytes(file.alignment));
  });
}

void data_order(Inspection& inspection) {
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    if (is_in_order(file)) return;
    inspection.report({.file_offset = file.data_offset, .file = i},
                      "data is not in the order of the tensor table");
  });
}

void data_gap(Inspection& inspection) {
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    if (is_sequential(file, false) || is_sequential(file, true)) return;
    inspection.report({.file_offset = file.data_offset, .file = i},
                      "there are gaps between tensors that are larger than padding");
  });
}

void final_padding(Inspection& inspection) {
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    if (file.tensors.empty()) return;
    const std::uint64_t end = end_of_data(file);
    const std::uint64_t wanted = checked_align_up(end, file.alignment).value_or(end);
    if (file.file_bytes >= wanted) return;
    const std::uint64_t missing = wanted - file.file_bytes;
    inspection.report({.file_offset = file.file_bytes, .file = i},
                      plural(missing, "byte") + " of padding " + (missing == 1 ? "is" : "are") +
                          " missing at the end");
  });
}

void padding_not_zero(Inspection& inspection) {
  // Padding is short, gaps need not be: without the weights, they are only looked into.
  std::uint64_t budget_bytes = inspection.has_data() ? ~std::uint64_t{0} : std::uint64_t{4} << 20;
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    for (const Filler& filler : fillers(file)) {
      find_non_zero(inspection, i, filler, budget_bytes, [&](std::uint64_t offset) {
        inspection.report({.file_offset = offset, .file = i},
                          std::string(filler.name) + " is not zero");
      });
    }
  });
}

void trailing_data(Inspection& inspection) {
  for_each_file(inspection, [&](const ModelFile& file, std::size_t i) {
    const std::uint64_t end = padded(end_of_data(file), file);
    if (file.file_bytes <= end) return;
    const std::uint64_t trailing = file.file_bytes - end;
    std::string message = plural(trailing, "byte") + (trailing == 1 ? " follows" : " follow") +
                          " the " + (file.tensors.empty() ? "metadata" : "last tensor");
    std::vector<std::byte> head(
        static_cast<std::size_t>(std::min<std::uint64_t>(512, file.file_bytes - end)));
    if (inspection.model().read_file_bytes(i, end, head)) {
      const std::string_view content = identify_content(head, file.file_bytes - end);
      if (!content.empty()) message += "; they look like " + std::string(content);
    }
    inspection.report({.file_offset = end, .file = i}, std::move(message));
  });
}

}  // namespace ingot::check::rules
