/**
 * File system calls run in a pool of threads, of which libuv starts four. A call on a share whose server is gone takes
 * its thread until the server is back, so that four of them would stop every folder. One such share was seen to hold up
 * to 18. A thread that was never used costs no memory, and the units allow 96 tasks. libuv reads this when the first
 * call comes: before any other import.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '64';
