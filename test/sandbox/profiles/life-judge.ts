import type { Switches } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import type { JournalEntry } from '../../../packages/sandbox/src/http/journal-entry.ts';
import type { Told } from './life.ts';
import type { Video } from './sandbox-service.ts';

/** What is wrong with a life, beside what holds for every world (test/reliability/judge). */
export interface Flaw {
  readonly invariant: LifeInvariant | 'it gets there';
  readonly what: string;
  readonly evidence: string;
}

/** All that is known of a life when it has ended. */
export interface LifeEvidence {
  readonly told: Told;
  readonly switches: Switches;
  readonly videos: readonly Video[];
  readonly requests: readonly JournalEntry[];
  /** Ids of the records whose address expired. */
  readonly expired: ReadonlySet<string>;
  /** The feed as its readers get it. */
  readonly feed: string;
}

/** More than the headers of an upload have, and less than the body of one that is too large. */
const headersBytes = 65_536;

export const lifeInvariants = {
  'every file ends': ({ told }) =>
    told.said.files
      .filter(({ state }) => !['done', 'failed', 'held', 'skipped', 'vanished', 'superseded'].includes(state))
      .map(({ path, state, why }) => found(path, `it is ${state}: ${why ?? 'no reason'}`)),

  'only unplayable files need a person': ({ told }) =>
    [...told.failed, ...told.said.files]
      .filter((file) => ['failed', 'held'].includes(file.state) && !isInDoubt(file))
      .filter(({ path }) => !told.unplayable.includes(path))
      .map(({ path, state, why }) => found(path, `it is ${state}: ${why ?? 'no reason'}`)),

  'a file that is done has the video that it says': ({ told, videos }) =>
    told.said.files
      .filter(({ state }) => state === 'done')
      .flatMap(({ path, video_id: id, title }) => {
        const video = videos.find((each) => each.id === id);
        if (video?.status !== 'ready') return [found(path, `${id ?? 'no video'} is ${video?.status ?? 'not there'}`)];
        return told.words.has(path) && video.title !== title ? [found(path, `${id} is called ${video.title}`)] : [];
      }),

  'a video says what the sidecar of its file says, however late it came': ({ told, videos }) =>
    [...told.words].flatMap(([path, words]) => {
      const rows = told.said.files.filter((file) => file.path === path && file.state === 'done');
      return rows.flatMap(({ video_id: id }) => {
        const video = videos.find((each) => each.id === id);
        const { title, description, tags } = video ?? {};
        const has = JSON.stringify({ title, description, tags });
        return has === JSON.stringify(words) ? [] : [found(path, `${id} has ${has}`)];
      });
    }),

  'a link is one video': ({ told, videos }) =>
    told.imports.flatMap((address) => {
      const imported = videos.filter(({ source_url: source, status }) => source === address && status !== 'failed');
      const least = told.said.files.some((file) => file.source_url === address && isInDoubt(file)) ? 0 : 1;
      const isRight = imported.length >= least && imported.length <= 1;
      return isRight && imported.every(({ status }) => status === 'ready')
        ? []
        : [found(address, imported.map(({ id, status }) => `${id} is ${status}`).join(', ') || 'it had no effect')];
    }),

  'the archive is adopted without an upload': ({ told, requests }) =>
    [...told.adopted].flatMap(([path, id]) => {
      const file = told.said.files.find((each) => each.path === path);
      const puts = requests.filter(
        ({ operation, path: asked, status }) => operation === 'uploads.put' && asked.includes(id) && status < 300,
      );
      return file?.state === 'done' && file.video_id === id && puts.length === 1
        ? []
        : [
            found(
              path,
              `it is ${file?.state ?? 'unknown'} with ${file?.video_id ?? 'no video'}; ${puts.length} uploads`,
            ),
          ];
    }),

  'the feed has every video that is ready': ({ told, videos, feed }) =>
    told.said.files
      .filter(({ state, path }) => state === 'done' && !told.adopted.has(path))
      .flatMap(({ path, video_id: id }) => {
        const video = videos.find((each) => each.id === id);
        if (video === undefined) return [];
        if (!feed.includes(video.id)) return [found(path, `${video.id} is not in the feed`)];
        return feed.includes(video.title) ? [] : [found(path, `the feed does not have ${video.title}`)];
      }),

  'no request is refused by the service': ({ told, switches, requests, expired }) => {
    const gone = new Set<string>();
    const unsigned: string[] = [];
    let beyondQuota = 0;
    let tooLarge = 0;
    return requests.flatMap(({ number, operation, method, path, query, status, fault, bytesIn }) => {
      const id = path.split('/')[path.startsWith('/uploads/') ? 2 : 3] ?? '';
      const what = `${number} ${method} ${path}${query && `?${query}`}`;
      if (operation === 'videos.delete') gone.add(id);
      if (status < 400 || fault !== null) return [];
      if (status === 429 && told.wasLimited) return [];
      const isUpload = path.startsWith('/uploads/');
      if (isUpload && expired.has(id) && status === Number(switches.expired_address)) return [];
      // A host that speaks tus refuses the first PUT.
      if (isUpload && method === 'PUT' && status === 405 && switches.upload_protocol === 'tus') return [];
      // A daemon that has just started sends a content type that was not signed; the second PUT has none.
      const isMismatch = operation === 'uploads.put' && status === 403 && switches.upload_headers === 'without_type';
      const starts = told.kills + 3;
      const isFirst = unsigned.filter((each) => each === id).length < starts;
      // Each start begins up to four uploads at a time.
      if (isMismatch && isFirst && unsigned.push(id) <= 4 * starts) return [];
      // Two large files are on their way when the first one is refused; a kill may come before that is written down.
      const isTooLarge = operation === 'uploads.put' && [400, 413].includes(status) && (bytesIn ?? 0) < headersBytes;
      if (isTooLarge && switches.max_upload_size !== 'none' && (tooLarge += 1) <= 2 + 2 * told.kills) return [];
      // Two are sent at a time, and a file that is retried tries again; a kill may forget the first refusal.
      const isQuota = operation === 'videos.create' && [403, 429, 507].includes(status);
      if (isQuota && switches.daily_videos !== 'any' && (beyondQuota += 1) <= 2 * starts) return [];
      // Whether a deletion came about is asked until it did.
      if (status === 404 && gone.has(id)) return [];
      return [found(what, `answered with ${status}`)];
    });
  },

  'files that are too large for the service are held until it takes them': ({ told, switches }) => {
    const isAsExpected = told.tooLarge === (switches.max_upload_size === 'none' ? 0 : 2);
    return isAsExpected ? [] : [found('large files', `${told.tooLarge} were held`)];
  },

  'a feed is published for several videos at once': ({ told, requests }) => {
    const publishes = requests.filter(({ operation }) => operation === 'feeds.publish').length;
    const reasons = told.said.files.length + told.words.size + 3 * told.kills + 20;
    return publishes > reasons ? [found('feed_main', `${publishes} publishes, at most ${reasons} are reasonable`)] : [];
  },

  'webhooks ring where they are signed, and are refused where they are not': ({ told, switches }) => {
    const accepted = told.rung.filter((status) => status >= 200 && status < 300).length;
    if (switches.webhook_form !== 'unsigned')
      return accepted > 0 ? [] : [found('webhooks', `answered with ${told.rung.join(', ') || 'nothing'}`)];
    return accepted === 0 ? [] : [found('webhooks', `${accepted} of ${told.rung.length} were taken`)];
  },

  'no other use of the key is claimed falsely': ({ told: { said } }) =>
    said.others === 0 ? [] : [found('status', `${said.others} requests of others`)],

  'a plan has nothing left to do': ({ told: { said } }) => {
    const { upload, imports } = said.plan;
    return upload.files + imports === 0 ? [] : [found('plan', `${upload.files} uploads and ${imports} imports`)];
  },

  'check --online finds no mistake': ({ told: { said } }) =>
    said.check.problems
      .filter(({ severity }) => severity === 'error')
      .map(({ message }) => found('check --online', message)),

  'the counts are those of the files': ({ told: { said } }) => {
    const listed = Map.groupBy(said.files, ({ state }) => state);
    const states = [...new Set([...Object.keys(said.counts), ...listed.keys()])];
    return states.flatMap((state) => {
      const [counted, inList] = [said.counts[state] ?? 0, listed.get(state)?.length ?? 0];
      return counted === inList ? [] : [found('status', `${counted} are ${state}, and the list has ${inList}`)];
    });
  },
} satisfies Record<string, (evidence: LifeEvidence) => readonly Omit<Flaw, 'invariant'>[]>;

export type LifeInvariant = keyof typeof lifeInvariants;

/** Pure: every breach. */
export function flawsOf(evidence: LifeEvidence): readonly Flaw[] {
  return (Object.keys(lifeInvariants) as LifeInvariant[]).flatMap((invariant) =>
    lifeInvariants[invariant](evidence).map((one) => ({ invariant, ...one })),
  );
}

/** The answer to an import was lost: a person has to look whether there is a video, because nothing tells a second one from it. */
function isInDoubt({ state, source_url: source, why }: LifeEvidence['told']['said']['files'][number]): boolean {
  return state === 'held' && source !== null && (why ?? '').startsWith('the import request got no answer');
}

function found(what: string, evidence: string): Omit<Flaw, 'invariant'> {
  return { what, evidence };
}
