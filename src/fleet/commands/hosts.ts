import { setTimeout as delay } from 'node:timers/promises';
import type { HostsView, DrainWanted, HostChanged } from '../../daemon/commands/hosts.ts';
import type { HostView } from '../../view/hosts/host-view.ts';
import { fleetTroubles, hostWords } from '../../view/hosts/host-words.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { tableOf } from '../../cli/output/table.ts';
import { formatRate, formatRelative } from '../../cli/output/format.ts';
import { printJson } from '../../cli/output/json.ts';
import type { Shared } from '../../cli/registry.ts';
import { CommandError, exitCodes, userName } from '../../cli/shell.ts';
import type { Shell } from '../../cli/shell.ts';
import { drainWords, drain, forget, hostsOf } from '../../daemon/commands/hosts.ts';
import type { Config } from '../../config/config.ts';
import type { Fleet } from '../../view/hosts/fleet-view.ts';
import { commandDaemonOr, explain, queryRunningDaemon } from '../../cli/control.ts';
import { requireDaemonPlace } from '../../cli/daemon-place.ts';
import { requireLoadable } from '../../cli/read-config.ts';

/**
 * `dropcast hosts`: lists the hosts that share the ledger.
 *
 * @returns exit code 1 if a host is silent, or the database is unreachable
 */
export async function hosts(shell: Shell, options: Shared): Promise<number> {
  const view = await (await askHosts(shell, options)).list();
  if (options.json === true) printJson(view, shell.stdout);
  else if (view.self === null) shell.stdout.write(alone);
  else shell.stdout.write(`${hostTable(view, shell)}${troubleLines(view)}`);
  const isWell = view.away_since === null && view.hosts.every(({ state }) => state !== 'silent');
  return isWell ? exitCodes.fine : exitCodes.failed;
}

const alone =
  'This is a single host: its ledger is in its state directory. Several hosts share one on PostgreSQL: see docs/fleet.md.\n';

function hostTable({ hosts: all }: HostsView, shell: Shell): string {
  const now = Date.now();
  return tableOf(
    all,
    [
      ['HOST', ({ name, here }) => (here ? `${name} (this one)` : name)],
      ['STATE', ({ state }) => state, { style: stateStyle }],
      ['DOES', (host) => hostWords(host, now), { cut: 'end' }],
      ['SPEED', ({ bytes_per_second: speed }) => (speed === null ? '' : formatRate(speed)), { align: 'right' }],
      ['WAITING', ({ waiting }) => String(waiting), { align: 'right' }],
      ['VERSION', ({ version }) => version],
      ['HEARD', ({ heard_at: heardAt }) => formatRelative(heardAt, now)],
      ['FOLDERS', ({ places }) => places.join(', '), { cut: 'end' }],
    ],
    shell,
  );
}

function stateStyle(state: string): 'green' | 'yellow' | 'red' | null {
  if (state === 'running') return 'green';
  return state === 'silent' ? 'red' : 'yellow';
}

function troubleLines(view: HostsView): string {
  return fleetTroubles(view, Date.now())
    .map((words) => `${escapeControls(words)}\n`)
    .join('');
}

export interface DrainOptions extends Shared {
  readonly undo?: boolean;
  readonly wait?: boolean;
}

/** Interval between checks of a draining host, in milliseconds. Its row may be a few seconds old anyway. */
const lookMs = 1_000;

/**
 * `dropcast hosts drain NAME`: lets a host finish its running steps and start nothing new.
 *
 * @returns exit code 1 if the host became silent while the command waited
 */
export async function drainHost(shell: Shell, options: DrainOptions, name: string): Promise<number> {
  const { undo: isUndone = false, wait = false, json = false } = options;
  if (isUndone && wait) throw new CommandError('--wait works with draining, not with --undo', exitCodes.usage);
  const ask = await askHosts(shell, options);
  const changed = await ask.drain({ name, by: userName(shell), isUndone });
  if (!changed.ok) throw new CommandError(escapeControls(changed.what));
  const say = (words: string): void => void (json ? undefined : shell.stdout.write(`${escapeControls(words)}.\n`));
  if (!wait) say(changed.what);
  else shell.takeOverSignals();
  const rest = async (): Promise<boolean> => {
    await delay(lookMs, undefined, { signal: shell.stopping }).catch(() => undefined);
    return !shell.stopping.aborted;
  };
  const host = wait ? await untilDrained(name, { ask, say, rest }) : changed.host;
  if (json) printJson({ ...changed, host }, shell.stdout);
  return wait && host?.state === 'silent' ? exitCodes.failed : exitCodes.fine;
}

/** What `untilDrained` needs to wait for a host. */
export interface Waiting {
  readonly ask: Pick<AskHosts, 'list'>;
  /** Prints the progress. Called first at the start, then whenever the text changes. */
  say(words: string): void;
  /** Pauses between checks. @returns false if the command was interrupted */
  rest(): Promise<boolean>;
}

/**
 * Waits until nothing is running on a draining host.
 *
 * @returns the host at that time; a silent or stopped host makes no further progress
 * @throws {CommandError} if the command was interrupted, the host was forgotten, or its drain was undone
 */
export async function untilDrained(name: string, { ask, say, rest }: Waiting): Promise<HostView> {
  let said = '';
  for (;;) {
    const host = (await ask.list()).hosts.find((each) => each.name === name);
    if (host === undefined) throw new CommandError(`${name} was forgotten in the meantime`);
    if (host.draining === null) throw new CommandError(`${name} is no longer being drained: the drain was undone`);
    const words = drainWords(host);
    if (words !== said) say(words);
    said = words;
    if (host.state !== 'draining') return host;
    if (!(await rest())) throw new CommandError(`${name} continues to drain, but this command no longer waits for it`);
  }
}

/**
 * `dropcast hosts forget NAME`: removes a host that is permanently gone.
 *
 * @throws {CommandError} if the host is running, or no host has this name
 */
export async function forgetHost(shell: Shell, options: Shared, name: string): Promise<number> {
  const changed = await (await askHosts(shell, options)).forget(name);
  if (!changed.ok) throw new CommandError(escapeControls(changed.what));
  if (options.json === true) printJson(changed, shell.stdout);
  else shell.stdout.write(`${escapeControls(changed.what)}.\n`);
  return exitCodes.fine;
}

/** Reads and changes the host list: through this host's daemon, or in the database if no daemon is running here. */
interface AskHosts {
  list(): Promise<HostsView>;
  drain(wanted: DrainWanted): Promise<HostChanged>;
  forget(name: string): Promise<HostChanged>;
}

async function askHosts(shell: Shell, options: Shared): Promise<AskHosts> {
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

/** Runs `work` directly on the database; `fleet` is null without a shared ledger. */
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
