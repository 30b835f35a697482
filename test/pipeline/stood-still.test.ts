import { describe, expect, test } from 'vitest';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { FileEvent } from '../../src/pipeline/file/machine.ts';
import { outside, someLocal, startCore } from './running-core.ts';
import { created, failure, ready, someFacts } from './some-facts.ts';

/** The digest of a body, as the service in memory says it. */
const content = 'f_1';
const local = { ...someLocal, hash: async () => ({ ok: true, value: content }) as const };

const ended = { endedAt: 1, why: 'so', attempts: 12 };
const ends: Readonly<Record<string, [Partial<Facts>, FileEvent]>> = {
  failed: [{ ...ended, end: 'failed', lastFailure: failure('transient') }, { type: 'RETRY' }],
  'held for its checksum': [{ ...ended, end: 'held', lastFailure: failure('mismatch') }, { type: 'RETRY' }],
  vanished: [{ ...ended, end: 'vanished', lastFailure: failure('vanished') }, { type: 'RETRY' }],
  'ignored, then retried': [
    { ...ended, end: 'skipped', lastFailure: failure('permanent', { code: 'ignored' }) },
    { type: 'RETRY' },
  ],
  'ignored, then not': [
    { ...ended, end: 'skipped', lastFailure: failure('permanent', { code: 'ignored' }) },
    { type: 'UNIGNORE' },
  ],
};

const records: Readonly<Record<string, Partial<Facts>>> = {
  'no record': {},
  'an empty record': created,
  'a record to which it was sent in part': { ...created, uploadStartedAt: 2 },
  'a record to which all of it was sent, and which is still empty': { ...created, uploadStartedAt: 2, sha256: content },
};

const cases = Object.entries(ends).flatMap(([name, [end, event]]) =>
  Object.entries(records).flatMap(([record, facts]) =>
    [false, true].map((isRestarted) => ({ name, record, isRestarted, event, facts: { ...facts, ...end } })),
  ),
);

/** A file at rest, and what the service has of it. */
function atRest(facts: Partial<Facts>, others: readonly Facts[]) {
  const world = outside([someFacts(facts), ...others]);
  if (facts.videoId !== undefined) world.service.videos.set('vid_1', { title: 'Clip', status: 'pending' });
  world.service.videos.set('vid_other', { title: 'Clip', status: 'ready' });
  return world;
}

describe('a file that stood still while another with its content was uploaded', () => {
  const other = someFacts({
    ...ready,
    id: 'f_2',
    path: 'copy.mp4',
    videoId: 'vid_other',
    sha256: content,
    end: 'done',
  });

  test.each(cases)(
    'is not uploaded when it begins again: $name, with $record, restarted: $isRestarted',
    async ({ facts, event, isRestarted }) => {
      const world = atRest(facts, [other]);
      let core = startCore(world, { local });
      expect(await core.conductor.apply('f_1', event)).toBe('applied');
      if (isRestarted) {
        await core.stop();
        core = startCore(world, { local });
      }
      await core.until(() => world.store.row().end !== null);
      expect(world.store.row()).toMatchObject({ end: 'skipped', lastFailure: { code: 'duplicate', twin: 'f_2' } });
      expect(world.service.count('send')).toBe(0);
      // A record that may have the whole file is never deleted: `dropcast suspects` lists it.
      expect([...world.service.videos.keys()]).toEqual(
        facts.sha256 === undefined ? ['vid_other'] : ['vid_1', 'vid_other'],
      );
    },
  );
});

describe('a file that stood still alone', () => {
  test.each(cases)(
    'is uploaded once when it begins again: $name, with $record, restarted: $isRestarted',
    async ({ facts, event, isRestarted }) => {
      const world = atRest(facts, []);
      let core = startCore(world, { local });
      await core.conductor.apply('f_1', event);
      if (isRestarted) {
        await core.stop();
        core = startCore(world, { local });
      }
      await core.until(() => world.store.row().end !== null);
      expect(world.store.row()).toMatchObject({ end: 'done' });
      expect(world.service.count('send')).toBe(1);
      expect(world.service.videos.size).toBe(2);
    },
  );
});
