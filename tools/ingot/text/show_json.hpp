// SPDX-License-Identifier: MIT
// What `ingot show --json` prints of one model.
#pragma once

#include <ingot/model.hpp>
#include <string>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"

namespace ingot::cli {

/// `foreign` if the file is of another format than GGUF, `traffic` and `remote` if it is on a
/// server.
void write_show_json(JsonStream& json, const std::string& file, const Model& model,
                     const ForeignFile* foreign = nullptr, bool shows_all_keys = false,
                     const Traffic* traffic = nullptr,
                     const std::optional<RemoteFileName>& remote = {});

}  // namespace ingot::cli
