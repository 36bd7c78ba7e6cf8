// SPDX-License-Identifier: MIT
#include "commands/catalog/catalog_crawl.hpp"

#include <fmt/core.h>
#include <ingot/version.h>

#include <cerrno>
#include <filesystem>
#include <ingot/digest.hpp>
#include <ingot/parallel.hpp>
#include <ingot/shard_name.hpp>
#include <ingot/text.hpp>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "commands/catalog/catalog_record.hpp"
#include "commands/catalog/catalog_writer.hpp"
#include "system/system.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// A file, a folder or a repository that was added.
struct Place {
  std::string path;  ///< Absolute, or a reference.
  bool has_digests = false;
};

struct Counts {
  std::uint64_t read = 0;
  std::uint64_t unchanged = 0;
  std::uint64_t dropped = 0;
  std::uint64_t refused = 0;  ///< Of those that were read.
  std::uint64_t failed = 0;
};

/// The state of the files of a model (CatalogUnit::state); also counts their bytes.
std::string state_of(CatalogUnit& unit) {
  std::string text = INGOT_VERSION_STRING;
  for (const std::string& path : unit.files) {
    system::FileFacts facts;
    if (!system::look_at(path, facts)) continue;
    unit.size_bytes += facts.size_bytes;
    text += fmt::format(" {} {} {}", facts.size_bytes, facts.modified_ns, facts.inode);
  }
  return digest_of(DigestAlgorithm::xxh3_128, std::as_bytes(std::span(text)));
}

CatalogUnit unit_of_file(const std::string& path, bool with_digests) {
  CatalogUnit unit = {.path = path, .files = files_of_set(path), .with_digests = with_digests};
  if (unit.files.empty()) unit.files = {path};
  unit.state = state_of(unit);
  return unit;
}

/// The name of a file or of the set that it is a shard of.
std::string model_name(const std::string& path) {
  const std::optional<ShardName> shard = parse_shard_name(path);
  return shard ? shard_file_name(shard->prefix, 0, shard->count) : path;
}

bool is_gone(const std::string& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::symlink_status(path, ignored).type();
  return kind == std::filesystem::file_type::not_found;
}

class Crawl {
 public:
  Crawl(Console& console, const CatalogFile& file, CatalogWriter& writer)
      : console_(console), file_(file), writer_(writer) {}

  /// Finds the models of a place, reads those that are new and drops those that are gone.
  Result<void> visit(const Place& place) {
    RemoteModels& remote = console_.remote();
    units_.clear();
    const bool is_organisation =
        place.path.starts_with("hf:") && place.path.find('/') == std::string::npos;
    if (is_organisation && remote.is_meant(place.path)) {
      INGOT_TRY(const std::vector<std::string> names, remote.repositories(place.path));
      for (const std::string& name : names) INGOT_TRY_VOID(visit({name}));
      return {};
    }
    if (remote.is_repository(place.path)) return visit_repository(place.path);
    if (remote.is_meant(place.path)) {
      units_.push_back({.path = place.path, .reference = place.path});
      return read_all();
    }
    Result<void> known;
    const auto add = [&](const std::string& path) {
      known = add_unit(unit_of_file(path, place.has_digests));
      return known.has_value() && stop_signal() == 0;
    };
    if (is_folder(place.path)) {
      for_each_model(console_, place.path, add, [](const std::string&, const std::string&) {});
    } else if (!is_gone(place.path)) {
      add(place.path);
    }
    INGOT_TRY_VOID(known);
    INGOT_TRY_VOID(read_all());
    return drop(place.path, is_gone);
  }

  /// What was done; the status of the program.
  ExitCode report(const std::string& path) {
    if (console_.is_json()) {
      JsonStream json(console_.out());
      const auto object = json.object();
      json.member("catalog", path);
      json.member("read", counts_.read);
      json.member("unchanged", counts_.unchanged);
      json.member("dropped", counts_.dropped);
      json.member("refused", counts_.refused);
      json.member("failed", counts_.failed);
      json.member("rows", writer_.row_count());
    } else if (!console_.is_quiet()) {
      console_.out().print("{}: {} read, {} unchanged, {} dropped", escape(path),
                           plural(counts_.read, "file", "files"), format_digits(counts_.unchanged),
                           format_digits(counts_.dropped));
      if (counts_.refused != 0)
        console_.out().print("; {} refused", format_digits(counts_.refused));
      if (counts_.failed != 0) console_.out().print("; {} failed", format_digits(counts_.failed));
      console_.out().put('\n');
    }
    return code_;
  }

 private:
  Result<void> add_unit(CatalogUnit unit) {
    INGOT_TRY(const bool is_known, writer_.has(unit));
    if (is_known) {
      const std::optional<ShardName> shard = parse_shard_name(unit.path);
      counts_.unchanged += !unit.files.empty() ? unit.files.size() : shard ? shard->count : 1;
    } else {
      units_.push_back(std::move(unit));
    }
    return {};
  }

  Result<void> visit_repository(const std::string& place) {
    INGOT_TRY(const std::vector<RepositoryModel> models, console_.remote().list(console_, place));
    std::set<std::string> seen;
    for (const RepositoryModel& model : models) {
      if (!is_model_name(model.name)) continue;
      seen.insert(model_name(model.plain_reference));
      const std::string version = INGOT_VERSION_STRING " " + model.version;
      INGOT_TRY_VOID(add_unit(
          {.path = model.plain_reference,
           .reference = model.reference,
           .size_bytes = model.file_bytes,
           .state = digest_of(DigestAlgorithm::xxh3_128, std::as_bytes(std::span(version)))}));
    }
    INGOT_TRY_VOID(read_all());
    return drop(place, [&](const std::string& path) { return !seen.contains(model_name(path)); });
  }

  /// Reads the models that were found, by all threads. Rows are written by one at a time, while the
  /// others read on.
  Result<void> read_all() {
    std::uint64_t total_bytes = 0;
    std::uint64_t done_bytes = 0;
    for (const CatalogUnit& unit : units_) total_bytes += unit.size_bytes;
    Progress progress(console_, "catalog", total_bytes);
    const OpenOptions options = console_.open_options(FileAccess::read);
    const OpenUnit open = [&](const CatalogUnit& unit, bool is_lenient) -> Result<Model> {
      OpenOptions chosen = options;
      chosen.is_lenient |= is_lenient;
      if (unit.reference.empty()) return Model::open(unit.path, chosen);
      return console_.remote().open_beside(unit.reference, chosen);
    };
    std::mutex mutex;
    const auto read = [&](std::uint64_t i, std::uint64_t) -> Result<void> {
      const CatalogUnit& unit = units_[i];
      if (stop_signal() != 0) return fail(Errc::interrupted, unit.path);
      INGOT_TRY(std::vector<FileRows> rows, read_unit(unit, open));
      const std::lock_guard lock(mutex);
      count(rows);
      progress.update(done_bytes += unit.size_bytes);
      return writer_.take(std::move(rows));
    };
    const Result<void> done = spread(units_.size(), 1, console_.threads(), read);
    INGOT_TRY_VOID(writer_.flush());
    return done;
  }

  void count(const std::vector<FileRows>& rows) {
    counts_.read += rows.size();
    const std::string& verdict = std::get<std::string>(rows.front().file[4]);
    if (verdict == "refused") counts_.refused += rows.size();
    if (verdict != "failed") return;
    counts_.failed += rows.size();
    console_.complain(rows.front().path, std::get<std::string>(rows.front().findings.back()[3]));
    code_ = ExitCode::system;
  }

  template <class IsGone>
  Result<void> drop(const std::string& place, const IsGone& is_gone_now) {
    const std::string folder = place.ends_with('/') ? place : place + "/";
    std::string end = folder;
    end.back() = '/' + 1;  // the first name behind all that are in the folder
    std::vector<std::string> gone;
    {
      INGOT_TRY(Statement paths,
                file_.prepare("SELECT path FROM files WHERE path=? OR path>=? AND path<?"));
      const Cell values[] = {place, folder, end};
      INGOT_TRY(bool has_row, paths.step(values));
      while (has_row) {
        if (is_gone_now(paths.text(0))) gone.push_back(paths.text(0));
        INGOT_TRY(has_row, paths.step());
      }
    }
    counts_.dropped += gone.size();
    return writer_.remove(gone);
  }

  Console& console_;
  const CatalogFile& file_;
  CatalogWriter& writer_;
  std::vector<CatalogUnit> units_;
  Counts counts_;
  ExitCode code_ = ExitCode::done;
};

/// Visits places, one after the other. What one of them fails with does not keep from the others.
ExitCode visit_all(Console& console, const CatalogFile& file, const std::string& path,
                   const std::vector<Place>& places) {
  const OrderlyStop orderly_stop;
  INGOT_CLI_TRY(CatalogWriter writer, CatalogWriter::make(file), console, path);
  Crawl crawl(console, file, writer);
  ExitCode code = ExitCode::done;
  for (const Place& place : places) {
    const Result<void> done = crawl.visit(place);
    if (!done) code = std::max(code, console.fail(place.path, done.error()));
    if (stop_signal() == 0) continue;
    // A request to stop may come where nothing had to be read.
    if (done) code = std::max(code, console.fail(place.path, fail(Errc::interrupted, {}).value()));
    break;
  }
  return std::max(code, crawl.report(path));
}

}  // namespace

ExitCode add_to_catalog(Console& console, const std::string& path,
                        std::span<const std::string> places, bool with_digests) {
  std::vector<Place> named;
  for (const std::string& place : places) {
    RemoteModels& remote = console.remote();
    std::string name = place;
    if (remote.is_repository(place)) {
      name = remote.plain_name(place);
    } else if (!remote.is_meant(place)) {
      name = std::filesystem::absolute(place).lexically_normal().generic_string();
      while (name.size() > 1 && name.ends_with('/')) name.pop_back();
      system::FileFacts facts;
      if (!system::look_at(name, facts)) {
        return console.fail(
            place,
            Error{Errc::io_error, Error::no_offset, {}, std::generic_category().message(errno)});
      }
    }
    named.push_back({std::move(name), with_digests});
  }
  INGOT_CLI_TRY(const CatalogFile file, CatalogFile::open(path, CatalogAccess::write), console,
                path);
  const Result<void> kept = file.change([&]() -> Result<void> {
    INGOT_TRY(Statement insert,
              file.prepare("INSERT INTO places VALUES(?,?) ON CONFLICT(path) "
                           "DO UPDATE SET has_digests=max(has_digests, excluded.has_digests)"));
    for (const Place& place : named) {
      const Cell values[] = {place.path, std::int64_t{place.has_digests}};
      INGOT_TRY_VOID(insert.run(values));
    }
    return {};
  });
  INGOT_CLI_TRY_VOID(kept, console, path);
  return visit_all(console, file, path, named);
}

ExitCode update_catalog(Console& console, const std::string& path) {
  INGOT_CLI_TRY_VOID(CatalogFile::open(path, CatalogAccess::read), console, path);  // makes none
  INGOT_CLI_TRY(const CatalogFile file, CatalogFile::open(path, CatalogAccess::write), console,
                path);
  std::vector<Place> places;
  {
    INGOT_CLI_TRY(Statement known, file.prepare("SELECT path, has_digests FROM places"), console,
                  path);
    INGOT_CLI_TRY(bool has_row, known.step(), console, path);
    while (has_row) {
      places.push_back({known.text(0), known.number(1) != 0});
      INGOT_CLI_TRY(has_row, known.step(), console, path);
    }
  }
  return visit_all(console, file, path, places);
}

}  // namespace ingot::cli
