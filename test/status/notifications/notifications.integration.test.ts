import { describe, expect, test } from 'vitest';
import type { ExpectationView } from '../../../src/pipeline/expectation.ts';
import type { Host, HostSights } from '../../../src/view/hosts/fleet-view.ts';
import { someHost } from '../../fleet/fake-fleet.ts';
import { failure, someFacts } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { eventually } from '../../support/until.ts';
import { away, desk, settledDesk, done, held, minute, missingFile, noon, pause, taken, target } from './desk.ts';

describe('the hosts of a fleet', () => {
  test('report each event once, by the host that has the turn, also for files of others', async () => {
    await using scratch = await scratchDirectory();
    await using here = await desk(scratch.path, [target('a')]);
    here.world.hosts = [someHost('ingest1')];
    await here.settle();
    here.world.turn = null;
    await here.becomes('f_1', held);
    await here.pass(5 * minute);
    expect(here.titles()).toEqual([]);
    here.world.turn = new AbortController().signal;
    await here.pass(5 * minute);
    await here.ledger.insert(someFacts({ id: 'f_2', path: 'f_2.mp4', discoveredAt: here.world.now, ...held }));
    await here.pass(5 * minute);
    expect(here.titles()).toEqual(['a: f_1.mp4 needs you', 'a: f_2.mp4 needs you']);
  });

  test('continue from what another host has reported', async () => {
    await using here = await settledDesk();
    here.world.turn = null;
    await here.becomes('f_1', held);
    const last = await here.ledger.lastPassage();
    await here.ledger.news.commit({ remember: { cursor: { from: last, read: last } } });
    here.world.turn = new AbortController().signal;
    await here.pass(5 * minute);
    expect(here.titles()).toEqual([]);
  });
});

describe('what only another host of a fleet sees', () => {
  const nothing: HostSights = { pause: null, creates: [], unknown: [], folders: [], expected: [] };
  const seeing = (name: string, more: Partial<HostSights> = {}, other: Partial<Host> = {}): Host =>
    someHost(name, { doing: { slots: 4, places: [], work: [], sees: { ...nothing, ...more } }, ...other });
  const frozen = { folders: [{ path: '/srv/in', state: 'frozen', why: 'it is not mounted' }] } as const;
  const fleetOf = async (directory: string, ...hosts: readonly Host[]) => {
    const here = await desk(directory, [target('a')]);
    here.world.hosts = hosts;
    return here;
  };

  test('is reported with its name, once, also when the turn moves to another host; and so is its end', async () => {
    await using scratch = await scratchDirectory();
    await using here = await fleetOf(scratch.path, seeing('ingest1'), seeing('ingest2', frozen));
    await here.pass(5 * minute);
    expect(here.titles()).toEqual(['a: ingest2: /srv/in waits']);
    here.world.turn = new AbortController().signal;
    await here.pass(5 * minute);
    expect(here.titles()).toHaveLength(1);
    here.world.hosts = [seeing('ingest1'), seeing('ingest2')];
    await here.pass(5 * minute);
    expect(here.titles().slice(1)).toEqual(['a: ingest2: /srv/in is back']);
  });

  test('is not over because that host is silent, or is of a release that does not report; its silence is reported', async () => {
    await using scratch = await scratchDirectory();
    await using here = await fleetOf(scratch.path, seeing('ingest1'), seeing('ingest2', frozen));
    await here.pass(5 * minute);
    here.world.hosts = [seeing('ingest1'), someHost('ingest2')];
    await here.pass(5 * minute);
    expect(here.titles()).toHaveLength(1);
    here.world.hosts = [seeing('ingest1'), seeing('ingest2', frozen, { isHeard: false })];
    await here.pass(5 * minute);
    expect(here.titles().slice(1)).toEqual(['a: ingest2 is silent: last heard from at 12:00']);
    here.world.hosts = [seeing('ingest1'), seeing('ingest2')];
    await here.pass(5 * minute);
    expect(here.titles().slice(2).toSorted()).toEqual(['a: ingest2 responds again', 'a: ingest2: /srv/in is back']);
  });

  test('is over without a word with a host that is forgotten', async () => {
    await using scratch = await scratchDirectory();
    await using here = await fleetOf(scratch.path, seeing('ingest1'), seeing('ingest2', frozen, { isHeard: false }));
    await here.pass(5 * minute);
    expect(here.titles()).toEqual(['a: ingest2 is silent: last heard from at 12:00']);
    here.world.hosts = [seeing('ingest1')];
    await here.pass(20 * minute);
    expect(here.titles()).toHaveLength(1);
  });

  test('is reported once for a folder that two hosts watch, when something is missing in it', async () => {
    const missing = missingFile('nas1:', '/mnt/nas/in');
    await using scratch = await scratchDirectory();
    const elsewhere = { ...missing, folder: '/media/nas/in' };
    await using here = await fleetOf(
      scratch.path,
      seeing('ingest1', { expected: [elsewhere] }),
      seeing('ingest2', { expected: [missing] }),
    );
    await here.pass(5 * minute);
    expect(here.titles()).toEqual(['a: /media/nas/in/*.mp4 is missing: expected by 12:00']);
    const recovered = [{ ...elsewhere, state: 'recovered' as const }];
    here.world.hosts = [seeing('ingest1', { expected: recovered }), seeing('ingest2', { expected: recovered })];
    await here.pass(5 * minute);
    expect(here.titles().slice(1)).toEqual(['a: /media/nas/in/*.mp4 has arrived, too late for 12:00']);
  });
});

describe('notifications', () => {
  test('without a target nothing is read or said, and it is no news for one that comes later', async () => {
    await using scratch = await scratchDirectory();
    await using here: Awaited<ReturnType<typeof desk>> = await desk(scratch.path, []);
    await here.becomes('f_1', held);
    await here.pass(5 * minute);
    here.world.notify = [target('a')];
    await here.pass(5 * minute);
    expect(here.titles()).toEqual([]);
    await here.becomes('f_2', held);
    await here.pass(2 * minute);
    expect(here.titles()).toEqual(['a: f_2.mp4 needs you']);
  });

  test('what happens to a live file later, like the deletion of its local file, is not told as live again', async () => {
    await using here = await settledDesk();
    await here.becomes('f_1', done);
    await here.pass(2 * minute);
    const [facts] = await here.ledger.find('f_1');
    if (facts === undefined) throw new Error('no file');
    await here.ledger.save({ ...facts, disposal: 'deleted' }, 'local file deleted');
    here.events.emit({ type: 'file', before: facts, facts, note: null });
    await here.pass(5 * minute);
    expect(here.titles()).toEqual(['a: f_1.mp4 is live']);
  });

  test('a live file that cannot be deleted or moved needs a person, and is reported', async () => {
    await using here = await settledDesk([target('a', { on: ['needs_you'] })]);
    await here.becomes('f_1', done);
    await here.pass(2 * minute);
    const [facts] = await here.ledger.find('f_1');
    if (facts === undefined) throw new Error('no file');
    const refused = { ...failure('permanent'), code: 'EACCES', message: 'permission denied' };
    await here.ledger.save(
      { ...facts, disposal: 'waiting', why: 'permission denied', lastFailure: refused },
      'not put away',
    );
    here.events.emit({ type: 'file', before: facts, facts, note: null });
    await here.pass(5 * minute);
    expect(here.titles()).toEqual(['a: f_1.mp4 needs you']);
    expect(here.sent[0]?.body).toContain('Remove the obstacle');
  });

  test('a flood of more lines than are read at once is reported to its end, without waiting for other news', async () => {
    await using here = await settledDesk();
    await here.becomes('f_0', held);
    for (let n = 1; n <= 3; n += 1) {
      const [facts] = await here.ledger.find('f_0');
      if (facts === undefined) throw new Error('no file');
      const lines = Array.from({ length: 7_000 }, (_, i) =>
        here.ledger.save({ ...facts, rev: facts.rev + i }, `line ${i}`),
      );
      await Promise.all(lines);
    }
    await here.becomes('f_last', { ...held, why: 'the last' });
    await here.pass(5 * minute);
    expect(here.sent.flatMap(({ files }) => files)).toContain('f_last');
  });

  test('a channel that the service does not have needs a person, and is reported; so is its arrival', async () => {
    await using here = await settledDesk();
    here.world.unknown = [{ kind: 'channel', name: 'ch_gone', since: noon }];
    await here.pass(2 * minute);
    here.world.unknown = [];
    await here.pass(3 * minute);
    expect(here.sent.map(({ type, title }) => `${type}: ${title}`)).toEqual([
      'needs_you: Files for channel ch_gone wait',
      'recovered: The service has the channel ch_gone',
    ]);
  });

  test('a reload that changes a target sends what waits at once, and its memory of what was dropped ends with the message', async () => {
    await using here = await settledDesk();
    here.world.answer = () => ({ ...away, retryAfterMs: 50 * minute });
    await here.ledger.news.commit({ remember: { 'dropped:a': 3 } });
    await here.becomes('f_1', held);
    await here.pass(2 * minute);
    here.world.answer = () => taken;
    await here.pass(20 * minute);
    expect(here.titles()).toEqual([]);
    here.world.notify = [target('a', { timeoutMs: 2_000 })];
    await here.pass(15_000);
    expect(here.sent[0]?.body).toContain('And 3 older messages were dropped.');
    await here.becomes('f_2', held);
    await here.pass(2 * minute);
    expect(here.sent[1]?.body).not.toContain('dropped');
  });

  test('messages older than three days are dropped and counted together with those before', async () => {
    await using here = await settledDesk();
    here.world.answer = () => away;
    await here.ledger.news.commit({ remember: { 'dropped:a': 2 } });
    await here.becomes('f_1', held);
    await here.pass(2 * minute);
    here.world.now += 4 * 24 * 60 * minute;
    await here.becomes('f_2', held);
    await here.pass(2 * minute);
    here.world.answer = () => taken;
    await here.pass(20 * minute);
    expect(here.titles()).toEqual(['a: f_2.mp4 needs you']);
    expect(here.sent[0]?.body).toContain('And 3 older messages were dropped.');
  });

  test('a message that a target refuses permanently is counted in the next one that it accepts', async () => {
    await using here = await settledDesk();
    here.world.answer = () => ({ ...away, isRefusal: true });
    await here.becomes('f_1', held);
    await here.pass(20 * minute);
    here.world.answer = () => taken;
    await here.becomes('f_2', { ...held, lastFailure: { ...failure('permanent'), code: 'other' } });
    await here.pass(20 * minute);
    expect(here.sent.at(-1)?.body).toMatch(/And 1 older message was dropped\.$/);
  });

  test('a target that is removed and comes back has no receipt of the time between', async () => {
    await using scratch = await scratchDirectory();
    const daily = target('a', { on: ['daily'], daily: { at: 12 * 60 + 30, isForIdleDays: true } });
    await using here = await desk(scratch.path, [daily]);
    await here.pass(60 * minute);
    expect(here.titles()).toHaveLength(1);
    here.world.notify = [target('b', { on: ['live'] })];
    await here.pass(minute);
    here.world.now += 10 * 24 * 60 * minute;
    await here.becomes('f_1', { ...done, endedAt: here.world.now });
    here.world.now += 2 * minute;
    here.world.notify = [daily];
    await here.pass(5 * minute);
    expect(here.titles().filter((title) => title.startsWith('a:'))).toHaveLength(1);
  });

  test('what happens within a minute is one message for each cause, to each target that wants it', async () => {
    await using here = await settledDesk([target('a'), target('b', { on: ['live'] })]);
    for (let n = 0; n < 7; n += 1) await here.becomes(`f_h${n}`, held);
    for (let n = 0; n < 14; n += 1) await here.becomes(`f_d${n}`, done);
    await here.pass(30_000);
    expect(here.titles()).toEqual([]);
    await here.pass(minute);
    expect(here.titles().toSorted()).toEqual([
      'a: 14 files are live',
      'a: Needs you: 7 .mp4 files match no rule',
      'b: 14 files are live',
    ]);
    expect(here.sent.find(({ type }) => type === 'needs_you')?.body).toContain('Add a rule for them');
  });

  test('a fixed problem is reported to targets that knew of it, and not one that was fixed before any report', async () => {
    await using here = await settledDesk([
      target('a', { on: ['needs_you', 'recovered'] }),
      target('b', { on: ['recovered'] }),
    ]);
    await here.becomes('f_1', held);
    await here.becomes('f_2', held);
    await here.becomes('f_2', done);
    await here.pass(2 * minute);
    await here.becomes('f_1', done);
    await here.pass(2 * minute);
    expect(here.titles()).toEqual(['a: f_1.mp4 needs you', 'a: f_1.mp4 is live, and needed you before']);
  });

  test('a message lost in a kill after its row is sent at the next start, and once', async () => {
    await using scratch = await scratchDirectory();
    {
      await using here = await desk(scratch.path, [target('a')]);
      await here.settle();
      await here.becomes('f_1', held);
    }
    {
      await using here = await desk(scratch.path, [target('a')], noon + minute);
      await here.pass(2 * minute);
      expect(here.titles()).toEqual(['a: f_1.mp4 needs you']);
    }
    await using here = await desk(scratch.path, [target('a')], noon + 10 * minute);
    await here.pass(2 * minute);
    expect(here.titles()).toEqual([]);
  });

  test('messages wait for a target that is away, over a restart, and come as one; others get theirs', async () => {
    await using scratch = await scratchDirectory();
    {
      await using here = await desk(scratch.path, [target('a'), target('b')]);
      here.world.answer = (name) => (name === 'a' ? away : taken);
      await here.settle();
      for (let n = 0; n < 5; n += 1) {
        await here.becomes(`f_${n}`, held);
        await here.pass(2 * minute);
      }
      expect(here.titles()).toEqual([0, 1, 2, 3, 4].map((n) => `b: f_${n}.mp4 needs you`));
      expect(
        here.logger.lines.filter(({ message }) => message === 'A notification target does not accept messages'),
      ).toHaveLength(1);
      expect(JSON.stringify(here.logger.lines)).not.toContain('/secret');
    }
    await using here = await desk(scratch.path, [target('a'), target('b')], noon + 60 * minute);
    await here.pass(minute);
    expect(here.titles()).toEqual(['a: 5 messages from dropcast']);
    expect(here.sent[0]?.body.split('\n')).toHaveLength(5);
    expect(here.sent[0]?.isRepeat).toBe(false);
  });

  test('a target that accepts nothing is known since its first refusal, until it accepts messages or is removed from the configuration', async () => {
    await using scratch = await scratchDirectory();
    await using here: Awaited<ReturnType<typeof desk>> = await desk(scratch.path, [target('a'), target('b')]);
    here.world.answer = () => away;
    await here.settle();
    await here.becomes('f_1', held);
    await here.pass(2 * minute);
    expect(here.deaf().map(([name]) => name)).toEqual(['a', 'b']);
    const before = here.deaf();
    await here.pass(5 * minute);
    expect(here.deaf()).toEqual(before);
    here.world.notify = [target('a')];
    here.world.answer = () => taken;
    await here.pass(30 * minute);
    expect(here.deaf()).toEqual([]);
  });

  test('a message whose answer never came is sent again, and says that it may be a repeat', async () => {
    await using scratch = await scratchDirectory();
    {
      await using here = await desk(scratch.path, [target('a')]);
      const asked = Promise.withResolvers<void>();
      here.world.answer = () => {
        asked.resolve();
        return { ...away, mayHaveArrived: true };
      };
      await here.settle();
      await here.becomes('f_1', held);
      await here.pass(minute);
      await asked.promise;
    }
    await using here = await desk(scratch.path, [target('a')], noon + 2 * minute);
    await here.pass(minute);
    expect(here.sent).toMatchObject([{ title: 'f_1.mp4 needs you', isRepeat: true }]);
  });

  test('a target that never answers holds up neither the others nor the stop', async () => {
    await using scratch = await scratchDirectory();
    await using here = await desk(scratch.path, [target('hanging'), target('b')]);
    const asked: string[] = [];
    here.world.isHanging = true;
    here.world.answer = (name) => {
      asked.push(name);
      return name === 'b'
        ? taken
        : new Promise((resolve) => here.world.stopped.addEventListener('abort', () => resolve(away)));
    };
    await here.settle();
    await here.becomes('f_1', held);
    await here.pass(2 * minute);
    await eventually('the other one has its message', () => expect(here.titles()).toEqual(['b: f_1.mp4 needs you']));
    await here.notifications[Symbol.asyncDispose]();
    expect(asked).toEqual(['hanging', 'b']);
  });

  test('what a target keeps refusing is given up, so that the next messages come through', async () => {
    await using scratch = await scratchDirectory();
    await using here = await desk(scratch.path, [target('a')]);
    let refused = 0;
    here.world.answer = () => (refused < 5 ? ((refused += 1), { ...away, isRefusal: true }) : taken);
    await here.settle();
    await here.becomes('f_1', held);
    await here.pass(10 * minute);
    await here.becomes('f_2', held);
    await here.pass(20 * minute);
    expect(here.titles()).toEqual(['a: f_2.mp4 needs you']);
    expect(here.logger.lines.map(({ message }) => message)).toContain(
      'A notification target refused a message, which was dropped',
    );
  });

  test('a reload changes the targets; what waits for one that is gone is dropped with a line', async () => {
    await using scratch = await scratchDirectory();
    await using here = await desk(scratch.path, [target('a')]);
    here.world.answer = (name) => (name === 'a' ? away : taken);
    await here.settle();
    await here.becomes('f_1', held);
    await here.pass(2 * minute);
    here.world.notify = [target('b')];
    await here.becomes('f_2', held);
    await here.pass(2 * minute);
    expect(here.titles()).toEqual(['b: f_2.mp4 needs you']);
    expect(here.logger.lines.find(({ message }) => message.includes('no longer configured'))?.fields).toEqual({
      target: 'a',
      messages: 1,
    });
    expect(await here.ledger.news.countWaiting()).toEqual(new Map());
  });

  test('quiet hours keep everything until the morning, in one message', async () => {
    await using scratch = await scratchDirectory();
    const quiet = { from: 22 * 60, to: 7 * 60 };
    const evening = new Date('2026-11-22T21:55:00').getTime();
    await using here = await desk(scratch.path, [target('a', { quiet, on: ['needs_you'] })], evening);
    await here.settle();
    for (const at of ['2026-11-22T22:30:00', '2026-11-23T03:00:00']) {
      here.world.now = new Date(at).getTime();
      await here.becomes(`f_${at}`, held);
      await here.pass(2 * minute);
    }
    expect(here.titles()).toEqual([]);
    here.world.now = new Date('2026-11-23T07:00:00').getTime();
    await here.settle();
    expect(here.titles()).toEqual(['a: 2 messages from dropcast']);
    expect(here.sent[0]?.body).toMatch(/22:3\d.*needs you\n03:01.*needs you/);
  });

  test('a folder, a pause, a key, a feed and the budget: told when they last, and when they are over', async () => {
    await using here = await settledDesk();
    here.world.frozen = ['/in'];
    here.world.pause = pause();
    here.events.emit({ type: 'feed', feed: 'feed_news', files: 2, failure: failure('permanent') });
    here.world.gate = { ...here.world.gate, used: 1000, waiting: 3 };
    await here.pass(4 * minute);
    expect(here.titles()).toEqual(['a: Feed feed_news was not published', 'a: /in waits']);
    await here.pass(2 * minute);
    expect(here.titles().slice(2)).toEqual(['a: Everything waits for the service']);
    await here.pass(30 * minute);
    expect(here.titles().slice(3)).toEqual(['a: All 1000 requests of the hour have been used up for half an hour']);
    here.world.pause = pause({ kind: 'suspended', code: 'unauthorized' });
    await here.pass(30_000);
    expect(here.titles().slice(4)).toEqual(['a: Everything waits for the key']);
    here.world.pause = null;
    here.world.frozen = [];
    here.world.gate = { ...here.world.gate, used: 10, waiting: 0 };
    here.events.emit({ type: 'feed', feed: 'feed_news', files: 2, failure: null });
    await here.pass(10 * minute);
    expect(here.titles().slice(5).toSorted()).toEqual([
      'a: /in is back',
      'a: Feed feed_news published again',
      'a: Requests are available again',
      'a: The service accepts the key again',
      'a: The service is reachable again',
    ]);
  });

  test('a problem reported before a restart is not reported again, but its end is', async () => {
    await using scratch = await scratchDirectory();
    {
      await using here = await desk(scratch.path, [target('a')]);
      here.world.frozen = ['/in'];
      await here.pass(3 * minute);
      expect(here.titles()).toEqual(['a: /in waits']);
    }
    await using here = await desk(scratch.path, [target('a')], noon + 10 * minute);
    here.world.frozen = ['/in'];
    await here.pass(3 * minute);
    expect(here.titles()).toEqual([]);
    here.world.frozen = [];
    await here.pass(3 * minute);
    expect(here.titles()).toEqual(['a: /in is back']);
  });

  test('an expected file is reported when it is missing, late, and there, once over restarts, and not for past days', async () => {
    await using scratch = await scratchDirectory();
    const view: ExpectationView = { ...missingFile('/in', '/in'), match: 'evening/*.mp4', from: 0 };
    const all: string[] = [];
    let at = noon;
    const run = async (states: readonly (Partial<ExpectationView> | null)[]): Promise<void> => {
      await using here = await desk(scratch.path, [target('a', { on: ['missing', 'recovered'] })], at);
      for (const state of states) {
        here.world.expectations = state === null ? [] : [{ ...view, ...state }];
        await here.pass(2 * minute);
      }
      at = here.world.now;
      all.push(...here.titles());
    };
    await run([{ state: 'expected' }, { state: 'missing' }, { state: 'missing' }]);
    await run([{ state: 'missing' }, { state: 'late', arrived: 1 }]);
    await run([
      { state: 'late', arrived: 1 },
      { state: 'recovered', arrived: 1, live: 1 },
    ]);
    await run([
      { state: 'recovered' },
      { day: '2026-11-23', state: 'missing' },
      { day: '2026-11-24', state: 'expected' },
    ]);
    expect(all).toEqual([
      'a: /in/evening/*.mp4 is missing: expected by 12:00',
      'a: /in/evening/*.mp4 is late: expected by 12:00',
      'a: /in/evening/*.mp4 has arrived, too late for 12:00',
      'a: /in/evening/*.mp4 is missing: expected by 12:00',
    ]);
  });

  test('the daily receipt comes once, at its hour', async () => {
    await using scratch = await scratchDirectory();
    const receipts = target('a', { on: ['daily'], daily: { at: 12 * 60 + 10, isForIdleDays: false } });
    await using here = await desk(scratch.path, [receipts]);
    await here.settle();
    await here.becomes('f_1', { ...done, endedAt: noon + 1 });
    await here.becomes('f_2', held);
    await here.pass(20 * minute);
    expect(here.sent.map(({ title, body }) => [title, body])).toEqual([
      [
        '2 in, 1 out',
        '2 files came in, 1 file went live (2 kB).\n1 file needs you: see dropcast status.'.replace(
          '2 kB',
          here.sent[0]?.body.match(/\((.*)\)/)?.[1] ?? '',
        ),
      ],
    ]);
  });

  test('a thousand messages for a target that is away take bounded room, and the next one says how many were dropped', async () => {
    await using scratch = await scratchDirectory();
    await using here = await desk(scratch.path, [target('a')]);
    here.world.answer = () => away;
    await here.settle();
    const post = Array.from({ length: 1_000 }, (_, n) => ({
      target: 'a',
      message: { title: `t${n}`, body: '', cause: `${n}`, at: noon, level: 'info', type: 'live', count: 1, files: [] },
      at: noon,
    }));
    await here.ledger.news.commit({ post });
    await here.becomes('f_1', held);
    await here.pass(2 * minute);
    expect(await here.ledger.news.countWaiting()).toEqual(new Map([['a', 500]]));
    here.world.answer = () => taken;
    await here.pass(20 * minute);
    expect(here.titles()).toEqual(['a: 500 messages from dropcast']);
    expect(here.sent[0]?.body).toMatch(/And 501 older messages were dropped\.$/);
  });
});
