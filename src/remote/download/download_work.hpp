// SPDX-License-Identifier: MIT
// The tasks of one download: some fetch ranges, one computes the digest behind them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "remote/download/part_file.hpp"
#include "remote/reading/range_fetcher.hpp"

namespace ingot::remote {

/// Fills a part file over some connections; returns the SHA-256 of the whole.
[[nodiscard]] Result<std::string> fill_part_file(
    PartFile& part, const RangeFetcher& ranges, Client& client, unsigned connections,
    const std::function<bool(std::uint64_t done_bytes)>& progress);

}  // namespace ingot::remote
