import { resolve } from 'node:path';
import { checkTrial, type Trial } from '../../config/trial.ts';
import { createRouter } from '../../intake/folder-router.ts';
import { unlessHung } from '../../unless-hung.ts';
import type { Daemon } from '../daemon.ts';
import { planReload, type ReloadPlan } from './plan-reload.ts';
import { ruleReport, type RuleReport } from './rule-report.ts';

/** What rules that are being written would do. Nothing is applied. */
export interface TriedRules extends Pick<Trial, 'problems'> {
  /** Absolute path of the folder. */
  readonly folder: string;
  readonly path: string;
  readonly text: string;
  /** Null if the rules have errors, there is no path, or the folder does not answer. */
  readonly report: RuleReport | null;
  /** How known files would change; null if the rules have errors or the folder does not answer. */
  readonly plan: ReloadPlan | null;
  /** Why there is no report although the rules have no error; null: there is one, or no path. */
  readonly why: string | null;
}

/** Number of known files that a trial examines, the newest first. Each costs a disk access. */
export const mostKnownTried = 200;

/** Longest path that is tried, in characters. */
const longestPath = 1_000;

/**
 * Tries rules on a path and on the known files of a folder.
 *
 * @param wanted.path absolute, or relative to the folder
 * @returns null if the folder is not watched
 */
export async function tryRules(
  daemon: Daemon,
  wanted: { readonly folder: string; readonly path: string; readonly text: string },
  now: number,
): Promise<TriedRules | null> {
  const before = daemon.config();
  const known = before.folders.find(({ path }) => path === wanted.folder);
  if (known === undefined) return null;
  const { rules, problems } = checkTrial(wanted.text);
  const tried = { ...wanted, problems, report: null, plan: null, why: null };
  if (rules === null) return tried;
  const folder = { ...known, rules };
  const absolute = resolve(known.path, wanted.path);
  const isInside = absolute.startsWith(`${known.path}/`) && absolute.length <= known.path.length + longestPath;
  if (wanted.path !== '' && !isInside)
    return { ...tried, why: `The path is not in ${known.path}, or is longer than ${longestPath} characters` };
  const after = { ...before, folders: before.folders.map((each) => (each === known ? folder : each)) };
  const within = { folder: known.path, most: mostKnownTried };
  const router = createRouter(folder, await daemon.ledger.movedBy(known.path));
  const report = wanted.path === '' ? null : ruleReport(router, absolute.slice(known.path.length + 1), now);
  const done = await unlessHung(Promise.all([report, planReload(daemon.ledger, { before, after, now, within })]));
  if (done === null) return { ...tried, why: `${known.path} does not answer` };
  return { ...tried, report: done[0], plan: done[1] };
}
