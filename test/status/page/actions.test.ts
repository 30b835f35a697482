import { expect, test } from 'vitest';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { OperatorPause } from '../../../src/pipeline/events.ts';
import { acceptFolder, pauseFolder, resumeFolder } from '../../../src/status/page/actions.ts';
import { outcomeOf } from '../../../src/status/page/files/bulk-commands.ts';
import type { PageWorld } from '../../../src/status/page/world.ts';

/** A daemon with one folder, which is frozen. */
function some() {
  let pauses: OperatorPause[] = [];
  const resumed: string[] = [];
  const told: string[] = [];
  const daemon = {
    config: () => ({ folders: [{ path: '/srv/in' }] }),
    rows: { held: () => [] },
    folders: {
      status: () => [{ path: '/srv/in', state: 'frozen', why: 'it is away' }],
      frozenFolders: () => [{ path: '/srv/in', why: 'it is away', claim: 'The 3 missing files of /srv/in are gone' }],
      resume: async (path: string) => {
        resumed.push(path);
        return { ok: true, what: 'goes on' };
      },
    },
    pauses: {
      list: () => pauses,
      all: () => null,
      set: async (pause: Omit<OperatorPause, 'since'>) => void pauses.push({ ...pause, since: 0 }),
      end: async (folder: string) => {
        const ended = pauses.find((each) => each.folder === folder) ?? null;
        pauses = pauses.filter((each) => each !== ended);
        return ended;
      },
    },
    fleet: null,
    news: { add: ({ text }: { readonly text: string }) => void told.push(text) },
  } as unknown as Daemon;
  const world = { daemon, now: 0, mayChange: true } as PageWorld;
  const sent = (folder: string, form: Readonly<Record<string, string>> = {}) => ({
    query: new URLSearchParams({ folder }),
    form: new URLSearchParams(form),
    part: () => '',
  });
  return { world, sent, resumed, told, pauses: () => pauses, paused: () => pauses.map(({ folder }) => folder) };
}

test('a folder is paused and resumed by its buttons', async () => {
  const { world, sent, paused } = some();
  expect(await pauseFolder(world, sent('/srv/in'))).toBe('/folders');
  expect(paused()).toEqual(['/srv/in']);
  expect(await resumeFolder(world, sent('/srv/in'))).toBe('/folders');
  expect(paused()).toEqual([]);
});

test('a folder that is not watched is not paused', async () => {
  const { world, sent, paused } = some();
  await expect(pauseFolder(world, sent('/elsewhere'))).rejects.toThrow('/elsewhere is no longer a watched folder.');
  expect(paused()).toEqual([]);
});

test('an old button takes no frozen folder up again', async () => {
  const { world, sent, resumed } = some();
  await expect(resumeFolder(world, sent('/srv/in'))).rejects.toThrow('/srv/in is no longer paused.');
  expect(resumed).toEqual([]);
});

test('a pause ends at the time of day or after the duration that the form names', async () => {
  const { world, sent, pauses } = some();
  await pauseFolder(world, sent('/srv/in', { until: ' 2h ' }));
  expect(pauses()).toMatchObject([{ folder: '/srv/in', until: 7_200_000, by: 'the status page' }]);
});

test.each(['tomorrow', '25:00', '<b>', '0s', '1e9d'])(
  'a pause until %s is refused, and nothing is paused',
  async (until) => {
    const { world, sent, paused } = some();
    await expect(pauseFolder(world, sent('/srv/in', { until }))).rejects.toThrow(/^Nothing was paused: (too|neither)/);
    expect(paused()).toEqual([]);
  },
);

test('a frozen folder is accepted with the statement that was shown, and the events say who made it', async () => {
  const { world, sent, resumed, told } = some();
  await acceptFolder(world, sent('/srv/in', { claim: 'The 3 missing files of /srv/in are gone' }));
  expect(resumed).toEqual(['/srv/in']);
  expect(told).toEqual(['Resumed by the status page: goes on']);
});

test.each([undefined, 'The 2 missing files of /srv/in are gone'])(
  'a frozen folder is not accepted with the statement %j, which no longer holds',
  async (claim) => {
    const { world, sent, resumed } = some();
    const form = claim === undefined ? {} : { claim };
    await expect(acceptFolder(world, sent('/srv/in', form))).rejects.toThrow('the state of /srv/in has changed');
    await expect(acceptFolder(world, sent('/other', { claim: '' }))).rejects.toThrow('Nothing was done');
    expect(resumed).toEqual([]);
  },
);

test('of the patterns that would exclude ignored files, only plain ones are suggested, each once', async () => {
  const patterns = ['**/*.mkv', '**/*."] evil', '**/*.waytoolongending', '**/*.mkv'];
  const excludes = patterns.map((pattern) => ({ folder: '/srv/in', key: 'in', pattern }));
  const result = { files: 2, requests: 0, refused: [], ids: [], excludes };
  const outcome = await outcomeOf({ past: (files) => `${files} ignored.` }, result, async () => null);
  expect(outcome).toMatchObject({ done: '2 files ignored.', excludes: ['**/*.mkv'] });
});
