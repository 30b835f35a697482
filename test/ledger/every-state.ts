import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { adopted, leftFromBefore } from '../../src/pipeline/file/reasons.ts';
import { created, failure, ready, someFacts, somePlan, uploaded } from '../pipeline/some-facts.ts';

/** A file in every state that a row can be in, with the odd corners: text of many alphabets, tokens in doubt, an amendment. */
export function everyState(): readonly Facts[] {
  const kinds: readonly Partial<Facts>[] = [
    {},
    { intent: 'token-now', suspects: ['token-before'] },
    created,
    { ...created, uploadStartedAt: 2 },
    { ...created, uploadStartedAt: 2, sha256: 'ab'.repeat(32) },
    uploaded,
    { ...uploaded, dying: true, replacements: 1, addressDeadAt: 9 },
    { ...uploaded, amendment: { title: 'Später ünderschrieben', tags: ['neu'] } },
    ready,
    { ...ready, published: { feed_news: 5 }, endedAt: 6, disposal: 'pending' },
    { ...ready, published: { feed_news: 5 }, endedAt: 6, disposal: 'kept' },
    { notBefore: 1_000, attempts: 3, lastFailure: failure('transient', { status: 503 }), why: 'it was transient' },
    { ...uploaded, end: 'failed', why: 'processing failed: 映像 is "broken" \\ end', endedAt: 7 },
    { end: 'held', why: 'no rule matches', plan: null, endedAt: 7 },
    {
      ...ready,
      end: 'done',
      endedAt: 6,
      disposal: 'later',
      afterReady: { kind: 'delete', later: { afterMs: 604_800_000, whenFull: 85 } },
    },
    { plan: { ...somePlan, priority: 'high', proofs: [{ path: 'clip.mp4.sha256', sha256: 'cd'.repeat(32) }] } },
    {
      end: 'held',
      endedAt: 7,
      lastFailure: failure('mismatch', { code: 'checksum_mismatch', digests: { md5: 'ef' } }),
    },
    { end: 'held', endedAt: 7, lastFailure: leftFromBefore.adopt },
    {
      end: 'held',
      endedAt: 7,
      lastFailure: { ...leftFromBefore.adopt, likeness: { videos: [], count: 0, isSure: false, doubt: null } },
    },
    { end: 'skipped', endedAt: 7, lastFailure: leftFromBefore.ignore },
    { ...adopted('vid_1', 7), why: null, readyAt: 7, end: 'done', endedAt: 7 },
    adopted('vid_1', 7),
    { end: 'skipped', why: 'duplicate of f_1', endedAt: 7 },
    { end: 'vanished', why: null, endedAt: 7 },
    { end: 'superseded', why: null, endedAt: 7 },
    { sourceUrl: 'https://elsewhere.example/a.mp4', ...created, uploadUrl: null, uploadedAt: 3 },
  ];
  return kinds.map((kind, n) => {
    const id = `f_${String(n).padStart(12, '0')}`;
    const version = { ...someFacts().version, ino: String(100 + n), size: 5_000 + n };
    const facts = someFacts({
      ...kind,
      id,
      version,
      path: `news/Überblick ${n}/clip_${n}.mp4`,
      discoveredAt: 1_000 + n,
    });
    const isBound = facts.videoId !== null;
    return {
      ...facts,
      ...(isBound && {
        videoId: `vid_${n}`,
        uploadUrl: facts.uploadUrl && `https://up.example/${n}`,
        uploadSession:
          facts.uploadStartedAt === null
            ? null
            : { protocol: 'content-range', offset: n, reach: 2 * n, version: `${n}:é` },
        uploadHeaders: facts.uploadUrl === null ? null : { 'x-upload-signature': `Überblick ${n}` },
      }),
    };
  });
}

/** The states that `everyState` has. */
export const statesOfRows = new Set(everyState().map(stateOf));

/** What a ledger has beside its files. */
export const besideRows = {
  folder: someFacts().folder,
  root: { identity: { device: '1', inode: '2', mark: 'ab' }, doubt: null },
  firstStart: { askedNs: 1_700_000_000_000_000_000n, beganNs: 1_700_000_000_000_000_001n, isOver: false },
  video: { id: 'vid_elsewhere', title: 'Überblick', duration: 12.5, status: 'ready' },
  listing: { nextPage: 3, total: 250, isWhole: false },
} as const;
