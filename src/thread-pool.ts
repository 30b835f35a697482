/**
 * File system calls run in a pool of threads, of which libuv starts four. A call on a share whose server is gone takes its thread until
 * the server is back, so that four of them would stop every folder. libuv reads this when the first call comes: before any other import.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '32';
