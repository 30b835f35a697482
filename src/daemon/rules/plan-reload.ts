import type { Config, FolderConfig } from '../../config/config.ts';
import { routeOf } from '../../intake/arrival.ts';
import { createRouter } from '../../intake/folder-router.ts';
import { rerouted, wasSent } from '../../intake/reroute.ts';
import type { TotalsStore } from '../../ledger/totals.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import type { Plan } from '../../routing/plan.ts';
import { Patience } from '../commands/wanted.ts';
import { asksAgain } from '../commands/reapply.ts';

/** The changes that another configuration would make. Nothing is applied. */
export type ReloadPlan = Awaited<ReturnType<typeof planReload>>;
export type PlannedChange = ReturnType<typeof described>;

/** Maximum number of entries in each list. */
const mostListed = 100;

/** Maximum number of files examined: each costs a disk access. */
const mostLooked = 20_000;

interface ReloadWanted {
  readonly before: Config;
  readonly after: Config;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Examines only the newest files of one folder. */
  readonly within?: { readonly folder: string; readonly most: number };
}

/**
 * Returns the changes that a reload would make, as the intake would decide them, and those that a subsequent `reapply`
 * would make.
 */
export async function planReload(ledger: RowStore<'any'> & TotalsStore, { before, after, now, within }: ReloadWanted) {
  const routers = new Map(after.folders.map((folder) => [folder.path, createRouter(folder)]));
  const waiting: PlannedChange[] = [];
  const where = { states: stillThere, ...(within && { folder: within.folder }) };
  const rows = await ledger.rows({ group: 'any', where, limit: within?.most ?? mostLooked, newestFirst: true });
  for (const facts of rows.filter((one) => !wasSent(one))) {
    const router = routers.get(facts.folder);
    const route = router === undefined ? null : await routeOf(router, facts);
    const changed = route === null ? null : rerouted(facts, route, now);
    if (changed !== null) waiting.push(described(facts, { ...facts, ...changed }));
  }
  const sent: PlannedChange[] = [];
  const patience = new Patience();
  let patches = 0;
  const publishes = new Set<string>();
  for (const facts of rows.filter(wasSent)) {
    const change = (await asksAgain(routers, facts, patience))(facts);
    if (change.is !== 'changed') continue;
    sent.push(described(facts, { ...facts, ...change.row }));
    if (change.isSent) patches += 1;
    for (const feed of change.publishes) publishes.add(feed);
  }
  const counts = await ledger.totals('by state');
  const all = stillThere.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  return {
    folders: foldersOf(before, after),
    /** Files of which nothing has been sent: the reload itself changes them. */
    waiting: { files: waiting.length, changes: waiting.slice(0, mostListed) },
    /** Files with a video: they keep their metadata until `reapply`. `requests`: the cost of that. */
    sent: {
      files: sent.length,
      requests: patches + publishes.size,
      changes: sent.slice(0, mostListed),
      /** Number of files that were not examined because there are too many. */
      left: Math.max(0, all - rows.length),
    },
  };
}

const stillThere = [
  'queued',
  'awaiting upload',
  'processing',
  'awaiting publish',
  'retrying',
  'done',
  'failed',
  'held',
];

interface PlannedFolder {
  readonly path: string;
  readonly becomes: 'watched' | 'left' | 'watched anew';
}

function foldersOf(before: Config, after: Config): readonly PlannedFolder[] {
  const places = (folders: readonly FolderConfig[]): ReadonlyMap<string, FolderConfig> =>
    new Map(folders.map((folder) => [folder.path, folder]));
  const [old, next] = [places(before.folders), places(after.folders)];
  const stays = ({ key: _key, ...folder }: FolderConfig): string =>
    JSON.stringify({ ...folder, rules: folder.rules.map(({ line: _line, ...rule }) => rule) });
  return [
    ...before.folders.flatMap(({ path }) => (next.has(path) ? [] : [{ path, becomes: 'left' } as const])),
    ...after.folders.flatMap((folder): readonly PlannedFolder[] => {
      const { path } = folder;
      const was = old.get(path);
      if (was === undefined) return [{ path, becomes: 'watched' as const }];
      return stays(was) === stays(folder) ? [] : [{ path, becomes: 'watched anew' as const }];
    }),
  ];
}

function described(before: Facts, after: Facts) {
  const [old, next] = [before.plan, after.plan];
  const keys = ['channel', 'title', 'description', 'tags', 'publish', 'priority', 'readyBy'] as const;
  const said = (plan: Plan | null, key: (typeof keys)[number]): string => JSON.stringify(plan?.[key] ?? null);
  const isTurned = (old === null) !== (next === null);
  return {
    file: before.id,
    path: `${before.folder}/${before.path}`,
    state: stateOf(before) as string,
    /** The fields that change: `channel`, `title`, `tags` …; `held` when the file becomes held or resumes. */
    what: isTurned
      ? ['held']
      : keys.filter((key) => said(old, key) !== said(next, key)).map((key) => (key === 'readyBy' ? 'ready_by' : key)),
    before: wordsOf(before),
    after: wordsOf(after),
  };
}

/** @returns the outcome of the rules for a file; `held`: why it would be held */
function wordsOf({ plan, why }: Facts) {
  if (plan === null) return { rule: null, channel: null, title: null, held: why };
  return { rule: plan.rule, channel: plan.channel, title: plan.title, held: null };
}
