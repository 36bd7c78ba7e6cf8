// SPDX-License-Identifier: MIT
// A remote file whose beginning is in the cache.
#pragma once

#include <memory>

#include "remote/reading/remote_source.hpp"

namespace ingot::remote {

/// The file if its beginning is in the cache and is still right: an address that names a commit or
/// a digest is not asked for, another one by one request for its tag. Else nothing.
[[nodiscard]] Result<std::unique_ptr<RemoteSource>> open_cached_source(
    const std::shared_ptr<Session>& session, const RemoteTarget& target);

}  // namespace ingot::remote
