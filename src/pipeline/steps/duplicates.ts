import { mayHaveArrived } from '../file/facts.ts';
import type { Facts } from '../file/facts.ts';
import { twinCode } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import type { Answer, LocalFiles } from '../file/ports.ts';
import type { RowStore } from '../file/row-groups.ts';

export interface TwinWorld {
  readonly store: RowStore<'twins'>;
  readonly local: Pick<LocalFiles, 'hash'>;
  /** Files without a twin that have no record yet. They are uploaded first; the step removes its file when it ends. */
  readonly passing: Set<string>;
}

/**
 * Checks whether the same content was uploaded before or is being uploaded. Only files of equal size are ever read for
 * this, so the common case costs one query. Equality is decided by the SHA-256 of the whole file, never of a sample,
 * because files with equal heads and tails exist.
 *
 * Reading takes minutes, in which another file may start. The last query therefore follows all reading, and nothing
 * else runs between its answer and the entry in `passing`: of two files with the same content, one always sees the
 * other.
 *
 * @returns the failure `duplicate`, which names the first file; a wait if that file is not uploaded yet and may still
 *   vanish or fail; or null
 */
export async function findTwin(facts: Facts, signal: AbortSignal, world: TwinWorld): Promise<Failure | null> {
  const { store, local, passing } = world;
  const read = new Map<string, string | null>();
  const hashOf = (twin: Facts): string | null | undefined => twin.sha256 ?? read.get(twin.id);
  let own: string | null = null;
  for (;;) {
    const twins = await store.rows({ group: 'twins', of: facts, passing: [...passing] });
    const same = twins.filter((twin) => own !== null && hashOf(twin) === own);
    // Uploaded files are preferred, because they settle the question.
    const twin = same.find(isUploaded) ?? same[0];
    if (twin !== undefined) return isUploaded(twin) ? duplicateOf(twin) : waitFor(twin);
    const unread = twins.filter((twin) => hashOf(twin) === undefined);
    if (twins.length === 0 || (own !== null && unread.length === 0)) break;
    if (own === null) {
      const answer = await local.hash(facts, signal);
      if (!answer.ok) return answer.failure;
      own = answer.value;
    } else {
      const lost = await readUntil(own, unread, read, (twin) => local.hash(twin, signal));
      if (lost !== null) return waitForRow(lost);
    }
  }
  passing.add(facts.id);
  return null;
}

/**
 * Reads files one after the other until one has the wanted hash. An unreadable file proves nothing.
 *
 * @returns a file that has just been moved or deleted: the next scan follows it to its new path or ends its row
 */
async function readUntil(
  wanted: string,
  twins: readonly Facts[],
  read: Map<string, string | null>,
  hash: (twin: Facts) => Promise<Answer<string>>,
): Promise<Facts | null> {
  for (const twin of twins) {
    const answer = await hash(twin);
    read.set(twin.id, answer.ok ? answer.value : null);
    if (answer.ok && answer.value === wanted) return null;
    if (!answer.ok && answer.failure.kind === 'vanished' && twin.end === null && !mayHaveArrived(twin)) return twin;
  }
  return null;
}

function isUploaded(twin: Facts): boolean {
  return twin.uploadedAt !== null;
}

/** Maximum number of hashes kept in memory, a hundred bytes each. */
const mostHashes = 10_000;

/**
 * Caches hashes. A file that waits for its twin is checked repeatedly and would otherwise be read completely each time.
 */
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
  twin: twin.id,
  message: `duplicate of ${twin.path} (${twin.id}${twin.videoId === null ? '' : `, video ${twin.videoId}`})`,
});

const waitFor = (twin: Facts): Failure => ({
  kind: 'throttled',
  code: twinCode,
  message: `same content as ${twin.path} (${twin.id}), which is on its way; waits until that one is uploaded`,
});

const waitForRow = (twin: Facts): Failure => ({
  kind: 'throttled',
  code: twinCode,
  message: `perhaps the same content as ${twin.path} (${twin.id}), which is no longer there; waits until the next scan shows whether it was moved`,
});
