// For `--import`: on SIGUSR2, writes the longest pause and the longest turn of the event loop since the last one, in milliseconds, into
// $BENCH_PAUSES.
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const resolution = 20;
const lookMs = 10;
const path = process.env['BENCH_PAUSES'];
if (isMainThread && path !== undefined) {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  let turn = 0;
  let last = cpuMs();
  setInterval(() => {
    const now = cpuMs();
    turn = Math.max(turn, now - last);
    last = now;
  }, lookMs).unref();
  process.on('SIGUSR2', () => {
    writeFileSync(`${path}.part`, JSON.stringify({ pause: Math.max(0, delay.max / 1e6 - resolution), turn }));
    delay.reset();
    turn = 0;
    last = cpuMs();
    renameSync(`${path}.part`, path);
  });
}

function cpuMs() {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e3;
}
