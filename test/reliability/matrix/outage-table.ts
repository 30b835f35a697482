import type { IncomingMessage, ServerResponse } from 'node:http';
import { refusal } from '../../e2e/answers.ts';
import { until } from '../../support/until.ts';
import { openWorld } from '../world/world.ts';
import type { World } from '../world/world.ts';
import type { MatrixTools, Table } from './cell.ts';
import { hurriedProgram } from './hurried.ts';
import { judged } from './judged.ts';
import { allFiles, settled } from './settled.ts';

/** Which requests meet the outage. */
const outages = {
  'the list': ({ isApi, url }) => isApi && /\/videos\?/.test(url),
  'the upload host': ({ isApi }) => !isApi,
  'the API': ({ isApi }) => isApi,
  everything: () => true,
} satisfies Record<string, (request: { readonly isApi: boolean; readonly url: string }) => boolean>;

/** What a request meets. */
const kinds = {
  'reset connections': (request: IncomingMessage) => request.socket.destroy(),
  '503': (_: IncomingMessage, response: ServerResponse) => refusal(response, 503, 'unavailable'),
} as const;

const attempts = 12;
/** Failed requests until the outage is over. */
const lengths = { short: 2, 'longer than all attempts': attempts + 3 } as const;

interface OutageCell {
  readonly outage: keyof typeof outages;
  readonly kind: keyof typeof kinds;
  readonly length: keyof typeof lengths;
}

/** Every outage × its length. None uses up an attempt of any file. */
export const outageTable: Table<OutageCell> = {
  name: 'outages',
  cells: (Object.keys(outages) as OutageCell['outage'][]).flatMap((outage) =>
    (Object.keys(kinds) as OutageCell['kind'][]).flatMap((kind) =>
      (Object.keys(lengths) as OutageCell['length'][]).map((length) => ({ outage, kind, length })),
    ),
  ),
  row: ({ outage }) => outage,
  column: ({ length, kind }) => `${length}, ${kind}`,
  kind: () => 'one',
  world: () => 'one',
  atOnce: 1,
  play: async (cells, tools) => {
    await using program = await hurriedProgram(tools.program);
    await using world = await openWorld({
      program: program.path,
      patienceMs: tools.patienceMs ?? 60_000,
      settings: { retry: { attempts, first: '10ms', max: '30ms' } },
      allows: { requestsPerVideo: 200, requests: 2_000 },
    });
    return await judged(world, async () => {
      for (const cell of cells) await play(world, cell, tools);
    });
  },
};

async function play(world: World, { outage, kind, length }: OutageCell, { env = {} }: MatrixTools): Promise<void> {
  let [failed, isOn] = [0, true];
  const meet = (isApi: boolean, request: IncomingMessage, response: ServerResponse): boolean => {
    if (!isOn || !outages[outage]({ isApi, url: request.url ?? '' })) return false;
    failed += 1;
    kinds[kind](request, response);
    return true;
  };
  world.service.faults.api = (request, response) => meet(true, request, response);
  world.service.faults.upload = (request, response) => meet(false, request, response);
  for (const name of ['a', 'b', 'c']) await world.drop(`${name}.mpg`);
  const daemon = await world.daemon({ env });
  await until(
    'the outage was long enough, or affects nothing',
    async () => failed >= lengths[length] || (await isAllDone(world)),
    { withinMs: world.patienceMs, seen: () => failed },
  );
  const { files } = await allFiles(world);
  const paid = files.filter((file) => file.attempts > 0);
  if (paid.length > 0)
    throw new Error(`an outage used up ${paid.map((one) => `${one.attempts} of ${one.path}`).join()}`);
  isOn = false;
  await settled(world);
  await world.stop(daemon);
}

async function isAllDone(world: World): Promise<boolean> {
  const { files } = await allFiles(world);
  return files.length === 3 && files.every(({ state }) => state === 'done');
}
