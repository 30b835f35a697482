import * as fc from 'fast-check';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { created, failure, ready, someFacts, somePlan, uploaded } from '../pipeline/some-facts.ts';

/** Texts in which stores may differ: cases, alphabets, two spellings, wildcards, what is escaped in SQL, JSON and expressions. */
export const strangeTexts = [
  'a',
  'B',
  'ü',
  'Ü',
  'u\u0308',
  'ß',
  'ẞ',
  'İ',
  'ı',
  'Σ',
  'ς',
  'Ж',
  '映',
  '\u{1F600}',
  '\u{10400}',
  '%',
  '_',
  '\\',
  "'",
  '"',
  '?',
  '$1',
  '.',
  '*',
  '[',
  '(',
  '^',
  ' (2)',
  '\n',
  '\u00a0',
  '…',
];

const text = fc.array(fc.constantFrom(...strangeTexts), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));

const failures: readonly (Failure | null)[] = [
  null,
  failure('transient', { code: 'http_503', status: 503 }),
  failure('permanent', { code: 'invalid_request', status: 422, message: 'answered 422 invalid_request: tags: no' }),
  failure('permanent', { code: 'invalid_request', status: 422, message: 'answered 422 invalid_request: tags.3: no' }),
  failure('suspended', { code: 'unknown_feed', feed: 'feed_gone' }),
  failure('suspended', { code: 'unknown_channel' }),
  failure('gone', { code: 'not_found', status: 404 }),
  failure('duplicate', { twin: 'f_0' }),
  failure('permanent', { code: 'existing' }),
  failure('permanent', { code: 'existing', likeness: { videos: [], isSure: false, doubt: null } }),
  failure('permanent', { code: 'ignored', over: failure('gone') }),
];

const ends = ['done', 'failed', 'held', 'skipped', 'vanished', 'superseded'] as const;
const disposals = [null, 'later', 'pending', 'waiting', 'kept', 'deleted', 'moved'] as const;

const some = fc.record({
  stage: fc.constantFrom<Partial<Facts>>({}, created, uploaded, ready, { intent: 'token' }),
  end: fc.option(fc.constantFrom(...ends)),
  at: fc.nat({ max: 9 }),
  notBefore: fc.option(fc.nat({ max: 9 })),
  lastFailure: fc.constantFrom(...failures),
  disposal: fc.constantFrom(...disposals),
  folder: fc.constantFrom('/in', '/in/ü', '/Z', "/it's"),
  path: fc.tuple(text, fc.constantFrom('', '.mp4', '.MKV', '/clip.mp4')).map((parts) => parts.join('')),
  size: fc.constantFrom(0, 5_000, 300_000_000, 5_000_000_000),
  plan: fc.option(
    fc.record({
      channel: fc.constantFrom('ch_a', 'ch_b'),
      title: text,
      publish: fc.uniqueArray(fc.oneof(fc.constantFrom('feed_a', 'feed_b'), text), { maxLength: 3 }),
      priority: fc.constantFrom('high' as const, 'normal' as const, 'low' as const),
    }),
  ),
  later: fc.constantFrom(null, { afterMs: 5, whenFull: null }, { afterMs: null, whenFull: 85 }),
});

/** Files in any combination of all that rows are found by. */
export const someRows: fc.Arbitrary<readonly Facts[]> = fc
  .uniqueArray(some, { minLength: 1, maxLength: 30, selector: ({ folder, path }) => `${folder}/${path}` })
  .map((all) =>
    all.map(({ stage, end, at, notBefore, lastFailure, disposal, folder, path, size, plan, later }, n) =>
      someFacts({
        ...stage,
        ...(stage.intent !== undefined && { intent: `token_${n}` }),
        ...(stage.videoId !== undefined && { videoId: `Vid_${n}` }),
        id: `f_${n}`,
        folder,
        path,
        version: { ...someFacts().version, size, ino: String(n % 5) },
        plan: plan === null ? null : { ...somePlan, ...plan },
        discoveredAt: at,
        end,
        endedAt: end === null ? null : at + 1,
        notBefore,
        lastFailure,
        disposal: end === 'done' ? disposal : null,
        afterReady: later === null ? { kind: 'move', to: 'done' } : { kind: 'delete', later },
        published:
          stage.readyAt === undefined || plan === null ? {} : Object.fromEntries(plan.publish.map((f) => [f, at])),
      }),
    ),
  );

/** What somebody may look for: parts of what is there, in another case or spelling. */
export const lookedFor: fc.Arbitrary<string> = fc
  .tuple(text, fc.constantFrom('as it is', 'upper', 'lower', 'NFD', 'NFC'))
  .map(([looked, way]) => {
    if (way === 'upper') return looked.toUpperCase();
    if (way === 'lower') return looked.toLowerCase();
    return way === 'as it is' ? looked : looked.normalize(way);
  });
