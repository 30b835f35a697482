import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { Order, Report } from './play.ts';
import { momentOf } from './step.ts';
import { steps } from './three-days.ts';

let reports: readonly Report[];

beforeAll(async () => {
  await using scratch = await scratchDirectory();
  const ports = { service: await freePort(), messages: await freePort() };
  const all: Report[] = [];
  let now = momentOf({ day: 1, time: '05:30' });
  // Each process is one run of the daemon: it ends by SIGTERM or kill -9, as the script says.
  for (let played = -1; all.length < steps.length && played < all.length;) {
    played = all.length;
    all.push(...(await play({ place: scratch.path, ports, from: played, now })));
    now = (all.at(-1)?.now ?? now) + 1_000;
  }
  reports = all;
});

test.each(steps.map(({ day, time, who, does }, step) => [day, time, who, nameOf(does), step] as const))(
  'day %i, %s, %s: %s',
  (_day, _time, _who, _does, step) => {
    const report = reports[step];
    expect(report?.missed, `${report?.answer?.out}${report?.answer?.err}`).toEqual([]);
  },
);

test('every daily job is one command', () => {
  const jobs = steps.filter(({ job }) => job !== undefined);
  expect(jobs.map(({ does }) => typeof does)).toEqual(jobs.map(() => 'string'));
});

async function play(order: Order): Promise<readonly Report[]> {
  const script = fileURLToPath(new URL('play.ts', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TZ: 'UTC', NODE_COMPILE_CACHE: `${order.place}/cache` },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const lines: Report[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(JSON.parse(line) as Report);
  await ended;
  return lines;
}

function nameOf(does: (typeof steps)[number]['does']): string {
  return typeof does === 'string' ? does : 'something happens';
}
