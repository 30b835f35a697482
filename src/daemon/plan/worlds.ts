import type { Config } from '../../config/config.ts';
import { emptyWindow, roomOf, usageOf } from '../../host/budget-window.ts';
import type { BudgetNow } from '../../host/budget-store.ts';
import type { RehearsalLedger } from '../../intake/dry-run.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { TotalsStore } from '../../ledger/totals.ts';
import type { LedgerView } from '../../ledger/view.ts';
import type { Pace } from '../../pipeline/estimate.ts';
import type { Clock, FirstStartStore, NoteStore } from '../../pipeline/file/ports.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import { folderOwner, whyForeign } from '../../watch/root-owner.ts';
import { whyFrozenAtStart } from '../../watch/root.ts';
import { systemClock } from '../daemon.ts';
import type { Daemon } from '../daemon.ts';
import { paceOf } from '../../view/outlook.ts';
import type { Pause } from '../../pipeline/events.ts';
import { refusalOfAll, roomOfQuota, usedIn } from '../../pipeline/quota.ts';
import { createsPausesIn } from '../../pipeline/refused-creates.ts';
import { quotaAt, uploadTimes } from '../upload-times.ts';
import type { LedgerToRead } from '../state/ledger-to-read.ts';

/** Everything that planning needs. */
export interface PlanWorld {
  readonly config: Config;
  /** The ledger; null if none was ever written. */
  readonly ledger:
    | (RehearsalLedger &
        RowStore<'twins'> &
        TotalsStore &
        Pick<LedgerView, 'known' | 'movedBy'> &
        Pick<FirstStartStore, 'firstStart'> &
        Pick<NoteStore, 'note'>)
    | null;
  readonly clock: Clock;
  readonly pace: Pace;
  /** Why the service refuses every new video at present; null if it does not. */
  readonly refusal: Pause | null;
  /** Returns why a folder is currently not scanned, or null. */
  whyAway(folder: string): Promise<string | null>;
  /** Returns why a marked directory belongs to another dropcast, or null. */
  whyForeign(directory: string): Promise<string | null>;
}

/** Builds the planning inputs from a running daemon. */
export async function worldOfDaemon(daemon: Daemon): Promise<PlanWorld> {
  const { ledger, folders, conductor } = daemon;
  const whyAway: PlanWorld['whyAway'] = async (folder) => {
    const status = folders.status().find(({ path }) => path === folder);
    return status?.state === 'frozen' ? status.why : null;
  };
  const refusal = refusalOfAll(conductor.createsPauses());
  return worldOf(daemon.config(), ledger, { pace: paceOf(daemon), refusal, whyAway });
}

/** Builds the planning inputs while no daemon is running. @param ledger null: none was ever written */
export async function worldOfLedger(config: Config, ledger: LedgerToRead | null): Promise<PlanWorld> {
  const budget = await ledger?.budgetNow();
  return worldOf(config, ledger, {
    pace: paceFrom(config, budget ?? { window: emptyWindow, now: 0 }),
    refusal: ledger === null ? null : refusalOfAll(await createsPausesIn(ledger, systemClock)),
    whyAway: async (folder) => (ledger === null ? null : whyFrozenAtStart(folder, ledger)),
  });
}

async function worldOf(
  config: Config,
  ledger: Ledger | null,
  now: Pick<PlanWorld, 'refusal' | 'whyAway'> & { readonly pace: Omit<Pace, 'quota'> },
): Promise<PlanWorld> {
  const us = await folderOwner(config.stateDir, ledger?.id ?? '');
  const pace = { ...now.pace, quota: await quotaRoomOf(config, ledger) };
  return { ...now, config, ledger, clock: systemClock, pace, whyForeign: (directory) => whyForeign(directory, us) };
}

/** Returns what is left of `service.quota`; null if there is none. @param ledger null: none was ever written */
async function quotaRoomOf(
  { service }: Config,
  ledger: Pick<Ledger, 'createdSince' | 'note'> | null,
): Promise<Pace['quota']> {
  const now = systemClock.now();
  const quota = quotaAt(service.quota, now);
  if (quota === null) return null;
  const used = ledger === null ? { videos: 0, bytes: 0, minutes: 0 } : await usedIn(ledger, quota);
  return roomOfQuota(quota, used, now);
}

/** Returns the pace from the configuration alone, before anything has been measured. */
function paceFrom({ service, uploads, poll, publish }: Config, spent: BudgetNow): Omit<Pace, 'quota'> {
  const times = uploadTimes(() => uploads, systemClock);
  return {
    bytesPerSecond: null,
    processingMs: null,
    bandwidth: times.limit(),
    mayStart: times.mayStart(),
    later: times.later(),
    slots: uploads.concurrency,
    room: roomOf(usageOf(spent.window, spent.now, service.requestsPerHour)),
    pollMs: poll.intervalMs,
    latePoll: null,
    quietMs: publish.quietMs,
    atMostMs: publish.atMostMs,
  };
}
