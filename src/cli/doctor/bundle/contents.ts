import { readFile } from 'node:fs/promises';
import { MAX_CONFIG_SIZE } from '../../../config/document.ts';
import { readRegularFile } from '../../../config/file-access.ts';
import { isSecretKey, REDACTED } from '../../../log/redaction.ts';
import { mountPointOf } from '../../../watch/kernel.ts';
import type { Patient } from '../patient.ts';
import type { CheckResult } from '../run-checks.ts';
import { maskedFile, nextSteps } from './bundled-file.ts';
import { knownSecrets } from './known-secrets.ts';
import { createMask } from './mask.ts';
import type { Mask } from './mask.ts';
import type { TarEntry } from './report.ts';
import { filesInNeed, knownFiles, lastLog, lastNews, tailOf } from './sources.ts';
import type { Gathered } from './sources.ts';

/** Options of a bundle, which is sent to a maintainer or attached to a public report. */
export interface BundleOptions {
  readonly version: string;
  /** Whether to keep file names. */
  readonly hasNames: boolean;
}

const mostBytes = 500_000;

/** Collects everything a maintainer needs to see what happened here, without secrets and by default without names. */
export async function bundleContents(
  patient: Patient,
  results: readonly CheckResult[],
  { version, hasNames }: BundleOptions,
): Promise<readonly TarEntry[]> {
  const { checked, config, status, service, now } = patient;
  const folders = checked?.paths?.folders.map(({ path }) => path) ?? [];
  const configText = checked === null ? null : await readRegularFile(checked.file, MAX_CONFIG_SIZE);
  const ownText = configText?.ok === true ? configText.bytes.toString('utf8') : '';
  const mask = createMask({ secrets: await knownSecrets(patient, ownText), folders }, hasNames);
  // Known names are masked first, so that they are also recognised in free text.
  for (const { path, title } of await knownFiles(patient)) {
    mask.path(path);
    if (title !== null) mask.words(title);
  }
  const rows = await filesInNeed(patient);
  const attempts = config?.retry.attempts ?? usualAttempts;
  const files = mapGathered(rows, (list) =>
    list.map((file) => ({ ...maskedFile(file, mask), ...nextSteps(file.facts, attempts, now) })),
  );
  const news = mapGathered(await lastNews(patient), (lines) => lines.map((line) => masked(line, mask)));
  const failureLog = service === null ? checked?.paths?.failureLog : `/var/log/${service.name}/failures.jsonl`;
  const failures = failureLog === undefined ? null : await tailOf(failureLog, mostBytes);
  const masking = (text: Gathered<string>): string => (text.is === 'there' ? mask.text(text.value) : text.why);
  return [
    {
      name: 'about.json',
      content: json({ v: 1, version, node: process.version, at: now, has_names: hasNames, attempts }),
    },
    { name: 'files.json', content: json({ v: 1, attempts, at: now, ...bare(files) }) },
    { name: 'news.json', content: json(bare(news)) },
    { name: 'failures.jsonl', content: failures === null ? '' : linesOf(failures, mask) },
    { name: 'doctor.json', content: json(masked(results, mask)) },
    { name: 'status.json', content: json(masked(status, mask)) },
    {
      name: 'config.yaml',
      content: configText?.ok === false ? configText.message : mask.config(ownText),
    },
    { name: 'mounts.txt', content: await mountsOf(folders) },
    { name: 'log.txt', content: masking(await lastLog(patient)) },
  ];
}

/** Default of `retry.attempts`, for a configuration that cannot be read. */
const usualAttempts = 12;

function mapGathered<T, U>(gathered: Gathered<T>, change: (value: T) => U): Gathered<U> {
  return gathered.is === 'there' ? { is: 'there', value: change(gathered.value) } : gathered;
}

function bare<T>(gathered: Gathered<T>): object {
  return gathered.is === 'there' ? { rows: gathered.value } : { missing: gathered.why };
}

/**
 * Masks a value recursively. Fields known to contain a path or people's words are masked as such; all other text is
 * treated as free text.
 */
function masked(value: unknown, mask: Mask, key = ''): unknown {
  if (typeof value === 'string') {
    if (isSecretKey(key)) return REDACTED;
    if (key === 'path' || key === 'folder') return value.startsWith('/') ? mask.path(value) : mask.relative(value);
    if (['title', 'description', 'tags'].includes(key)) return mask.words(value);
    return mask.text(value);
  }
  if (Array.isArray(value)) return value.map((each) => masked(each, mask, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, masked(each, mask, name)]));
}

/** Masks JSON lines. Lines that are not JSON are dropped, since the first one may be cut off. */
function linesOf(gathered: Gathered<string>, mask: Mask): string {
  if (gathered.is === 'missing') return gathered.why;
  const lines = gathered.value.split('\n').map((line) => {
    try {
      return JSON.stringify(masked(JSON.parse(line), mask));
    } catch {
      return '';
    }
  });
  return lines.filter((line) => line !== '').join('\n');
}

async function mountsOf(folders: readonly string[]): Promise<string> {
  const mountinfo = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const lines = mountinfo.split('\n');
  return folders
    .map((folder) => {
      const point = mountPointOf(folder, mountinfo) ?? '/';
      const line = lines.findLast((each) => each.split(' ')[4] === point) ?? '';
      // Superblock options are left out because they may contain a password.
      return `${folder} is on ${point}: ${line.split(' - ')[1]?.split(' ').slice(0, 2).join(' ') ?? 'unknown'}`;
    })
    .join('\n');
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
