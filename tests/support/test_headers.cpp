// SPDX-License-Identifier: MIT
// Only for its precompiled headers, which every test uses.
