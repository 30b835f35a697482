import type { Config } from '../../config/config.ts';
import { shellWord } from '../../shell-word.ts';
import type { Patient } from './patient.ts';

/** A current or impending problem. */
export interface Finding {
  readonly level: 'problem' | 'warning';
  readonly what: string;
  /** Why the problem matters. */
  readonly why: string;
  /** The command that fixes the problem, or what to do if none can; null if there is nothing to do but wait. */
  readonly fix: string | null;
}

/** A problem: files are blocked or may be overlooked. */
export function problem(what: string, why: string, fix: string | null = null): Finding {
  return { level: 'problem', what, why, fix };
}

/** A warning: files may be blocked or overlooked later. */
export function warning(what: string, why: string, fix: string | null = null): Finding {
  return { level: 'warning', what, why, fix };
}

/** One check of the doctor. Checks change nothing. */
export interface Check {
  readonly name: string;
  /** @throws {SkippedError} when the check cannot run here */
  run(patient: Patient): Promise<readonly Finding[]>;
}

/** Thrown when a check does not apply or cannot run. The message explains why. */
export class SkippedError extends Error {
  override readonly name = 'SkippedError';
}

/** Ending of the skip reason for checks that root could run. */
export const needsSudo = 'run it with sudo';

/** @throws {SkippedError} when the configuration is invalid, or not readable by this user */
export function configOf({ config, checked, isOutsider }: Pick<Patient, 'config' | 'checked' | 'isOutsider'>): Config {
  if (config !== null) return config;
  const isClosed = isOutsider && checked?.problems.some(({ message }) => message.includes('(EACCES)')) === true;
  throw new SkippedError(isClosed ? `you may not read the key; ${needsSudo}` : 'the configuration is wrong');
}

/**
 * Fix for an unresponsive share. `df` and `ls` would hang too; findmnt(8) without a path reads only the kernel's table.
 */
export const hungFix =
  'findmnt --output TARGET,SOURCE,FSTYPE    # which share it is; then look at its server and the network';

/**
 * Makes a finding from another module's message, which ends with the fixing command: `what; run: command` or `what.
 * Fix: command`.
 */
export function findingFrom(level: Finding['level'], message: string, why: string): Finding {
  const [what = message, fix] = message.split(/(?:;|, then) run: |\. Fix: /);
  return { level, what, why, fix: fix ?? null };
}

/**
 * A command as it must be typed on this machine, ready to paste into a shell: with sudo for a service, and with
 * `--config` if the configuration is not the default one.
 *
 * @param command without the program name, such as `ls --state failed`
 */
export function commandLine({ service, option }: Pick<Patient, 'service' | 'option'>, command: string): string {
  if (service === null) return `dropcast ${command}${option === undefined ? '' : ` --config ${shellWord(option)}`}`;
  return `sudo dropcast ${command}${service.instance === null ? '' : ` --config ${service.configFile}`}`;
}
