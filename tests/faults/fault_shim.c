/* SPDX-License-Identifier: MIT */
/* A library for LD_PRELOAD that makes pread come short or fail, as $INGOT_FAULT says:
 *
 *   short      each call gives at most 7 bytes
 *   interrupt  every second call fails with EINTR
 *   fail:N     the N-th call, and all after it, fail with EIO
 *   end:N      the N-th call, and all after it, are at the end of the file
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static atomic_long calls;

static int has_come(const char* fault, const char* name, long call) {
  const size_t length = strlen(name);
  return strncmp(fault, name, length) == 0 && call >= atol(fault + length);
}

typedef ssize_t (*pread_function)(int, void*, size_t, off_t);

static ssize_t call_pread(const char* name, int descriptor, void* to, size_t size, off_t offset) {
  const char* fault = getenv("INGOT_FAULT");
  const long call = atomic_fetch_add(&calls, 1) + 1;
  if (fault == NULL) fault = "";
  if (strcmp(fault, "interrupt") == 0 && call % 2 == 1) {
    errno = EINTR;
    return -1;
  }
  if (has_come(fault, "fail:", call)) {
    errno = EIO;
    return -1;
  }
  if (has_come(fault, "end:", call)) return 0;
  if (strcmp(fault, "short") == 0 && size > 7) size = 7;
  pread_function next = NULL;
  *(void**)&next = dlsym(RTLD_NEXT, name);
  return next(descriptor, to, size, offset);
}

ssize_t pread(int descriptor, void* to, size_t size, off_t offset) {
  return call_pread("pread", descriptor, to, size, offset);
}

ssize_t pread64(int descriptor, void* to, size_t size, off64_t offset) {
  return call_pread("pread64", descriptor, to, size, offset);
}
