/* f64 kernel: the product of two n by n matrices, n at most 256, in the order that walks along rows. */
#include "tiny.h"

enum { MOST = 256 };
static double a[MOST][MOST], b[MOST][MOST], c[MOST][MOST];

EXPORT(run) i64 run(i32 n) {
    for (i32 i = 0; i < n; i++)
        for (i32 j = 0; j < n; j++) {
            a[i][j] = (double)(i * 3 + j) / 16.0;
            b[i][j] = (double)(i - j * 2) / 8.0;
            c[i][j] = 0.0;
        }
    for (i32 i = 0; i < n; i++)
        for (i32 k = 0; k < n; k++) {
            double factor = a[i][k];
            for (i32 j = 0; j < n; j++)
                c[i][j] += factor * b[k][j];
        }
    u64 sum = 1;
    for (i32 i = 0; i < n; i++)
        sum = mix(sum, bits(c[i][(i * 7) % n]));
    return (i64)sum;
}
