import { pausedBy } from '../view/waits.ts';
import type { Wait } from '../view/waits.ts';
import { pauseWords } from '../view/words/pause-words.ts';
import type { Limit } from '../pipeline/estimate.ts';
import type { Comparison } from '../pipeline/rounds/adopt.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerView } from '../ledger/view.ts';
import { suspectsOf } from './files/suspects.ts';
import type { SuspectLedger } from './files/suspects.ts';
import { asHeld, viewOf, viewsOf } from './files/file-view.ts';
import type { FileView, OfFleet } from './files/file-view.ts';
import type { Daemon } from './daemon.ts';
import type { ExpectationView } from '../pipeline/expectation.ts';
import { deafTargetViews } from './message-targets.ts';
import type { DeafTargetView } from './message-targets.ts';
import { needsYouOf } from './overview/needs-you.ts';
import type { NeedsYou } from './overview/needs-you.ts';
import type { UploadTimes } from './outlook/upload-times.ts';
import { sumOfAccounts } from '../watch/accounts.ts';
import type { Accounts } from '../watch/ports.ts';
import { countSteps } from './files/step-states.ts';
import { fleetStatusOf } from './fleet/host-view.ts';
import type { FleetStatus } from './fleet/host-view.ts';
import type { FolderStatus } from '../intake/watched-folder.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { OperatorPause, Pause } from '../pipeline/events.ts';

export interface StatusView {
  readonly v: 1;
  readonly daemon: { readonly running: boolean; readonly pid: number | null; readonly started_at: number | null };
  readonly config: string | null;
  /** The hosts that have the same ledger; null: this one has it for itself. */
  readonly fleet: FleetStatus | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly settling: number;
  /** Everything that holds work up, the most far-reaching first. Without a daemon, only what people paused. */
  readonly waits: readonly Wait[];
  /** What people paused, oldest first. Times are epoch milliseconds. */
  readonly paused: readonly OperatorPause[];
  /** Why everything waits, or null. */
  readonly waiting: {
    readonly kind: string;
    readonly why: string;
    readonly since: number;
    readonly next_probe_at: number;
  } | null;
  /** Channels and feeds that the service does not have: what goes there waits. `since`: epoch milliseconds. */
  readonly unknown: readonly { readonly kind: string; readonly name: string; readonly since: number }[];
  readonly requests: {
    readonly used: number;
    readonly limit: number;
    readonly blocked_until: number | null;
    readonly total: number;
    /** What others use of the key in an hour, as far as was noticed. */
    readonly others: number;
  } | null;
  /** What all that waits waits for most, and when it is done: null without a daemon. */
  readonly outlook: {
    readonly limited_by: Limit;
    readonly why: string;
    /** Epoch milliseconds; null when it cannot be said. */
    readonly done_at: number | null;
  } | null;
  /** What the time of day says about uploads now: null without a daemon. Times are epoch milliseconds. */
  readonly uploads: {
    /** Limit of all uploads together; null is unlimited. */
    readonly bytes_per_second: number | null;
    /** When another limit begins; null when none does. */
    readonly until: number | null;
    /** When uploads may start again; null when they may now. */
    readonly start_at: number | null;
  } | null;
  readonly folders: readonly FolderStatus[];
  /** Files that must be there by a time of day, of the present day of each; none without a daemon. */
  readonly expectations: readonly ExpectationView[];
  /** Notification targets that take no messages at present. */
  readonly deaf_targets: readonly DeafTargetView[];
  /** Where the paths of all folders are. */
  readonly accounts: Accounts;
  readonly working: readonly FileView[];
  /** Files that need a person. */
  readonly needs_you: readonly FileView[];
  /** All of them, by cause. */
  readonly causes: NeedsYou;
  /** Records that dropcast may have left on the service without bytes; `/suspects` lists them. */
  readonly suspects: number;
  /** Files that were there before dropcast watched their folder and wait to be adopted, and how far their comparison is. */
  readonly adoption: { readonly files: number; readonly compared: number; readonly comparing: Comparison | null };
  /** Local files that are to be deleted later; `next_at` (epoch milliseconds) is null when only a full disk makes any of them go. */
  readonly deletions: { readonly files: number; readonly next_at: number | null };
  /** No file gets a record before this time (epoch milliseconds), because too many create requests had no usable answer. */
  readonly creates_wait_until: number | null;
}

/** Of an installation in which nothing was ever done. */
export const emptyStatus: StatusView = {
  v: 1,
  daemon: { running: false, pid: null, started_at: null },
  config: null,
  fleet: null,
  counts: {},
  settling: 0,
  waits: [],
  paused: [],
  waiting: null,
  unknown: [],
  requests: null,
  outlook: null,
  uploads: null,
  folders: [],
  expectations: [],
  deaf_targets: [],
  accounts: sumOfAccounts([]),
  working: [],
  needs_you: [],
  causes: { files: 0, causes: [], more: { causes: 0, files: 0 } },
  suspects: 0,
  adoption: { files: 0, compared: 0, comparing: null },
  deletions: { files: 0, next_at: null },
  creates_wait_until: null,
};

const mostRows = 1_000_000;

type StatusLedger = LedgerView &
  SuspectLedger &
  OfFleet &
  Pick<Ledger, 'snapshot' | 'deletions' | 'countToAdopt' | 'pauses' | 'selection'>;

/** Rows listed in a status at most; `ls` lists all. */
const mostListed = 20;

/** Files listed for who asks for all: some hundred kilobytes. */
const mostOfAll = 1_000;

/** @param isAll lists all files that need a person */
export async function statusOf(ledger: StatusLedger, daemon: Daemon | null, isAll = false): Promise<StatusView> {
  const mostNeeding = isAll ? mostOfAll : mostListed;
  const pause = daemon?.conductor.pause() ?? null;
  // Reading a thousand rows takes 20 ms, which only the search for refused ones is worth.
  const snapshot = await ledger.snapshot({
    held: () => daemon?.rows.held() ?? [],
    working: isLongRefusal(pause) ? 1_000 : mostListed,
    needing: mostNeeding,
  });
  const { working, needing, held } = snapshot;
  const asShown = countSteps(working.filter(({ id }) => held.includes(id)));
  const folders = (daemon?.folders.status() ?? []).map((folder) => ({
    ...folder,
    why: folder.why ?? whyHeld(daemon, folder.path),
    left_out: { ...folder.left_out, paths: folder.left_out.paths.slice(0, mostNeeding) },
    accounts: { ...folder.accounts, known: asShown(folder.accounts.known, folder.path) },
  }));
  const live = daemon && asHeld(daemon, held);
  const deletions = await ledger.deletions();
  const gate = daemon?.gate.snapshot();
  const fleet = daemon === null ? ledger.fleet : daemon.fleet;
  const paused = await ledger.pauses();
  const outlook = daemon === null ? null : await daemon.outlook();
  return {
    v: 1,
    daemon: {
      running: daemon !== null,
      pid: daemon === null ? null : process.pid,
      started_at: daemon?.startedAt ?? null,
    },
    config: daemon?.config().file ?? null,
    fleet: fleet == null ? null : await fleetStatusOf(fleet, ledger),
    counts: asShown(snapshot.counts),
    settling: daemon?.folders.countSettling() ?? 0,
    waits: daemon?.waits() ?? pausedBy(paused, Date.now()),
    paused,
    waiting: pause && { kind: pause.kind, why: pause.why, since: pause.since, next_probe_at: pause.nextProbeAt },
    unknown: daemon?.conductor.names.unknown() ?? [],
    requests:
      gate === undefined
        ? null
        : {
            used: gate.used,
            limit: gate.limit,
            blocked_until: gate.blockedUntil > Date.now() ? gate.blockedUntil : null,
            total: gate.total,
            others: gate.others,
          },
    outlook: outlook && { limited_by: outlook.limitedBy, why: outlook.why, done_at: outlook.doneAt },
    uploads: daemon && uploadsOf(daemon.times),
    folders,
    expectations: daemon?.expectations.list() ?? [],
    deaf_targets: daemon === null ? [] : await deafTargetViews(daemon.messageTargets, daemon.ledger),
    accounts: sumOfAccounts(folders.map(({ accounts }) => accounts)),
    working: await viewsOf(ledger, live, firstOf(working, held)),
    needs_you: await viewsOf(ledger, live, [...needing, ...refusedFor(working, pause)].slice(0, mostNeeding)),
    causes: needsYouOf(snapshot),
    suspects: (await suspectsOf(ledger, daemon)).suspects.length,
    adoption: { ...(await ledger.countToAdopt()), comparing: daemon?.conductor.comparison() ?? null },
    deletions: { files: deletions.files, next_at: deletions.nextAt },
    creates_wait_until: daemon?.conductor.createsWaitUntil() ?? null,
  };
}

/** In the order in which they came in; those that a step works on before all others. */
function firstOf(working: readonly Facts[], held: readonly string[]): readonly Facts[] {
  const others = working.filter(({ id }) => !held.includes(id)).slice(0, Math.max(0, mostListed - held.length));
  const shown = new Set([...held, ...others.map(({ id }) => id)]);
  return working.filter(({ id }) => shown.has(id));
}

function uploadsOf(times: UploadTimes): StatusView['uploads'] {
  return { bytes_per_second: times.limit(), until: times.limitUntil(), start_at: times.startAt() };
}

/** An upload host that takes nothing for an hour may never do: people are told, and it is tried again all the same. */
const longRefusalMs = 3_600_000;

/** A person paused the folder, or everything. */
function whyHeld(daemon: Daemon | null, folder: string): string | null {
  const held = daemon?.pauses.holds(folder) ?? null;
  return held && pauseWords(held, Date.now());
}

function isLongRefusal(pause: Pick<Pause, 'holds' | 'since'> | null): boolean {
  return pause?.holds === 'uploads' && Date.now() - pause.since >= longRefusalMs;
}

/** Files that their upload host has not taken for a long time. */
export function refusedFor(working: readonly Facts[], pause: Pick<Pause, 'holds' | 'since'> | null): readonly Facts[] {
  if (!isLongRefusal(pause)) return [];
  return working.filter(
    ({ notBefore, uploadUrl, uploadedAt, lastFailure }) =>
      notBefore !== null && uploadUrl !== null && uploadedAt === null && lastFailure?.kind === 'offline',
  );
}

/**
 * What earlier runs left in the folders and only a person can settle: files that failed or are held, oldest first, then those that
 * cannot be deleted or moved.
 *
 * @param still.folders those that are watched
 * @param still.before epoch milliseconds: what ended later belongs to this run
 * @param isThere whether something still lies at that path of a folder
 */
export async function leftForYou(
  ledger: Pick<LedgerView, 'list'> & Pick<Ledger, 'waitingForDisk'>,
  still: { readonly folders: readonly string[]; readonly before: number },
  isThere: (folder: string, path: string) => Promise<boolean>,
): Promise<readonly FileView[]> {
  const isEarlier = ({ endedAt, folder }: Facts): boolean =>
    (endedAt ?? 0) < still.before && still.folders.includes(folder);
  const rows = await ledger.list({ states: ['failed', 'held'], limit: mostRows });
  const left: Facts[] = [];
  for (const facts of rows.filter(isEarlier)) if (await isThere(facts.folder, facts.path)) left.push(facts);
  const waiting = (await ledger.waitingForDisk(mostRows)).filter(isEarlier).toReversed();
  return [...left, ...waiting].map((facts) => viewOf(null, facts));
}
