import { shellWord } from '../../shell-word.ts';
import type { Patient } from './patient.ts';

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
