/* Writes a file through a shared mapping, with no descriptor open: the first half at once, the rest once its input ends. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3) return 2;
  size_t size = strtoul(arguments[2], NULL, 10);
  int fd = open(arguments[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0) return 1;
  char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) return 1;
  memset(bytes, 'a', size / 2);
  puts("half");
  fflush(stdout);
  while (getchar() != EOF);
  memset(bytes + size / 2, 'b', size - size / 2);
  return 0;
}
