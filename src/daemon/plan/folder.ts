import type { FolderConfig } from '../../config/config.ts';
import { arrivalOf, routeOf } from '../../intake/arrival.ts';
import { createFirstStart } from '../../intake/first-start.ts';
import type { FirstStart } from '../../intake/first-start.ts';
import { createRouter, videosNamedLike } from '../../intake/folder-router.ts';
import type { FolderRouter } from '../../intake/folder-router.ts';
import { nestedIn } from '../../intake/folders.ts';
import type { Rehearsal } from '../../intake/dry-run.ts';
import { errnoOf } from '../../errno.ts';
import { whyRefused } from '../../watch/root-check.ts';
import { surveyFolder } from '../../watch/survey.ts';
import type { Survey } from '../../watch/survey.ts';
import type { PlanWorld } from './worlds.ts';

export interface PlannedFolder {
  readonly path: string;
  /** Why the folder was not scanned, or null. */
  readonly why: string | null;
  readonly survey: Survey | null;
}

interface FolderPlanWorld extends PlanWorld {
  readonly rehearsal: Rehearsal;
  readonly signal: AbortSignal;
  isWanted(path: string): boolean;
  looked(files: number): void;
}

/** Scans a folder and accepts its files without writing anything. */
export async function planFolder(folder: FolderConfig, world: FolderPlanWorld): Promise<PlannedFolder> {
  const { path } = folder;
  const away = (await world.whyAway(path)) ?? (await world.whyForeign(path));
  if (away !== null) return { path, why: away, survey: null };
  const router = createRouter(folder, (await world.ledger?.movedBy(path)) ?? []);
  try {
    const survey = await look(router, world);
    await takeIn(survey, router, world);
    return { path, why: null, survey };
  } catch (error) {
    world.signal.throwIfAborted();
    return { path, why: await whyRefused(path, 'it cannot be read', errnoOf(error)), survey: null };
  }
}

async function look(router: FolderRouter, world: FolderPlanWorld): Promise<Survey> {
  const nested = nestedIn(router.folder, world.config.folders);
  const known = world.ledger ?? { known: () => Promise.resolve() };
  const survey = await surveyFolder(router.watchSettings(nested), { ...world, known });
  return {
    ...survey,
    files: survey.files.filter((file) => world.isWanted(file.path)),
    unfinished: survey.unfinished.filter((file) => world.isWanted(file.path)),
  };
}

async function takeIn({ files }: Survey, router: FolderRouter, world: FolderPlanWorld): Promise<void> {
  const { rehearsal, signal } = world;
  const first = firstStartOf(router.folder, world);
  for (const file of files) {
    signal.throwIfAborted();
    if (file.kind === 'sidecar') await rerouteBeside(file.path, router, rehearsal);
    if (file.kind === 'sidecar' || file.kind === 'proof') continue;
    const arrival = await arrivalOf(router, file, { first, isWanted: false });
    if (arrival === null) continue;
    const accepted = await rehearsal.intake.accept(arrival);
    if (accepted === 'unread') await rehearsal.intake.compare(arrival, signal);
  }
}

/** Simulates a first start now if the folder has never been watched. */
function firstStartOf(folder: FolderConfig, { ledger, clock }: FolderPlanWorld): FirstStart {
  const nowNs = BigInt(clock.now()) * 1_000_000n;
  return createFirstStart(folder, {
    firstStart: async (path) => {
      const known = await ledger?.firstStart(path);
      return { askedNs: nowNs, isOver: false, ...known, beganNs: known?.beganNs ?? nowNs };
    },
    saveFirstStart: () => Promise.resolve(),
  });
}

/** Reroutes known videos that a new sidecar belongs to. */
async function rerouteBeside(sidecar: string, router: FolderRouter, { intake, ledger }: Rehearsal): Promise<void> {
  const { path: folder } = router.folder;
  for (const path of await videosNamedLike(sidecar, router, ledger)) {
    const facts = await ledger.atPath(folder, path);
    const route = facts === null ? null : await routeOf(router, facts);
    if (facts !== null && route !== null) await intake.reroute(facts, route);
  }
}
