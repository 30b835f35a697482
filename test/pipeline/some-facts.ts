import { newFacts } from '../../src/pipeline/file/facts.ts';
import type { FileVersion } from '../../src/pipeline/file/file-version.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Failure, FailureKind } from '../../src/pipeline/file/failure.ts';
import type { Plan } from '../../src/routing/plan.ts';

export const somePlan: Plan = {
  rule: 'folders[0].rules[0]',
  channel: 'ch_main',
  title: 'Clip',
  description: null,
  tags: ['news'],
  publish: ['feed_news'],
};

export const someVersion: FileVersion = {
  dev: '1',
  ino: '100',
  birthtimeNs: '1000',
  size: 5_000,
  mtimeNs: '2000',
  ctimeNs: '2000',
};

/** A file as it was just accepted, with what the test wants otherwise. */
export function someFacts(other: Partial<Facts> = {}): Facts {
  const seen = {
    id: 'f_1',
    folder: '/inbox',
    path: 'clip.mp4',
    version: someVersion,
    sourceUrl: null,
    plan: somePlan,
    onDuplicate: 'skip',
    afterReady: { kind: 'keep' },
    discoveredAt: 0,
  } as const;
  return { ...newFacts(seen), ...other };
}

/** Rows as they are at each stage of an ordinary life. */
export const created: Partial<Facts> = {
  videoId: 'vid_1',
  uploadUrl: 'u:vid_1',
  createdAt: 1,
  remoteStatus: 'pending',
};
export const uploaded: Partial<Facts> = {
  ...created,
  uploadStartedAt: 2,
  sha256: 'aa',
  uploadedAt: 3,
  processingSince: 3,
  remoteStatus: 'processing',
};
export const ready: Partial<Facts> = { ...uploaded, remoteStatus: 'ready', readyAt: 4 };

export function failure(kind: FailureKind, other: Partial<Failure> = {}): Failure {
  return { kind, code: kind.replaceAll(' ', '_'), message: `it was ${kind}`, ...other };
}
