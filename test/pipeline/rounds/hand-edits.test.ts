import { describe, expect, test } from 'vitest';
import type { Amendment } from '../../../src/pipeline/file/facts.ts';
import type { RemoteVideo } from '../../../src/pipeline/file/ports.ts';
import { handEdits } from '../../../src/pipeline/rounds/hand-edits.ts';
import { someFacts, somePlan } from '../some-facts.ts';

const plan = {
  ...somePlan,
  title: 'Clip',
  description: 'Recorded today',
  tags: ['news', 'berlin'],
  channel: 'ch_main',
};
const asSent: RemoteVideo = {
  id: 'vid_1',
  status: 'ready',
  title: 'Clip',
  description: 'Recorded today',
  tags: ['news', 'berlin'],
  channel: 'ch_main',
};

describe('a video is edited by hand', () => {
  test.each<[string, Partial<RemoteVideo>, readonly string[]]>([
    ['in no field if it is as it was sent', {}, []],
    ['in its title', { title: 'Clip 2' }, ['title']],
    ['in its title if only the case changed', { title: 'clip' }, ['title']],
    ['in its description', { description: '' }, ['description']],
    ['in its tags if one is gone', { tags: ['news'] }, ['tags']],
    ['in its tags if one was added', { tags: ['news', 'berlin', 'live'] }, ['tags']],
    ['in its channel', { channel: 'ch_other' }, ['channel']],
    [
      'in all of its fields',
      { title: 'a', description: 'b', tags: [], channel: 'c' },
      ['title', 'description', 'tags', 'channel'],
    ],
    ['in no field if its tags are in another order', { tags: ['berlin', 'news', 'news'] }, []],
    ['in no field if it has a marker besides', { tags: ['news', 'berlin', 'dc-0123abcd'] }, []],
    ['in its tags if one only resembles a marker', { tags: ['news', 'berlin', 'dc-0123abcde'] }, ['tags']],
  ])('%s', (_, change, fields) => {
    expect(handEdits(someFacts({ plan }), { ...asSent, ...change })).toEqual(fields);
  });

  test('in no field that the service did not return', () => {
    expect(handEdits(someFacts({ plan }), {})).toEqual([]);
    expect(handEdits(someFacts({ plan }), { title: 'Clip 2' })).toEqual(['title']);
  });

  test('in no description if none was sent and the service returns an empty one', () => {
    expect(handEdits(someFacts({ plan: { ...plan, description: null } }), { description: '' })).toEqual([]);
    expect(handEdits(someFacts({ plan: { ...plan, description: null } }), { description: 'new' })).toEqual([
      'description',
    ]);
  });

  test.each<[string, Amendment, readonly string[]]>([
    ['an amendment of it waits', { title: 'Clip' }, ['tags']],
    ['only the feeds are to be published', {}, ['title', 'tags']],
  ])('and no field counts while %s', (_, amendment, fields) => {
    const hosted = { ...asSent, title: 'Clip 2', tags: [] };
    expect(handEdits(someFacts({ plan, amendment }), hosted)).toEqual(fields);
  });
});
