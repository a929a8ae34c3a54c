/* A sort: quicksort of records behind a comparison, insertion sort below sixteen, and a heap sort to check it by. */
#include "tiny.h"

struct record {
    u32 key;
    u32 rank;
};

enum { MOST = 1 << 16, FEW = 16 };
static struct record records[MOST], others[MOST];

static int is_less(const struct record *a, const struct record *b) {
    return a->key != b->key ? a->key < b->key : a->rank < b->rank;
}

static void swap(struct record *a, struct record *b) {
    struct record old = *a;
    *a = *b;
    *b = old;
}

static void insertion(struct record *of, i32 count) {
    for (i32 i = 1; i < count; i++) {
        struct record moved = of[i];
        i32 hole = i;
        for (; hole > 0 && is_less(&moved, &of[hole - 1]); hole--)
            of[hole] = of[hole - 1];
        of[hole] = moved;
    }
}

static void quick(struct record *of, i32 count) {
    while (count > FEW) {
        struct record pivot = of[count / 2];
        i32 low = 0, high = count - 1;
        while (low <= high) {
            while (is_less(&of[low], &pivot))
                low++;
            while (is_less(&pivot, &of[high]))
                high--;
            if (low <= high)
                swap(&of[low++], &of[high--]);
        }
        quick(of, high + 1);
        of += low;
        count -= low;
    }
    insertion(of, count);
}

static void sink(struct record *heap, i32 at, i32 count) {
    for (i32 child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_less(&heap[child], &heap[child + 1]))
            child++;
        if (!is_less(&heap[at], &heap[child]))
            return;
        swap(&heap[at], &heap[child]);
    }
}

static void heap(struct record *of, i32 count) {
    for (i32 i = count / 2; i-- > 0;)
        sink(of, i, count);
    for (i32 last = count - 1; last > 0; last--) {
        swap(&of[0], &of[last]);
        sink(of, 0, last);
    }
}

EXPORT(run) i64 run(i32 n) {
    i32 count = n < MOST ? n : MOST;
    u64 sum = 1, state = 362436069ull;
    for (i32 i = 0; i < count; i++)
        others[i] = records[i] = (struct record){(u32)(next(&state) % 50000), (u32)i};
    quick(records, count);
    heap(others, count);
    for (i32 i = 0; i < count; i++) {
        if (records[i].rank != others[i].rank)
            return -1;
        sum = mix(sum, records[i].rank);
    }
    return (i64)sum;
}
