/* Prints the checksum of a program compiled for this machine: what the WebAssembly must give as well. */
#include <stdio.h>
#include <stdlib.h>

long long run(int n);

int main(int count, char **words) {
    for (int i = 1; i < count; i++)
        printf("%lld\n", run(atoi(words[i])));
    return 0;
}
