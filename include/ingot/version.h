// SPDX-License-Identifier: MIT
// The version of Ingot: the only place where it is written.
#ifndef INGOT_VERSION_H
#define INGOT_VERSION_H

#define INGOT_VERSION_MAJOR 0
#define INGOT_VERSION_MINOR 1
#define INGOT_VERSION_PATCH 0

#define INGOT_STRINGIFY_(x) #x
#define INGOT_STRINGIFY(x) INGOT_STRINGIFY_(x)
#define INGOT_VERSION_STRING                                                       \
  INGOT_STRINGIFY(INGOT_VERSION_MAJOR)                                             \
  "." INGOT_STRINGIFY(INGOT_VERSION_MINOR) "." INGOT_STRINGIFY(INGOT_VERSION_PATCH)

#endif
