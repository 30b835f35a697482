/*
 * An upload host that throws everything away: one thread for each connection. Bytes of plain http are dropped in the kernel, without a
 * copy (MSG_TRUNC); those of TLS are decrypted.
 *
 * Usage: sink [KEY.pem CERT.pem [ADDRESS]]. Prints its port, then a line for each PUT: when its connection was accepted or last
 * used, when its body was complete (milliseconds of the monotonic clock), and its size. Ends with its standard input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static SSL_CTX *tls;
/* Length of the last body: rclone asks for it. */
static volatile long long stored = -1;

struct line {
  int fd;
  SSL *ssl;
};

static long take(struct line *line, char *into, size_t most) {
  return line->ssl ? SSL_read(line->ssl, into, (int)most) : read(line->fd, into, most);
}

static long drop(struct line *line, char *scratch, size_t most) {
  return line->ssl ? SSL_read(line->ssl, scratch, (int)most) : recv(line->fd, NULL, most, MSG_TRUNC);
}

static void say(struct line *line, const char *text) {
  long said = line->ssl ? SSL_write(line->ssl, text, (int)strlen(text)) : write(line->fd, text, strlen(text));
  (void)said;
}

/* As WebDAV does. */
static void tell_length(struct line *line) {
  char body[1024], head[256];
  snprintf(body, sizeof body,
           "<?xml version=\"1.0\"?><d:multistatus xmlns:d=\"DAV:\"><d:response><d:href>/x</d:href><d:propstat><d:prop>"
           "<d:getcontentlength>%lld</d:getcontentlength><d:resourcetype/></d:prop>"
           "<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>",
           stored);
  const char *status = stored < 0 ? "404 Not Found" : "207 Multi-Status";
  snprintf(head, sizeof head, "HTTP/1.1 %s\r\ncontent-type: text/xml\r\ncontent-length: %zu\r\n\r\n",
           status, strlen(body));
  say(line, head);
  say(line, body);
}

static double now_ms(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

/* Answers one request. Returns whether another may follow on the connection. */
static int answer(struct line *line, double since_ms) {
  static const size_t most = 1 << 20;
  char *buffer = malloc(most + 1);
  size_t have = 0;
  char *end = NULL;
  int is_kept = 0;
  while (end == NULL && have < most) {
    long got = take(line, buffer + have, most - have);
    if (got <= 0) goto over;
    have += (size_t)got;
    buffer[have] = 0;
    end = strstr(buffer, "\r\n\r\n");
  }
  if (end == NULL) goto over;
  *end = 0;
  long long left = 0;
  char *length = strcasestr(buffer, "\r\ncontent-length:");
  if (length != NULL) left = atoll(length + 17);
  long long size = left;
  left -= (long long)(buffer + have - (end + 4));
  is_kept = strcasestr(buffer, "\r\nconnection: close") == NULL;
  if (strcasestr(buffer, "\r\nexpect:") != NULL) say(line, "HTTP/1.1 100 Continue\r\n\r\n");
  int is_put = strncmp(buffer, "PUT", 3) == 0, is_find = strncmp(buffer, "PROPFIND", 8) == 0;
  while (left > 0) {
    long got = drop(line, buffer, left < (long long)most ? (size_t)left : most);
    if (got <= 0) {
      is_kept = 0;
      goto over;
    }
    left -= got;
  }
  if (is_find) {
    tell_length(line);
    goto over;
  }
  if (is_put) {
    stored = size;
    printf("%.3f %.3f %lld\n", since_ms, now_ms(), size);
    fflush(stdout);
  }
  say(line, "HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n");
over:
  free(buffer);
  return is_kept;
}

static void converse(struct line *line, double accepted_ms) {
  double since_ms = accepted_ms;
  while (answer(line, since_ms)) since_ms = now_ms();
}

static void *serve(void *given) {
  struct line line = {(int)(long)given, NULL};
  double accepted_ms = now_ms();
  if (tls != NULL) {
    line.ssl = SSL_new(tls);
    SSL_set_fd(line.ssl, line.fd);
    if (SSL_accept(line.ssl) == 1) {
      converse(&line, accepted_ms);
      SSL_shutdown(line.ssl);
    }
    SSL_free(line.ssl);
  } else {
    converse(&line, accepted_ms);
  }
  close(line.fd);
  return NULL;
}

static void *until_input_ends(void *unused) {
  (void)unused;
  while (getchar() != EOF) {
  }
  exit(0);
}

int main(int count, char **arguments) {
  signal(SIGPIPE, SIG_IGN);
  if (count >= 3) {
    tls = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_PrivateKey_file(tls, arguments[1], SSL_FILETYPE_PEM) != 1) return 2;
    if (SSL_CTX_use_certificate_chain_file(tls, arguments[2]) != 1) return 2;
  }
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (count == 4 && inet_pton(AF_INET, arguments[3], &address.sin_addr) != 1) return 2;
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 64) != 0) return 2;
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, until_input_ends, NULL);
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) continue;
    pthread_create(&thread, NULL, serve, (void *)(long)fd);
    pthread_detach(thread);
  }
}
