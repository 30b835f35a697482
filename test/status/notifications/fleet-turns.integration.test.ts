import { expect, test } from 'vitest';
import type { ExpectationView } from '../../../src/pipeline/expectation.ts';
import type { Host, HostSights } from '../../../src/view/hosts/fleet-view.ts';
import { someHost } from '../../fleet/fake-fleet.ts';
import { failure } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { desk, minute, missingFile, pause, target } from './desk.ts';

const nothing: HostSights = { pause: null, creates: [], unknown: [], folders: [], expected: [] };
const seeing = (name: string, more: Partial<HostSights> = {}, other: Partial<Host> = {}): Host =>
  someHost(name, { doing: { slots: 4, places: [], work: [], sees: { ...nothing, ...more } }, ...other });
const missing = (host: string, state: ExpectationView['state'] = 'missing'): ExpectationView => ({
  ...missingFile(`${host}:/srv/in`, '/srv/in'),
  state,
});
const fleetOf = async (directory: string, ...hosts: readonly Host[]) => {
  const here = await desk(directory, [target('a')]);
  here.world.hosts = hosts;
  return here;
};
/** What only the second host sees. */
const two = { expected: [missing('ingest2')] };

test.each([
  ['silent', { isHeard: false }],
  ['stopped', { isStopped: true }],
] as const)('a missing file of a %s host is not told again when it is back', async (_, gone) => {
  await using scratch = await scratchDirectory();
  await using here = await fleetOf(scratch.path, seeing('ingest1'), seeing('ingest2', two));
  await here.pass(2 * minute);
  here.world.hosts = [seeing('ingest1'), seeing('ingest2', two, gone)];
  await here.pass(30_000);
  here.world.hosts = [seeing('ingest1'), seeing('ingest2', two)];
  await here.pass(3 * minute);
  expect(here.titles()).toHaveLength(1);
});

test('a missing file is not told again after its host started, which says nothing of it at first', async () => {
  await using scratch = await scratchDirectory();
  await using here = await fleetOf(scratch.path, seeing('ingest1'), seeing('ingest2', two));
  await here.pass(2 * minute);
  here.world.hosts = [seeing('ingest1'), seeing('ingest2')];
  await here.pass(15_000);
  here.world.hosts = [seeing('ingest1'), seeing('ingest2', two)];
  await here.pass(3 * minute);
  expect(here.titles()).toHaveLength(1);
});

test('a file that arrived while its host was silent is reported', async () => {
  await using scratch = await scratchDirectory();
  await using here = await fleetOf(scratch.path, seeing('ingest1'), seeing('ingest2', two));
  await here.pass(2 * minute);
  here.world.hosts = [seeing('ingest1'), seeing('ingest2', two, { isStopped: true })];
  await here.pass(30_000);
  here.world.hosts = [seeing('ingest1'), seeing('ingest2', { expected: [missing('ingest2', 'recovered')] })];
  await here.pass(3 * minute);
  expect(here.titles()).toHaveLength(2);
});

test('a file that is missing at one path on two hosts is reported with their names', async () => {
  await using scratch = await scratchDirectory();
  await using here = await fleetOf(
    scratch.path,
    seeing('ingest1', { expected: [missing('ingest1')] }),
    seeing('ingest2', two),
  );
  await here.pass(2 * minute);
  expect(new Set(here.titles()).size).toBe(2);
});

test.each([
  ['service away', { pause: pause() }],
  ['key', { pause: pause({ kind: 'suspended', code: 'invalid_key' }) }],
  ['unknown channel', { unknown: [{ kind: 'channel', name: 'ch_x', since: 0 }] }],
] as const)('%s: is not over because the only host that saw it stopped', async (_, what) => {
  await using scratch = await scratchDirectory();
  await using here = await fleetOf(scratch.path, seeing('ingest1'), seeing('ingest2', what));
  await here.pass(7 * minute);
  expect(here.titles()).toHaveLength(1);
  here.world.hosts = [seeing('ingest1'), seeing('ingest2', what, { isStopped: true })];
  await here.pass(5 * minute);
  here.world.hosts = [seeing('ingest1'), seeing('ingest2', what)];
  await here.pass(7 * minute);
  expect(here.titles()).toHaveLength(1);
});

test('a feed that failed in an earlier turn is not told when the turn comes back', async () => {
  await using scratch = await scratchDirectory();
  await using here = await fleetOf(scratch.path, seeing('ingest1'));
  await here.settle();
  here.events.emit({ type: 'feed', feed: 'news', files: 1, failure: failure('permanent') });
  await here.pass(minute);
  expect(here.titles()).toHaveLength(1);
  here.world.turn = null;
  // The other host published it, and told so.
  await here.pass(10 * minute);
  await here.ledger.news.commit({ remember: { conditions: {} } });
  here.world.turn = new AbortController().signal;
  await here.pass(10 * minute);
  expect(here.titles()).toHaveLength(1);
});

test('a feed is not well because it was published in an earlier turn', async () => {
  await using scratch = await scratchDirectory();
  await using here = await fleetOf(scratch.path, seeing('ingest1'));
  await using other = await desk(scratch.file('other'), [target('a')]);
  await here.settle();
  here.events.emit({ type: 'feed', feed: 'news', files: 1, failure: null });
  await here.pass(minute);
  here.world.turn = null;
  await other.settle();
  other.events.emit({ type: 'feed', feed: 'news', files: 1, failure: failure('permanent') });
  await other.pass(minute);
  await here.ledger.news.commit({ remember: { conditions: await other.ledger.news.recall('conditions') } });
  here.world.turn = new AbortController().signal;
  await here.pass(10 * minute);
  expect(here.titles()).toEqual([]);
});

test('the budget is not free because nothing waits on the next host', async () => {
  await using scratch = await scratchDirectory();
  await using here = await fleetOf(scratch.path, seeing('ingest1'));
  here.world.gate = { used: 1000, limit: 1000, blockedUntil: 0, waiting: 3 };
  await here.pass(35 * minute);
  expect(here.titles()).toHaveLength(1);
  const conditions = await here.ledger.news.recall('conditions');
  await using other = await desk(scratch.file('other'), [target('a')], here.world.now);
  other.world.hosts = [seeing('ingest1'), seeing('ingest2')];
  await other.ledger.news.commit({ remember: { conditions } });
  other.world.gate = { used: 1000, limit: 1000, blockedUntil: 0, waiting: 0 };
  await other.pass(10 * minute);
  expect(other.titles()).toEqual([]);
});

test('a share at two paths has one line in the receipt of the day', async () => {
  await using scratch = await scratchDirectory();
  const at = (folder: string) => ({ ...missing('x'), key: '["nas1:","*.mp4"]', folder });
  const daily = { at: 12 * 60 + 30, isForIdleDays: true };
  await using here = await desk(scratch.path, [target('a', { on: ['daily'], daily })]);
  here.world.expectations = [at('/mnt/nas')];
  here.world.hosts = [
    seeing('ingest1', { expected: [at('/mnt/nas')] }),
    seeing('ingest2', { expected: [at('/media/nas')] }),
  ];
  await here.pass(31 * minute);
  expect(here.sent[0]?.body.match(/is missing/g)).toHaveLength(1);
});

test('a trouble is reported once, however often the turn moves', async () => {
  await using scratch = await scratchDirectory();
  await using here = await fleetOf(
    scratch.path,
    seeing('ingest1'),
    seeing('ingest2', { folders: [{ path: '/srv/in', state: 'frozen', why: 'x' }] }),
  );
  await here.pass(30_000);
  here.world.turn = null;
  await here.pass(10 * minute);
  here.world.turn = new AbortController().signal;
  await here.pass(2 * minute);
  here.world.turn = new AbortController().signal;
  await here.pass(2 * minute);
  expect(here.titles()).toHaveLength(1);
});
