import { rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.ts';
import type { Finding } from '../planted/scenario.ts';
import { openWorld } from '../world/world.ts';
import type { World } from '../world/world.ts';
import type { Tools } from './runs.ts';
import { refusingEnv } from './shim.ts';
import type { Refusal } from './shim.ts';

const errors: readonly Refusal[] = ['EROFS', 'ENOSPC', 'EIO', 'EMFILE', 'EDQUOT', 'EACCES'];

/** Files of the state directory by what they are. */
const parts = {
  ledger: ['ledger.db', 'ledger.db-wal'],
  receipts: ['receipts.jsonl'],
  failures: ['failures.jsonl'],
  backups: ['backups'],
  everything: [''],
} as const;

/** `refused:receipts/EIO/running`: one part of the state directory refuses everything for a while. */
export const refusalRuns: readonly string[] = errors.flatMap((error) =>
  Object.keys(parts).flatMap((part) => ['start', 'running'].map((moment) => `refused:${part}/${error}/${moment}`)),
);

export async function playRefusal(name: string, tools: Tools): Promise<readonly Finding[]> {
  const [, part, error, moment] = /^refused:(.*)\/(.*)\/(.*)$/.exec(name) ?? [];
  if (!refusalRuns.includes(name)) throw new Error(`not a run: ${name}`);
  const play = moment === 'start' ? atTheStart : whileItRuns;
  return await within({ error: error as Refusal, part: part as keyof typeof parts }, tools, play);
}

interface Refused {
  readonly env: Readonly<Record<string, string>>;
  begin(): Promise<void>;
  end(): Promise<void>;
}

async function within(
  { error, part }: { readonly error: Refusal; readonly part: keyof typeof parts },
  { program, shim, env, patienceMs = 60_000 }: Tools,
  play: (world: World, refused: Refused) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  await using world = await openWorld({ program, patienceMs, allows: { exitCodes: [1], requestsPerVideo: 40 } });
  const roots = parts[part].map((name) => world.scratch.file('state', name).replace(/\/$/, ''));
  const condition = world.scratch.file('refuses');
  await world.drop('before.mpg');
  await world.once();
  const found = await play(world, {
    env: { ...env, ...refusingEnv({ error, condition }, shim, roots, world.scratch.file('trace')) },
    begin: () => writeFile(condition, ''),
    end: () => rm(condition),
  });
  return [...found, ...(await world.judge())];
}

/** It ends with a reason, and not as after a mistake in the configuration: the next start goes on. */
async function atTheStart(world: World, { env, begin, end }: Refused): Promise<readonly Finding[]> {
  await begin();
  await world.drop('file.mpg');
  const process = world.start(['run'], { env });
  await until('it is ready or has ended', () => process.output().includes('"Ready"') || !process.isRunning());
  await end();
  await (process.isRunning() ? world.stop(process) : world.end(process));
  await world.once();
  return [];
}

/** Lines of the log at most, whatever the number of files: one for each step under way, and one for each cause. */
const mostLines = 8;
const files = 30;

/** It says so once, and all files go on when it has passed, without a restart. */
async function whileItRuns(world: World, { env, begin, end }: Refused): Promise<readonly Finding[]> {
  const process = await world.daemon({ env });
  await begin();
  const names = Array.from({ length: files }, (_, n) => `${n}.mpg`);
  for (const name of names) await world.drop(name);
  await sleep(4_000);
  const lines = process
    .output()
    .split('\n')
    .filter((line) => /"level":"(?:warn|error)"/.test(line));
  await end();
  await world.drop('late.mpg');
  for (const name of [...names, 'late.mpg']) await world.reaches(name, 'done');
  await world.stop(process);
  if (lines.length <= mostLines) return [];
  const evidence = `${lines.length} lines: ${lines.slice(0, 3).join(' ')}`;
  return [{ invariant: 'one line for each cause', what: 'the log', evidence }];
}
