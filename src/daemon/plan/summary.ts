import { estimate } from '../../pipeline/estimate.ts';
import type { Backlog, QuotaRoom } from '../../pipeline/estimate.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { readyByWords } from '../../routing/explain.ts';
import { priorityOf } from '../../pipeline/file/queue.ts';
import { learnedLimitOf, sizeLimitNote, whyTooLarge } from '../../pipeline/file/size-limit.ts';
import type { Rule } from '../../routing/plan.ts';
import { limitWords } from '../../view/outlook.ts';
import { ofPause, whyWords } from '../../view/waits.ts';
import type { Contents } from './contents.ts';
import type { PlannedFolder } from './folder.ts';
import type { PlanWorld } from './worlds.ts';

/** A number of files and their total size in bytes. */
export interface Amount {
  readonly files: number;
  readonly bytes: number;
}

/** The predicted outcome. Paths are absolute; times are epoch milliseconds. */
export type PlanView = Awaited<ReturnType<typeof summarize>>;

interface Listed {
  readonly path: string;
  readonly why: string;
}

interface Planned {
  readonly path: string | null;
  readonly folders: readonly PlannedFolder[];
  readonly contents: Contents;
  /** The predicted rows. */
  readonly rows: readonly Facts[];
}

/** @param world.durationOf returns a file's duration in seconds; null if it is unknown */
export async function summarize(
  world: PlanWorld & { durationOf(facts: Facts): Promise<number | null> },
  { path, folders, contents, rows }: Planned,
) {
  const { config, ledger, clock, refusal } = world;
  const { duplicates, mismatches, possible } = contents;
  const before = path === null ? ((await ledger?.totals('backlog')) ?? nothing) : nothing;
  const feedsAhead = path === null ? ((await ledger?.totals('feeds ahead')) ?? []) : [];
  const wereKnown = await knownOf(rows, ledger);
  const created = rows.filter(({ id }) => wereKnown.get(id)?.end !== null);
  const tooLarge = await tooLargeOf(created, world);
  const mayBegin = ({ id }: Facts): boolean => !tooLarge.has(id) && !duplicates.has(id);
  const begun = created.filter((facts) => stateOf(facts) === 'queued' && mayBegin(facts));
  const queued = begun.filter(({ id }) => !mismatches.has(id));
  const sent = queued.filter(({ sourceUrl }) => sourceUrl === null);
  // A file that is too large is held before its content is compared.
  const skipped = created.filter(({ id }) => duplicates.has(id) && !tooLarge.has(id));
  const amend = rows.filter(({ amendment }) => amendment !== null).length;
  const backlog: Backlog = {
    ...before,
    toCreate: before.toCreate + begun.length,
    toSend: before.toSend + sent.length,
    bytesToSend: before.bytesToSend + bytesOf(sent),
    feeds: new Set([...feedsAhead, ...queued.flatMap(({ plan }) => plan?.publish ?? [])]).size,
  };
  const pace = { ...world.pace, quota: await withDurations(world.pace.quota, begun, world.durationOf) };
  const { limitedBy, doneInMs, requests } = estimate(backlog, pace, refusal !== null && backlog.toCreate > 0);
  const create = backlog.toCreate;
  const total = requests + amend;
  return {
    v: 1,
    /** The path that the plan was limited to; null: all folders. */
    path,
    folders: folders.map((folder) => ({
      path: folder.path,
      why: folder.why,
      ...amountOf(queued.filter((facts) => facts.folder === folder.path)),
    })),
    rules: rulesOf(
      config.folders.flatMap(({ rules }) => rules),
      queued,
    ),
    /** New files that would be sent, and pre-existing files that `existing` leaves alone. */
    upload: amountOf(sent),
    left: amountOf(created.filter(({ id, end }) => end === 'skipped' && !wereKnown.has(id))),
    /** Links that the service would import. */
    imports: queued.length - sent.length,
    duplicates: {
      ...amountOf(skipped),
      list: skipped.map((facts) => ({ path: pathOf(facts), of: pathOf(duplicates.get(facts.id) ?? facts) })),
    },
    /** Unread files that share their size with another. They count as files to upload. */
    possible_duplicates: amountOf(sent.filter(({ id }) => possible.has(id))),
    held: heldOf(rows, new Map([...mismatches, ...tooLarge])),
    /** Files that cannot be accepted yet. */
    unfinished: listed(folders, 'unfinished'),
    refused: listed(folders, 'refused'),
    ignored: sum(folders, 'ignored'),
    /** `known`: unchanged files that dropcast already knows. `on_their_way`: those still in progress. */
    known: sum(folders, 'known'),
    on_their_way: { files: before.toSend + before.processing + before.toPublish, bytes: before.bytesToSend },
    requests: {
      create,
      publish: backlog.feeds,
      amend,
      /** Approximate number of requests that poll the videos' status. */
      ask: Math.max(0, total - create - backlog.feeds - amend),
      total,
    },
    limited_by: limitedBy,
    why: limitWords(limitedBy, {
      backlog,
      pace,
      pause: refusal && { why: whyWords(ofPause(refusal), clock.now()) },
      nowMs: clock.now(),
    }),
    /** Estimated completion time; null if unknown. */
    done_at: doneInMs === null ? null : clock.now() + doneInMs,
  };
}

/** Replaces the usual duration by that of the new files. As in the quota, an unknown one counts as no minutes. */
async function withDurations(
  quota: QuotaRoom | null,
  files: readonly Facts[],
  durationOf: (facts: Facts) => Promise<number | null>,
): Promise<QuotaRoom | null> {
  if (quota === null || quota.most.minutes === Infinity || files.length === 0) return quota;
  let seconds = 0;
  for (const facts of files) seconds += (await durationOf(facts)) ?? 0;
  return { ...quota, minutesPerVideo: seconds / 60 / files.length };
}

/** Returns why files would be held because of their size, by id. */
async function tooLargeOf(
  files: readonly Facts[],
  { config, ledger }: PlanWorld,
): Promise<ReadonlyMap<string, string>> {
  const { maxSizeBytes } = config.uploads;
  const learned = learnedLimitOf((await ledger?.note(sizeLimitNote)) ?? null);
  return new Map(
    files.flatMap((facts) => {
      const why = stateOf(facts) === 'queued' ? whyTooLarge(facts, { maxSizeBytes, learned }) : null;
      return why === null ? [] : [[facts.id, why.message]];
    }),
  );
}

/** Loads the rows as the ledger has them now: files waiting in it are already counted. */
async function knownOf(rows: readonly Facts[], ledger: PlanWorld['ledger']): Promise<ReadonlyMap<string, Facts>> {
  const found = await Promise.all(rows.map(async ({ id }) => ledger?.load(id) ?? null));
  return new Map(found.flatMap((facts) => (facts === null ? [] : [[facts.id, facts]])));
}

const nothing = { toCreate: 0, toSend: 0, bytesToSend: 0, processing: 0, toPublish: 0 };

function rulesOf(rules: readonly Rule[], queued: readonly Facts[]) {
  return rules.flatMap(({ key, match, channel, priority, readyBy, publish }) => {
    const taken = queued.filter(({ plan }) => plan?.rule === key);
    if (taken.length === 0) return [];
    return [
      {
        rule: key,
        match,
        channel,
        publish,
        priority: priorityOf({ ...(priority && { priority }) }),
        /** When its files must be ready, in words; null: at no particular time. */
        ready_by: readyBy === undefined ? null : readyByWords(readyBy),
        ...amountOf(taken),
      },
    ];
  });
}

/** Sorted by path. */
function heldOf(rows: readonly Facts[], whys: ReadonlyMap<string, string>): readonly Listed[] {
  return rows
    .flatMap((facts) => {
      const why = facts.end === 'held' ? (facts.why ?? '') : whys.get(facts.id);
      return why === undefined ? [] : [{ path: pathOf(facts), why }];
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function amountOf(files: readonly Facts[]): Amount {
  return { files: files.length, bytes: bytesOf(files) };
}

function bytesOf(files: readonly Facts[]): number {
  return files.reduce((total, { version, sourceUrl }) => total + (sourceUrl === null ? version.size : 0), 0);
}

function pathOf({ folder, path }: Facts): string {
  return `${folder}/${path}`;
}

function listed(folders: readonly PlannedFolder[], key: 'unfinished' | 'refused'): readonly Listed[] {
  return folders.flatMap(({ path: folder, survey }) =>
    (survey?.[key] ?? []).map(({ path, why }) => ({ path: `${folder}/${path}`, why })),
  );
}

function sum(folders: readonly PlannedFolder[], key: 'ignored' | 'known'): number {
  return folders.reduce((total, { survey }) => total + (survey?.[key] ?? 0), 0);
}
