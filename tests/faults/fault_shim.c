/* SPDX-License-Identifier: MIT */
/* A library for LD_PRELOAD that makes pread come short or fail, or clocks go wrong, as $INGOT_FAULT
 * says:
 *
 *   short      each call gives at most 7 bytes
 *   interrupt  every second call fails with EINTR
 *   fail:N     the N-th call, and all after it, fail with EIO
 *   end:N      the N-th call, and all after it, are at the end of the file
 *   clock      every clock jumps: from 1970 to 2242, beyond 32 bits of seconds, and back
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

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

/* The seconds that every clock shows next; 0 if the clocks are right. */
static time_t wrong_seconds(void) {
  static atomic_long reads;
  const char* fault = getenv("INGOT_FAULT");
  if (fault == NULL || strcmp(fault, "clock") != 0) return 0;
  return atomic_fetch_add(&reads, 1) % 2 == 0 ? 8589934592 : 1;
}

int clock_gettime(clockid_t clock, struct timespec* to) {
  to->tv_sec = wrong_seconds();
  to->tv_nsec = 0;
  if (to->tv_sec != 0) return 0;
  int (*next)(clockid_t, struct timespec*) = NULL;
  *(void**)&next = dlsym(RTLD_NEXT, "clock_gettime");
  return next(clock, to);
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}
