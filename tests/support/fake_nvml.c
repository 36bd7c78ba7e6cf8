// SPDX-License-Identifier: MIT
// A libnvidia-ml.so.1 that tells of two cards, of which the second tells less.
#include <string.h>

typedef struct {
  unsigned long long total, free, used;
} Memory;

static int cards[2];

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** card);
int nvmlDeviceGetMemoryInfo(void* card, Memory* memory);
int nvmlDeviceGetName(void* card, char* name, unsigned length);
int nvmlDeviceGetMemoryBusWidth(void* card, unsigned* bits);
int nvmlDeviceGetMaxClockInfo(void* card, int clock, unsigned* mhz);

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** card) {
  *card = &cards[index];
  return 0;
}

int nvmlDeviceGetMemoryInfo(void* card, Memory* memory) {
  memory->total = card == &cards[0] ? 24ULL << 30 : 8ULL << 30;
  memory->used = 1ULL << 30;
  memory->free = memory->total - memory->used;
  return 0;
}

int nvmlDeviceGetName(void* card, char* name, unsigned length) {
  (void)length;
  strcpy(name, card == &cards[0] ? "NVIDIA GeForce RTX 4090" : "NVIDIA Laptop");
  return 0;
}

int nvmlDeviceGetMemoryBusWidth(void* card, unsigned* bits) {
  *bits = 384;
  return card == &cards[0] ? 0 : 3;  // not supported
}

int nvmlDeviceGetMaxClockInfo(void* card, int clock, unsigned* mhz) {
  (void)card;
  *mhz = clock == 2 ? 10501 : 1;
  return 0;
}
