// SPDX-License-Identifier: MIT
#include "commands/ls/listing.hpp"

#include <algorithm>
#include <cctype>
#include <ingot/types.hpp>
#include <utility>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "commands/json_members.hpp"
#include "commands/ls/listed_model.hpp"
#include "text/error_json.hpp"
#include "text/lower_case.hpp"
#include "text/name_match.hpp"

namespace ingot::cli {
namespace {

void write_model(JsonStream& json, const ListedModel& model) {
  const auto object = json.object(Layout::line);
  write_members(json, model);
  if (!model.is_verified) json.member("verified", false);
}

void sort_models(std::vector<ListedModel>& models, ListOrder order) {
  if (order == ListOrder::found) return;
  const auto number = [order](const ListedModel& model) {
    return order == ListOrder::size         ? model.file_bytes
           : order == ListOrder::parameters ? model.parameter_count.value_or(0)
                                            : model.context_length.value_or(0);
  };
  std::ranges::stable_sort(models, [&](const ListedModel& a, const ListedModel& b) {
    return order == ListOrder::name ? natural_less(a.file, b.file) : number(a) > number(b);
  });
}

/// The listing while it is gathered; JSON is written as it comes, unless it has to be sorted.
class Listing {
 public:
  Listing(Console& console, const ListRequest& request)
      : console_(console), request_(request), json_(console.out()) {
    if (console.is_json()) json_.begin_array();
  }
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  /// `shown` is the file's name in a line for people.
  bool add(const std::string& file, std::string shown) {
    const Result<Model> model = console_.open_model(file);
    if (!model) {
      if (console_.is_json()) write_error_json(json_, file, model.error());
      console_.finish(console_.fail(file, model.error()));
    } else {
      take(list_model(console_.is_json() ? file : shown, *model, console_.foreign()));
    }
    const bool is_full =
        request_.order == ListOrder::found && request_.limit != 0 && count_ >= request_.limit;
    return !is_full && console_.out().is_open() && stop_signal() == 0;
  }

  /// A model, whether it was opened or not.
  void take(ListedModel model) {
    ++count_;
    const bool is_cut = request_.order != ListOrder::found || request_.limit != 0;
    console_.is_json() && !is_cut ? write_model(json_, model) : models_.push_back(std::move(model));
  }

  void print() {
    sort_models(models_, request_.order);
    if (request_.limit != 0 && models_.size() > request_.limit) {
      models_.erase(models_.begin() + static_cast<std::ptrdiff_t>(request_.limit), models_.end());
    }
    if (console_.is_json()) {
      for (const ListedModel& model : models_) write_model(json_, model);
      return json_.end();
    }
    if (models_.empty()) return;
    request_.style == ListStyle::markdown ? print_models_markdown(console_, models_)
                                          : print_models(console_, models_);
  }

 private:
  Console& console_;
  ListRequest request_;
  std::uint64_t count_ = 0;
  JsonStream json_;
  std::vector<ListedModel> models_;
};

/// A path without the folder that was listed.
std::string below(const std::string& folder, const std::string& path) {
  std::string start = folder;
  if (!start.ends_with('/')) start += '/';
  return path.starts_with(start) ? path.substr(start.size()) : path;
}

/// The file type that a name has as a word of its own: the longest, so that Q4_K_M is no Q4_K.
std::string type_of_name(std::string_view name) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const std::string upper = upper_case(name.substr(name.rfind('/') + 1));
  std::string_view best;
  for (const FileTypeInfo& type : file_types) {
    const std::size_t at = upper.find(type.name);
    if (at == std::string::npos || type.name.size() < best.size()) continue;
    const std::size_t end = at + type.name.size();
    const bool is_word =
        (at == 0 || !is_letter(upper[at - 1])) && (end == upper.size() || !is_letter(upper[end]));
    if (is_word) best = type.name;
  }
  return std::string(best);
}

void list_repository(Console& console, Listing& listing, const std::string& place,
                     RepositoryHeads heads) {
  const Result<std::vector<RepositoryModel>> models = console.remote().list(console, place);
  if (!models) return console.finish(console.fail(place, models.error()));
  for (const RepositoryModel& model : *models) {
    if (heads == RepositoryHeads::fetched) {
      if (!listing.add(model.reference, model.name)) return;
      continue;
    }
    ListedModel listed;
    listed.file = console.is_json() ? model.reference : model.name;
    listed.type = type_of_name(model.name);
    listed.file_bytes = model.file_bytes;
    listing.take(std::move(listed));
  }
  if (!models->empty()) return;
  console.complain(place, "there is no model here: no file has a name that ends as that of one");
  console.finish(ExitCode::negative);
}

}  // namespace

void list_places(Console& console, std::span<const std::string> places, const ListRequest& request,
                 RepositoryHeads heads) {
  Listing listing(console, request);
  for (const std::string& place : places) {
    if (stop_signal() != 0 || !console.out().is_open()) break;
    if (console.remote().is_repository(place)) {
      list_repository(console, listing, place, heads);
      continue;
    }
    if (!is_folder(place)) {
      listing.add(place, place);
      continue;
    }
    const FolderCounts counts = for_each_model(
        console, place,
        [&](const std::string& file) {
          return listing.add(file, places.size() == 1 ? below(place, file) : file);
        },
        [](const std::string&, const std::string&) {});
    if (counts.models != 0) continue;
    console.complain(place, "there is no model here: no file has a name that ends in .gguf");
    console.finish(ExitCode::negative);
  }
  listing.print();
}

}  // namespace ingot::cli
