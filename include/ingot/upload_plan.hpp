// SPDX-License-Identifier: MIT
// How much of an upload to Hugging Face's storage Xet would be new (target ingot::convert).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/source.hpp"
#include "ingot/xet.hpp"

namespace ingot {

/// The bytes of one file or of all, by where they are already.
struct UploadBytes {
  std::uint64_t size_bytes = 0;
  std::uint64_t new_bytes = 0;       ///< In chunks that have to be sent.
  std::uint64_t known_bytes = 0;     ///< In chunks that the storage has.
  std::uint64_t repeated_bytes = 0;  ///< In chunks that stand earlier among the files to upload.
};

template <class Visitor>
void describe(Visitor& visit, const UploadBytes& bytes) {
  visit("size", bytes.size_bytes, "bytes", "of the file, or of all");
  visit("new", bytes.new_bytes, "bytes", "in chunks that have to be sent");
  visit("known", bytes.known_bytes, "bytes", "in chunks that are in `--against`");
  visit("repeated", bytes.repeated_bytes, "bytes",
        "in other chunks that stand earlier in the same upload");
}

/// A file to upload.
struct UploadFile {
  std::string path;
  XetHash hash;
  UploadBytes bytes;
  std::vector<XetChunk> chunks;  ///< In the order of the file.
};

template <class Visitor>
void describe(Visitor& visit, const UploadFile& file) {
  visit("file", file.path, "", "as the user or the folder names it");
  visit("xet", name_of(file.hash), "", "the hash by which Hugging Face names its bytes");
  visit("chunk_count", file.chunks.size(), "", "of 8 to 128 KiB");
  describe(visit, file.bytes);
}

/// An object that chunks are sent in.
struct PlannedXorb {
  XetHash hash;
  std::uint64_t size_bytes = 0;
  std::uint64_t chunk_count = 0;
};

template <class Visitor>
void describe(Visitor& visit, const PlannedXorb& xorb) {
  visit("xorb", name_of(xorb.hash), "", "its hash");
  visit("size", xorb.size_bytes, "bytes", "of its chunks, not compressed; at most 64 MiB");
  visit("chunk_count", xorb.chunk_count, "", "at most 8,192");
}

struct UploadPlan {
  std::vector<UploadFile> files;
  /// The new chunks in order, each xorb as full as the next chunk allows.
  std::vector<PlannedXorb> xorbs;
  UploadBytes total;
};

template <class Visitor>
void describe(Visitor& visit, const UploadPlan& plan) {
  visit("total", plan.total, "", "of all files");
  visit("files", plan.files, "", "in the order given, folders by name");
  visit("xorbs", plan.xorbs, "", "what the new chunks are sent in; of several files an estimate");
}

struct UploadPlanOptions {
  std::vector<std::string> against;  ///< What the storage has: files, folders, lists of chunks.
  unsigned thread_count = 0;         ///< 0: as many as the machine has cores.
  /// Receives the bytes read so far; false ends the work with Errc::interrupted. Called from one
  /// thread at a time.
  std::function<bool(std::uint64_t done_bytes)> progress = {};
};

/// The files that paths stand for, in order: a folder for all files below it, sorted, but hidden
/// ones. Errc::io_error if a folder cannot be read.
[[nodiscard]] INGOT_EXPORT Result<std::vector<std::string>> files_to_upload(
    const std::vector<std::string>& paths);

/// Reads all files, one for each thread, and says which of their chunks the storage lacks. Nearly
/// linear; memory is up to 32 bytes for each chunk of `against` and 130 for each other one, one of
/// 64 KiB on average: less than two thousandths of the files.
///
/// Chunks count by half of their hash, 128 bits. What is new is the least that is sent: the client
/// of Hugging Face sends some known chunks again where taking them would leave a file in many small
/// pieces, and does not ask for every chunk whether the storage has it. It compresses what it
/// sends. Xorbs are those of one file after the other; the client makes them of each file apart and
/// joins the rests, so those of several files are an estimate.
///
/// @return  errors of reading, with the file as their subject.
[[nodiscard]] INGOT_EXPORT Result<UploadPlan> plan_upload(const std::vector<std::string>& paths,
                                                          const UploadPlanOptions& options = {});

/// The first line of a list of chunks, without its end. Each other line is a comment that begins
/// with #, or the digits of a hash, " : " and a size in bytes.
inline constexpr std::string_view chunk_list_heading = "# chunks of Xet";

/// Reads a list of chunks, 64 KiB at a time. The list may be hostile: Errc::manifest_invalid names
/// the line.
[[nodiscard]] INGOT_EXPORT Result<void> read_chunk_list(const Source& list,
                                                        const XetChunkSink& sink);

}  // namespace ingot
