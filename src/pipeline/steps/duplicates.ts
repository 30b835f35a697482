import type { Facts } from '../file/facts.ts';
import { twinCode } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import type { FileStore, LocalFiles } from '../file/ports.ts';

/**
 * Whether the same content was uploaded before or is on its way. Only files of equal size are ever read for it, so the
 * common case costs one query; then the whole SHA-256 decides, never a sample (files with equal head and tail exist).
 *
 * @returns the failure `duplicate`, whose message names the first file; a wait, when that one is not uploaded yet and so may
 *   still vanish or fail; or null
 */
export async function findTwin(
  facts: Facts,
  signal: AbortSignal,
  { store, local }: { readonly store: Pick<FileStore, 'twins'>; readonly local: LocalFiles },
): Promise<Failure | null> {
  const twins = await store.twins(facts);
  if (twins.length === 0) return null;
  const own = await local.hash(facts, signal);
  if (!own.ok) return own.failure;
  // The uploaded ones first: they are known by hash and end the question.
  for (const twin of twins.toSorted((one, other) => Number(isUploaded(other)) - Number(isUploaded(one)))) {
    const sha256 = twin.sha256 ?? (await hashOf(twin, signal, local));
    if (sha256 === own.value) return isUploaded(twin) ? duplicateOf(twin) : waitFor(twin);
  }
  return null;
}

function isUploaded(twin: Facts): boolean {
  return twin.uploadedAt !== null;
}

/** A twin that is still waiting has no hash yet. One that cannot be read any more proves nothing. */
async function hashOf(twin: Facts, signal: AbortSignal, local: LocalFiles): Promise<string | null> {
  const answer = await local.hash(twin, signal);
  return answer.ok ? answer.value : null;
}

/** Hashes kept in memory at most: a hundred bytes each. */
const mostHashes = 10_000;

/** A file that waits for its twin is asked about again and again, and each time would be read from beginning to end. */
export function rememberingHashes(hash: LocalFiles['hash']): LocalFiles['hash'] {
  const known = new Map<string, string>();
  return async (facts, signal) => {
    const { dev, ino, birthtimeNs, size, mtimeNs, ctimeNs } = facts.version;
    const key = [dev, ino, birthtimeNs, size, mtimeNs, ctimeNs, facts.folder, facts.path].join('\0');
    const before = known.get(key);
    if (before !== undefined) return { ok: true, value: before };
    const answer = await hash(facts, signal);
    if (answer.ok) known.set(key, answer.value);
    const [oldest] = known.keys();
    if (known.size > mostHashes && oldest !== undefined) known.delete(oldest);
    return answer;
  };
}

const duplicateOf = (twin: Facts): Failure => ({
  kind: 'duplicate',
  code: 'duplicate',
  message: `duplicate of ${twin.path} (${twin.id}${twin.videoId === null ? '' : `, video ${twin.videoId}`})`,
});

const waitFor = (twin: Facts): Failure => ({
  kind: 'throttled',
  code: twinCode,
  message: `same content as ${twin.path} (${twin.id}), which is on its way; waits until that one is uploaded`,
});
