/*
 * A long line between two network namespaces: a TUN device in each, and this program in between, which delays, loses, reorders and paces
 * the packets. For kernels without the netem queueing discipline.
 *
 * Usage: line NAMESPACE NAMESPACE RATE_MBIT ROUND_TRIP_MS LOSS_PERCENT REORDER_PERCENT BUFFER_MS SEED
 *
 * Each direction is a buffer of BUFFER_MS at the rate (tail drop, as in a router), then the wire at the rate, then half of the round
 * trip. A reordered packet takes 5 ms longer. Losses come from the seed. Both devices are called `line`; addresses, routes
 * and `up` are the caller's. Prints `ready`, and at the end of its standard input one line of JSON for each direction.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { largest = 9216, slots = 1 << 16 };
static const int64_t reordered_by_ns = 5000000;

struct packet {
  int64_t due_ns;
  int size;
  unsigned char *bytes;
};

/* First in, first out, so each has one delay. */
struct queue {
  struct packet *packets;
  unsigned head, tail;
};

struct direction {
  int from, to;
  struct queue on_time, late;
  int64_t free_ns;
  uint64_t random;
  long long passed, bytes, lost, dropped, reordered;
};

static double ns_per_byte, loss, reorder;
static int64_t one_way_ns, buffer_ns;

static int64_t now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* xorshift64*; a number from 0 up to 1. */
static double next_random(struct direction *way) {
  way->random ^= way->random >> 12;
  way->random ^= way->random << 25;
  way->random ^= way->random >> 27;
  return (double)((way->random * 2685821657736338717ULL) >> 11) / 9007199254740992.0;
}

static int open_device(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "/run/netns/%s", name);
  int space = open(path, O_RDONLY | O_CLOEXEC);
  if (space < 0 || setns(space, CLONE_NEWNET) < 0) return -1;
  close(space);
  int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  struct ifreq wanted = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  strcpy(wanted.ifr_name, "line");
  return device < 0 || ioctl(device, TUNSETIFF, &wanted) < 0 ? -1 : device;
}

static void put(struct queue *queue, const unsigned char *bytes, int size, int64_t due_ns) {
  struct packet *packet = &queue->packets[queue->tail++ % slots];
  packet->due_ns = due_ns;
  packet->size = size;
  packet->bytes = malloc((size_t)size);
  memcpy(packet->bytes, bytes, (size_t)size);
}

static void take_in(struct direction *way) {
  unsigned char bytes[largest];
  /* A bound, so that the other direction gets its turn. */
  for (int n = 0; n < 64; n += 1) {
    long size = read(way->from, bytes, sizeof bytes);
    if (size <= 0) return;
    int64_t now = now_ns();
    int64_t starts = way->free_ns > now ? way->free_ns : now;
    int is_full = starts - now > buffer_ns || way->on_time.tail - way->on_time.head >= slots - 1 ||
                  way->late.tail - way->late.head >= slots - 1;
    if (is_full) {
      way->dropped += 1;
      continue;
    }
    way->free_ns = starts + (int64_t)((double)size * ns_per_byte);
    if (next_random(way) < loss) {
      way->lost += 1;
      continue;
    }
    int is_late = next_random(way) < reorder;
    way->reordered += is_late;
    int64_t due = way->free_ns + one_way_ns + (is_late ? reordered_by_ns : 0);
    put(is_late ? &way->late : &way->on_time, bytes, (int)size, due);
  }
}

static void give_out(struct direction *way, struct queue *queue, int64_t now) {
  for (; queue->head != queue->tail; queue->head += 1) {
    struct packet *packet = &queue->packets[queue->head % slots];
    if (packet->due_ns > now) return;
    long written = write(way->to, packet->bytes, (size_t)packet->size);
    way->passed += written > 0;
    way->bytes += written > 0 ? written : 0;
    free(packet->bytes);
  }
}

static int64_t due_of(const struct queue *queue) {
  return queue->head == queue->tail ? INT64_MAX : queue->packets[queue->head % slots].due_ns;
}

static void report(const char *name, const struct direction *way) {
  printf("{\"direction\":\"%s\",\"packets\":%lld,\"bytes\":%lld,\"lost\":%lld,\"dropped\":%lld,\"reordered\":%lld}\n", name,
         way->passed, way->bytes, way->lost, way->dropped, way->reordered);
}

int main(int count, char **given) {
  if (count != 9) {
    fprintf(stderr, "usage: line NAMESPACE NAMESPACE RATE_MBIT ROUND_TRIP_MS LOSS_PERCENT REORDER_PERCENT BUFFER_MS SEED\n");
    return 2;
  }
  ns_per_byte = 8000.0 / atof(given[3]);
  one_way_ns = (int64_t)(atof(given[4]) * 500000);
  loss = atof(given[5]) / 100;
  reorder = atof(given[6]) / 100;
  buffer_ns = (int64_t)(atof(given[7]) * 1000000);
  int first = open_device(given[1]), second = first < 0 ? -1 : open_device(given[2]);
  if (second < 0) {
    perror("line: cannot make its devices");
    return 1;
  }
  uint64_t seed = strtoull(given[8], NULL, 10) * 2 + 1;
  struct direction ways[2] = {{.from = first, .to = second, .random = seed},
                              {.from = second, .to = first, .random = seed ^ 0x9e3779b97f4a7c15ULL}};
  for (int n = 0; n < 2; n += 1) {
    ways[n].on_time.packets = calloc(slots, sizeof(struct packet));
    ways[n].late.packets = calloc(slots, sizeof(struct packet));
  }
  /* The kernel may else wake this thread 50 µs late. */
  prctl(PR_SET_TIMERSLACK, 1UL);
  puts("ready");
  fflush(stdout);
  for (;;) {
    struct pollfd watched[3] = {{.fd = first, .events = POLLIN}, {.fd = second, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    int64_t due = INT64_MAX;
    for (int n = 0; n < 2; n += 1) {
      int64_t soonest = due_of(&ways[n].on_time) < due_of(&ways[n].late) ? due_of(&ways[n].on_time) : due_of(&ways[n].late);
      due = soonest < due ? soonest : due;
    }
    int64_t wait = due == INT64_MAX ? 1000000000 : due - now_ns();
    if (wait < 0) wait = 0;
    struct timespec most = {wait / 1000000000, wait % 1000000000};
    if (ppoll(watched, 3, &most, NULL) < 0 && errno != EINTR) return 1;
    if (watched[2].revents != 0) break;
    int64_t now = now_ns();
    for (int n = 0; n < 2; n += 1) {
      if (watched[n].revents & POLLIN) take_in(&ways[n]);
      give_out(&ways[n], &ways[n].on_time, now);
      give_out(&ways[n], &ways[n].late, now);
    }
  }
  report("out", &ways[0]);
  report("back", &ways[1]);
  return 0;
}
