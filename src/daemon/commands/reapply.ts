import { routeOf } from '../../intake/arrival.ts';
import { createRouter } from '../../intake/folder-router.ts';
import type { FolderRouter } from '../../intake/folder-router.ts';
import { reapplied } from '../../intake/reroute.ts';
import type { Reapplied } from '../../intake/reroute.ts';
import type { Config } from '../../config/config.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { stageOf } from '../../view/stages.ts';
import type { Daemon } from '../daemon.ts';
import { heldWords, whyElsewhere } from '../../view/hosts/elsewhere-words.ts';
import { diskHangs, Patience } from './patience.ts';
import { Answers, wantedFiles } from './wanted.ts';
import type { CommandOptions, CommandResult, WantedFiles } from './wanted.ts';

export interface ReapplyResult extends CommandResult {
  /** The first of them. */
  readonly changes: readonly ReapplyChange[];
  /** Videos whose metadata is sent, and feeds that are published after that. */
  readonly patches: number;
  readonly publishes: readonly string[];
  /** Files that are as the rules say already. */
  readonly same: number;
}

/** The change that the current rules make to one file. */
export interface ReapplyChange {
  readonly id: string;
  /** Absolute. */
  readonly path: string;
  /** The part that is sent; null for a file without a video, which only gets another plan. */
  readonly video_id: string | null;
  readonly changes: readonly { readonly what: string; readonly from: string; readonly to: string }[];
}

/** Changes that are shown one by one. */
const mostShown = 1_000;

/** Files that rules can still say something about: what failed or is held asks them when it is tried again. */
const states = ['queued', 'awaiting upload', 'retrying', 'processing', 'awaiting publish', 'done'];

export interface ReapplyWorld {
  readonly ledger: Pick<Ledger, 'find' | 'load' | 'selection'>;
  readonly rows?: Pick<Daemon['rows'], 'held'>;
  readonly fleet?: Daemon['fleet'];
  /** Whose rules count: those in use, or those of a configuration that is not in use yet. */
  readonly config: Pick<Config, 'folders'>;
}

/** The changes that the rules of a configuration would make, and their cost. Reads sidecars, and changes nothing. */
export async function planReapply(world: ReapplyWorld, wanted: WantedFiles): Promise<ReapplyResult> {
  return reapplyWith(world, wanted, null);
}

/**
 * Asks the rules again about files that they have decided about already. What changes is sent as metadata, and the
 * feeds are published again.
 */
export async function reapply(
  daemon: Daemon,
  wanted: WantedFiles,
  { isPlanned = false }: CommandOptions = {},
): Promise<ReapplyResult> {
  const world = { ledger: daemon.ledger, rows: daemon.rows, fleet: daemon.fleet, config: daemon.config() };
  if (isPlanned) return planReapply(world, wanted);
  const result = await reapplyWith(world, wanted, (facts, change) => write(daemon, facts, change));
  daemon.conductor.wake();
  return result;
}

/** Makes the change in the row as it now is. @returns why not, or null */
type Write = (facts: Facts, change: (now: Facts) => Reapplied) => Promise<string | null>;

async function reapplyWith(world: ReapplyWorld, wanted: WantedFiles, write: Write | null): Promise<ReapplyResult> {
  const routers = new Map(world.config.folders.map((folder) => [folder.path, createRouter(folder)]));
  const answers = new Answers();
  const patience = new Patience();
  const changes: ReapplyChange[] = [];
  const publishes = new Set<string>();
  let [files, patches, same] = [0, 0, 0];
  const selection = wanted.selection ?? (wanted.names.length === 0 ? {} : undefined);
  const selected = {
    names: wanted.names,
    ...(selection !== undefined && { selection: { ...selection, states: selection.states ?? states } }),
  };
  for await (const file of wantedFiles(world, selected, answers.refuse)) {
    const { facts, name } = file;
    const elsewhere = whyElsewhere(world.fleet ?? null, facts.folder, [...routers.keys()]);
    if (elsewhere !== null) {
      answers.leave(file, elsewhere);
      continue;
    }
    const change = await asksAgain(routers, facts, patience);
    const planned = change(facts);
    if (planned.is === 'refused') {
      answers.leave(file, planned.why);
      continue;
    }
    // The others are changed anyway.
    if (planned.channel !== null) answers.leave(file, channelWords(planned.channel));
    if (planned.is === 'same') {
      same += 1;
      continue;
    }
    const refusal = (await write?.(facts, change)) ?? null;
    if (refusal !== null) {
      answers.refuse(name ?? facts.id, refusal);
      continue;
    }
    files += 1;
    if (planned.isSent) patches += 1;
    for (const feed of planned.publishes) publishes.add(feed);
    if (changes.length < mostShown)
      changes.push({
        id: facts.id,
        path: `${facts.folder}/${facts.path}`,
        video_id: facts.videoId,
        changes: planned.changes,
      });
  }
  return {
    v: 1,
    planned: write === null,
    files,
    requests: patches + publishes.size,
    patches,
    publishes: [...publishes],
    same,
    changes,
    refused: answers.refused,
    left: answers.left,
  };
}

function channelWords(to: string): string {
  return `the rules say channel ${to} now: the service cannot move a video to another channel`;
}

/** The change that the rules make to a file, from its row at the moment of the call. */
export async function asksAgain(
  routers: ReadonlyMap<string, FolderRouter>,
  facts: Facts,
  patience: Patience,
): Promise<(now: Facts) => Reapplied> {
  const route = (await patience.forDisk(facts.folder, () => whereTo(routers, facts))) ?? diskHangs;
  return (now) => (typeof route === 'string' ? { is: 'refused', why: route } : reapplied(now, route, Date.now()));
}

/** @returns why it is unknown where the rules would send the file; null when it is known */
async function whereTo(routers: ReadonlyMap<string, FolderRouter>, facts: Facts) {
  const { folder, path, version, disposal, plan } = facts;
  if (!states.includes(stateOf(facts))) return `${stageOf(facts, false)}: the rules apply when it is tried again`;
  if (disposal === 'moved') return 'moved after it was done: its rule depends on its earlier path';
  if (disposal === 'deleted' && plan?.sidecar !== undefined)
    return 'its sidecar was deleted with it, and set part of its metadata';
  const router = routers.get(folder);
  if (router === undefined) return 'its folder is no longer in the configuration';
  if (plan?.sidecar !== undefined && (await routeOf(router, facts)) === null)
    return 'it is gone, and part of its metadata came from its sidecar';
  return router.route(path, version);
}

async function write(daemon: Daemon, { id }: Facts, change: (now: Facts) => Reapplied): Promise<string | null> {
  const written = await daemon.rows.claim(id, async (row) => {
    const now = change(row.facts);
    if (now.is === 'changed') await row.write(now.row, 'rules applied again');
    return true;
  });
  return written === null ? heldWords(daemon.fleet, id) : null;
}
