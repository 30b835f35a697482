import { routeOf } from '../../intake/arrival.ts';
import { createRouter } from '../../intake/folder-router.ts';
import type { FolderRouter } from '../../intake/folder-router.ts';
import { reapplied } from '../../intake/reroute.ts';
import type { Reapplied } from '../../intake/reroute.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { stageOf } from '../../view/stages.ts';
import type { Daemon } from '../daemon.ts';
import { heldWords, whyElsewhere } from '../../view/hosts/host-words.ts';
import { Answers, diskHangs, Patience, wantedFiles } from './wanted.ts';
import type { CommandOptions, WantedFiles } from './wanted.ts';

export type ReapplyResult = Awaited<ReturnType<typeof reapply>>;

/** The change that the current rules make to one file. */
export interface ReapplyChange {
  readonly id: string;
  /** Absolute path. */
  readonly path: string;
  /** The video whose metadata is sent; null: the file has no video, and only its plan changes. */
  readonly video_id: string | null;
  readonly changes: readonly { readonly what: string; readonly from: string; readonly to: string }[];
}

/** Maximum number of changes listed individually. */
const mostShown = 1_000;

/** States in which rules can still change a file. Failed and held files consult the rules when they are retried. */
const states = ['queued', 'awaiting upload', 'retrying', 'processing', 'awaiting publish', 'done'];

/**
 * Reapplies the rules to files already routed. Changed metadata is sent, and the feeds are published again.
 *
 * @param options.isPlanned only report the changes and their cost: reads sidecars and changes nothing
 */
export async function reapply(daemon: Daemon, wanted: WantedFiles, { isPlanned = false }: CommandOptions = {}) {
  const routers = new Map(daemon.config().folders.map((folder) => [folder.path, createRouter(folder)]));
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
  for await (const file of wantedFiles(daemon, selected, answers.refuse)) {
    const { facts, name } = file;
    const elsewhere = whyElsewhere(daemon, facts.folder);
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
    // The channel cannot change, but the file's other changes are still made.
    if (planned.channel !== null) answers.leave(file, channelWords(planned.channel));
    if (planned.is === 'same') {
      same += 1;
      continue;
    }
    const refusal = isPlanned ? null : await write(daemon, facts, change);
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
  if (!isPlanned) daemon.conductor.wake();
  return {
    v: 1 as const,
    planned: isPlanned,
    files,
    requests: patches + publishes.size,
    /** `patches`: videos whose metadata is sent. `publishes`: feeds published afterwards. */
    patches,
    publishes: [...publishes],
    /** Files that already match the rules. */
    same,
    changes,
    refused: answers.refused,
    left: answers.left,
  };
}

function channelWords(to: string): string {
  return `the rules say channel ${to} now: the service cannot move a video to another channel`;
}

/** Returns the change that the rules make to a file, from its row at the time of the call. */
export async function asksAgain(
  routers: ReadonlyMap<string, FolderRouter>,
  facts: Facts,
  patience: Patience,
): Promise<(now: Facts) => Reapplied> {
  const route = (await patience.forDisk(facts.folder, () => whereTo(routers, facts))) ?? diskHangs;
  return (now) => (typeof route === 'string' ? { is: 'refused', why: route } : reapplied(now, route, Date.now()));
}

/** @returns why the file's route cannot be determined; null: it can */
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
