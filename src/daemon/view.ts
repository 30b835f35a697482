import type { HistoryLine, LedgerView } from '../ledger/view.ts';
import type { Facts, FileState } from '../pipeline/file/facts.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import type { Daemon } from './daemon.ts';
import type { FolderStatus } from '../intake/watched-folder.ts';

/** A file as commands, page and programs see it. Times are epoch milliseconds; nothing in it is secret. */
export interface FileView {
  readonly id: string;
  readonly state: string;
  /** Absolute. */
  readonly path: string;
  readonly size: number;
  readonly sent: number | null;
  readonly rule: string | null;
  readonly channel: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly publish: readonly string[];
  readonly published: Readonly<Record<string, number>>;
  readonly video_id: string | null;
  readonly remote_status: string | null;
  readonly source_url: string | null;
  readonly sha256: string | null;
  readonly attempts: number;
  readonly not_before: number | null;
  readonly why: string | null;
  readonly code: string | null;
  readonly local: string | null;
  readonly times: {
    readonly discovered: number;
    readonly created: number | null;
    readonly upload_started: number | null;
    readonly uploaded: number | null;
    readonly ready: number | null;
    readonly ended: number | null;
  };
}

export interface SettlingView {
  readonly path: string;
  readonly size: number;
  readonly why: string;
}

export interface StatusView {
  readonly v: 1;
  readonly daemon: { readonly running: boolean; readonly pid: number | null; readonly started_at: number | null };
  readonly config: string | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly settling: number;
  /** Why everything waits, or null. */
  readonly waiting: {
    readonly kind: string;
    readonly why: string;
    readonly since: number;
    readonly next_probe_at: number;
  } | null;
  readonly requests: {
    readonly used: number;
    readonly limit: number;
    readonly blocked_until: number | null;
    readonly total: number;
  } | null;
  readonly folders: readonly FolderStatus[];
  readonly working: readonly FileView[];
  /** Failed and held files: a person must look. */
  readonly needs_you: readonly FileView[];
  /** Create requests without an answer: the service may hold a record without bytes for each. */
  readonly suspects: number;
}

export interface ShowView {
  readonly v: 1;
  readonly file: FileView;
  readonly history: readonly HistoryLine[];
  readonly suspects: number;
}

export interface FilesView {
  readonly v: 1;
  readonly files: readonly FileView[];
  readonly settling: readonly SettlingView[];
}

const endStates = ['done', 'failed', 'held', 'skipped', 'vanished', 'superseded'];
const workStates = ['queued', 'awaiting upload', 'processing', 'awaiting publish', 'retrying'];

/** States that only the running daemon can tell from one another. */
const liveStates = new Set(['queued', 'creating', 'awaiting upload', 'uploading']);
const mostRows = 1_000_000;

/** Rows listed in a status at most; `ls` lists all. */
const mostListed = 20;

/** What only the running daemon knows about a file. */
interface Live {
  readonly state?: string;
  readonly sent?: number;
  /** What it waits for, when nothing went wrong. */
  readonly why?: string | null;
}

function fileView(facts: Facts, live?: Live): FileView {
  return {
    id: facts.id,
    state: live?.state ?? stateOf(facts),
    path: `${facts.folder}/${facts.path}`,
    size: facts.version.size,
    sent: live?.sent ?? null,
    rule: facts.plan?.rule ?? null,
    channel: facts.plan?.channel ?? null,
    title: facts.plan?.title ?? null,
    description: facts.plan?.description ?? null,
    tags: facts.plan?.tags ?? [],
    publish: facts.plan?.publish ?? [],
    published: facts.published,
    video_id: facts.videoId,
    remote_status: facts.remoteStatus,
    source_url: facts.sourceUrl === null ? null : withoutQuery(facts.sourceUrl),
    sha256: facts.sha256,
    attempts: facts.attempts,
    not_before: facts.notBefore,
    why: facts.why ?? facts.lastFailure?.message ?? live?.why ?? null,
    code: facts.lastFailure?.code ?? null,
    local: facts.disposal,
    times: {
      discovered: facts.discoveredAt,
      created: facts.createdAt,
      upload_started: facts.uploadStartedAt,
      uploaded: facts.uploadedAt,
      ready: facts.readyAt,
      ended: facts.endedAt,
    },
  };
}

/** A row with what only the running daemon knows: which files a step works on, how far it is, what the others wait for. */
export function viewOf(daemon: Daemon | null, facts: Facts): FileView {
  if (daemon === null) return fileView(facts);
  const { conductor, rows } = daemon;
  const state = stateOf(facts);
  const isLive = rows.isHeld(facts.id);
  if (isLive && state === 'queued') return fileView(facts, { state: 'creating', sent: 0 });
  if (!isLive || state !== 'awaiting upload') return fileView(facts, { why: waitsFor(daemon, state) });
  const upload = conductor.uploads().find(({ id }) => id === facts.id);
  return fileView(facts, { state: 'uploading', sent: upload?.sentBytes ?? 0 });
}

function waitsFor({ conductor, gate }: Daemon, state: FileState): string | null {
  if (!workStates.includes(state)) return null;
  const pause = conductor.pause();
  if (pause !== null) return `paused: ${pause.why}`;
  if (state === 'queued') {
    const { waiting, blockedUntil } = gate.snapshot();
    if (waiting === 0) return 'waiting for its turn';
    const blockedMs = blockedUntil - Date.now();
    if (blockedMs <= 0) return 'waiting for the hourly request budget';
    return `rate limited (429); resumes in ${Math.ceil(blockedMs / 1000)} s`;
  }
  if (state === 'awaiting upload') return 'waiting for an upload slot';
  return state === 'awaiting publish' ? 'waiting a few seconds to publish several at once' : null;
}

export async function statusOf(ledger: LedgerView, daemon: Daemon | null): Promise<StatusView> {
  const working = await ledger.list({ states: workStates, limit: 1_000 });
  const needing = await ledger.list({ states: ['failed', 'held'], limit: mostListed, newestFirst: true });
  const gate = daemon?.gate.snapshot();
  const pause = daemon?.conductor.pause() ?? null;
  return {
    v: 1,
    daemon: {
      running: daemon !== null,
      pid: daemon === null ? null : process.pid,
      started_at: daemon?.startedAt ?? null,
    },
    config: daemon?.config().file ?? null,
    counts: await ledger.counts(),
    settling: daemon?.folders.settling().length ?? 0,
    waiting: pause && { kind: pause.kind, why: pause.why, since: pause.since, next_probe_at: pause.nextProbeAt },
    requests:
      gate === undefined
        ? null
        : {
            used: gate.used,
            limit: gate.limit,
            blocked_until: gate.blockedUntil > Date.now() ? gate.blockedUntil : null,
            total: gate.total,
          },
    folders: daemon?.folders.status() ?? [],
    working: working.slice(0, mostListed).map((facts) => viewOf(daemon, facts)),
    needs_you: needing.map((facts) => viewOf(daemon, facts)),
    suspects: await ledger.suspects(),
  };
}

export async function filesOf(
  ledger: LedgerView,
  daemon: Daemon | null,
  filter: { readonly states: readonly string[]; readonly since?: number; readonly limit: number },
): Promise<FilesView> {
  const wanted = filter.states.length === 0 ? null : filter.states.map(storedState);
  const isSettlingWanted = wanted === null || filter.states.includes('settling');
  const settling = isSettlingWanted ? (daemon?.folders.settling() ?? []).slice(0, filter.limit) : [];
  const limit = filter.limit - settling.length;
  // The ledger does not know which rows a step works on: for such states read all rows, then take the first.
  const isLive = filter.states.some((state) => liveStates.has(state));
  const rows = await ledger.list({
    ...(wanted !== null && { states: wanted }),
    ...(filter.since !== undefined && { since: filter.since }),
    limit: isLive ? mostRows : limit,
    newestFirst: true,
  });
  const files = rows.map((facts) => viewOf(daemon, facts));
  const isWanted = ({ state }: FileView): boolean => wanted === null || filter.states.includes(state);
  return {
    v: 1,
    files: files.filter(isWanted).slice(0, limit),
    settling: settling.map(({ folder, path, size, why }) => ({ path: `${folder}/${path}`, size, why })),
  };
}

/** `creating` and `uploading` exist only while a step runs; in the ledger such a file waits for it. */
function storedState(state: string): string {
  if (state === 'creating') return 'queued';
  return state === 'uploading' ? 'awaiting upload' : state;
}

export const knownStates: readonly string[] = ['settling', 'creating', 'uploading', ...workStates, ...endStates];

/** Everything known about the files with this name. */
export async function foundOf(ledger: LedgerView, daemon: Daemon | null, name: string): Promise<readonly ShowView[]> {
  const found = await ledger.find(name);
  return Promise.all(
    found.map(async (facts) => ({
      v: 1,
      file: viewOf(daemon, facts),
      history: await ledger.history(facts.id),
      suspects: facts.suspects.length,
    })),
  );
}

function withoutQuery(address: string): string {
  const [start] = address.split('?');
  return start === address ? address : `${start ?? ''}?…`;
}
