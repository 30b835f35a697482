import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, failure, ready, someFacts, uploaded } from '../pipeline/some-facts.ts';

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
      ...(isBound && { videoId: `vid_${n}`, uploadUrl: facts.uploadUrl && `https://up.example/${n}` }),
    };
  });
}

/** The states that `everyState` has. */
export const statesOfRows = new Set(everyState().map(stateOf));
