import { auditNote, comparedOf } from '../file/audit.ts';
import type { AuditFinding, AuditKind, AuditRun, AuditStore, AuditWanted, ListedNear } from '../file/audit.ts';
import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { Answer, FileStore, LocalFiles, NoteStore, RemoteVideo, VideoLibrary } from '../file/ports.ts';
import type { FileSelection, SelectionStore } from '../file/selection.ts';
import { handEdits } from './hand-edits.ts';
import { markerOf } from '../file/marker.ts';

export interface AuditWorld {
  readonly store: AuditStore & NoteStore & Pick<FileStore, 'load'>;
  readonly selection: Pick<SelectionStore, 'ids'>;
  readonly library: Pick<VideoLibrary, 'list' | 'get' | 'names' | 'probe'>;
  readonly local: Pick<LocalFiles, 'hash'>;
  readonly now: () => number;
  /** Whether a request may be sent now without making other work wait. */
  readonly maySpend: () => Promise<boolean>;
}

/** The outcome of one step. `wait`: there is no room for a request, or a request failed. `idle`: no audit is running. */
export type AuditStep = 'again' | 'wait' | 'idle';

/**
 * Compares disk, ledger and service: it reads the list of videos, and then examines each file that is done. Every page
 * and every file that cost something is durable before the next, so an audit continues after a crash where it was.
 * Changes nothing on the disk or the service. Absence from the list proves nothing: only an answer by id does.
 */
export function createAudit(world: AuditWorld) {
  const { store, library, local } = world;
  /** Why the audit is waiting: a failed request; null: the request budget. */
  let trouble: Failure | null = null;
  let refusals = { id: '', count: 0 };

  const waitFor = (failure: Failure): 'wait' => {
    trouble = failure;
    return 'wait';
  };

  const readChannels = async (run: AuditRun, signal: AbortSignal): Promise<AuditStep> => {
    const names = await library.names('channel', signal);
    if (signal.aborted || (!names.ok && isOfAll(names.failure))) return names.ok ? 'wait' : waitFor(names.failure);
    const isListable = names.ok && names.value.length > 0 && names.value.length <= mostChannels;
    await store.addFindings([], { ...run, channels: isListable ? names.value : [null], requests: run.requests + 1 });
    return 'again';
  };

  const readPage = async (run: AuditRun, signal: AbortSignal): Promise<AuditStep> => {
    const channel = run.channels?.[run.channel] ?? null;
    const page = await library.list(run.page, signal, channel ?? undefined);
    if (signal.aborted) return 'wait';
    if (!page.ok) {
      // Some services list videos only as a whole.
      if (channel === null || isOfAll(page.failure) || page.failure.kind === 'transient') return waitFor(page.failure);
      await store.addFindings([], { ...run, ...wholeAccount, requests: run.requests + 1 });
      return 'again';
    }
    const { videos, perPage, total } = page.value;
    const listed = videos.map(({ id, title = '', duration = null, status }) => {
      return { id, title, duration, status, channel };
    });
    await store.addAudited(listed, (fresh) => afterPage(run, { count: videos.length, fresh, perPage, total }));
    return 'again';
  };

  const list = async (run: AuditRun, signal: AbortSignal): Promise<AuditStep> => {
    if (run.page === 0) await store.beginAudit({ ...run, page: 1 });
    else if (run.channels !== null && run.channel >= run.channels.length)
      await store.addFindings([], { ...run, step: 'files', unknown: await store.unknownVideos() });
    else if (!(await world.maySpend())) return 'wait';
    else return run.channels === null ? readChannels(run, signal) : readPage(run, signal);
    return 'again';
  };

  /** Asks for a video by id. Null: wait, and ask again. */
  const askFor = async (videoId: string, signal: AbortSignal): Promise<Answer<RemoteVideo> | null> => {
    if (!(await world.maySpend())) return null;
    const answer = await library.get(videoId, signal);
    if (signal.aborted) return null;
    if (answer.ok) return answer;
    if (answer.failure.kind === 'gone') {
      // While a service is being replaced, a proxy may answer 404 to everything.
      const probed = await library.probe(signal);
      if (signal.aborted) return null;
      if (probed.ok) return answer;
      waitFor(probed.failure);
      return null;
    }
    refusals = { id: videoId, count: refusals.id === videoId ? refusals.count + 1 : 1 };
    if (!isOfAll(answer.failure) && refusals.count >= mostRefusals) return answer;
    waitFor(answer.failure);
    return null;
  };

  /** @returns null if the file must be examined again later */
  const examine = async (facts: Facts, isQuick: boolean, signal: AbortSignal): Promise<Examined | null> => {
    if (facts.videoId === null || facts.end !== 'done') return nothing;
    const near = await store.listedNear(facts);
    const isAsked = !isQuick || near.own === null;
    const asked = isAsked ? await askFor(facts.videoId, signal) : listedAnswer(near);
    if (asked === null) return null;
    const marker = markerOf(facts);
    const [like] = asked.ok && asked.value.tags?.includes(marker) === true ? maybeDoubles(near, asked.value) : [];
    const other = like === undefined ? null : await library.get(like.id, signal);
    const isCopy = other?.ok === true && other.value.tags?.includes(marker) === true;
    const isReady = asked.ok && asked.value.status === 'ready';
    const isToRead = !isQuick && isReady && isExpectedHere(facts);
    const content = isToRead ? await local.hash(facts, signal) : null;
    if (signal.aborted) return null;
    return {
      findings: findingsOf(facts, { asked, near, content, copy: isCopy ? other.value.id : null }),
      requests: (isAsked ? 1 : 0) + (asked.ok ? 0 : 1) + (other === null ? 0 : 1),
      bytes: content?.ok === true ? facts.version.size : 0,
    };
  };

  const examineNext = async (run: AuditRun, signal: AbortSignal): Promise<AuditStep> => {
    const findings: AuditFinding[] = [];
    let now = run;
    for (let files = 0; files < mostAtOnce; files += 1) {
      const { ids, next } = await world.selection.ids(auditedFiles(run), 1, now.cursor ?? undefined);
      if (next === null) {
        now = { ...now, step: 'ended', endedAt: world.now() };
        break;
      }
      const facts = await store.load(ids[0] ?? '');
      const one = facts === null ? nothing : await examine(facts, run.isQuick, signal);
      if (one === null) {
        await store.addFindings(findings, now);
        return 'wait';
      }
      findings.push(...one.findings);
      now = { ...now, cursor: next, examined: now.examined + 1, requests: now.requests + one.requests };
      now = { ...now, bytesRead: now.bytesRead + one.bytes };
      if (one.requests + one.bytes > 0) break;
    }
    await store.addFindings(findings, now);
    return 'again';
  };

  return {
    /** Does the next piece of the audit: one request, one file, or some files that cost nothing. */
    step: async (signal: AbortSignal): Promise<AuditStep> => {
      const run = (await store.note(auditNote)) as AuditRun | null;
      if (run === null || run.endedAt !== null) return 'idle';
      trouble = null;
      return run.step === 'list' ? list(run, signal) : examineNext(run, signal);
    },
    trouble: (): Failure | null => trouble,
  };
}

/** Returns the files that an audit examines. */
export function auditedFiles({ folder, since }: AuditWanted): FileSelection {
  return { states: ['done'], ...(folder !== null && { folder }), ...(since !== null && { since }) };
}

/** Returns the state of an audit that begins. */
export function newAudit(wanted: AuditWanted, by: string, files: number, startedAt: number): AuditRun {
  const start = { endedAt: null, step: 'list', channels: null, channel: 0, page: 1, stalePages: 0 } as const;
  const none = { cursor: null, examined: 0, requests: 0, bytesRead: 0, unknown: null };
  return { ...wanted, by, startedAt, files, ...start, ...none };
}

/** Maximum number of channels that are listed one by one, because each costs at least one request. */
const mostChannels = 50;
/** Number of pages without news after which a list is taken as read: some services repeat the last page. */
const mostStale = 10;
/** Maximum number of pages per list: two million videos. */
const mostPages = 20_000;
/** Maximum number of files whose examination cost nothing that are written together. */
const mostAtOnce = 200;
/** Number of refusals after which the audit continues without an answer about a video. */
const mostRefusals = 3;

/** Reads the list again from the start, without channels. Page 0: forget first what was listed. */
const wholeAccount = { channels: [null], channel: 0, page: 0, stalePages: 0 };

/**
 * Returns the progress after a page. A list ends with an empty page (api-spec 4.1), or with a short one if the total
 * agrees: the total alone may be wrong. A channel whose first page has nothing new shows that the service ignores the
 * channel. Pure.
 *
 * @param page.fresh number of videos that were on no page before
 */
export function afterPage(
  run: AuditRun,
  page: { readonly count: number; readonly fresh: number; readonly perPage: number; readonly total: number | null },
): AuditRun {
  const { count, fresh, perPage, total } = page;
  const asked = { ...run, requests: run.requests + 1 };
  if (run.channel > 0 && run.page === 1 && count > 0 && fresh === 0) return { ...asked, ...wholeAccount };
  const stalePages = fresh === 0 ? run.stalePages + 1 : 0;
  const isShort = count < perPage && total !== null && run.page * perPage >= total;
  const isLast = count === 0 || isShort || stalePages >= mostStale || run.page >= mostPages;
  return isLast
    ? { ...asked, channel: run.channel + 1, page: 1, stalePages: 0 }
    : { ...asked, page: run.page + 1, stalePages };
}

interface Examined {
  readonly findings: readonly AuditFinding[];
  readonly requests: number;
  readonly bytes: number;
}

const nothing: Examined = { findings: [], requests: 0, bytes: 0 };

function isOfAll({ kind }: Failure): boolean {
  return kind === 'offline' || kind === 'suspended' || kind === 'throttled';
}

/** Whether the file should be at its path, with a hash to compare it with. */
function isExpectedHere({ disposal, sourceUrl }: Facts): boolean {
  return sourceUrl === null && disposal !== 'deleted' && disposal !== 'moved';
}

function listedAnswer({ own }: ListedNear): Answer<RemoteVideo> | null {
  if (own === null) return null;
  const { id, title, status, duration, channel } = own;
  return {
    ok: true,
    value: { id, title, status, ...(duration !== null && { duration }), ...(channel !== null && { channel }) },
  };
}

/**
 * Judges one file. Pure.
 *
 * @param known.content the hash of the local file; null: it was not read
 * @param known.copy another video with the file's marker
 */
export function findingsOf(
  facts: Facts,
  known: {
    readonly asked: Answer<RemoteVideo>;
    readonly near: ListedNear;
    readonly content: Answer<string> | null;
    readonly copy: string | null;
  },
): readonly AuditFinding[] {
  const { asked, near, content, copy } = known;
  const found = (kind: AuditKind, note: string | null): AuditFinding => ({ kind, fileId: facts.id, note });
  if (!asked.ok) return [found(asked.failure.kind === 'gone' ? 'gone' : 'unanswered', asked.failure.message)];
  const { status } = asked.value;
  const edits = handEdits(facts, asked.value);
  const doubles = doublesOf(near, asked.value, copy);
  return [
    ...(status === 'ready' ? [] : [found('unready', status)]),
    ...(edits.length === 0 ? [] : [found('edited', edits.join(', '))]),
    ...(doubles.length === 0 ? [] : [found('doubled', doubles.join('; '))]),
    ...(content === null ? [] : [found(...localFinding(facts, content))]),
  ];
}

function localFinding(facts: Facts, content: Answer<string>): readonly [AuditKind, string | null] {
  const { sha256 } = facts;
  if (content.ok) {
    if (sha256 === null) return ['unread', 'the ledger has no hash of what was uploaded'];
    return content.value === sha256
      ? ['deletable', comparedOf(facts)]
      : ['changed', 'its content differs from what was uploaded'];
  }
  const { kind, message } = content.failure;
  return kind === 'vanished' ? ['missing', null] : [kind === 'changed' ? 'changed' : 'unread', message];
}

/** Largest difference in seconds between two durations of the same content. */
const alikeS = 1;

function doublesOf(near: ListedNear, video: RemoteVideo, copy: string | null): readonly string[] {
  return [
    ...near.twins.map(({ videoId, path }) => `same content as ${videoId} (${path})`),
    ...maybeDoubles(near, video).map(({ id }) =>
      id === copy ? `${id} has the same marker` : `perhaps ${id}: same title and duration`,
    ),
  ];
}

function maybeDoubles({ alike }: ListedNear, { duration }: RemoteVideo): ListedNear['alike'] {
  const isNear = (other: number | null): boolean => Math.abs((other ?? Infinity) - (duration ?? 0)) <= alikeS;
  return alike.filter((other) => !empty.has(other.status) && isNear(other.duration));
}

/** Statuses of videos without content. */
const empty: ReadonlySet<string> = new Set(['pending', 'failed']);
