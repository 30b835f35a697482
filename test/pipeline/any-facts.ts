import * as fc from 'fast-check';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { FailureKind } from '../../src/pipeline/file/failure.ts';
import { failure, someFacts, somePlan } from './some-facts.ts';

const time = fc.option(fc.integer({ min: 0, max: 100 }));
const feeds = fc.subarray(['feed_news', 'feed_tv']);
const kinds: readonly FailureKind[] = [
  'transient',
  'offline',
  'suspended',
  'permanent',
  'gone',
  'unclear',
  'duplicate',
];

/** Rows with every combination of facts, those that never come about included. */
export const anyFacts: fc.Arbitrary<Facts> = fc
  .record({
    sourceUrl: fc.option(fc.constant('https://example.com/clip.mp4')),
    plan: fc.option(feeds.map((publish) => ({ ...somePlan, publish }))),
    afterReady: fc.constantFrom({ kind: 'keep' } as const, { kind: 'delete' } as const),
    intent: fc.option(fc.constant('token')),
    videoId: fc.option(fc.constant('vid_1')),
    uploadUrl: fc.option(fc.constant('u:vid_1')),
    uploadHeaders: fc.option(fc.constant({ 'content-type': 'video/mp4' })),
    uploadSession: fc.option(fc.constant({ protocol: 'tus' as const, offset: 1, reach: 2, version: '1:2' })),
    uploadStartedAt: time,
    sha256: fc.option(fc.constant('aa')),
    uploadedAt: time,
    processingSince: time,
    addressDeadAt: time,
    dying: fc.boolean(),
    remoteStatus: fc.option(fc.constantFrom('pending', 'processing', 'ready', 'failed', 'transcoding')),
    readyAt: time,
    embedUrl: fc.option(fc.constant('https://video.example.com/embed/vid_1')),
    published: feeds.map((done) => Object.fromEntries(done.map((feed) => [feed, 1]))),
    linkFile: fc.option(fc.constant({ path: 'clip.mp4.dropcast.json' })),
    owner: fc.option(fc.constant('anna')),
    attempts: fc.integer({ min: 0, max: 12 }),
    notBefore: time,
    end: fc.option(fc.constantFrom('done', 'failed', 'held', 'skipped', 'vanished', 'superseded')),
    lastFailure: fc.option(fc.constantFrom(...kinds).map((kind) => failure(kind))),
  })
  .map((facts) => someFacts(facts));
