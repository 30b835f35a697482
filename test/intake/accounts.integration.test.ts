import { chmod, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isGivenUp, stateOf } from '../../src/pipeline/file/facts.ts';
import type { Accounts } from '../../src/watch/ports.ts';
import { WatchedFolder } from '../../src/intake/watched-folder.ts';
import { recordingEvents } from '../pipeline/held-rows.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';
import { noRoots } from '../watch/no-roots.ts';
import { recordingLogger } from '../pipeline/silent-logger.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';
import { folderConfig, openInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';

const names = ['a.mp4', 'b.mp4', 'c.mp4', 'a.yaml', 'left-out.txt', 'growing.part'];
const name = fc.constantFrom(...names);

type Act = (inbox: Inbox) => Promise<unknown>;
const ignoring = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined);

/** What people, programs and steps do, in words for the report of a failure. */
const acts = fc.oneof(
  fc.record({ does: fc.constant('drop'), name, bytes: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ does: fc.constantFrom('delete', 'touch', 'link'), name }),
  // What the rules leave out may be added too; the watcher goes on leaving it out.
  fc.record({ does: fc.constant('add'), name: fc.constantFrom('a.mp4', 'b.mp4', 'c.mp4') }),
  fc.record({ does: fc.constant('rename'), name, to: name }),
  fc.record({ does: fc.constantFrom('rescan', 'wait', 'give up', 'vanish', 'restart') }),
);

function actOf(did: { does: string; name?: string; to?: string; bytes?: number }): Act {
  const { does, name: path = '', to = '', bytes = 1 } = did;
  switch (does) {
    case 'drop':
      return (inbox) => ignoring(writeFile(inbox.at(path), 'x'.repeat(bytes)));
    case 'delete':
      return (inbox) => rm(inbox.at(path), { force: true });
    case 'touch':
      return (inbox) => ignoring(chmod(inbox.at(path), 0o600 + bytes));
    case 'link':
      return (inbox) => ignoring(symlink('/elsewhere', inbox.at(path)));
    case 'add':
      return (inbox) => inbox.folders.add(inbox.at(path));
    case 'rename':
      return (inbox) => ignoring(rename(inbox.at(path), inbox.at(to)));
    case 'rescan':
      return (inbox) => inbox.rescan();
    case 'give up':
      return (inbox) => inbox.giveUp('superseded');
    case 'vanish':
      return (inbox) => inbox.giveUp('vanished');
    case 'restart':
      return (inbox) => inbox.restart();
    default:
      return (inbox) => inbox.settled();
  }
}

function sumOf({ settling, comparing, known, sidecars, ignored, refused }: Accounts): number {
  const places = [settling, comparing, sidecars, ignored, refused, ...Object.values(known)];
  return places.reduce((one, other) => one + other, 0);
}

function requireBalance(inbox: Inbox): Accounts {
  const [status] = inbox.folders.status();
  if (status === undefined) throw new Error('no folder');
  const { accounts } = status;
  expect(accounts, JSON.stringify(accounts)).toMatchObject({ unaccounted: 0, seen: sumOf(accounts) });
  for (const count of Object.values(accounts.known)) expect(count).toBeGreaterThan(0);
  return accounts;
}

test('whatever happens, in every turn each path of a folder is in exactly one place', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 4, maxLength: 12 }), async (all) => {
      await using inbox = await openInbox();
      await inbox.start();
      for (const did of all) {
        const state = { isDone: false };
        const work = actOf(did)(inbox).finally(() => (state.isDone = true));
        while (!state.isDone) {
          if (did.does !== 'restart') requireBalance(inbox);
          await turn();
        }
        await work;
        requireBalance(inbox);
      }
      await inbox.settled();
      await inbox.settled();
      const accounts = requireBalance(inbox);
      // And what it says of itself is what the disk and the ledger say.
      expect(accounts.seen).toBe((await readdir(inbox.path)).length);
      // A file that was moved onto another keeps its row, which may be older than the one that was given up at that path.
      const standing = new Map(
        (await inbox.rows()).filter((facts) => !isGivenUp(facts)).map((facts) => [facts.path, facts]),
      );
      const states: Record<string, number> = {};
      for (const facts of standing.values()) states[stateOf(facts)] = (states[stateOf(facts)] ?? 0) + 1;
      expect(accounts.known).toEqual(states);
    }),
    { numRuns: 20, interruptAfterTimeLimit: 20_000 },
  );
});

test('a file that a person added, and that is gone before it was ever seen in its folder, is recorded in its row', async () => {
  await using inbox = await openInbox();
  await inbox.start();
  await writeFile(inbox.at('c.mp4'), 'x');
  await inbox.folders.add(inbox.at('c.mp4'));
  await rename(inbox.at('c.mp4'), inbox.at('left-out.txt'));
  await until('its row knows', async () => (await inbox.rows()).every(isGivenUp));
  await inbox.settled();
  expect(inbox.folders.status()[0]?.accounts).toMatchObject({ seen: 1, ignored: 1, unaccounted: 0 });
});

test('a file that a person added, and that is gone before it settled, is recorded in its row', async () => {
  await using inbox = await openInbox();
  await inbox.start();
  await writeFile(inbox.at('c.mp4'), 'x');
  await until('it settles', () => inbox.folders.status()[0]?.accounts.settling === 1);
  await inbox.folders.add(inbox.at('c.mp4'));
  await rm(inbox.at('c.mp4'));
  await until('its row knows', async () => (await inbox.rows()).every(isGivenUp));
});

test('a file without any record is an error in the log, shows in the status, and is accepted again', async () => {
  await using scratch = await scratchDirectory();
  await writeFile(scratch.file('a.mp4'), 'content');
  const logger = recordingLogger();
  const store = new MemoryStore([someFacts({ folder: scratch.path, path: 'a.mp4' })]);
  const unused = (): never => expect.unreachable();
  // The first time, it says that it has a new row, and has none.
  const answers = ['new', 'known'] as const;
  let asked = 0;
  const world = {
    intake: {
      accept: async () => answers[asked++] ?? unused(),
      compare: unused,
      gone: unused,
      closed: unused,
      reroute: unused,
    },
    ledger: Object.assign(store, { known: async () => undefined }),
    events: recordingEvents(),
    logger,
    broke: unused,
    roots: noRoots,
    owner: null,
    leftBehind: async () => undefined,
    stoppedFiles: async () => [],
    doubtRows: async () => undefined,
    tookIn: () => undefined,
  };
  await using folder = new WatchedFolder({ folder: folderConfig(scratch.path), nested: [], movedBy: [] }, world);
  await folder.firstScan();
  await until('it is taken in', () => asked === 1 && !folder.isSettling());
  expect(folder.status().accounts).toMatchObject({ seen: 1, unaccounted: 1, known: {} });
  await folder.watcher.rescan();
  const errors = logger.lines.filter(({ level }) => level === 'error');
  expect(errors).toMatchObject([
    { message: expect.stringContaining('Lost track of files'), fields: { path: 'a.mp4', count: 1 } },
  ]);
  await until('it is taken in again', () => asked === 2 && !folder.isSettling());
  expect(folder.status().accounts).toMatchObject({ seen: 1, unaccounted: 0, known: { queued: 1 } });
});
