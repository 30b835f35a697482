import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { NotifyTarget } from '../../../config/notify-config.ts';
import { commandLine } from '../command-line.ts';
import { SkippedError } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import type { Patient } from '../patient.ts';
import { isOpen } from './is-open.ts';

/** Whether somebody listens where messages are sent. Sends none: `dropcast notify test` does. */
export const notifications: Check = {
  name: 'notifications',
  run: async (patient) => {
    const { config } = patient;
    if (config === null) throw new SkippedError('the configuration is wrong');
    const found = await Promise.all(
      config.notify.map(async (target) => ((await isThere(target)) ? [] : [away(target, patient)])),
    );
    return found.flat();
  },
};

async function isThere(target: NotifyTarget): Promise<boolean> {
  if (target.type === 'email') return isOpen(target.smtp);
  if (target.type === 'command') {
    const [program = ''] = target.argv;
    // Without a slash it is looked for in $PATH, by the daemon's own.
    return (
      !program.includes('/') ||
      access(program, constants.X_OK).then(
        () => true,
        () => false,
      )
    );
  }
  const url = new URL(typeof target.url === 'string' ? target.url : target.url.reveal());
  return isOpen({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
  });
}

/** Its address may be secret. */
function away({ name, type }: NotifyTarget, patient: Patient): Finding {
  const what = type === 'command' ? 'is no program that can be run' : 'does not answer';
  return {
    level: 'warning',
    what: `the ${type} target "${name}" ${what}`,
    why: 'nobody is told when something is wrong; messages wait until it does',
    fix: `correct notify in the configuration, then: ${commandLine(patient, 'notify test')}`,
  };
}
