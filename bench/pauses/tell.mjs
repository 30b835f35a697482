// For `--import`: on SIGUSR2, writes the longest pause of the event loop since the last one, in milliseconds, into $BENCH_PAUSES.
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const resolution = 20;
const path = process.env['BENCH_PAUSES'];
if (isMainThread && path !== undefined) {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  process.on('SIGUSR2', () => {
    writeFileSync(`${path}.part`, String(Math.max(0, delay.max / 1e6 - resolution)));
    delay.reset();
    renameSync(`${path}.part`, path);
  });
}
