import { drain, forget, hostsOf } from '../../daemon/commands/hosts.ts';
import type { DrainWanted, HostChanged, HostsView } from '../../daemon/commands/hosts.ts';
import type { Config } from '../../config/config.ts';
import type { Fleet } from '../../view/hosts/fleet-view.ts';
import { commandDaemonOr, explain, queryRunningDaemon } from '../../cli/control.ts';
import { requireDaemonPlace } from '../../cli/daemon-place.ts';
import { requireLoadable } from '../../cli/read-config.ts';
import type { Shared } from '../../cli/registry.ts';
import { CommandError, exitCodes } from '../../cli/shell.ts';
import type { Shell } from '../../cli/shell.ts';

/** Asks about hosts: the daemon of this one, or the database while none runs here. */
export interface AskHosts {
  list(): Promise<HostsView>;
  drain(wanted: DrainWanted): Promise<HostChanged>;
  forget(name: string): Promise<HostChanged>;
}

export async function askHosts(shell: Shell, options: Shared): Promise<AskHosts> {
  const place = await requireDaemonPlace(shell, options.config);
  const direct = async <T>(work: (fleet: Fleet | null) => Promise<T>): Promise<T> =>
    withFleet(await requireLoadable(shell, options.config), work);
  return {
    list: async () => {
      try {
        return await queryRunningDaemon<HostsView>(place, '/hosts');
      } catch (error) {
        if (!(error instanceof CommandError) || error.exitCode !== exitCodes.notRunning) throw error;
        return direct((fleet) => hostsOf(fleet, null));
      }
    },
    drain: (wanted) =>
      commandDaemonOr(place, { path: '/hosts/drain', body: wanted }, () => direct((fleet) => drain(fleet, wanted))),
    forget: (name) =>
      commandDaemonOr(place, { path: '/hosts/forget', body: { name } }, () =>
        direct((fleet) => forget(fleet, { name })),
      ),
  };
}

/** Straight on the database. */
async function withFleet<T>({ ledger, hostName }: Config, work: (fleet: Fleet | null) => Promise<T>): Promise<T> {
  if (ledger === null) return work(null);
  const { openPool } = await import('../postgres/pool.ts');
  const { openFleet } = await import('../open-member.ts');
  try {
    await using pool = await openPool(ledger, { hostName });
    return await work(openFleet(pool, { name: hostName, clock: { now: () => Date.now() } }));
  } catch (error) {
    throw explain(error);
  }
}
