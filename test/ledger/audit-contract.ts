import { expect, test } from 'vitest';
import { auditNote } from '../../src/pipeline/file/audit.ts';
import type { AuditWanted, ListedVideo } from '../../src/pipeline/file/audit.ts';
import { newAudit } from '../../src/pipeline/rounds/audit.ts';
import { ready, someFacts } from '../pipeline/some-facts.ts';
import type { OpenedRows } from './opened-rows.ts';

const wanted: AuditWanted = { folder: null, since: null, isQuick: true };

const video = (id: string, other: Partial<ListedVideo> = {}): ListedVideo => ({
  id,
  title: 'Clip',
  duration: 60,
  status: 'ready',
  channel: 'ch_news',
  ...other,
});

/** What any store of rows keeps of an audit. */
export function auditContract(open: () => Promise<OpenedRows>): void {
  test('an audit keeps listed videos once, its findings and its progress, also when it is opened again', async () => {
    await using opened = await open();
    const { rows } = opened;
    const facts = { ...someFacts(ready), end: 'done' } as const;
    await rows.insert(facts);
    const run = newAudit(wanted, 'ann', 1, 5);
    await rows.beginAudit(run);
    const fresh: number[] = [];
    const next = (count: number) => {
      fresh.push(count);
      return { ...run, page: run.page + 1 };
    };
    const others = [video('vid_2'), video('vid_3', { channel: null }), video('vid_4', { status: 'pending' })];
    await rows.addAudited([video('vid_1'), ...others], next);
    await rows.addAudited([video('vid_1'), video('vid_5')], next);
    expect([fresh.at(0), fresh.at(-1)]).toEqual([4, 1]);
    await rows.addFindings([{ kind: 'gone', fileId: 'f_1', note: 'once' }], run);
    await rows.addFindings([{ kind: 'gone', fileId: 'f_1', note: 'twice' }], { ...run, examined: 1 });
    const again = await opened.reopened();
    expect(await again.note(auditNote)).toMatchObject({ examined: 1, by: 'ann' });
    expect(await again.countFindings()).toEqual({ gone: 1 });
    expect(await again.findings('gone', 10, '')).toEqual([{ kind: 'gone', fileId: 'f_1', note: 'twice' }]);
    expect(await again.findings('gone', 10, 'f_1')).toEqual([]);
    const { own, alike } = await again.listedNear(facts);
    expect(own).toEqual(video('vid_1'));
    expect(alike.map(({ id }) => id).toSorted()).toEqual(['vid_2', 'vid_3', 'vid_4', 'vid_5']);
    const unknown = await again.unknownVideos();
    expect(unknown.first.map(({ id }) => id)).toEqual(['vid_2', 'vid_3', 'vid_5']);
    expect(unknown).toMatchObject({
      count: 3,
      channels: [
        { channel: 'ch_news', videos: 2 },
        { channel: null, videos: 1 },
      ],
    });
    await again.beginAudit(newAudit(wanted, 'bob', 1, 6));
    // The first audit was replaced, so its progress is not written any longer.
    await again.addFindings([], run);
    expect(await again.note(auditNote)).toMatchObject({ by: 'bob' });
    expect(await again.countFindings()).toEqual({});
  });

  test('files with the same hash and other videos are found near each other', async () => {
    await using opened = await open();
    const { rows } = opened;
    const done = { ...ready, end: 'done' } as const;
    await rows.insert(someFacts({ ...done, id: 'f_1', path: 'a.mp4', videoId: 'vid_1' }));
    const other = someFacts({ ...done, id: 'f_2', path: 'b.mp4', videoId: 'vid_2' });
    await rows.insert({ ...other, version: { ...other.version, ino: '2' } });
    await rows.beginAudit(newAudit(wanted, 'ann', 2, 5));
    expect(await rows.listedNear(other)).toEqual({
      own: null,
      alike: [],
      twins: [{ path: 'a.mp4', videoId: 'vid_1' }],
    });
  });
}
