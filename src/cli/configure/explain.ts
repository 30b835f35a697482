import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { createRouter, folderOf, routedFile } from '../../intake/folder-router.ts';
import type { FolderRouter } from '../../intake/folder-router.ts';
import { ruleReport } from '../../daemon/rules/rule-report.ts';
import type { LedgerToRead } from '../../daemon/state/ledger-to-read.ts';
import type { ShowView } from '../../view/files/show-view.ts';
import type { Explanation } from '../../routing/explain.ts';
import { versionOf } from '../../pipeline/file/file-version.ts';
import type { ReasonCode } from '../../pipeline/file/reasons.ts';
import { BROKEN_NAME, meansBrokenName } from '../../watch/left-alone-names.ts';
import { queryDaemonOrLedger } from '../control.ts';
import { whyOf } from '../output/file-table.ts';
import { formatBytes } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { proofsOf } from './proofs.ts';
import type { Proofs } from './proofs.ts';
import { readyByWords } from '../../routing/explain.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { requireLoadable } from '../read-config.ts';
import { askFor } from '../look/show.ts';
import type { Shared } from '../registry.ts';
import { CommandError } from '../shell.ts';
import type { Shell } from '../shell.ts';

interface PathReport {
  readonly v: 1;
  readonly path: string;
  readonly folder: string;
  /** What is at the path now, in words. */
  readonly on_disk: string;
  /** Why dropcast ignores the file; null if it does not. */
  readonly left_alone: string | null;
  readonly sidecar: string;
  /** Names next to the file that look like sidecars but belong to no video. */
  readonly lone_sidecars: readonly string[];
  /** Why the folder is frozen; null if it is not, or if no daemon is running. */
  readonly frozen: string | null;
  /** Why the file was not accepted yet; null if it is not waiting. */
  readonly waits_for: string | null;
  /** Why dropcast may not open the file's directory; null if it may. */
  readonly closed: string | null;
  /** Null if the path is not an existing video. */
  readonly proofs: Proofs | null;
  readonly explanation: Explanation;
  readonly stands: ShowView | null;
}

/** `dropcast explain PATH`: shows which rule matches the path and why, what would be sent, and the file's state. */
export async function explain(shell: Shell, options: Shared, path: string): Promise<void> {
  const config = await requireLoadable(shell, options.config);
  const absolute = resolve(shell.cwd, path);
  const report = await reportOn(shell, config, absolute);
  if (options.json === true) printJson(report, shell.stdout);
  else shell.stdout.write(describe(report));
}

async function reportOn(shell: Shell, config: Config, absolute: string): Promise<PathReport> {
  const router = await routerOf(config, absolute);
  const path = absolute.slice(router.folder.path.length + 1);
  const stats = await lstat(absolute, { bigint: true }).catch(() => null);
  const modifiedMs = stats === null ? Date.now() : routedFile(path, versionOf(stats)).modifiedMs;
  const { leftAlone, sidecar, loneSidecars, explanation } = await ruleReport(router, path, modifiedMs);
  const isBroken = stats === null && (await meansBrokenName(absolute));
  const { found } = await askFor(shell, config, absolute);
  const isVideo = stats?.isFile() === true && router.accepts(path) === 'media';
  const stands = found[0] ?? null;
  return {
    v: 1,
    path,
    folder: router.folder.path,
    on_disk: isBroken ? 'exists, but dropcast cannot open it' : onDisk(stats),
    left_alone: isBroken
      ? `${BROKEN_NAME}: rename it`
      : stats?.isFile() === false
        ? 'it is not a regular file'
        : leftAlone,
    sidecar,
    lone_sidecars: loneSidecars,
    explanation,
    ...(await waitOf(config, absolute)),
    closed: stands === null ? await closedAbove(shell, config, absolute) : null,
    proofs: isVideo ? await proofsOf(router, { path, version: versionOf(stats) }, stands?.file.sha256 ?? null) : null,
    stands,
  };
}

function onDisk(stats: BigIntStats | null): string {
  if (stats === null) return 'no such file';
  return stats.isFile() ? `a file of ${formatBytes(Number(stats.size))}` : 'not a regular file';
}

/** Creates the same router as the daemon's, including directories that earlier configurations moved files to. */
async function routerOf(config: Config, absolute: string): Promise<FolderRouter> {
  const folder = folderOf(config.folders, absolute);
  if (folder !== null) return createRouter(folder, await movedBy(config, folder.path));
  const folders = config.folders.map(({ path }) => path);
  throw new CommandError(
    `${escapeControls(absolute)} is outside of every watched folder; the watched folders are: ${escapeControls(folders.join(', '))}`,
  );
}

/** What the file is waiting for. Only a running daemon knows. */
async function waitOf(config: Config, absolute: string): Promise<Pick<PathReport, 'waits_for' | 'frozen'>> {
  const path = `/settling?path=${encodeURIComponent(absolute)}`;
  type Wait = Record<'why' | 'frozen', string | null>;
  const unknown: Wait = { why: null, frozen: null };
  const { why, frozen } = await queryDaemonOrLedger<Wait>(null, config, path, async () => unknown);
  return { waits_for: why, frozen };
}

/** Why a directory above the path is inaccessible, from that directory's row; null if there is no such row. */
async function closedAbove(shell: Shell, config: Config, absolute: string): Promise<string | null> {
  for (let above = dirname(absolute); folderOf(config.folders, above) !== null; above = dirname(above)) {
    const { found } = await askFor(shell, config, above);
    const entry = found.find(
      ({ file }) => file.path === above && file.state === 'held' && file.cause === closedDirectory,
    );
    if (entry !== undefined) return entry.file.why;
  }
  return null;
}

const closedDirectory: ReasonCode = 'closed_directory';

async function movedBy(config: Config, folder: string): Promise<readonly string[]> {
  const path = `/moves?folder=${encodeURIComponent(folder)}`;
  const read = async (ledger: LedgerToRead | null): Promise<{ readonly templates: readonly string[] }> => ({
    templates: ledger === null ? [] : await ledger.movedBy(folder),
  });
  return (await queryDaemonOrLedger(null, config, path, read)).templates;
}

function describe({
  path,
  folder,
  on_disk: onDisk,
  left_alone: leftAlone,
  sidecar,
  lone_sidecars: lone,
  frozen,
  waits_for: waitsFor,
  closed,
  proofs,
  explanation,
  stands,
}: PathReport): string {
  const lines = [`${escapeControls(path)} in ${escapeControls(folder)}: ${onDisk}`];
  if (frozen !== null) lines.push(`The folder is frozen: ${escapeControls(frozen)}.`);
  if (leftAlone !== null) lines.push(`Ignored: ${leftAlone}.`);
  lines.push(
    `Sidecar: ${escapeControls(sidecar)}`,
    ...(lone.length === 0
      ? []
      : [
          `Next to it, without a video: ${lone.slice(0, 5).map(escapeControls).join(', ')}${lone.length > 5 ? ', …' : ''}`,
        ]),
    ...proofLines(proofs, waitsFor),
    '',
    'Rules (the first match wins)',
  );
  for (const { rule, line, match, matched, reason, captures } of explanation.rules) {
    const values = Object.entries(captures).map(([name, value]) => `${name}=${value}`);
    const verdict = matched ? `matches${values.length > 0 ? ` (${values.join(', ')})` : ''}` : `no: ${reason ?? ''}`;
    lines.push(`  ${matched ? '→' : ' '} ${rule} (line ${line})  ${escapeControls(match)}  ${escapeControls(verdict)}`);
  }
  lines.push(
    '',
    ...sentLines(explanation, leftAlone === null ? 'It' : 'If it were not ignored, it'),
    '',
    closed !== null
      ? `State: not seen: ${escapeControls(closed)}`
      : waitsFor === null || stands !== null
        ? stateLine(stands)
        : `State: settling: ${escapeControls(waitsFor)}`,
  );
  return `${lines.join('\n')}\n`;
}

function proofLines(proofs: Proofs | null, waitsFor: string | null): readonly string[] {
  if (proofs === null) return [];
  return [
    '',
    'Is it complete?',
    ...(waitsFor === null ? [] : [`  waits for    ${escapeControls(waitsFor)}`]),
    `  writer       ${escapeControls(proofs.writer)}`,
    `  container    ${proofs.container}`,
    `  done marker  ${escapeControls(proofs.marker)}`,
    `  checksum     ${escapeControls(proofs.checksum)}`,
  ];
}

function sentLines({ route, from_sidecar: fromSidecar }: Explanation, it: string): readonly string[] {
  if (route.kind === 'held') return [`${it} would be held: ${route.why}`];
  const { channel, title, description, tags, publish, priority, readyBy } = route.plan;
  const origin = (key: (typeof fromSidecar)[number]): string => (fromSidecar.includes(key) ? '   (sidecar)' : '');
  return [
    `${it} would be sent with`,
    `  channel      ${escapeControls(channel)}${origin('channel')}`,
    `  title        ${escapeControls(title)}${origin('title')}`,
    `  description  ${description === null ? '-' : escapeControls(description)}${origin('description')}`,
    `  tags         ${escapeControls(tags.join(', ')) || '-'}${origin('tags')}`,
    `  feeds        ${escapeControls(publish.join(', ')) || '-'}${origin('publish')}`,
    `  priority     ${priority ?? 'normal'}`,
    `  ready by     ${readyBy === undefined ? '-' : readyByWords(readyBy)}`,
  ];
}

function stateLine(stands: ShowView | null): string {
  if (stands === null) return 'dropcast does not know this file yet.';
  const { file } = stands;
  const why = whyOf(file);
  return `State: ${file.stage}${why === '' ? '' : `: ${escapeControls(why)}`} (${file.id}${file.video_id === null ? '' : `, video ${escapeControls(file.video_id)}`})`;
}
