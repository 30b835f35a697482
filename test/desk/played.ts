import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { OnPage, Order, Report } from './play.ts';
import { momentOf } from './step.ts';
import { steps } from './three-days.ts';

/**
 * Plays the three days. Each process is one run of the daemon: it ends by SIGTERM or kill -9, as the script says.
 *
 * @param atPage does the daily jobs of the page; without it, they are commands
 */
export async function threeDays(atPage?: (call: OnPage) => Promise<void>): Promise<readonly Report[]> {
  await using scratch = await scratchDirectory();
  const ports = {
    service: await freePort(),
    messages: await freePort(),
    page: atPage === undefined ? null : await freePort(),
  };
  const reports: Report[] = [];
  let now = momentOf({ day: 1, time: '05:30' });
  for (let played = -1; reports.length < steps.length && played < reports.length;) {
    played = reports.length;
    reports.push(...(await play({ place: scratch.path, ports, from: played, now }, atPage)));
    now = (reports.at(-1)?.now ?? now) + 1_000;
  }
  return reports;
}

async function play(order: Order, atPage?: (call: OnPage) => Promise<void>): Promise<readonly Report[]> {
  const script = fileURLToPath(new URL('play.ts', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TZ: 'UTC', NODE_COMPILE_CACHE: `${order.place}/cache` },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const reports: Report[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as Report | OnPage;
    if ('now' in said) reports.push(said);
    else {
      await atPage?.(said);
      child.stdin.write('done\n');
    }
  }
  await ended;
  return reports;
}
