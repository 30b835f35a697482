import type { Ledger } from '../../ledger/ledger.ts';
import { mayHaveArrived, videoOfSuspect, type End, type Facts } from '../../pipeline/file/facts.ts';
import { isIgnored } from '../../pipeline/file/reasons.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import type { Rows } from '../../pipeline/file/rows.ts';
import { ends } from '../stages.ts';

/** A record that dropcast may have left on the service without bytes. */
export interface SuspectView {
  /** Name for `dropcast suspects --dismiss`: the record's video id, or the token of an unanswered create request. */
  readonly name: string;
  /** Known only if the service responded. */
  readonly video_id: string | null;
  readonly title: string;
  /** Epoch milliseconds. */
  readonly created: number | null;
  /** Id of the file that the record was created for. */
  readonly file: string;
  /** Absolute path. */
  readonly path: string;
  readonly why: string;
}

export interface SuspectsView {
  readonly v: 1;
  readonly suspects: readonly SuspectView[];
}

export type SuspectLedger = RowStore<'abandoned'> & Pick<Ledger, 'unanswered' | 'load'>;

const mostListed = 10_000;

/**
 * Lists every record that may be empty, by name: those that no upload will fill, and unanswered create requests.
 * Excludes records that a file still needs.
 *
 * @param daemon null when not running; no request is then in progress
 */
export async function suspectsOf(
  ledger: SuspectLedger,
  daemon: { readonly rows: Pick<Rows, 'isHeld'> } | null,
): Promise<SuspectsView> {
  const unanswered = (await ledger.unanswered()).filter(({ fileId }) => daemon?.rows.isHeld(fileId) !== true);
  const asked = await Promise.all(
    unanswered.map(async ({ token, fileId, title, at }) => {
      const facts = await ledger.load(fileId);
      const path = facts === null ? '' : `${facts.folder}/${facts.path}`;
      const videoId = videoOfSuspect(token);
      const why =
        videoId === null
          ? 'the create request got no usable answer: it may have created a record'
          : 'the whole file may have been sent to it before the file got another record: check the video on the service';
      return { name: token, video_id: videoId, title, created: at, file: fileId, path, why };
    }),
  );
  const abandoned = await ledger.rows({
    group: 'abandoned',
    ends: ends.filter((end) => end !== 'done'),
    limit: mostListed,
  });
  return { v: 1, suspects: [...asked, ...abandoned.map(viewOf)] };
}

function viewOf(facts: Facts): SuspectView {
  const { id, folder, path, plan, videoId, createdAt } = facts;
  const name = videoId ?? '';
  const title = plan?.title ?? path;
  return { name, video_id: name, title, created: createdAt, file: id, path: `${folder}/${path}`, why: whyLeft(facts) };
}

const leftWhen: Partial<Readonly<Record<End, string>>> = {
  superseded: 'the file changed',
  vanished: 'the file disappeared',
};

function whyLeft(facts: Facts): string {
  const mayHave = mayHaveArrived(facts);
  if (facts.end === 'failed' || facts.end === 'held')
    return mayHave
      ? `the file is ${facts.end}, and all of it may have been sent: check the video on the service`
      : `the file is ${facts.end}: a retry replaces this record`;
  const skipped = isIgnored(facts) ? 'a person ignored the file' : 'the file turned out to be a duplicate';
  const what = leftWhen[facts.end ?? 'skipped'] ?? skipped;
  if (mayHave) return `${what} after all of it may have been sent: check the video on the service`;
  return `${what} before it was sent: dropcast deletes the record`;
}
