import { resolve } from 'node:path';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { counted, formatDuration } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { requireConfig } from '../read-config.ts';
import type { Installed, Shared } from '../registry.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { runTestClip } from '../setup/test-clip.ts';
import type { ClipResult } from '../setup/test-clip.ts';
import { checks } from './checks.ts';
import { needsSudo } from './finding.ts';
import type { Finding } from './finding.ts';
import { examine } from './patient.ts';
import type { Patient } from './patient.ts';
import { runChecks } from './run-checks.ts';
import type { CheckResult } from './run-checks.ts';

export interface DoctorOptions extends Shared {
  readonly canary?: boolean;
  readonly bundle?: string;
  readonly withNames?: boolean;
}

/**
 * `dropcast doctor`: reports current and impending problems of this installation, each with the command that fixes it.
 * Works as far as possible if the daemon is down or the configuration is broken.
 *
 * @returns 1 when there is any finding
 */
export async function doctor(installed: Installed, shell: Shell, options: DoctorOptions): Promise<number> {
  shell.takeOverSignals();
  const patient = await examine(shell, options.config);
  const show = options.json === true ? () => undefined : (result: CheckResult) => print(shell, result);
  const results = await runChecks(checks, patient, show);
  const canary = options.canary === true ? await sendCanary(shell, installed, options) : null;
  if (options.bundle !== undefined) await writeBundle(shell, patient, { results, installed, options });
  const findings = results.flatMap(({ findings }) => findings);
  const isWell =
    findings.length === 0 && (canary === null || (canary.problem === null && canary.leftovers.length === 0));
  if (options.json === true) printJson({ v: 1, ok: isWell, checks: results.map(resultJson), canary }, shell.stdout);
  else
    shell.stdout.write(
      `\n${[...(isWell ? [] : [conclusion(findings, canary)]), ...scopeOf(results, isWell)].join(' ')}\n`,
    );
  return isWell ? exitCodes.fine : exitCodes.failed;
}

/** Writes the bundle. It does not affect the exit code, which depends only on the checks. */
async function writeBundle(
  shell: Shell,
  patient: Patient,
  of: { readonly results: readonly CheckResult[]; readonly installed: Installed; readonly options: DoctorOptions },
): Promise<void> {
  const { results, installed, options } = of;
  const { bundleContents } = await import('./bundle/contents.ts');
  const { writeReport } = await import('./bundle/report.ts');
  const hasNames = options.withNames === true;
  const entries = await bundleContents(patient, results, { version: installed.version, hasNames });
  const file = resolve(shell.cwd, options.bundle ?? '');
  await writeReport(file, entries, patient.now);
  const names = hasNames ? 'with the names of your files' : 'file names are replaced';
  shell.stderr.write(
    `Wrote ${file} (${names}; keys and signed addresses are left out). Check it before you send it.\n`,
  );
}

function print({ stdout }: Shell, { name, findings, skipped }: CheckResult): void {
  const state = skipped === null ? (findings.length === 0 ? 'fine' : '') : `not checked: ${skipped}`;
  stdout.write(`${name}: ${escapeControls(state)}\n`);
  for (const { level, what, why, fix } of findings) {
    stdout.write(`  ${level}: ${escapeControls(what)}\n    why it matters: ${escapeControls(why)}\n`);
    if (fix !== null) stdout.write(`    fix: ${escapeControls(fix)}\n`);
  }
}

/** Concluding sentences about how many checks ran, because a group member may not be able to run them all. */
export function scopeOf(results: readonly Pick<CheckResult, 'skipped'>[], isWell: boolean): readonly string[] {
  const closed = results.filter(({ skipped }) => skipped?.endsWith(needsSudo) === true).length;
  if (closed === 0) return isWell ? ['No problems found.'] : [];
  const made = results.filter(({ skipped }) => skipped === null).length;
  const more = `${closed} more ${closed === 1 ? 'needs' : 'need'} sudo.`;
  return isWell ? [`No problems in the ${counted(made, 'check')} that you may run; ${more}`] : [more];
}

function resultJson({ name, findings, skipped }: CheckResult) {
  return { name, skipped, findings };
}

function conclusion(findings: readonly Finding[], canary: ClipResult | null): string {
  const problems = findings.filter(({ level }) => level === 'problem').length;
  const parts = [
    ...(problems === 0 ? [] : [counted(problems, 'problem')]),
    ...(findings.length === problems ? [] : [counted(findings.length - problems, 'warning')]),
    ...(canary?.problem == null ? [] : ['the test clip did not get through']),
  ];
  return `${parts.join(', ')}.`;
}

/** How long to wait for the test clip, which may be queued behind large files. */
const canaryPatienceMs = 300_000;

async function sendCanary(
  shell: Shell,
  { samples }: Installed,
  { config: option, json }: DoctorOptions,
): Promise<ClipResult> {
  const say = (text: string): void => void (json === true ? undefined : shell.stdout.write(text));
  say('test clip:\n');
  try {
    const config = await requireConfig(shell, option, 'may come later');
    const [folder] = config.folders;
    if (folder === undefined) throw new CommandError('there is no folder');
    const result = await runTestClip({
      config,
      folder,
      samples,
      signal: shell.stopping,
      reached: (stage, afterMs) => say(`  ${stage} after ${formatDuration(afterMs)}\n`),
      patienceMs: canaryPatienceMs,
    });
    if (result.link !== null) say(`  video: ${escapeControls(result.link)}, removed again\n`);
    if (result.problem !== null) say(`  problem: ${escapeControls(result.problem)}\n`);
    for (const leftover of result.leftovers) say(`  left: ${escapeControls(leftover)}\n`);
    return result;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    say(`  problem: ${escapeControls(error.message)}\n`);
    return { problem: error.message, steps: [], link: null, leftovers: [] };
  }
}
