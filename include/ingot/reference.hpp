// SPDX-License-Identifier: MIT
// References to models: a path, an address, or a name in a hub or a registry (target
// ingot::remote). docs/remote.md lists how they are written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot {

enum class ReferenceKind : std::uint8_t {
  local,        ///< a path of this system
  web,          ///< an address, http or https
  hub,          ///< a repository of the Hugging Face hub, and perhaps a file in it
  model_scope,  ///< a repository of ModelScope
  registry,     ///< a model of the registry of Ollama
};

/// A reference, taken apart and checked: no part leads out of its folder, none holds a control
/// character. Parts that the kind has no use for are empty.
struct Reference {
  ReferenceKind kind = ReferenceKind::local;
  std::string path;     ///< A local path; the file in a repository, or empty: one is to be chosen.
  std::string address;  ///< The address of `web`, as written: may hold a password and a signature.
  // --- hub and model_scope
  std::string organisation;
  std::string repository;
  std::string revision;      ///< A branch, tag or commit; empty: the usual one.
  std::string quantization;  ///< Chooses a file by its name, such as "Q4_K_M"; may be empty.
  // --- registry
  std::string host;        ///< The host, with its port if given; empty: the usual registry.
  std::string name_space;  ///< "library" unless it is named.
  std::string model;
  std::string tag;     ///< "latest" unless it is named.
  std::string digest;  ///< "sha256:" and 64 digits; then the tag means nothing.

  /// The reference as text, safe to print: without the password and the content of the query.
  [[nodiscard]] INGOT_EXPORT std::string display() const;
};

/// Whether a text is written as a reference to something remote, right or wrong: it begins with
/// `http://`, `https://`, `hf:`, `ollama:` or `ms:`. Nothing is looked up.
[[nodiscard]] INGOT_EXPORT bool is_remote_reference(std::string_view text) noexcept;

/// Whether a text could be `ORGANISATION/REPOSITORY` or `ORGANISATION/REPOSITORY:QUANTIZATION` of
/// the hub; it could be a path as well, and a file of that name comes first.
[[nodiscard]] INGOT_EXPORT bool is_hub_name(std::string_view text) noexcept;

/// Reads a reference. Any other text is a local path, and so is the path after `file://`.
/// Errc::reference_invalid. Linear; nothing is looked up.
[[nodiscard]] INGOT_EXPORT Result<Reference> parse_reference(std::string_view text);

/// Reads `ORGANISATION/REPOSITORY`, with `@REVISION`, `:QUANTIZATION` or `/PATH` behind it, as
/// `parse_reference` does behind `hf:`.
[[nodiscard]] INGOT_EXPORT Result<Reference> parse_hub_reference(std::string_view text);

}  // namespace ingot
