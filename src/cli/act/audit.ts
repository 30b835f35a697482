import { lstat } from 'node:fs/promises';
import type { AuditBegun } from '../../daemon/control/routes.ts';
import { auditOf } from '../../view/audit/audit-view.ts';
import type { AuditGroup, AuditView } from '../../view/audit/audit-view.ts';
import { costWords, howToDelete, progressWords } from '../../view/words/audit-words.ts';
import { commandDaemon, queryDaemonOrLedger } from '../control.ts';
import type { DaemonPlace } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { counted, textOf } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { queryGiven } from '../query-given.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes, userName } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface AuditOptions extends Shared {
  readonly folder?: string;
  readonly since?: string;
  readonly quick?: boolean;
  readonly yes?: boolean;
  readonly plan?: boolean;
  readonly stop?: boolean;
  readonly paths?: boolean;
}

/** `dropcast audit`: shows the last audit; begins one with `--yes`, says with `--plan` what it would cost. */
export async function audit(shell: Shell, options: AuditOptions): Promise<number> {
  const { config, json, stop, yes, plan, paths } = options;
  const place = await requireDaemonPlace(shell, config);
  if (stop === true) await commandDaemon(place, '/audit/stop', {});
  else if (yes === true || plan === true) return begin(shell, place, options);
  const view = await queryDaemonOrLedger<AuditView>(shell, place, '/audit?all=1', async (ledger) =>
    ledger === null ? noAudit : auditOf(ledger, null, true),
  );
  if (paths === true) await printPaths(shell, view.groups);
  else
    printResult(view, { shell, json }, () => textOf([view.words, ...view.groups.flatMap(groupLines), '', costsMore]));
  return exitCodes.fine;
}

const noAudit: AuditView = { v: 1, audit: null, words: progressWords(null, null, 0), groups: [] };
const costsMore = '`dropcast audit --plan` shows what another audit costs.';

/** Begins an audit with `--yes`; otherwise only shows the cost. */
async function begin(shell: Shell, place: DaemonPlace, options: AuditOptions): Promise<number> {
  const { folder, since, quick: isQuick = false, yes = false, json } = options;
  const { selection } = queryGiven(shell, { ...(folder && { folder }), ...(since && { since }) });
  const wanted = { folder: selection.folder ?? null, since: selection.since ?? null, isQuick };
  const result = await commandDaemon<AuditBegun>(place, '/audit', { wanted, by: userName(shell), isPlanned: !yes });
  if (yes && !result.begun)
    throw new CommandError('an audit is running: `dropcast audit` shows it, with --stop ends it', exitCodes.failed);
  const next = yes
    ? 'The audit has begun: `dropcast audit` shows how far it is.'
    : '`dropcast audit --yes` begins; with --quick it only reads the list.';
  printResult(result, { shell, json }, () => textOf([costWords(result.cost), next]));
  return exitCodes.fine;
}

/** Prints paths that end with a NUL, because a name may contain anything else. Leaves out files touched since. */
async function printPaths(shell: Shell, groups: readonly AuditGroup[]): Promise<void> {
  const members = groups.flatMap((group) => (group.kind === 'deletable' ? group.members : []));
  for (const { name, size, mtime_ns: mtimeNs, ctime_ns: ctimeNs } of members) {
    const stats = await lstat(name, { bigint: true }).catch(() => null);
    const isSame = Number(stats?.size) === size && String(stats?.mtimeNs) === mtimeNs;
    // No program can set the inode time back.
    const isUntouched = stats?.isFile() === true && isSame && String(stats.ctimeNs) === ctimeNs;
    if (isUntouched) shell.stdout.write(`${name}\0`);
  }
}

const mostShown = 10;

function groupLines({ kind, title, count, members }: AuditGroup): readonly string[] {
  const named = members.slice(0, mostShown);
  const more = count > named.length ? [`    … and ${counted(count - named.length, 'more')}`.replace(/s$/, '')] : [];
  const lines = named.map(({ name, video_id, note }) => `    ${name} (${[video_id, note].filter(Boolean).join(': ')})`);
  const how = kind === 'deletable' ? [`    To delete: ${howToDelete}`] : [];
  return ['', `${title} (${count})`, ...lines, ...more, ...how];
}
