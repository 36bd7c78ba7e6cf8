// SPDX-License-Identifier: MIT
// Marks what a shared library of Ingot exports; everything else stays hidden.
#ifndef INGOT_EXPORT_H
#define INGOT_EXPORT_H

#if defined(_WIN32) && defined(INGOT_SHARED)
#if defined(INGOT_BUILDING)
#define INGOT_EXPORT __declspec(dllexport)
#else
#define INGOT_EXPORT __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define INGOT_EXPORT __attribute__((visibility("default")))
#else
#define INGOT_EXPORT
#endif

#endif
