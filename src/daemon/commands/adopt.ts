import type { Facts } from '../../pipeline/file/facts.ts';
import type { FileEvent } from '../../pipeline/file/machine.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import type { Comparison } from '../../pipeline/rounds/adopt.ts';
import type { Applied } from '../../pipeline/steps/runner.ts';

/** The outcome for a pre-existing file once it is confirmed; `waiting`: not compared yet. */
export type Verdict = 'adopt' | 'upload' | 'unclear' | 'waiting';

export type AdoptionView = Awaited<ReturnType<typeof adoptionOf>>;
export type AdoptableFile = AdoptionView['files'][number];

/**
 * Reports what `existing: adopt` would do with each pre-existing file.
 *
 * @param comparing progress of the comparison with the service's list; null: no comparison is running
 */
export async function adoptionOf(store: RowStore<'to adopt'>, comparing: Comparison | null) {
  const files = await store.rows({ group: 'to adopt' });
  const verdictOf = verdictsOn(files);
  return { v: 1, comparing, files: files.map((facts) => viewOf(facts, verdictOf(facts))) };
}

function viewOf(facts: Facts, verdict: Verdict) {
  const { id, folder, path, version, plan, why, lastFailure } = facts;
  const { videos = [], count = videos.length, isSure = false } = lastFailure?.likeness ?? {};
  const isContested = verdict === 'unclear' && isSure;
  return {
    id,
    path: `${folder}/${path}`,
    size: version.size,
    title: plan?.title ?? null,
    verdict,
    why: isContested ? 'several files have the title and duration of this video' : why,
    /** The first few videos on the service that may match the file, and the number of all of them. */
    videos,
    count,
  };
}

/** Returns the verdict on each file. Files compared at different times may have claimed the same video. */
function verdictsOn(files: readonly Facts[]): (facts: Facts) => Verdict {
  const sureOf = ({ lastFailure }: Facts): string | null =>
    lastFailure?.likeness?.isSure === true ? (lastFailure.likeness.videos[0]?.id ?? null) : null;
  const claims = Map.groupBy(files, sureOf);
  return (facts) => {
    const likeness = facts.lastFailure?.likeness;
    if (likeness === undefined) return 'waiting';
    const video = sureOf(facts);
    if (video !== null) return claims.get(video)?.length === 1 ? 'adopt' : 'unclear';
    return likeness.videos.length === 0 ? 'upload' : 'unclear';
  };
}

/** The result of a confirmation. */
export type Confirmed = Awaited<ReturnType<typeof confirmAdoption>>;

/** Carries out the report. Repeating the call, even after a crash, continues where the last one stopped. */
export async function confirmAdoption(
  store: RowStore<'to adopt'>,
  apply: (id: string, event: FileEvent) => Promise<Applied>,
) {
  const files = await store.rows({ group: 'to adopt' });
  const verdictOf = verdictsOn(files);
  const waiting = files.filter((facts) => verdictOf(facts) === 'waiting').length;
  /** `unclear`: files that stay held until a person decides. `waiting`: if any is not compared yet, nothing is done. */
  const done = { v: 1, adopted: 0, uploading: 0, unclear: 0, waiting };
  if (waiting > 0) return done;
  for (const facts of files) {
    const verdict = verdictOf(facts);
    const videoId = facts.lastFailure?.likeness?.videos[0]?.id ?? '';
    const event: FileEvent | null =
      verdict === 'adopt' ? { type: 'ADOPTED', videoId } : verdict === 'upload' ? { type: 'RETRY' } : null;
    const isApplied = event !== null && (await apply(facts.id, event)) === 'applied';
    if (!isApplied) done.unclear += 1;
    else if (verdict === 'adopt') done.adopted += 1;
    else done.uploading += 1;
  }
  return done;
}
