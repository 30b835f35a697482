import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { until } from './child.ts';
import { startStation } from './pace/station.ts';

const settleMs = 200;
const files = { full: 300, small: 20 } as const;

export const bench: Bench = {
  about:
    'Small files are dropped one after the other into a watched folder: how long after its settle time the create request of each reaches the service.',
  rounds: 3,
  rows: {
    p50: { what: 'drop to POST beyond settle, p50', unit: 'ms', most: 30 },
    p95: { what: 'drop to POST beyond settle, p95', unit: 'ms', most: 100 },
    p99: { what: 'drop to POST beyond settle, p99', unit: 'ms', most: 200 },
  },
  plots: [{ title: 'Drop to POST beyond settle', x: 'share of the files in per cent', y: 'ms', series: ['latency'] }],
  round: async (build, size) => {
    await using station = await startStation(build, settleMs);
    const dropped = new Map<string, number>();
    for (let n = 0; n < files[size]; n += 1) {
      const path = join(station.inbox, `clip ${n}`);
      await writeFile(`${path}.part`, Buffer.alloc(1_000 + n));
      await rename(`${path}.part`, `${path}.mp4`);
      dropped.set(`clip ${n}`, performance.timeOrigin + performance.now());
      // Not in step with anything.
      await sleep(40 + ((n * 37) % 90));
    }
    await until(async () => (await station.noted()).length === dropped.size, 100);
    const latencies = (await station.noted())
      .map(({ title, createdAtMs }) => createdAtMs - (dropped.get(title) ?? Number.NaN) - settleMs)
      .toSorted((one, other) => one - other);
    const at = (share: number): number =>
      latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))] ?? Number.NaN;
    const shares = Array.from({ length: 101 }, (_, n) => n / 100);
    return {
      values: { p50: at(0.5), p95: at(0.95), p99: at(0.99) },
      series: { latency: shares.map((share) => [100 * share, at(share)] as const) },
    };
  },
};
