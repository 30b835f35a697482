import { describe, expect, test } from 'vitest';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { createLanes } from '../../../src/pipeline/steps/lanes.ts';
import { MemoryStore } from '../memory-store.ts';
import { created, someFacts } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

/** Lanes whose tasks run until the test ends them. */
function open(
  rows: readonly Facts[],
  { uploads = 2, mayCreate = true, mayUpload = (_id: string): boolean => true } = {},
) {
  const store = new MemoryStore(rows);
  const running = new Map<string, () => void>();
  const ended: string[] = [];
  const lanes = createLanes({
    store,
    clock: new TestClock(),
    uploads,
    mayCreate: async () => mayCreate,
    mayUpload: ({ id }) => mayUpload(id),
    onEnd: (id) => ended.push(id),
    runner: {
      run: (id) =>
        new Promise((resolve) => {
          running.set(id, () => {
            running.delete(id);
            resolve(true);
          });
        }),
      apply: () => Promise.reject(new Error('lanes only run')),
      abort: () => Promise.resolve(),
    },
  });
  const end = async (id: string): Promise<void> => {
    running.get(id)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { lanes, store, running: () => [...running.keys()], ended, end };
}

const queued = (count: number): Facts[] => Array.from({ length: count }, (_, n) => someFacts({ id: `q_${n}` }));
const waiting = (count: number): Facts[] =>
  Array.from({ length: count }, (_, n) => someFacts({ ...created, id: `u_${n}` }));

describe('the lanes', () => {
  test('run uploads up to the limit, in the order of the ledger', async () => {
    const { lanes, running, end } = open(waiting(10));
    await lanes.pump();
    expect(running()).toEqual(['u_0', 'u_1']);
    await end('u_0');
    expect(running()).toEqual(['u_1', 'u_2']);
  });

  test('hold twice the limit in memory and no more, however often they are filled', async () => {
    const { lanes } = open([...waiting(500)]);
    for (let n = 0; n < 20; n += 1) await lanes.pump();
    expect(lanes.size()).toBe(4);
  });

  test('never take a file twice', async () => {
    const { lanes, running } = open(waiting(1));
    await Promise.all([lanes.pump(), lanes.pump()]);
    await lanes.pump();
    expect(lanes.size()).toBe(1);
    expect(running()).toEqual(['u_0']);
  });

  test('create two at a time, and only a little ahead of the uploads', async () => {
    const { lanes, running } = open([...waiting(3), ...queued(10)]);
    await lanes.pump();
    // Two uploads at a time allow four records ahead: three are there.
    expect(running()).toEqual(['u_0', 'u_1', 'q_0']);
    expect(lanes.size()).toBe(4);
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
    const { lanes, running } = open(waiting(10), { uploads: 1 });
    await lanes.pump();
    expect(running()).toHaveLength(1);
    lanes.setConcurrency(3);
    await lanes.pump();
    await new Promise((resolve) => setImmediate(resolve));
    expect(running()).toHaveLength(3);
  });
});
