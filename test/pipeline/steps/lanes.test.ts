import { describe, expect, test } from 'vitest';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { bigBytes, queuedOf } from '../../../src/pipeline/file/queue.ts';
import { createLanes } from '../../../src/pipeline/steps/lanes.ts';
import { MemoryStore } from '../memory-store.ts';
import { created, someFacts, someVersion, uploaded } from '../some-facts.ts';

/** Lanes whose tasks run until the test ends them. */
function open(
  rows: readonly Facts[],
  {
    uploads = 2,
    folderUploads = new Map<string, number>(),
    mayCreate = true,
    mayUpload = (_id: string): boolean => true,
    isOpen = (): boolean => true,
    offLimits = new Set<string>(),
    paused = new Set<string>(),
    mayTake = (): boolean => true,
  } = {},
) {
  const store = new MemoryStore(rows);
  const running = new Map<string, () => void>();
  const ended: string[] = [];
  const limits = { uploads, folderUploads };
  const lanes = createLanes(
    {
      store,
      mayCreate: async () => mayCreate,
      uploadsStartAt: () => (isOpen() ? null : 1),
      mayTake,
      isOffLimits: (folder) => offLimits.has(folder),
      isPaused: (folder) => paused.has(folder),
      uploadHosts: { isOpen: ({ id }) => mayUpload(id), admit: () => true, mayCreate: () => true },
      onEnd: (id) => ended.push(id),
      runner: {
        run: (id) =>
          new Promise((resolve) => {
            running.set(id, () => {
              running.delete(id);
              resolve(true);
            });
          }),
      },
    },
    limits,
  );
  /** What ran has done its step, and the lanes are filled again. */
  const end = async (...ids: string[]): Promise<void> => {
    for (const id of ids) {
      const facts = store.row(id);
      await store.save(facts.videoId === null ? { ...facts, ...created } : { ...facts, ...uploaded });
      running.get(id)?.();
    }
    await new Promise((resolve) => setImmediate(resolve));
    await lanes.pump();
  };
  return { lanes, limits, store, running: () => [...running.keys()], ended, end };
}

const queued = (count: number): Facts[] => Array.from({ length: count }, (_, n) => someFacts({ id: `q_${n}` }));
const waiting = (count: number): Facts[] =>
  Array.from({ length: count }, (_, n) => someFacts({ ...created, id: `u_${n}` }));

const someBig = { version: { ...someVersion, size: bigBytes + 1 } };
const bigQueued = (count: number): Facts[] =>
  Array.from({ length: count }, (_, n) => someFacts({ ...someBig, id: `bq_${n}` }));
const bigOnes = (count: number): Facts[] =>
  Array.from({ length: count }, (_, n) => someFacts({ ...created, ...someBig, id: `big_${n}` }));

describe('the lanes', () => {
  test('of a host that is drained take up nothing, and what runs is finished', async () => {
    let isDrained = false;
    const { lanes, running, end } = open([...waiting(3), ...queued(3)], { uploads: 1, mayTake: () => !isDrained });
    await lanes.pump();
    const atWork = running();
    expect(atWork).not.toEqual([]);
    isDrained = true;
    await end(...atWork);
    expect([running(), lanes.size()]).toEqual([[], 0]);
    isDrained = false;
    await lanes.pump();
    expect(running()).not.toEqual([]);
  });

  test('run uploads up to the limit, in the order of the ledger', async () => {
    const { lanes, running, end } = open(waiting(10));
    await lanes.pump();
    expect(running()).toEqual(['u_0', 'u_1']);
    await end('u_0');
    expect(running()).toEqual(['u_1', 'u_2']);
  });

  test('hold only running files in memory, however often they are filled', async () => {
    const { lanes } = open([...waiting(500)]);
    for (let n = 0; n < 20; n += 1) await lanes.pump();
    expect(lanes.size()).toBe(2);
  });

  test('never take a file twice', async () => {
    const { lanes, running } = open(waiting(1));
    await Promise.all([lanes.pump(), lanes.pump()]);
    await lanes.pump();
    expect(lanes.size()).toBe(1);
    expect(running()).toEqual(['u_0']);
  });

  test('give the slots of files that wait for an answer of their folder to others, and take them back when it answers', async () => {
    const offLimits = new Set<string>();
    const there = queued(5).map((facts) => ({ ...facts, folder: '/there' }));
    const hung = [...waiting(2), ...queued(1).map(({ id, ...facts }) => ({ ...facts, id: `h${id}` }))];
    const { lanes, running, end } = open([...hung, ...there], { offLimits });
    await lanes.pump();
    expect(running()).toEqual(['u_0', 'u_1', 'hq_0', 'q_0']);
    await end('q_0');
    expect(running()).toEqual(['u_0', 'u_1', 'hq_0']);
    offLimits.add(someFacts().folder);
    await lanes.pump();
    expect(running()).toEqual(['u_0', 'u_1', 'hq_0', 'q_0', 'q_1', 'q_2']);
    expect(lanes.size()).toBe(6);
    offLimits.clear();
    await end('q_0');
    expect(running()).toEqual(['u_0', 'u_1', 'hq_0', 'q_1', 'q_2']);
  });

  test('create two at a time, and only a little ahead of the uploads', async () => {
    const { lanes, running } = open([...waiting(3), ...queued(10)]);
    await lanes.pump();
    // Two uploads at a time allow four records ahead: three are there.
    expect(running()).toEqual(['u_0', 'u_1', 'q_0']);
  });

  test('create nothing while too many requests are in doubt, and upload on', async () => {
    const { lanes, running } = open([...waiting(1), ...queued(3)], { mayCreate: false });
    await lanes.pump();
    expect(running()).toEqual(['u_0']);
  });

  test('send what is behind files that have to wait for their host', async () => {
    const isAway = (id: string): boolean => Number(id.slice(2)) < 40;
    const { lanes, running } = open(waiting(50), { mayUpload: (id) => !isAway(id) });
    await lanes.pump();
    expect(running()).toEqual(['u_40', 'u_41']);
  });

  test('keep one slot of four for small files, also when only big ones wait', async () => {
    const { lanes, running } = open([...bigOnes(4), ...queued(1)], { uploads: 4 });
    await lanes.pump();
    expect(running()).toEqual(['big_0', 'big_1', 'big_2', 'q_0']);
  });

  test('create records for small files while big ones are sent, and for no further big ones', async () => {
    const { lanes, running, end } = open([...bigOnes(3), ...bigQueued(3), ...queued(3)], { uploads: 4 });
    await lanes.pump();
    expect(running()).toEqual(['big_0', 'big_1', 'big_2', 'q_0', 'q_1']);
    await end('q_0', 'q_1');
    expect(running()).toEqual(['big_0', 'big_1', 'big_2', 'q_0', 'q_2']);
    await end('big_0');
    expect(running()).toContain('bq_0');
  });

  test('send at most as many files of a folder at once as it may', async () => {
    const files = waiting(6).map((facts, n) => ({ ...facts, folder: n < 5 ? '/limited' : '/other' }));
    const { lanes, running, end } = open(files, { uploads: 4, folderUploads: new Map([['/limited', 1]]) });
    await lanes.pump();
    expect(running()).toEqual(['u_0', 'u_5']);
    await end('u_0');
    expect(running()).toEqual(['u_5', 'u_1']);
  });

  test('say why a file in line cannot be taken up', async () => {
    const files = waiting(3).map((facts) => ({ ...facts, folder: '/limited' }));
    const { lanes } = open([...files, ...bigOnes(4)], { uploads: 4, folderUploads: new Map([['/limited', 1]]) });
    await lanes.pump();
    const [, second = someFacts()] = files;
    const [, , , fourth = someFacts()] = bigOnes(4);
    expect(lanes.whyNot('awaiting upload', queuedOf(second))).toBe('folder');
    expect(lanes.whyNot('awaiting upload', queuedOf(fourth))).toBe('kept for small');
    expect(lanes.whyNot('queued', queuedOf(someFacts()))).toBeNull();
  });

  test('create on while one upload host of several is away', async () => {
    const { lanes, running } = open([...waiting(4), ...queued(4)], { mayUpload: (id) => !id.startsWith('u_') });
    await lanes.pump();
    expect(running()).toEqual(['q_0', 'q_1']);
  });

  test('create no further records once twice the limit wait for a host that is away', async () => {
    const { lanes, running } = open([...waiting(8), ...queued(4)], { mayUpload: (id) => !id.startsWith('u_') });
    await lanes.pump();
    expect(running()).toEqual([]);
  });

  test('tell who has ended', async () => {
    const { lanes, ended, end } = open(waiting(1));
    await lanes.pump();
    await end('u_0');
    expect(ended).toEqual(['u_0']);
  });

  test('take nothing more once closed, and are drained when what runs has ended', async () => {
    const { lanes, running, end } = open(waiting(10));
    await lanes.pump();
    lanes.close();
    let isDrained = false;
    const drained = lanes.drained().then(() => {
      isDrained = true;
    });
    await end('u_0');
    await lanes.pump();
    expect([running(), isDrained]).toEqual([['u_1'], false]);
    await end('u_1');
    await drained;
    expect(lanes.size()).toBe(0);
  });

  test('take another limit', async () => {
    const { lanes, limits, running } = open(waiting(10), { uploads: 1 });
    await lanes.pump();
    expect(running()).toHaveLength(1);
    lanes.change({ ...limits, uploads: 3 });
    await lanes.pump();
    await new Promise((resolve) => setImmediate(resolve));
    expect(running()).toHaveLength(3);
  });
});

describe('outside of the hours for uploads', () => {
  test('the lanes start no upload and create no record, and resume automatically later', async () => {
    let isOpen = false;
    const { lanes, running } = open([...waiting(1), ...queued(1)], { isOpen: () => isOpen });
    await lanes.pump();
    expect(running()).toEqual([]);
    isOpen = true;
    await lanes.pump();
    expect(running()).toEqual(['u_0', 'q_0']);
  });

  test('files in progress continue, and files that may have arrived are polled', async () => {
    let isOpen = true;
    const sent = someFacts({ ...created, id: 'sent', sha256: 'aa' });
    const { lanes, running, end } = open([...waiting(1), sent, ...queued(1)], { uploads: 1, isOpen: () => isOpen });
    await lanes.pump();
    isOpen = false;
    await lanes.pump();
    expect(running()).toEqual(['u_0']);
    await end('u_0');
    expect(running()).toEqual(['sent']);
    await end('sent');
    expect(running()).toEqual([]);
  });
});

describe('a folder that a person paused', () => {
  const at = (folder: string, files: readonly Facts[]): Facts[] =>
    files.map((facts) => ({ ...facts, id: `${folder}/${facts.id}`, folder }));

  test('begins nothing new, and what runs there is finished', async () => {
    const paused = new Set<string>();
    const { lanes, running, end } = open([...at('/a', queued(2)), ...at('/a', waiting(2))], { paused });
    await lanes.pump();
    const before = running();
    expect(before.length).toBeGreaterThan(0);
    paused.add('/a');
    await lanes.pump();
    expect(running()).toEqual(before);
    await end(...before);
    expect(running()).toEqual([]);
    paused.clear();
    await lanes.pump();
    expect(running().length).toBeGreaterThan(0);
  });

  test('takes no slot and no record from the others, however many wait in it', async () => {
    const paused = new Set(['/a']);
    const rows = [...at('/a', waiting(40)), ...at('/a', queued(40)), ...at('/b', waiting(1)), ...at('/b', queued(3))];
    const { lanes, running } = open(rows, { paused });
    await lanes.pump();
    expect(running().toSorted()).toEqual(['/b/q_0', '/b/q_1', '/b/u_0']);
  });
});
