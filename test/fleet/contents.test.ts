import { afterEach, expect, test } from 'vitest';
import { Contents } from '../../src/fleet/contents.ts';
import type { ContentWords } from '../../src/view/hosts/fleet-view.ts';
import type { Host } from '../../src/view/hosts/fleet-view.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { TestClock } from '../pipeline/test-clock.ts';

const closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of closing.splice(0)) await one[Symbol.asyncDispose]();
});

const places = { one: ['one:/in', 'nas1:'], two: ['two:/in'] };
type Name = keyof typeof places;

/** Two hosts whose rows are written and read when the test says so. */
function twoHosts(hash: (facts: Facts) => Promise<string | null> = async ({ id }) => `hash of ${id}`) {
  const clock = new TestClock();
  const rows = new Map<string, Facts>();
  const told = new Map<Name, ContentWords>();
  const heard: Record<Name, Partial<Host>> = { one: {}, two: {} };
  const hashed: string[] = [];
  const known = (): readonly Host[] =>
    (['one', 'two'] as const).map((name) => ({
      name,
      instance: name,
      version: '1.0.0',
      schema: 1,
      startedAt: 0,
      heardAt: 0,
      isHeard: true,
      isStopped: false,
      clockAheadMs: 0,
      draining: null,
      doing: { slots: 4, places: places[name], work: [], contents: told.get(name) ?? { asked: [], known: {} } },
      ...heard[name],
    }));
  const hosts = {} as Record<Name, Contents>;
  const look = (): void => Object.values(hosts).forEach((host) => host.look());
  for (const name of ['one', 'two'] as const) {
    hosts[name] = new Contents({
      fleet: { self: name, known, hosts: async () => known() },
      logger: silentLogger,
      clock,
      isHere: (folder) => places[name].includes(folder),
      load: async (id) => rows.get(id) ?? null,
      hash: async (facts) => {
        hashed.push(`${facts.id} on ${name}`);
        const value = await hash(facts);
        return value === null
          ? { ok: false, failure: { kind: 'vanished', code: 'vanished', message: 'it is gone' } }
          : { ok: true, value };
      },
      tell: async () => {
        told.set(name, hosts[name].words());
        look();
      },
    });
    closing.push(hosts[name]);
  }
  const file = (id: string, folder: string, size = 1): Facts => {
    const facts = { ...someFacts({ id, folder }), version: { ...someFacts({ id }).version, size } };
    rows.set(id, facts);
    return facts;
  };
  return { ...hosts, clock, heard, hashed, told, look, file };
}

const never = new AbortController().signal;

test('a file of the other host is read there, once', async () => {
  const { two, file, hashed } = twoHosts();
  const facts = file('f_1', 'one:/in');
  expect(await two.hashOf(facts, never)).toBe('hash of f_1');
  expect(await two.hashOf(facts, never)).toBe('hash of f_1');
  expect(hashed).toEqual(['f_1 on one']);
});

test('a file of a share that only the other host watches is read there; an own one is asked of no host', async () => {
  const { two, file, told } = twoHosts();
  expect(await two.hashOf(file('f_1', 'nas1:'), never)).toBe('hash of f_1');
  expect(await two.hashOf(file('f_2', 'two:/in'), never)).toBeNull();
  expect(told.get('two')?.asked).toEqual(['f_1']);
});

test('both may ask each other at once', async () => {
  const { one, two, file } = twoHosts();
  const [first, second] = [file('f_1', 'one:/in'), file('f_2', 'two:/in')];
  expect(await Promise.all([two.hashOf(first, never), one.hashOf(second, never)])).toEqual([
    'hash of f_1',
    'hash of f_2',
  ]);
});

test('what cannot be read there proves nothing', async () => {
  const { two, file } = twoHosts(async () => null);
  expect(await two.hashOf(file('f_1', 'one:/in'), never)).toBeNull();
});

test.each([
  ['is not heard', { isHeard: false }],
  ['has stopped', { isStopped: true }],
  ['is of a release that answers nothing', { doing: { slots: 4, places: places.one, work: [] } }],
])('a host that %s is not asked', async (_, other) => {
  const { two, file, heard, told } = twoHosts();
  heard.one = other;
  expect(await two.hashOf(file('f_1', 'one:/in'), never)).toBeNull();
  expect(told.size).toBe(0);
});

test('a host that falls silent, or reads for ever, is waited for no longer', async () => {
  const { two, file, heard, look, clock } = twoHosts(() => new Promise(() => {}));
  // Its end is not waited for either.
  closing.shift();
  const silent = two.hashOf(file('f_1', 'one:/in'), never);
  await Promise.resolve();
  heard.one = { isHeard: false };
  look();
  expect(await silent).toBeNull();
  heard.one = {};
  const endless = two.hashOf(file('f_2', 'one:/in', 10_000_000), never);
  for (let n = 0; n < 10; n += 1) await Promise.resolve();
  clock.advance(60_999);
  look();
  const early = await Promise.race([endless, new Promise((resolve) => setImmediate(resolve, 'it waits'))]);
  expect(early).toBe('it waits');
  clock.advance(2);
  look();
  expect(await endless).toBeNull();
});

test('a question ends with its file, and is forgotten a minute later on both sides', async () => {
  const { one, two, file, told, clock, look } = twoHosts();
  await two.hashOf(file('f_1', 'one:/in'), never);
  expect(one.words().known).toEqual({ f_1: 'hash of f_1' });
  clock.advance(60_001);
  told.set('two', two.words());
  expect(two.words().asked).toEqual([]);
  look();
  expect(one.words().known).toEqual({});
});

test('at most 200 files are requested in a minute', async () => {
  const { two, file, told } = twoHosts();
  for (let n = 0; n < 201; n += 1) {
    const hash = await two.hashOf(file(`f_${n}`, 'one:/in'), never);
    expect(hash).toBe(n < 200 ? `hash of f_${n}` : null);
  }
  expect(told.get('two')?.asked).toHaveLength(200);
});
