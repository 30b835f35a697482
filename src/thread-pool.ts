/**
 * File system calls run in a thread pool, which libuv limits to four threads by default. A call on a share whose server
 * is gone occupies its thread until the server is back, so four of them would block every folder. One such share was
 * seen to hold up to 18. A thread that was never used costs no memory, and the units allow 96 tasks. libuv reads this
 * variable at the first call, so it must be set before any other import.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '64';
