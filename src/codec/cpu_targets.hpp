// SPDX-License-Identifier: MIT
// Which kernels run: the best that the CPU has, or those that somebody asked for.
#pragma once

#include <cstdint>

namespace ingot::codec {

/// The CPU targets (HWY_AVX2, ...; a bit each) that are built in and that this machine can run.
[[nodiscard]] std::int64_t usable_cpu_targets() noexcept;

/// Restricts all kernels to `targets`, of which there must be one; 0 lifts the restriction. For tests
/// and benchmarks: not while another thread decodes or encodes.
void force_cpu_targets(std::int64_t targets) noexcept;

/// Obeys INGOT_CPU, the name of a target ("AVX2"), the first time it is called. Names that are
/// unknown, or of targets which this machine cannot run, change nothing. Thread-safe.
void obey_environment() noexcept;

}  // namespace ingot::codec
