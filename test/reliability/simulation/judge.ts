import { givenUpRecord } from '../../../src/pipeline/file/facts.ts';
import type { SpecId } from '../model/specs.ts';
import type { Content, Removal } from './machine/disk.ts';
import type { WrittenSidecar } from './people.ts';

export interface ServiceRecord {
  readonly id: string;
  /** Of the create request. */
  readonly token: string;
  readonly title: string;
  readonly status: 'pending' | 'processing' | 'ready' | 'failed';
  /** Of the last complete body. */
  readonly sha256: string | null;
  /** Complete bodies. */
  readonly bodies: number;
  readonly createdAt: number;
  /** When somebody was first told. */
  readonly readyAt: number | null;
  readonly deletedAt: number | null;
}

export interface JournalEntry {
  readonly at: number;
  readonly what: string;
  readonly video?: string | null;
  readonly said?: string;
  /** The process that asked, where there are several. */
  readonly by?: string;
}

/** A row as it is at the end, as far as the judge needs it. */
export interface JudgedRow {
  readonly id: string;
  readonly path: string;
  readonly size: number;
  readonly state: string;
  readonly why: string | null;
  readonly videoId: string | null;
  readonly sha256: string | null;
  readonly tokens: readonly string[];
  /** A person retried it by name although it is a duplicate. */
  readonly isWantedTwice: boolean;
  /** The service said so before the row ended. */
  readonly isKnownReady: boolean;
  readonly failure: { readonly kind: string; readonly code: string } | null;
}

/** The state directory became older at once. Times are as below. */
export interface OlderState {
  /** When the copy was made. */
  readonly copiedAt: number;
  /** Videos whose upload the copy knows as begun: the service is asked about them. */
  readonly known: readonly string[];
  readonly restoredAt: number;
  /** Up to the calm. */
  readonly processes: readonly { readonly from: number; readonly until: number; readonly wasKilled: boolean }[];
  /** What an operator said of each folder. `until`: when the answer was carried out; null: never. */
  readonly answers: readonly {
    readonly how: 'adopt' | 'resume';
    readonly path: string;
    readonly from: number;
    readonly until: number | null;
  }[];
  /** Folders that were seen to be watched after the restore. */
  readonly watched: readonly { readonly path: string; readonly at: number }[];
  /** Files that an operator retried by name although they are recorded as uploaded, or their videos were deleted on the service. */
  readonly retried: readonly { readonly id: string; readonly at: number }[];
}

/** All that a life left behind. Times are true milliseconds since its beginning. */
export interface Evidence {
  readonly contents: readonly Content[];
  readonly removals: readonly Removal[];
  /** Names that dropcast took away, and from which file: by deleting or by moving. */
  readonly putAway: readonly { readonly path: string; readonly at: number; readonly inode: unknown }[];
  /** Files to be uploaded that lie in the watched folders at the end. */
  readonly onDisk: readonly {
    readonly path: string;
    readonly sha256: string;
    readonly size: number;
    /** Changed after dropcast had moved it to where no one watches. */
    readonly isWrittenLater: boolean;
  }[];
  readonly sidecars: readonly WrittenSidecar[];
  readonly records: readonly ServiceRecord[];
  readonly journal: readonly JournalEntry[];
  readonly rows: readonly JudgedRow[];
  readonly requestsPerHour: number;
  /** By how many milliseconds the wall clock was set at once, and when. */
  readonly clockJumps: readonly { readonly at: number; readonly byMs: number }[];
  readonly wasRebooted: boolean;
  /** An older copy of the ledger was put back: what it did not know is known from receipts alone. */
  readonly wasRestored: boolean;
  /** Null: the state directory was never older than before. */
  readonly older: OlderState | null;
  /** Faults of folders and files that were seen while the daemon ran. */
  readonly seen: { readonly freezes: readonly string[]; readonly waits: readonly string[] };
  readonly calm: {
    readonly isOver: boolean;
    readonly minutes: number;
    readonly requests: number;
    readonly why: string;
  };
}

export interface Violation {
  readonly invariant: string;
  readonly found: string;
}

/** The most that a file may need after the faults have stopped. */
export const bounds = { minutes: 100, requestsPerFile: 60 } as const;

type Finder = (evidence: Evidence) => readonly string[];

/** What must hold after every life, by the lines of `model/specs.ts`. Pure. */
const invariants: Readonly<Partial<Record<SpecId, Finder>>> = {
  L1: ({ onDisk, records, rows, older, contents, clockJumps }) =>
    onDisk
      .filter(({ path, sha256 }) => !isAdopted(path, sha256, { rows, older, contents, clockJumps }))
      .filter(({ path, sha256 }) => !isUnread(path, sha256, { rows, records, contents }))
      .filter(({ sha256, isWrittenLater }) => !isWrittenLater && !isReady(records, sha256))
      .filter(({ path, size }) => !rows.some((row) => row.path === path && row.size === size && needsPerson(row)))
      .map(
        ({ path }) =>
          `${path} is on disk, not ready, and ${
            rows
              .filter((row) => row.path === path)
              .map(shown)
              .join('; ') || 'has no row'
          }`,
      ),

  D1: ({ records, contents, rows, wasRestored, older, journal }) =>
    [...new Set(contents.map(({ sha256 }) => sha256))].flatMap((sha256) => {
      // O1 is about these.
      if (older !== null && sentSince(older, journal).has(sha256)) return [];
      const holders = records
        .filter((record) => record.sha256 === sha256 && record.deletedAt === null && record.status !== 'failed')
        // What only a receipt of the create request tells of: nobody knows which bytes went there.
        .filter(({ id }) => !wasRestored || !rows.some((row) => row.videoId === id && row.sha256 === null))
        .filter(({ id }) => !rows.some((row) => row.videoId === id && row.isWantedTwice))
        // The video of a file that grew while it was processed may still fail, and its row no longer follows it.
        .filter(({ id }) => !rows.some((row) => row.videoId === id && row.state === 'superseded' && !row.isKnownReady));
      return holders.length > 1 ? [`${holders.map(({ id }) => id).join(' and ')} have the same bytes`] : [];
    }),

  M1: ({ records, contents }) =>
    records
      .filter(({ sha256 }) => sha256 !== null && !contents.some((content) => content.sha256 === sha256))
      .map(({ id }) => `${id} holds bytes that no file ever had`),

  L2: ({ removals, records }) =>
    removals
      .filter(({ by, path }) => by === 'dropcast' && isMedia(path))
      .filter(({ sha256 }) => !records.some((record) => record.sha256 === sha256 && record.readyAt !== null))
      .map(({ path }) => `${path} was deleted by dropcast, and no video has its bytes`),

  R1: ({ records, journal }) =>
    journal
      .filter(({ what, said }) => what === 'delete' && (said === 'ready' || said === 'processing'))
      .map(({ video, said }) => `${video} was deleted while ${said}: ${records.find(({ id }) => id === video)?.title}`),

  E1: ({ records, rows, wasRestored }) =>
    records
      // Receipts do not have the tokens of creates without an answer.
      .filter(() => !wasRestored)
      .filter(({ deletedAt, sha256 }) => deletedAt === null && sha256 === null)
      .filter(
        ({ id, token }) =>
          !rows.some(
            (row) => row.videoId === id || row.tokens.some((one) => one === token || one === givenUpRecord(id)),
          ),
      )
      .map(({ id, token }) => `${id} (${token}) is empty, and no row names it`),

  D2: ({ journal, records, older }) =>
    records.flatMap(({ id }) => {
      let begunAt: number | null = null;
      // The mark shows the first attempt after the copy, and no other.
      const firstAt = journal.find(
        ({ what, video, at }) => what === 'put begins' && video === id && at >= (older?.copiedAt ?? Infinity),
      )?.at;
      const bad: string[] = [];
      for (const { what, video, said, at } of journal) {
        if (video !== id) continue;
        if (what === 'put begins') {
          if (begunAt !== null && !isForgotten(begunAt, firstAt ?? begunAt, at, older))
            bad.push(`${id} was sent again without a question`);
          begunAt = at;
        }
        if (what === 'get' && said === 'pending') begunAt = null;
      }
      return bad;
    }),

  B1: ({ journal, requestsPerHour, clockJumps, wasRebooted }) => {
    // No one knows how the clock moved while the machine was off.
    if (clockJumps.length > 0 && wasRebooted) return [];
    const times = journal.filter(({ what }) => what === 'request').map(({ at }) => at);
    const over = times.find(
      (at, index) => index >= requestsPerHour && at - (times[index - requestsPerHour] ?? 0) < 3_600_000,
    );
    return over === undefined ? [] : [`${requestsPerHour + 1} requests in the hour before ${over}`];
  },

  D4: ({ journal }) => {
    const tokens = journal.filter(({ what }) => what === 'create').map(({ said }) => said);
    return tokens.filter((token, index) => tokens.indexOf(token) !== index).map((token) => `${token} was used twice`);
  },

  A1: ({ rows }) =>
    rows
      .filter(
        ({ state, failure }) =>
          state === 'failed' && ['offline', 'suspended', 'throttled'].includes(failure?.kind ?? ''),
      )
      .map((row) => `${row.path} failed: ${shown(row)}`),

  T1: ({ rows }) =>
    rows.filter(({ failure }) => failure?.code === 'gave_up').map((row) => `${row.path} was given up: ${shown(row)}`),

  W1: ({ rows }) =>
    rows
      .filter(
        ({ state, why }) => ['failed', 'held', 'skipped', 'vanished', 'superseded'].includes(state) && why === null,
      )
      .map((row) => `${row.path} is ${row.state} without a reason`),

  S1: ({ records, sidecars, putAway, contents }) =>
    records.flatMap(({ id, title, sha256 }) => {
      const sidecar = sidecars.find((one) => one.title === title);
      const dropped = contents.find((content) => content.sha256 === sha256);
      if (sidecar === undefined || dropped === undefined) return [];
      const isStale = putAway.some(({ path, at, inode }) => {
        const steps = putAway.filter((step) => step.inode === inode);
        // A file of the same name that came before that was over keeps the sidecar: no one can know whose it is.
        const isOver = steps.some((step) => step.path.includes('/.dropcast-'));
        const overAt = Math.max(...steps.map((step) => step.at)) + besidesMs;
        return path === sidecar.media && sidecar.at < at && isOver && overAt < dropped.at;
      });
      return isStale ? [`${id} has the title of a sidecar whose video was put away before`] : [];
    }),

  F1: ({ seen }) => seen.freezes,

  F2: ({ seen }) => seen.waits,

  O1: ({ older, journal, contents, rows }) => {
    if (older === null) return [];
    const noted = [...sentSince(older, journal)].filter(([, { at }]) => isNoted(at, older));
    const again = noted.flatMap(([sha256, { videos }]) =>
      journal
        .filter(
          ({ what, said, at, video }) =>
            what === 'body taken' && said === sha256 && at > older.restoredAt && !videos.has(video ?? ''),
        )
        .filter(({ at }) => !isRetried(sha256, at, { older, rows }) && !mayBeSent(sha256, at, { older, contents }))
        .map(({ video, at }) => `${video} got bytes at ${at} that were sent before the state directory became older`),
    );
    const hasSome = new Set(
      noted
        .filter(([, { isNew }]) => isNew)
        .flatMap(([sha256]) =>
          contents
            .filter((one) => one.sha256 === sha256 && one.at < older.restoredAt)
            .map(({ path }) => folderOf(path)),
        ),
    );
    const thawed = older.watched.filter(
      ({ path, at }) => hasSome.has(path) && !older.answers.some((answer) => answer.path === path && answer.from <= at),
    );
    return [...again, ...thawed.slice(0, 1).map(({ path, at }) => `${path} is watched at ${at} without an answer`)];
  },

  V1: ({ calm, onDisk, rows }) => {
    if (!calm.isOver) return [`after ${bounds.minutes} minutes: ${calm.why}`];
    const most = bounds.requestsPerFile * Math.max(1, rows.length, onDisk.length);
    return calm.requests > most ? [`${calm.requests} requests after the storm, ${most} are allowed`] : [];
  },
};

export const judgedSpecs = Object.keys(invariants);

/** Invariants that only the end of a life can break: until then, a file may still become ready. */
export const needsEnd: ReadonlySet<string> = new Set(['L1', 'V1'] satisfies SpecId[]);

export function violationsOf(evidence: Evidence): readonly Violation[] {
  return Object.entries(invariants).flatMap(([invariant, find]) =>
    find(evidence).map((found) => ({ invariant, found })),
  );
}

/** A sidecar is put away right after its video. */
const besidesMs = 5_000;

function isReady(records: readonly ServiceRecord[], sha256: string): boolean {
  return records.some((record) => record.sha256 === sha256 && record.status === 'ready' && record.deletedAt === null);
}

/**
 * What dropcast began to send between the copy and the restore: hash → when first, and as which videos. The bytes may arrive later. `isNew`:
 * the copy does not know that the upload began. If it knows, it asks the service, and the mark need not show another attempt.
 */
function sentSince({ copiedAt, restoredAt, known }: OlderState, journal: readonly JournalEntry[]) {
  const begun = new Map<string | null | undefined, number>();
  for (const { what, at, video } of journal)
    if (what === 'put begins' && at >= copiedAt && at <= restoredAt && !begun.has(video)) begun.set(video, at);
  const sent = new Map<string, { readonly at: number; readonly videos: Set<string>; readonly isNew: boolean }>();
  for (const { what, said, video } of journal) {
    const at = begun.get(video);
    if (what !== 'body taken' || said === undefined || at === undefined) continue;
    const { videos = new Set<string>(), isNew = false } = sent.get(said) ?? {};
    sent.set(said, { at, videos: videos.add(video ?? ''), isNew: isNew || !known.includes(video ?? '') });
  }
  return sent;
}

/** Whether the mark of the folder must show it: the process that sent it was stopped, or lived for another minute. */
function isNoted(at: number, { processes }: OlderState): boolean {
  return processes.some(
    ({ from, until, wasKilled }) => from <= at && at <= until && (!wasKilled || until - at > markMs),
  );
}

/** Whether no state of dropcast has an upload that began then: the copy is older, and no mark had to show it. */
function isForgotten(begunAt: number, firstAt: number, now: number, older: OlderState | null): boolean {
  if (older === null || now < older.restoredAt) return false;
  return begunAt >= older.copiedAt && begunAt <= older.restoredAt && !isNoted(firstAt, older);
}

/** A minute between two writes of a mark, and the write. */
const markMs = 65_000;

/** An operator wants this very file sent, although it was uploaded before. */
function isRetried(
  sha256: string,
  sentAt: number,
  { older, rows }: { readonly older: OlderState; readonly rows: readonly JudgedRow[] },
): boolean {
  const ids = new Set(older.retried.filter(({ at }) => at <= sentAt).map(({ id }) => id));
  return rows.some((row) => ids.has(row.id) && row.sha256 === sha256);
}

/** An operator wants everything in one of its folders sent, or the content came after the restore to where it counts as new. */
function mayBeSent(
  sha256: string,
  sentAt: number,
  { older, contents }: { readonly older: OlderState; readonly contents: readonly Content[] },
): boolean {
  return contents
    .filter((content) => content.sha256 === sha256 && content.at <= sentAt)
    .some(({ path, at }) => {
      const own = older.answers.filter((answer) => answer.path === folderOf(path) && answer.from <= sentAt);
      const isNew = at > older.restoredAt && own.every(({ from }) => at >= from);
      return own.some(({ how }) => how === 'resume') || isNew;
    });
}

/**
 * Recorded as uploaded because the operator said so of its folder, while it was there. No one ever read such a file: other bytes of the
 * same length with the time of modification put back look like the same file after a chmod. If the clock is set back before every file
 * has its row, a newer file looks as if it had been there.
 */
function isAdopted(
  path: string,
  sha256: string,
  { rows, older, contents, clockJumps }: Pick<Evidence, 'rows' | 'older' | 'contents' | 'clockJumps'>,
): boolean {
  const isRecorded = rows.some((row) => row.path === path && row.failure?.code === 'existing');
  const answers = older?.answers.filter(({ how, path: folder }) => how === 'adopt' && folder === folderOf(path)) ?? [];
  const until = Math.max(
    -1,
    ...answers.map(({ from, until: end }) =>
      clockJumps.some(({ at, byMs }) => byMs < 0 && at >= from) ? Infinity : (end ?? Infinity),
    ),
  );
  const wereThere = contents.filter(({ at }) => at <= until);
  const own = contents.filter((content) => content.sha256 === sha256);
  return isRecorded && own.some((content) => content.at <= until || wereThere.some((other) => isLike(content, other)));
}

/**
 * The ledger was rebuilt from receipts, and no hash of what was sent is known. Other bytes of the same length with the time of
 * modification put back look like the file that the video has.
 */
function isUnread(
  path: string,
  sha256: string,
  { rows, records, contents }: Pick<Evidence, 'rows' | 'records' | 'contents'>,
): boolean {
  const videos = new Set(rows.filter((row) => row.path === path && row.sha256 === null).map(({ videoId }) => videoId));
  const sent = new Set(
    records.filter(({ id, status }) => videos.has(id) && status === 'ready').map((one) => one.sha256),
  );
  const own = contents.filter((content) => content.sha256 === sha256);
  return contents.some((other) => sent.has(other.sha256) && own.some((content) => isLike(content, other)));
}

function isLike(one: Content, other: Content): boolean {
  return one.path === other.path && one.look === other.look;
}

/** The watched folder that a path lies in. */
function folderOf(path: string): string {
  return path.slice(0, path.indexOf('/', 1));
}

function needsPerson({ state, why }: JudgedRow): boolean {
  return (state === 'failed' || state === 'held') && why !== null;
}

function isMedia(path: string): boolean {
  return path.endsWith('.mp4') && !path.includes('/.');
}

function shown({ id, state, why, size }: JudgedRow): string {
  return `${id} (${size} bytes) is ${state}: ${why ?? ''}`;
}
