import type { Config } from '../../config/config.ts';
import { shellWord } from '../../shell-word.ts';
import type { Patient } from './patient.ts';

/** A present or coming problem. */
export interface Finding {
  /** `problem`: files are blocked or may be overlooked; `warning`: this may happen later. */
  readonly level: 'problem' | 'warning';
  readonly what: string;
  /** Why it matters. */
  readonly why: string;
  /** The command that fixes it, or what to do if none can; null when there is nothing to do but wait. */
  readonly fix: string | null;
}

/** One check of the doctor. It changes nothing. */
export interface Check {
  readonly name: string;
  /** @throws {SkippedError} when it cannot run here */
  run(patient: Patient): Promise<readonly Finding[]>;
}

/** Thrown when a check does not apply or cannot run: the message says why. */
export class SkippedError extends Error {
  override readonly name = 'SkippedError';
}

/** Ends the reason of a check that root could run. */
export const needsSudo = 'run it with sudo';

/** @throws {SkippedError} when the configuration is wrong, or closed to this user */
export function configOf({ config, checked, isOutsider }: Pick<Patient, 'config' | 'checked' | 'isOutsider'>): Config {
  if (config !== null) return config;
  const isClosed = isOutsider && checked?.problems.some(({ message }) => message.includes('(EACCES)')) === true;
  throw new SkippedError(isClosed ? `you may not read the key; ${needsSudo}` : 'the configuration is wrong');
}

/** `df` and `ls` would hang as well; findmnt(8) without a path reads the kernel's table alone. */
export const hungFix =
  'findmnt --output TARGET,SOURCE,FSTYPE    # which share it is; then look at its server and the network';

/**
 * Splits messages of other parts, which end with the command that fixes them: `what; run: command` or `what. Fix:
 * command`.
 */
export function findingFrom(level: Finding['level'], message: string, why: string): Finding {
  const [what = message, fix] = message.split(/(?:;|, then) run: |\. Fix: /);
  return { level, what, why, fix: fix ?? null };
}

/**
 * A command as it has to be typed here: with sudo for a service, and with the configuration where the usual one is
 * another. What a finding says is pasted into a shell.
 *
 * @param command without the name of the program, like `ls --state failed`
 */
export function commandLine({ service, option }: Pick<Patient, 'service' | 'option'>, command: string): string {
  if (service === null) return `dropcast ${command}${option === undefined ? '' : ` --config ${shellWord(option)}`}`;
  return `sudo dropcast ${command}${service.instance === null ? '' : ` --config ${service.configFile}`}`;
}
