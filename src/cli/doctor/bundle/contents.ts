import { readFile } from 'node:fs/promises';
import type { Config } from '../../../config/config.ts';
import { MAX_CONFIG_SIZE, parseConfigDocument } from '../../../config/document.ts';
import { readRegularFile } from '../../../config/file-access.ts';
import { secretsIn } from '../../../config/secret.ts';
import { SecretValues } from '../../../log/redaction.ts';
import { mountPointOf } from '../../../watch/kernel.ts';
import type { Patient } from '../patient.ts';
import type { CheckResult } from '../run-checks.ts';
import { AllowList } from './allow-list.ts';
import { allowed } from './allowed-fields.ts';
import { logLine } from './log-line.ts';
import { nextSteps } from './next-steps.ts';
import type { BundledFile } from './next-steps.ts';
import type { TarEntry } from './report.ts';
import { filesInNeed, lastLog, lastNews, tailOf, whyMissing } from './sources.ts';

/** Options of a bundle, which is sent to a maintainer or attached to a public report. */
export interface BundleOptions {
  readonly version: string;
  /** Whether to keep file names. */
  readonly hasNames: boolean;
}

const mostBytes = 500_000;

/** Default of `retry.attempts`, for a configuration that cannot be read. */
const usualAttempts = 12;

/** Maximum history lines per row. The newest lines explain the current state. */
const mostHistory = 200;

/** Collects everything a maintainer needs to see what happened here, as far as the list of allowed fields permits. */
export async function bundleContents(
  patient: Patient,
  results: readonly CheckResult[],
  { version, hasNames }: BundleOptions,
): Promise<readonly TarEntry[]> {
  const { checked, config, status, service, now } = patient;
  const folders = checked?.paths?.folders.map(({ path }) => path) ?? [];
  const list = new AllowList({ folders, secrets: config === null ? null : secretsOf(config) }, hasNames);
  const attempts = config?.retry.attempts ?? usualAttempts;
  const row = ({ facts, history }: BundledFile): object => ({
    ...(list.show({ facts, history: history.slice(-mostHistory) }) as object),
    ...nextSteps(facts, attempts, now),
  });
  const files = await filesInNeed(patient).then((rows) => ({ rows: rows.map(row) }), missing);
  const news = await lastNews(patient).then((lines) => ({ rows: list.show(lines) }), missing);
  const about = { v: 1, attempts, at: now };
  const failureLog = service?.failureLog ?? checked?.paths?.failureLog;
  const failures = failureLog === undefined ? Promise.resolve('') : tailOf(failureLog, mostBytes);
  return [
    { name: 'about.json', content: json({ ...about, version, node: process.version, has_names: hasNames }) },
    { name: 'files.json', content: json({ ...about, ...files }) },
    { name: 'news.json', content: json(news) },
    { name: 'failures.jsonl', content: await linesOf(failures, (line) => failureLine(line, list)) },
    { name: 'doctor.json', content: json(list.show(results, allowed.findings)) },
    { name: 'status.json', content: json(list.show(status)) },
    { name: 'config.json', content: json(await configuration(patient, list)) },
    { name: 'mounts.txt', content: await mountsOf(folders) },
    { name: 'log.txt', content: await linesOf(lastLog(patient), (line) => logLine(line, list)) },
  ];
}

function secretsOf(config: Config): SecretValues {
  const secrets = new SecretValues();
  for (const secret of secretsIn(config)) secrets.add(secret.reveal());
  return secrets;
}

function missing(error: unknown): object {
  return { missing: whyMissing(error) };
}

async function configuration({ checked }: Patient, list: AllowList): Promise<unknown> {
  if (checked === null) return null;
  const read = await readRegularFile(checked.file, MAX_CONFIG_SIZE);
  if (!read.ok) return { missing: read.message };
  return list.show(parseConfigDocument(read.bytes.toString('utf8')).value, allowed.configuration);
}

/** Shows each line of a text. Lines that cannot be read are dropped, as the first one, which may be cut off. */
function linesOf(source: Promise<string>, show: (line: string) => string | null): Promise<string> {
  return source.then((text) => {
    const shown = text.split('\n').map(show);
    return shown.filter((line) => line !== null).join('\n');
  }, whyMissing);
}

function failureLine(line: string, list: AllowList): string | null {
  try {
    return JSON.stringify(list.show(JSON.parse(line), allowed.failures));
  } catch {
    return null;
  }
}

async function mountsOf(folders: readonly string[]): Promise<string> {
  const mountinfo = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const lines = mountinfo.split('\n');
  return folders
    .map((folder) => {
      const point = mountPointOf(folder, mountinfo) ?? '/';
      const line = lines.findLast((each) => each.split(' ')[4] === point) ?? '';
      // The source and the options are left out because they may contain a password.
      return `${folder} is on ${point}: ${line.split(' - ')[1]?.split(' ')[0] ?? 'unknown'}`;
    })
    .join('\n');
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
