import type { Config } from '../../config/config.ts';
import { shellWord } from '../../shell-word.ts';
import type { Patient } from './patient.ts';

/** Something that is wrong, or will be. */
export interface Finding {
  /** `problem`: files do not get through, or would be lost sight of; `warning`: they may, later. */
  readonly level: 'problem' | 'warning';
  readonly what: string;
  /** Why it matters. */
  readonly why: string;
  /** The command that mends it, or what to do where none can; null when there is nothing to do but wait. */
  readonly fix: string | null;
}

/** One question that a doctor asks. It changes nothing. */
export interface Check {
  readonly name: string;
  /** @throws {SkippedError} when it cannot be asked here */
  run(patient: Patient): Promise<readonly Finding[]>;
}

/** Thrown when a check does not apply or cannot be made: the message says why. */
export class SkippedError extends Error {
  override readonly name = 'SkippedError';
}

/** How the reason of a check ends that root could make. */
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

/** Messages of other parts end with the command that fixes it: `what; run: command` or `what. Fix: command`. */
export function findingFrom(level: Finding['level'], message: string, why: string): Finding {
  const [what = message, fix] = message.split(/(?:;|, then) run: |\. Fix: /);
  return { level, what, why, fix: fix ?? null };
}

/**
 * A command as it has to be typed here: with sudo for a service, and with the configuration where the usual one is another. What a
 * finding says is pasted into a shell.
 *
 * @param command without the name of the program, like `ls --state failed`
 */
export function commandLine({ service, option }: Pick<Patient, 'service' | 'option'>, command: string): string {
  if (service === null) return `dropcast ${command}${option === undefined ? '' : ` --config ${shellWord(option)}`}`;
  return `sudo dropcast ${command}${service.instance === null ? '' : ` --config ${service.configFile}`}`;
}
