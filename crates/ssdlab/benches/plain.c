/* The plainest greedy page-mapping loop one would write in C: the yardstick for the simulator's untimed replay.
   Usage: plain POOLS BLOCKS PAGES EXPORTED WARM WRITES; prints writes per second and write amplification. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint32_t pools, blocks, pages, exported;
static uint32_t *l2p, *p2l, *prev, *next, *head, *freelist, *nfree, *fill[2], *at[2];
static uint16_t *valid;
static uint8_t *bad, *closed;
static uint64_t moves, state = 88172645463325252ull;

static uint64_t rnd(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }

/* Lists of closed blocks by pool and valid count. */
static void put(uint32_t pool, uint32_t b) {
    uint32_t *h = &head[pool * (pages + 1) + valid[b]];
    next[b] = *h; prev[b] = UINT32_MAX;
    if (*h != UINT32_MAX) prev[*h] = b;
    *h = b;
}
static void cut(uint32_t pool, uint32_t b) {
    if (prev[b] == UINT32_MAX) head[pool * (pages + 1) + valid[b]] = next[b]; else next[prev[b]] = next[b];
    if (next[b] != UINT32_MAX) prev[next[b]] = prev[b];
}
static void program(uint32_t pool, uint32_t lpn, int who) {
    if (at[who][pool] == pages) {
        fill[who][pool] = freelist[pool * blocks + --nfree[pool]];
        at[who][pool] = 0;
    }
    uint32_t b = fill[who][pool], p = b * pages + at[who][pool]++;
    uint32_t old = l2p[lpn];
    if (old != UINT32_MAX) {
        uint32_t ob = old / pages;
        bad[old] = 1;
        if (closed[ob]) { cut(pool, ob); valid[ob]--; put(pool, ob); } else valid[ob]--;
    }
    l2p[lpn] = p; p2l[p] = lpn; valid[b]++;
    if (at[who][pool] == pages) { closed[b] = 1; put(pool, b); }
}
static void collect(uint32_t pool, uint32_t soft) {
    while (nfree[pool] < soft) {
        uint32_t v = 0;
        while (head[pool * (pages + 1) + v] == UINT32_MAX) v++;
        uint32_t b = head[pool * (pages + 1) + v];
        cut(pool, b); closed[b] = 0;
        for (uint32_t i = 0; i < pages; i++)
            if (!bad[b * pages + i]) { program(pool, p2l[b * pages + i], 1); moves++; }
        memset(bad + b * pages, 0, pages);
        freelist[pool * blocks + nfree[pool]++] = b;
    }
}
int main(int argc, char **argv) {
    if (argc != 7) return 2;
    pools = atoi(argv[1]); blocks = atoi(argv[2]); pages = atoi(argv[3]); exported = atoi(argv[4]);
    uint64_t warm = atoll(argv[5]), writes = atoll(argv[6]), n = (uint64_t)pools * blocks;
    uint32_t soft = blocks / 20;
    l2p = malloc(4ull * exported); memset(l2p, 255, 4ull * exported);
    p2l = malloc(4 * n * pages); prev = malloc(4 * n); next = malloc(4 * n); freelist = malloc(4 * n);
    head = malloc(4ull * pools * (pages + 1)); memset(head, 255, 4ull * pools * (pages + 1));
    valid = calloc(n, 2); closed = calloc(n, 1); bad = calloc(n * pages, 1); nfree = malloc(4ull * pools);
    for (int w = 0; w < 2; w++) { fill[w] = malloc(4ull * pools); at[w] = malloc(4ull * pools); }
    for (uint32_t p = 0; p < pools; p++) {
        nfree[p] = blocks; at[0][p] = at[1][p] = pages;
        for (uint32_t i = 0; i < blocks; i++) freelist[p * blocks + i] = p * blocks + blocks - 1 - i;
    }
    for (uint32_t lpn = 0; lpn < exported; lpn++) program(lpn % pools, lpn, 0);
    struct timespec a, z;
    for (uint64_t i = 0; i < warm + writes; i++) {
        if (i == warm) { moves = 0; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a); }
        uint32_t lpn = (uint32_t)(((unsigned __int128)rnd() * exported) >> 64), pool = lpn % pools;
        program(pool, lpn, 0);
        if (at[0][pool] == 1) collect(pool, soft);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &z);
    double s = (z.tv_sec - a.tv_sec) + (z.tv_nsec - a.tv_nsec) / 1e9;
    printf("%.0f %.4f\n", writes / s, 1.0 + (double)moves / writes);
    return 0;
}
