import { expect, test } from 'vitest';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { OperatorPause } from '../../../src/pipeline/events.ts';
import { pauseFolder, resumeFolder } from '../../../src/status/page/actions.ts';
import type { PageWorld } from '../../../src/status/page/world.ts';

/** A daemon with one folder, which is frozen. */
function some() {
  let pauses: OperatorPause[] = [];
  const resumed: string[] = [];
  const daemon = {
    config: () => ({ folders: [{ path: '/srv/in' }] }),
    rows: { held: () => [] },
    folders: {
      status: () => [{ path: '/srv/in', state: 'frozen', why: 'it is away' }],
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
  } as unknown as Daemon;
  const world = { daemon, now: 0, mayChange: true } as PageWorld;
  const sent = (folder: string) => ({
    query: new URLSearchParams({ folder }),
    form: new URLSearchParams(),
    part: () => '',
  });
  return { world, sent, resumed, paused: () => pauses.map(({ folder }) => folder) };
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
