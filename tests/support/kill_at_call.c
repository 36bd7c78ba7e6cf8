/* SPDX-License-Identifier: MIT
 *
 * To be preloaded (LD_PRELOAD): ends the process, or fails, at the n-th call that changes a file,
 * so that a test can try every point at which a process may die or a disk may be full.
 *
 *   INGOT_KILL_AT=n     the n-th call (from 1) is SIGKILL instead
 *   INGOT_FAIL_AT=n     the n-th call and all later ones that need room fail with ENOSPC
 *   INGOT_STOP_AT=n     the process stops (SIGSTOP) before the n-th call
 *   INGOT_HALF=1        if the n-th call is a write, half of it is done first
 *   INGOT_COUNT_CALLS=path   the number of calls is written there when the process ends
 *   INGOT_STOP_AT_JOURNAL=1  the process stops (SIGSTOP) before it first looks for a journal
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long calls;
static long kill_at, fail_at, stop_at;
static int is_half;
static atomic_int stops_at_journal;

static long number_of(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

__attribute__((constructor)) static void begin(void) {
  kill_at = number_of("INGOT_KILL_AT");
  fail_at = number_of("INGOT_FAIL_AT");
  stop_at = number_of("INGOT_STOP_AT");
  is_half = number_of("INGOT_HALF") != 0;
  atomic_store(&stops_at_journal, number_of("INGOT_STOP_AT_JOURNAL") != 0);
}

__attribute__((destructor)) static void end(void) {
  const char* path = getenv("INGOT_COUNT_CALLS");
  if (path == NULL) return;
  FILE* file = fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", atomic_load(&calls));
  fclose(file);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int is_file(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

enum step { go_on, kill_now, fail_now };

static enum step step(void) {
  const long call = atomic_fetch_add(&calls, 1) + 1;
  if (call == kill_at) return kill_now;
  if (call == stop_at) raise(SIGSTOP);
  return fail_at != 0 && call >= fail_at ? fail_now : go_on;
}

/* A call that needs no room: it never fails here. */
static void small_step(void) {
  if (step() == kill_now) die();
}

/* How many bytes of a write are done; -1: it fails. */
static ssize_t large_step(size_t bytes) {
  switch (step()) {
    case kill_now:
      if (!is_half) die();
      return (ssize_t)(bytes / 2);
    case fail_now:
      if (is_half && atomic_load(&calls) == fail_at && bytes > 1) return (ssize_t)(bytes / 2);
      errno = ENOSPC;
      return -1;
    default:
      return (ssize_t)bytes;
  }
}

#define WRITE(bytes, call)                  \
  const long before = atomic_load(&calls);  \
  const ssize_t wanted = large_step(bytes); \
  if (wanted < 0) return -1;                \
  const ssize_t done = call;                \
  if (before + 1 == kill_at) die();         \
  return done

ssize_t write(int fd, const void* data, size_t bytes) {
  if (!is_file(fd)) return syscall(SYS_write, fd, data, bytes);
  WRITE(bytes, syscall(SYS_write, fd, data, (size_t)wanted));
}

ssize_t pwrite64(int fd, const void* data, size_t bytes, off_t offset) {
  WRITE(bytes, syscall(SYS_pwrite64, fd, data, (size_t)wanted, offset));
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  return pwrite64(fd, data, bytes, offset);
}

ssize_t copy_file_range(int in, off_t* in_at, int out, off_t* out_at, size_t bytes,
                        unsigned flags) {
  WRITE(bytes, syscall(SYS_copy_file_range, in, in_at, out, out_at, (size_t)wanted, flags));
}

int fallocate64(int fd, int mode, off_t offset, off_t bytes) {
  if (large_step(0) < 0) return -1;
  if (kill_at != 0 && atomic_load(&calls) == kill_at) die();
  return (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
}
int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  return fallocate64(fd, mode, offset, bytes);
}

int fsync(int fd) {
  small_step();
  return (int)syscall(SYS_fsync, fd);
}

int ftruncate64(int fd, off_t bytes) {
  small_step();
  return (int)syscall(SYS_ftruncate, fd, bytes);
}
int ftruncate(int fd, off_t bytes) { return ftruncate64(fd, bytes); }

int rename(const char* from, const char* to) {
  small_step();
  return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  small_step();
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  small_step();
  return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int unlink(const char* path) {
  small_step();
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static int open_at(const char* path, int flags, mode_t mode) {
  const char* const ending = strstr(path, ".ingot-journal");
  if (ending != NULL && atomic_exchange(&stops_at_journal, 0)) raise(SIGSTOP);
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define OPEN(name)                                                    \
  int name(const char* path, int flags, ...) {                        \
    mode_t mode = 0;                                                  \
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
      va_list rest;                                                   \
      va_start(rest, flags);                                          \
      mode = va_arg(rest, mode_t);                                    \
      va_end(rest);                                                   \
    }                                                                 \
    return open_at(path, flags, mode);                                \
  }
OPEN(open)
OPEN(open64)
