import { describe, expect, test } from 'vitest';
import { troublesOf } from '../../../src/status/notifications/troubles.ts';
import type { Seen } from '../../../src/status/notifications/troubles.ts';
import { failure } from '../../pipeline/some-facts.ts';
import { pause } from './desk.ts';

const nothing: Seen = {
  pause: null,
  unknown: [],
  folders: [],
  feeds: new Map(),
  budget: { isUsedUp: false, limit: 1_000 },
  expectations: [],
};
const feed = (kind: Parameters<typeof failure>[0]): Seen['feeds'] => new Map([['feed_a', failure(kind)]]);

describe('what can be wrong with the daemon as a whole', () => {
  test('nothing, also with folders that are only scanned or starting', () => {
    const folders = (['watching', 'scanning', 'starting'] as const).map((state) => ({ path: '/in', state, why: null }));
    expect(troublesOf({ ...nothing, folders })).toEqual([]);
  });

  test.each<[string, Partial<Seen>, { kind: string; minutes: number; title: string; over: string }]>([
    [
      'the service is away',
      { pause: pause() },
      {
        kind: 'paused',
        minutes: 5,
        title: 'The service cannot be reached: all work waits',
        over: 'All work goes on',
      },
    ],
    [
      'no upload host takes anything',
      { pause: pause({ holds: 'uploads' }) },
      { kind: 'paused', minutes: 5, title: 'The service cannot be reached: uploads wait', over: 'Uploads go on' },
    ],
    [
      'the disk is full',
      { pause: pause({ kind: 'suspended', code: 'ENOSPC' }) },
      { kind: 'paused', minutes: 5, title: 'This machine needs help: all work waits', over: 'All work goes on' },
    ],
    [
      'the key is refused',
      { pause: pause({ kind: 'suspended', code: 'unauthorized' }) },
      {
        kind: 'key_refused',
        minutes: 0,
        title: 'The service refuses the account or key: all work waits',
        over: 'The service accepts the key again: all work goes on',
      },
    ],
    [
      'an upload host refuses',
      { pause: pause({ kind: 'suspended', holds: 'uploads', code: 'forbidden' }) },
      { kind: 'paused', minutes: 5, title: 'This machine needs help: uploads wait', over: 'Uploads go on' },
    ],
    [
      'a folder is away',
      { folders: [{ path: '/in', state: 'frozen', why: 'it is not mounted' }] },
      { kind: 'folder_away', minutes: 1, title: '/in cannot be used: its files wait', over: '/in is back' },
    ],
    [
      'there is no such channel',
      { unknown: [{ kind: 'channel', name: 'c', since: 0 }] },
      {
        kind: 'needs_you',
        minutes: 1,
        title: 'The service has no channel c: files that go there wait',
        over: 'The service has the channel c: files that go there go on',
      },
    ],
    [
      'there is no such feed',
      { unknown: [{ kind: 'feed', name: 'f', since: 0 }] },
      {
        kind: 'needs_you',
        minutes: 1,
        title: 'The service has no feed f: videos wait to be published there',
        over: 'The service has the feed f: it is published',
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
          title: 'The feed feed_a is not published',
          over: 'The feed feed_a is published again',
        },
      ],
    ),
    [
      'the budget is used up',
      { budget: { isUsedUp: true, limit: 300 } },
      {
        kind: 'budget',
        minutes: 30,
        title: 'All 300 requests of the hour have been used for half an hour',
        over: 'There are requests again',
      },
    ],
  ])('%s', (_, seen, { kind, minutes, title, over }) => {
    expect(troublesOf({ ...nothing, ...seen })).toMatchObject([
      { kind, holdMs: minutes * 60_000, title, overTitle: over },
    ]);
  });

  test('each has a cause of its own, and names cannot write to a terminal', () => {
    const troubles = troublesOf({
      ...nothing,
      pause: pause({ why: '\u001B[2Jboom' }),
      folders: ['/a\u001B', '/b'].map((path) => ({ path, state: 'frozen' as const, why: null })),
      unknown: [
        { kind: 'channel', name: 'x', since: 0 },
        { kind: 'feed', name: 'x', since: 0 },
      ],
      feeds: feed('transient'),
    });
    expect(new Set(troubles.map(({ cause }) => cause)).size).toBe(6);
    expect(JSON.stringify(troubles.map(({ title, body, overTitle }) => [title, body, overTitle]))).not.toContain(
      '\\u001b',
    );
  });
});
