import { chmod, cp, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { markCounter } from '../../src/daemon/state/open-state.ts';
import { MarkSteps, RootClaim } from '../../src/watch/root-claim.ts';
import { markOf, readMark } from '../../src/watch/root-mark.ts';
import type { FolderClaimant } from '../../src/watch/root-mark.ts';
import { Root } from '../../src/watch/root.ts';
import type { RootRecord, RootState } from '../../src/watch/ports.ts';
import { TakenFiles } from '../../src/watch/taken-files.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';
import { FakeClock } from './fake-clock.ts';

/** What a crash may come before. */
type Point = 'ledger' | 'mark';

/** The durable counter of a ledger, whose process may be killed on the way. */
class OneLedger {
  counter = 0;
  diesBefore: Point | null = null;
  /** The process was killed: nothing that it still does counts. */
  isDead = false;

  load = async (): Promise<number> => this.counter;

  advance = async (atLeast: number): Promise<number> => {
    if (this.diesBefore === 'ledger') throw this.#die();
    this.counter = Math.max(this.counter, atLeast) + 1;
    if (this.diesBefore === 'mark') throw this.#die();
    return this.counter;
  };

  #die(): Error {
    this.isDead = true;
    return new Error('killed');
  }
}

const claimant = (ledger: OneLedger, other: Partial<FolderClaimant> = {}): FolderClaimant => ({
  ledger: 'one',
  stateDir: '/var/lib/one',
  host: 'here',
  hostName: 'here.example',
  ledgerCounter: markCounter(ledger, { note: async () => undefined }),
  ...other,
});

/** One life of a process that watches the folder. */
class Life {
  readonly clock = new FakeClock();
  readonly claim: RootClaim;
  readonly #steps: MarkSteps;

  constructor(path: string, us: FolderClaimant) {
    this.claim = new RootClaim(path, us, silentLogger);
    this.#steps = new MarkSteps({ path, owner: us, clock: this.clock, logger: silentLogger });
  }

  took(): void {
    this.#steps.took();
  }

  /** @param isOwed a write is planned, perhaps only once the one before has ended */
  async minute(isOwed: boolean): Promise<void> {
    if (isOwed) await until('a write is planned', () => this.clock.timers > 0);
    this.clock.advance(60_000);
  }

  async stop(): Promise<void> {
    await this.#steps[Symbol.asyncDispose]();
    await this.claim[Symbol.asyncDispose]();
  }
}

async function counterIn(path: string): Promise<number | null> {
  const found = await readMark(path);
  return found.is === 'mark' ? (found.owner.counter ?? null) : null;
}

/** A life that takes in one file and ends. */
async function takeOne(path: string, us: FolderClaimant): Promise<void> {
  const life = new Life(path, us);
  await life.claim.hold();
  life.took();
  await life.stop();
}

async function verdictOf(path: string, us: FolderClaimant): Promise<string> {
  await using claim = new RootClaim(path, us, silentLogger);
  const verdict = await claim.hold();
  return verdict.isSound ? 'ours' : verdict.isBehind === true ? 'behind' : verdict.why;
}

test('a mark is never ahead of its own ledger, wherever a process is killed, and every older copy is found out', async () => {
  const deed = fc.oneof(
    { weight: 4, arbitrary: fc.constant('take' as const) },
    { weight: 3, arbitrary: fc.constant('minute' as const) },
    { weight: 1, arbitrary: fc.constant('stop' as const) },
    { weight: 1, arbitrary: fc.constant('kill' as const) },
    { weight: 1, arbitrary: fc.constant('kill before ledger' as const) },
    { weight: 1, arbitrary: fc.constant('kill before mark' as const) },
    { weight: 2, arbitrary: fc.constant('copy' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { maxLength: 25 }), async (deeds) => {
      await using scratch = await scratchDirectory();
      const { path } = scratch;
      const ledger = new OneLedger();
      let life = new Life(path, claimant(ledger));
      await using lives = new AsyncDisposableStack();
      lives.defer(() => life.stop());
      let isOwed = false;
      let marked = 0;
      const copies: { readonly counter: number; readonly marked: number }[] = [];
      const restart = async (): Promise<void> => {
        await life.stop();
        Object.assign(ledger, { diesBefore: null, isDead: false });
        isOwed = false;
        life = new Life(path, claimant(ledger));
        expect(await life.claim.hold()).toEqual({ isSound: true });
      };
      expect(await life.claim.hold()).toEqual({ isSound: true });
      for (const each of deeds) {
        const before = await counterIn(path);
        if (each === 'take') {
          life.took();
          isOwed = true;
        } else if (each === 'copy') {
          copies.push({ counter: ledger.counter, marked });
        } else if (each === 'minute' || each === 'stop') {
          if (each === 'minute') await life.minute(isOwed);
          else await life.stop();
          if (isOwed) {
            await until('the mark was written', async () => {
              // The step before may end only now, and then plans this one.
              life.clock.advance(0);
              const now = await counterIn(path);
              return now !== before && now === ledger.counter;
            });
            marked += 1;
          }
          isOwed = false;
          if (each === 'stop') await restart();
        } else {
          ledger.diesBefore = each === 'kill before mark' ? 'mark' : 'ledger';
          if (isOwed && each !== 'kill') {
            await life.minute(true);
            await until('it was killed', () => ledger.isDead);
          }
          await restart();
          expect(await counterIn(path)).toBe(before);
        }
        expect(await counterIn(path)).toBeLessThanOrEqual(ledger.counter);
        expect(await life.claim.hold()).toEqual({ isSound: true });
      }
      await life.stop();
      for (const copy of copies) {
        const old = new OneLedger();
        old.counter = copy.counter;
        const isNoted = ledger.counter > copy.counter && ((await counterIn(path)) ?? 0) > copy.counter;
        expect(await verdictOf(path, claimant(old))).toBe(isNoted ? 'behind' : 'ours');
        if (copy.marked < marked) expect(isNoted).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});

/** A folder as a process watches it. The record outlives the process. */
class WatchedRoot implements AsyncDisposable {
  readonly root: Root;
  readonly #claim: RootClaim;
  #state: RootState | null = null;

  constructor(path: string, us: FolderClaimant, record: { saved: RootRecord | null }) {
    this.#claim = new RootClaim(path, us, silentLogger);
    this.root = new Root({
      path,
      clock: new FakeClock(),
      inventory: { taken: new TakenFiles() },
      claim: this.#claim,
      roots: {
        load: async () => record.saved,
        save: async (_, saved) => void (record.saved = saved),
        expected: async () => 0,
      },
      logger: silentLogger,
      signal: new AbortController().signal,
      gap: () => null,
      note: () => null,
      changed: (state) => (this.#state = state),
      scanSoon: () => undefined,
    });
  }

  /** The first look. It knows of a file that is not there. */
  async begin(): Promise<RootState | null> {
    const version = { dev: '1', ino: '1', size: 1, mtimeNs: '1', birthtimeNs: '1', ctimeNs: '1' };
    await this.root.begin(new Set(), new Map([['a.mpg', version]]));
    return this.#state;
  }

  async look(): Promise<RootState | null> {
    if (await this.root.isScannable()) this.root.thaw();
    return this.#state;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#claim[Symbol.asyncDispose]();
  }
}

test('that another directory is the right one is no answer to the question whether its files were uploaded', async () => {
  await using scratch = await scratchDirectory();
  const ledger = new OneLedger();
  for (let file = 0; file < 3; file += 1) await takeOne(scratch.path, claimant(ledger));
  const elsewhere = { device: '1', inode: '1', born: '1', kind: '1', mount: '1', isMountPoint: false, mark: 'other' };
  const record = { saved: { identity: { ...elsewhere, since: 0 }, doubt: null } };
  ledger.counter = 1;
  const watched = (): WatchedRoot => new WatchedRoot(scratch.path, claimant(ledger), record);
  const behind = { state: 'frozen', isBehind: true };
  {
    await using one = watched();
    expect((await one.begin())?.state).toBe('frozen');
    expect((await one.look())?.state === 'frozen' && (await one.look())).not.toMatchObject(behind);
    expect(await one.root.resume()).toMatchObject({ ok: true });
    expect(await one.look()).toMatchObject(behind);
  }
  // Files in other folders, and a mark that someone removes, are no answer either.
  ledger.counter = 100;
  await rm(scratch.file('.dropcast'));
  {
    await using two = watched();
    expect(await two.begin()).toMatchObject(behind);
    expect(await two.root.resume()).toMatchObject({ ok: true });
    expect(await two.look()).toEqual({ state: 'watching' });
  }
  await using three = watched();
  expect(await three.begin()).toEqual({ state: 'watching' });
});

describe('a mark is written', () => {
  test('at once when a file comes in, then once a minute at most, and never while nothing comes in', async () => {
    await using scratch = await scratchDirectory();
    const ledger = new OneLedger();
    const life = new Life(scratch.path, claimant(ledger));
    await life.claim.hold();
    const written = (counter: number) =>
      until(`the mark has ${counter}`, async () => (await counterIn(scratch.path)) === counter);
    life.took();
    life.clock.advance(0);
    await written(1);
    for (let file = 0; file < 100; file += 1) life.took();
    await until('one write is planned', () => life.clock.timers === 1);
    expect(life.clock.delays()).toEqual([60_000]);
    life.clock.advance(59_999);
    expect(await counterIn(scratch.path)).toBe(1);
    life.clock.advance(1);
    await written(2);
    await until('the step is over', () => life.clock.timers === 0);
    life.clock.advance(3_600_000);
    await life.stop();
    expect(ledger.counter).toBe(2);
  });

  test('in place: it stays the same file, and the same mark to all who know it', async () => {
    await using scratch = await scratchDirectory();
    const ledger = new OneLedger();
    await takeOne(scratch.path, claimant(ledger));
    const { ino } = await stat(scratch.file('.dropcast'));
    const mark = await markOf(scratch.path, 'one');
    await takeOne(scratch.path, claimant(ledger));
    expect(await counterIn(scratch.path)).toBe(2);
    expect((await stat(scratch.file('.dropcast'))).ino).toBe(ino);
    expect(await markOf(scratch.path, 'one')).toBe(mark);
  });

  test('in a mark that had none, without becoming another mark', async () => {
    await using scratch = await scratchDirectory();
    const { ledgerCounter: _, ...older } = claimant(new OneLedger());
    await verdictOf(scratch.path, older);
    const mark = await markOf(scratch.path, 'one');
    const ledger = new OneLedger();
    expect(await verdictOf(scratch.path, claimant(ledger))).toBe('ours');
    expect(await counterIn(scratch.path)).toBe(null);
    await takeOne(scratch.path, claimant(ledger));
    expect(await counterIn(scratch.path)).toBe(1);
    expect(await markOf(scratch.path, 'one')).toBe(mark);
  });

  test('never where it was lost or is another dropcast’s by then', async () => {
    await using scratch = await scratchDirectory();
    const ledger = new OneLedger();
    const life = new Life(scratch.path, claimant(ledger));
    await life.claim.hold();
    life.took();
    await writeFile(scratch.file('.dropcast'), JSON.stringify({ ledger: 'two', stateDir: '/two', hostName: 'two' }));
    await life.stop();
    expect(JSON.parse(await readFile(scratch.file('.dropcast'), 'utf8'))).toMatchObject({ ledger: 'two' });
    await rm(scratch.file('.dropcast'));
    await takeOneWithoutMark(scratch, ledger);
    expect(await readMark(scratch.path)).toEqual({ is: 'none' });
  });
});

async function takeOneWithoutMark(scratch: ScratchDirectory, ledger: OneLedger): Promise<void> {
  const life = new Life(scratch.path, claimant(ledger));
  life.took();
  await life.stop();
}

describe('the mark of a folder', () => {
  /** A folder whose mark has 3, and its ledger. */
  async function marked(): Promise<{ scratch: ScratchDirectory; ledger: OneLedger }> {
    const scratch = await scratchDirectory();
    const ledger = new OneLedger();
    for (let file = 0; file < 3; file += 1) await takeOne(scratch.path, claimant(ledger));
    return { scratch, ledger };
  }

  const older = (counter: number): OneLedger => Object.assign(new OneLedger(), { counter });

  test('says that a ledger is an older copy until an operator accepts it; then the ledger is ahead again', async () => {
    const { scratch } = await marked();
    await using _ = scratch;
    const ledger = older(1);
    expect(await verdictOf(scratch.path, claimant(ledger))).toBe('behind');
    const life = new Life(scratch.path, claimant(ledger));
    life.claim.trustNext();
    expect(await life.claim.hold()).toEqual({ isSound: true });
    await life.stop();
    expect(ledger.counter).toBe(4);
    expect(await verdictOf(scratch.path, claimant(ledger))).toBe('ours');
  });

  test('of the same ledger at a path that is gone is replaced only after an answer, if it says more', async () => {
    const { scratch } = await marked();
    await using _ = scratch;
    const moved = { stateDir: scratch.file('restored') };
    const life = new Life(scratch.path, claimant(older(1), moved));
    expect(await life.claim.hold()).toMatchObject({ isSound: false, isBehind: true });
    expect(await counterIn(scratch.path)).toBe(3);
    life.claim.trustNext();
    expect(await life.claim.hold()).toEqual({ isSound: true });
    expect(await readFile(scratch.file('.dropcast'), 'utf8')).toContain(moved.stateDir);
    expect(await life.claim.hold()).toEqual({ isSound: true });
    await life.stop();
    // A ledger that is as far has only moved.
    const { scratch: other } = await marked();
    await using end = other;
    expect(await verdictOf(end.path, claimant(older(3), moved))).toBe('ours');
  });

  test('of the same ledger on another machine still needs an answer after someone removes it', async () => {
    const { scratch } = await marked();
    await using _ = scratch;
    const us = claimant(older(1), { host: 'new machine', hostName: 'new' });
    await using watched = new WatchedRoot(scratch.path, us, { saved: null });
    expect(await watched.begin()).toMatchObject({ why: expect.stringContaining('a copy of ours') });
    await rm(scratch.file('.dropcast'));
    expect(await watched.look()).toMatchObject({ state: 'frozen', isBehind: true });
    expect(await watched.root.resume()).toMatchObject({ ok: true });
    expect(await watched.look()).toEqual({ state: 'watching' });
  });

  test('that is lost is placed again with what the ledger has, and that of a gone dropcast is replaced', async () => {
    const { scratch, ledger } = await marked();
    await using _ = scratch;
    await rm(scratch.file('.dropcast'));
    expect(await verdictOf(scratch.path, claimant(ledger))).toBe('ours');
    expect(await counterIn(scratch.path)).toBe(3);
    const other = claimant(older(0), { ledger: 'new', stateDir: scratch.file('state') });
    expect(await verdictOf(scratch.path, other)).toBe('ours');
    expect(await counterIn(scratch.path)).toBe(0);
  });

  test.each([
    ['a number that no ledger reaches', '"999999999999999"'],
    ['a number without quotes', '4'],
    ['text', '"many"'],
    ['a list', '[]'],
  ])('with %s as its counter has none, and gets one', async (...[, counter]) => {
    const { scratch, ledger } = await marked();
    await using _ = scratch;
    const text = await readFile(scratch.file('.dropcast'), 'utf8');
    await writeFile(scratch.file('.dropcast'), text.replace(/"counter":"\d+"/, `"counter":${counter}`));
    expect(await verdictOf(scratch.path, claimant(ledger))).toBe('ours');
    await takeOne(scratch.path, claimant(ledger));
    expect(await counterIn(scratch.path)).toBe(4);
  });

  test('with the largest number that is believed leaves all later numbers to the ledger after an answer', async () => {
    const { scratch, ledger } = await marked();
    await using _ = scratch;
    const text = await readFile(scratch.file('.dropcast'), 'utf8');
    const write = async (counter: number): Promise<void> =>
      writeFile(scratch.file('.dropcast'), text.replace(/\d{15}/, String(counter).padStart(15, '0')));
    for (let answers = 0; answers < 200; answers += 1) {
      await write(ledger.counter + 1e10);
      const life = new Life(scratch.path, claimant(ledger));
      life.claim.trustNext();
      expect(await life.claim.hold()).toEqual({ isSound: true });
      await life.stop();
    }
    await takeOne(scratch.path, claimant(ledger));
    expect(ledger.counter).toBeGreaterThan(1e12);
    expect(await counterIn(scratch.path)).toBe(ledger.counter);
    await write(ledger.counter + 2e10);
    expect(await verdictOf(scratch.path, claimant(ledger))).toBe('ours');
    await takeOne(scratch.path, claimant(ledger));
    expect(await counterIn(scratch.path)).toBe(ledger.counter);
  });

  test.each([
    ['without a line end', ''],
    ['with a line end of Windows', '\r\n'],
    ['with megabytes of spaces', ' '.repeat(2_000_000)],
  ])('%s gets a counter', async (...[, end]) => {
    const { scratch, ledger } = await marked();
    await using _ = scratch;
    const text = await readFile(scratch.file('.dropcast'), 'utf8');
    await writeFile(scratch.file('.dropcast'), text.replace(/,"counter":"\d+"\}\n$/, `}${end}`));
    await takeOne(scratch.path, claimant(ledger));
    expect(await counterIn(scratch.path)).toBe(4);
  });

  test.each([
    ['a path that no system takes', { stateDir: `/${'x'.repeat(4_096)}` }],
    ['a host name that no network takes', { hostName: 'x'.repeat(256) }],
  ])('with %s is no mark: it would be in every message about the folder', async (...[, long]) => {
    await using scratch = await scratchDirectory();
    const mark = { ledger: 'two', stateDir: '/two', host: 'else', hostName: 'two', ...long };
    await writeFile(scratch.file('.dropcast'), JSON.stringify(mark));
    const why = await verdictOf(scratch.path, claimant(new OneLedger()));
    expect(why).toContain('it is not a mark of dropcast');
    expect(why.length).toBeLessThan(500);
  });

  test('that is damaged has no owner, and stays as it is', async () => {
    const { scratch, ledger } = await marked();
    await using _ = scratch;
    await writeFile(scratch.file('.dropcast'), '{"ledger":"on');
    expect(await verdictOf(scratch.path, claimant(ledger))).toContain('it is not a mark of dropcast');
  });

  test('that may not be written keeps what it says; the ledger stays ahead of it', async () => {
    const { scratch, ledger } = await marked();
    await using _ = scratch;
    await chmod(scratch.path, 0o555);
    const life = new Life(scratch.path, { ...claimant(ledger) });
    await life.claim.hold();
    life.took();
    await life.stop();
    await chmod(scratch.path, 0o755);
    expect(await verdictOf(scratch.path, claimant(ledger))).toBe('ours');
  });

  test('on a share of a fleet has the counter of the ledger that its hosts have in common', async () => {
    await using scratch = await scratchDirectory();
    const ledger = new OneLedger();
    const member = (name: string): FolderClaimant =>
      claimant(ledger, {
        host: name,
        hostName: name,
        stateDir: `/var/lib/${name}`,
        fleet: { placeOf: () => 'nas1:', watched: () => ['nas1:'] },
      });
    const [one, two] = [new Life(scratch.path, member('one')), new Life(scratch.path, member('two'))];
    await one.claim.hold();
    await two.claim.hold();
    for (const [life, counter] of [
      [one, 1],
      [two, 2],
      [one, 3],
    ] as const) {
      life.took();
      await life.minute(true);
      await until('the mark is written', async () => (await counterIn(scratch.path)) === counter);
      expect(await one.claim.hold()).toEqual({ isSound: true });
      expect(await two.claim.hold()).toEqual({ isSound: true });
    }
    await Promise.all([one.stop(), two.stop()]);
    // A dump of the database that is older than the share freezes it on every host.
    ledger.counter = 1;
    expect(await verdictOf(scratch.path, member('one'))).toBe('behind');
    expect(await verdictOf(scratch.path, member('two'))).toBe('behind');
  });

  test('counts for a copied folder as for the one that it was copied from', async () => {
    const { scratch, ledger } = await marked();
    await using _ = scratch;
    await using target = await scratchDirectory();
    await mkdir(target.file('copy'));
    await cp(scratch.file('.dropcast'), target.file('copy', '.dropcast'));
    await utimes(target.file('copy'), 0, 0);
    expect(await verdictOf(target.file('copy'), claimant(ledger))).toBe('ours');
    expect(await verdictOf(target.file('copy'), claimant(older(2)))).toBe('behind');
  });
});
