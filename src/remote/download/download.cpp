// SPDX-License-Identifier: MIT
#include "ingot/download.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ingot/digest.hpp"
#include "ingot/output_file.hpp"
#include "remote/address/address.hpp"
#include "remote/download/part_file.hpp"
#include "remote/reading/head_receiver.hpp"
#include "remote/reading/range_fetcher.hpp"
#include "remote/reading/remote_source.hpp"
#include "remote/reading/store_state.hpp"
#include "system/files.hpp"

namespace ingot {
namespace {

using remote::Address;
using remote::Client;
using remote::HeadReceiver;
using remote::PartFile;

constexpr unsigned most_connections = 16;
constexpr std::size_t download_piece_bytes = std::size_t{1} << 20;

/// What the first answer says about the file.
struct Start {
  remote::FileIdentity identity;
  Address given;
  Address final_address;
  std::string sha256;      ///< The digest that the server names; may be empty.
  bool has_ranges = true;  ///< Else the server sends all or nothing.
};

Result<Start> ask(const std::shared_ptr<Client>& client, const Address& address,
                  const RemoteFile* known) {
  HeadReceiver head;
  if (known != nullptr) head.identity.size_bytes = known->size_bytes;
  INGOT_TRY(const remote::Answer answer, client->perform({address}, head));
  if (answer.paused != nullptr) client->cancel(answer.paused);
  INGOT_TRY_VOID(
      head.resolve_size(answer, {Errc::remote_failed, Error::no_offset, address.shown(),
                                 "it does not tell the size of the file, so nothing would "
                                 "tell that it is whole"}));
  Start start{head.identity, address, answer.address, {}, answer.status != 200};
  start.sha256 = remote::parse_sha256(remote::without_quotes(answer.linked_tag));
  if (known != nullptr && !known->sha256.empty()) start.sha256 = known->sha256;
  return start;
}

/// Reads a source front to back and hands its pieces on; returns its SHA-256.
template <class Use>
Result<std::string> read_through_all(const Source& source, const DownloadOptions& options,
                                     const Use& use) {
  Digest digest(DigestAlgorithm::sha256);
  std::vector<std::byte> piece(download_piece_bytes);
  for (std::uint64_t offset = 0; offset < source.size_bytes();) {
    const auto bytes = std::span(piece).first(static_cast<std::size_t>(
        std::min<std::uint64_t>(download_piece_bytes, source.size_bytes() - offset)));
    INGOT_TRY_VOID(source.read(offset, bytes));
    digest.update(bytes);
    INGOT_TRY_VOID(use(std::span<const std::byte>(bytes)));
    offset += bytes.size();
    if (options.progress && !options.progress(offset, source.size_bytes())) {
      return fail(Errc::interrupted, std::string());
    }
  }
  return digest.finish();
}

Failure wrong_digest(const std::string& subject, const std::string& found,
                     const std::string& wanted) {
  return fail(Errc::digest_mismatch, subject, "SHA-256 " + found + ", expected " + wanted);
}

/// Takes a source as a whole: a copy of what is on this system, or a server without ranges.
Result<DownloadedFile> copy_whole(const Source& source, const std::string& path,
                                  const std::string& sha256, const DownloadOptions& options) {
  INGOT_TRY(OutputFile output, OutputFile::create(path, options.may_replace));
  INGOT_TRY_VOID(output.reserve(source.size_bytes()));
  INGOT_TRY(std::string found,
            read_through_all(source, options, [&](std::span<const std::byte> bytes) {
              return output.write(bytes);
            }));
  if (!sha256.empty() && found != sha256) return wrong_digest(path, found, sha256);
  INGOT_TRY_VOID(output.commit());
  return DownloadedFile{.size_bytes = source.size_bytes(),
                        .sha256 = std::move(found),
                        .is_verified = !sha256.empty(),
                        .reason_to_restart = {}};
}

/// The file at the path if it is the wanted one already; nothing if there is none or it is to be
/// replaced.
Result<std::optional<DownloadedFile>> find_there(const std::string& path, const Start& start,
                                                 const DownloadOptions& options) {
  system::FileFacts facts;
  if (!system::look_at(path, facts, system::Links::refuse)) return std::nullopt;
  const Result<std::unique_ptr<Source>> source = read_file(path);
  const bool can_be =
      source && !start.sha256.empty() && (*source)->size_bytes() == start.identity.size_bytes;
  if (can_be) {
    const auto ignore = [](std::span<const std::byte>) { return Result<void>(); };
    INGOT_TRY(std::string found, read_through_all(**source, options, ignore));
    if (found == start.sha256) {
      return DownloadedFile{.size_bytes = (*source)->size_bytes(),
                            .sha256 = std::move(found),
                            .is_verified = true,
                            .was_there = true,
                            .reason_to_restart = {}};
    }
  }
  if (!options.may_replace) return fail(Errc::already_exists, path);
  return std::nullopt;
}

Result<DownloadedFile> fetch_parts(const std::shared_ptr<Client>& client, const Start& start,
                                   const std::string& commit, const std::string& path,
                                   const DownloadOptions& options) {
  const std::uint64_t size_bytes = *start.identity.size_bytes;
  INGOT_TRY(PartFile part, PartFile::open(path, {start.given.shown(), commit, size_bytes,
                                                 start.identity.strong_tag(), start.sha256}));
  DownloadedFile file;
  file.size_bytes = size_bytes;
  file.kept_bytes = part.kept_bytes();
  file.reason_to_restart = part.reason_to_restart();
  const remote::RangeFetcher ranges(client, start.given, start.final_address, start.identity);
  const auto progress = [&](std::uint64_t done_bytes) {
    return !options.progress || options.progress(done_bytes, size_bytes);
  };
  Result<std::string> filled = remote::fill_part_file(
      part, ranges, *client, std::clamp(options.connections, 1u, most_connections), progress);
  if (!filled) {
    // Who stops a download goes on with it; of a server that failed nothing may ever come.
    if (filled.error().code != Errc::interrupted) part.remove_if_empty();
    return fail(std::move(filled).error());
  }
  file.sha256 = *std::move(filled);
  if (!start.sha256.empty() && file.sha256 != start.sha256) {
    INGOT_TRY_VOID(part.set_aside());
    return wrong_digest(path, file.sha256, start.sha256);
  }
  file.is_verified = !start.sha256.empty();
  INGOT_TRY_VOID(part.finish(options.may_replace));
  return file;
}

}  // namespace

Result<std::string> local_name(const std::string& name) {
  const std::string decoded = remote::decode_percents(name.substr(name.rfind('/') + 1));
  if (!remote::is_safe_segment(decoded)) {
    return fail(Errc::answer_invalid, name, "it is no name of a file here");
  }
  return decoded;
}

Result<DownloadedFile> download(const RemoteStore& store, const std::string& name,
                                const std::string& path, const DownloadOptions& options) {
  const auto& state = remote::StoreAccess::state(store);
  const RemoteFile* const known = state.find(name);
  if (known != nullptr && !known->local_path.empty()) {
    INGOT_TRY(const std::unique_ptr<Source> source, read_file(known->local_path));
    return copy_whole(*source, path, known->sha256, options);
  }
  const std::shared_ptr<Client>& client = state.client;
  const remote::Place& place = state.place;
  if (client == nullptr || (known == nullptr && place.is_listed)) {
    return fail(Errc::remote_not_found, name, "it is not in the repository");
  }
  INGOT_TRY(const Start start, ask(client, place.address_of(name), known));
  INGOT_TRY(auto there, find_there(path, start, options));
  if (there) return *std::move(there);
  if (start.has_ranges) return fetch_parts(client, start, place.commit, path, options);
  INGOT_TRY(const std::unique_ptr<Source> source,
            remote::open_remote_source(client, {start.given, start.identity.size_bytes}));
  return copy_whole(*source, path, start.sha256, options);
}

}  // namespace ingot
