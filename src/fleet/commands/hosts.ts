import type { HostsView } from '../../daemon/commands/hosts.ts';
import type { HostView } from '../../view/hosts/host-view.ts';
import { fleetTroubles, hostWords } from '../../view/hosts/host-words.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { renderFitting } from '../../cli/output/file-table.ts';
import { formatRate, formatRelative } from '../../cli/output/format.ts';
import { printJson } from '../../cli/output/json.ts';
import type { Shared } from '../../cli/registry.ts';
import { exitCodes } from '../../cli/shell.ts';
import type { Shell } from '../../cli/shell.ts';
import { askHosts } from './ask.ts';

/** `dropcast hosts`: the hosts that have the same ledger. @returns exit code 1 when one of them is silent, or the database is away */
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
  const columns = [
    { title: 'HOST' },
    { title: 'STATE', style: stateStyle },
    { title: 'DOES', cut: 'end' as const },
    { title: 'SPEED', align: 'right' as const },
    { title: 'WAITING', align: 'right' as const },
    { title: 'VERSION' },
    { title: 'HEARD' },
    { title: 'FOLDERS', cut: 'end' as const },
  ];
  return renderFitting(
    columns,
    all.map((host) => rowOf(host)),
    shell,
  );
}

function rowOf(host: HostView): readonly string[] {
  const { name, here, state, version, heard_at: heardAt, places, waiting, bytes_per_second: speed } = host;
  const now = Date.now();
  return [
    here ? `${name} (this one)` : name,
    state,
    hostWords(host, now),
    speed === null ? '' : formatRate(speed),
    String(waiting),
    version,
    formatRelative(heardAt, now),
    places.join(', '),
  ];
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
