import { describe, expect, test } from 'vitest';
import { hostOfCause, troublesOf } from '../../../src/status/notifications/troubles.ts';
import type { Sight } from '../../../src/view/hosts/sights.ts';
import type { Seen } from '../../../src/status/notifications/troubles.ts';
import { failure } from '../../pipeline/some-facts.ts';
import { noon, pause } from './desk.ts';

const sight: Sight = { host: null, pause: null, creates: [], unknown: [], folders: [], expected: [] };
const nothing: Seen = {
  sights: [sight],
  silent: [],
  feeds: new Map(),
  budget: { isUsedUp: false, limit: 1_000 },
};
/** What is seen with one host, which sees this. */
const seenBy = (more: Partial<Sight>): Partial<Seen> => ({ sights: [{ ...sight, ...more }] });
const feed = (kind: Parameters<typeof failure>[0]): Seen['feeds'] => new Map([['feed_a', failure(kind)]]);

describe('what can be wrong with the daemon as a whole', () => {
  test('nothing, also with folders that are only starting', () => {
    const folders = [{ path: '/in', state: 'starting' as const, why: null }];
    expect(troublesOf({ ...nothing, ...seenBy({ folders }) }, noon)).toEqual([]);
  });

  test.each<[string, Partial<Seen>, { kind: string; minutes: number; title: string; over: string }]>([
    [
      'the service is away',
      seenBy({ pause: pause() }),
      {
        kind: 'paused',
        minutes: 5,
        title: 'Everything waits for the service',
        over: 'The service is reachable again',
      },
    ],
    [
      'no upload host takes anything',
      seenBy({ pause: pause({ holds: 'uploads' }) }),
      {
        kind: 'paused',
        minutes: 5,
        title: 'Uploads wait for the upload host',
        over: 'Files can be uploaded again',
      },
    ],
    [
      'the disk is full',
      seenBy({ pause: pause({ kind: 'suspended', code: 'ENOSPC' }) }),
      {
        kind: 'paused',
        minutes: 5,
        title: 'Everything waits for this machine',
        over: 'This machine works again',
      },
    ],
    [
      'the key is refused',
      seenBy({ pause: pause({ kind: 'suspended', code: 'unauthorized' }) }),
      {
        kind: 'key_refused',
        minutes: 0,
        title: 'Everything waits for the key',
        over: 'The service accepts the key again',
      },
    ],
    [
      'the quota is spent',
      seenBy({ creates: [pause({ kind: 'suspended', holds: 'new files', code: 'quota_reached', trouble: 'quota' })] }),
      {
        kind: 'paused',
        minutes: 5,
        title: 'New files wait for the quota',
        over: 'The quota of the service has room again',
      },
    ],
    [
      'the storage of the service is full',
      seenBy({ creates: [pause({ kind: 'suspended', holds: 'new files', code: 'storage_full', trouble: 'storage' })] }),
      {
        kind: 'key_refused',
        minutes: 0,
        title: 'New files wait for storage on the service',
        over: 'The service has storage again',
      },
    ],
    [
      'an upload host refuses',
      seenBy({ pause: pause({ kind: 'suspended', holds: 'uploads', code: 'forbidden' }) }),
      {
        kind: 'paused',
        minutes: 5,
        title: 'Uploads wait for the upload host',
        over: 'Files can be uploaded again',
      },
    ],
    [
      'a folder is away',
      seenBy({ folders: [{ path: '/in', state: 'frozen', why: 'it is not mounted' }] }),
      { kind: 'folder_away', minutes: 1, title: '/in waits', over: '/in is back' },
    ],
    [
      'there is no such channel',
      seenBy({ unknown: [{ kind: 'channel', name: 'c', since: 0 }] }),
      {
        kind: 'needs_you',
        minutes: 1,
        title: 'Files for channel c wait',
        over: 'The service has the channel c',
      },
    ],
    [
      'there is no such feed',
      seenBy({ unknown: [{ kind: 'feed', name: 'f', since: 0 }] }),
      {
        kind: 'needs_you',
        minutes: 1,
        title: 'Videos for feed f wait',
        over: 'The service has the feed f',
      },
    ],
    ...(
      [
        ['transient', 5],
        ['permanent', 0],
        ['gone', 0],
      ] as const
    ).map(
      ([kind, minutes]): [string, Partial<Seen>, { kind: string; minutes: number; title: string; over: string }] => [
        `a feed fails, ${kind}`,
        { feeds: feed(kind) },
        {
          kind: 'feed_failed',
          minutes,
          title: 'Feed feed_a was not published',
          over: 'Feed feed_a published again',
        },
      ],
    ),
    [
      'the budget is used up',
      { budget: { isUsedUp: true, limit: 300 } },
      {
        kind: 'budget',
        minutes: 30,
        title: 'All 300 requests of the hour have been used up for half an hour',
        over: 'Requests are available again',
      },
    ],
  ])('%s', (_, seen, { kind, minutes, title, over }) => {
    expect(troublesOf({ ...nothing, ...seen }, noon)).toMatchObject([
      { kind, holdMs: minutes * 60_000, title, overTitle: over },
    ]);
  });

  test('a message that begins with an address begins with that address', () => {
    const seen = seenBy({ pause: pause({ why: 'http://127.0.0.1:8787 cannot be reached' }) });
    const [trouble] = troublesOf({ ...nothing, ...seen }, noon);
    expect(trouble?.body).toMatch(/^http:/);
  });

  test('each has a cause of its own, and names cannot write to a terminal', () => {
    const seen = seenBy({
      pause: pause({ why: '\u001B[2Jboom' }),
      folders: ['/a\u001B', '/b'].map((path) => ({ path, state: 'frozen' as const, why: null })),
      unknown: [
        { kind: 'channel', name: 'x', since: 0 },
        { kind: 'feed', name: 'x', since: 0 },
      ],
    });
    const troubles = troublesOf({ ...nothing, ...seen, feeds: feed('transient') }, noon);
    expect(new Set(troubles.map(({ cause }) => cause)).size).toBe(6);
    expect(JSON.stringify(troubles.map(({ title, body, overTitle }) => [title, body, overTitle]))).not.toContain(
      '\\u001b',
    );
  });
});

describe('what can be wrong with the hosts of a fleet', () => {
  const on = (host: string, more: Partial<Sight> = {}): Sight => ({ ...sight, host, ...more });
  const told = (...sights: readonly Sight[]) =>
    troublesOf({ ...nothing, sights }, noon).map(({ cause, title, overTitle }) => [cause, title, overTitle]);

  test('folders that are called the same are two troubles, and each names its host', () => {
    const folders = [{ path: '/in', state: 'frozen' as const, why: null }];
    expect(told(on('a', { folders }), on('b', { folders }))).toEqual([
      ['on a: folder: /in', 'a: /in waits', 'a: /in is back'],
      ['on b: folder: /in', 'b: /in waits', 'b: /in is back'],
    ]);
  });

  test('a service that none can reach is one trouble; which hosts see it is said while some do', () => {
    const title = 'Everything waits for the service';
    const away = { pause: pause() };
    expect(told(on('a', away), on('b', away))).toEqual([['service', title, 'The service is reachable again']]);
    expect(told(on('a'), on('b', away), on('c', away))).toEqual([
      ['service', `b, c: ${title}`, 'The service is reachable again'],
    ]);
  });

  test('a machine that needs help is that of its host', () => {
    const full = { pause: pause({ kind: 'suspended', code: 'ENOSPC' }) };
    expect(told(on('a'), on('b', full))).toEqual([
      ['on b: machine', 'b: Everything waits for this machine', 'b: This machine works again'],
    ]);
  });

  test('a host that is silent', () => {
    const silent = [{ name: 'b', heardAt: noon - 90_000 }];
    expect(troublesOf({ ...nothing, silent }, noon)).toMatchObject([
      {
        cause: 'silent b:',
        kind: 'host_silent',
        title: 'b is silent: last heard from at 11:58',
        overTitle: 'b responds again',
      },
    ]);
  });

  test.each([
    ['on b: folder: /in', 'b'],
    ['silent b:', 'b'],
    ['service', null],
    ['folder: /on b: /in', null],
  ])('the host of %j is %j', (cause, host) => expect(hostOfCause(cause)).toBe(host));
});
