import { openWorld } from '../world/world.ts';
import type { World } from '../world/world.ts';
import type { ProgramProcess } from '../world/program-process.ts';
import { hostWith } from './cell.ts';
import type { MatrixTools, Table } from './cell.ts';
import { changeOf, changes, lateTitle } from './changes.ts';
import type { ChangeName } from './changes.ts';
import { Holds } from './holds.ts';
import { judged } from './judged.ts';
import { moments } from './moments.ts';
import type { Moment } from './moments.ts';
import { settled } from './settled.ts';
import { bringThere, stagedAt } from './staged.ts';
import type { Staged } from './staged.ts';

/** What becomes of the daemon when its files change. */
const restarts = [
  'no restart',
  'kill -9, then the change',
  'the change, then kill -9',
  'SIGTERM, and the change',
] as const;

interface ChangeCell {
  readonly change: ChangeName;
  readonly moment: Moment;
  readonly restart: (typeof restarts)[number];
}

type Changed = Staged & Pick<ChangeCell, 'change'>;

/** Every change of a file × every moment × every way to stop the daemon. */
export const changeTable: Table<ChangeCell> = {
  name: 'changes',
  cells: restarts.flatMap((restart) =>
    (Object.keys(changes) as ChangeName[]).flatMap((change) => moments.map((moment) => ({ change, moment, restart }))),
  ),
  row: ({ change }) => change,
  column: ({ moment }) => moment,
  kind: ({ restart }) => restart,
  world: ({ restart }) => restart,
  // At most 32 uploads run at a time.
  atOnce: 32,
  play: async (cells, tools) => {
    await using world = await openWorld(optionsWith(tools));
    return await judged(world, () => play(world, cells, tools));
  },
};

/** Nothing but the service's holds keeps a file from going on. */
export function optionsWith(tools: MatrixTools) {
  return {
    program: tools.program,
    patienceMs: tools.patienceMs ?? 60_000,
    settings: { uploads: { concurrency: 32, stall_timeout: '10m' } },
    host: hostWith(tools),
    allows: { requestsPerVideo: 100_000, requests: 1_000_000 },
  };
}

async function play(world: World, cells: readonly ChangeCell[], { env = {} }: MatrixTools): Promise<void> {
  const files = cells.map(({ change, moment }) => ({ ...stagedAt(world, `${change} ${moment}`, moment), change }));
  const restart = cells[0]?.restart ?? 'no restart';
  using holds = new Holds(world, new Map(files.map(({ title, moment }) => [title, moment])));
  for (const file of files) await changeOf(file.change).prepare?.(file);
  const first = await world.daemon({ env });
  await using writers = await bringThere(world, files, holds);
  if (restart === 'kill -9, then the change') await kill(world, first, holds);
  if (restart === 'SIGTERM, and the change') first.send('SIGTERM');
  for (const file of files) await changeOf(file.change).apply(file);
  if (restart === 'the change, then kill -9') await kill(world, first, holds);
  await writers[Symbol.asyncDispose]();
  holds.open();
  if (restart === 'SIGTERM, and the change') await world.end(first);
  const last = restart === 'no restart' ? first : await world.daemon({ env });
  await settled(world, lateTitles(files));
  await world.stop(last);
}

export async function kill(world: World, daemon: ProgramProcess, holds: Holds): Promise<void> {
  await world.stop(daemon, 'SIGKILL');
  holds.lose();
}

function lateTitles(files: readonly Changed[]): readonly string[] {
  return files.filter(({ change }) => changeOf(change).isTitleSent === true).map(({ title }) => lateTitle(title));
}
