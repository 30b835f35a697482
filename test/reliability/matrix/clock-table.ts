import { open } from 'node:fs/promises';
import { compile } from '../kill/shim.ts';
import { refusal } from '../../e2e/answers.ts';
import { until } from '../../support/until.ts';
import { openWorld } from '../world/world.ts';
import type { World } from '../world/world.ts';
import type { MatrixTools, Table } from './cell.ts';
import { kill, optionsWith } from './change-table.ts';
import { Holds } from './holds.ts';
import { judged } from './judged.ts';
import { moments } from './moments.ts';
import type { Moment } from './moments.ts';
import { settled } from './settled.ts';
import { bringThere, stagedAt } from './staged.ts';

const hour = 3_600;
const jumps = {
  '10 days on': 240 * hour,
  '10 days back': -240 * hour,
  'an hour on': hour,
  'an hour back': -hour,
} as const;
const restarts = ['no restart', 'kill -9 first'] as const;

interface ClockCell {
  readonly jump: keyof typeof jumps;
  readonly moment: Moment;
  readonly restart: (typeof restarts)[number];
}

/** Every jump of the wall clock × every moment of a file, with a restart or without. In each the service has just said to wait. */
export const clockTable: Table<ClockCell> = {
  name: 'clocks',
  cells: (Object.keys(jumps) as ClockCell['jump'][]).flatMap((jump) =>
    restarts.flatMap((restart) => moments.map((moment) => ({ jump, moment, restart }))),
  ),
  row: ({ jump }) => jump,
  column: ({ moment }) => moment,
  kind: ({ restart }) => restart,
  world: ({ jump, restart }) => `${jump}, ${restart}`,
  atOnce: moments.length,
  play: async (cells, tools) => {
    await using world = await openWorld(optionsWith(tools));
    return await judged(world, () => play(world, cells, tools));
  },
};

async function play(world: World, cells: readonly ClockCell[], { env = {} }: MatrixTools): Promise<void> {
  const { jump = 'an hour on', restart = 'no restart' } = cells[0] ?? {};
  const files = cells.map(({ moment }) => stagedAt(world, moment, moment));
  await using clock = await settableClock(world);
  const withClock = { env: { ...env, ...clock.env } };
  using holds = new Holds(world, new Map(files.map(({ title, moment }) => [title, moment])));
  const first = await world.daemon(withClock);
  await using writers = await bringThere(world, files, holds);
  await tooManyOnce(world);
  if (restart === 'kill -9 first') await kill(world, first, holds);
  await clock.set(jumps[jump]);
  const last = restart === 'no restart' ? first : await world.daemon(withClock);
  await writers[Symbol.asyncDispose]();
  holds.open();
  await settled(world);
  await world.stop(last);
}

/** The next request is told to wait three seconds. */
async function tooManyOnce(world: World): Promise<void> {
  const { faults } = world.service;
  const before = faults.api;
  let isOver = false;
  faults.api = async (request, response, body) => {
    if (isOver) return (await before?.(request, response, body)) ?? false;
    isOver = true;
    return refusal(response, 429, 'rate_limited', { 'retry-after': '3' });
  };
  await world.drop('one more.mpg');
  await until('the service has said to wait', () => isOver);
}

interface SettableClock extends AsyncDisposable {
  /** Of the processes that run by it. */
  readonly env: Readonly<Record<string, string>>;
  /** @param seconds off the true time */
  set(seconds: number): Promise<void>;
}

async function settableClock({ scratch }: World): Promise<SettableClock> {
  const library = await compile('../matrix/clock.c', scratch.file('clock.so'), ['-shared', '-fPIC', '-ldl']);
  const path = await scratch.write('clock', new Uint8Array(8));
  const file = await open(path, 'r+');
  return {
    env: { LD_PRELOAD: library, CLOCK_FILE: path },
    set: async (seconds) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(seconds));
      await file.write(bytes, 0, 8, 0);
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}
