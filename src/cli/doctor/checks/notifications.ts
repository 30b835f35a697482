import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { succeeds } from '../../../errno.ts';
import { deafWords } from '../../../view/words/picture-words.ts';
import type { DeafTargetView } from '../../../view/picture/picture.ts';
import type { NotifyTarget } from '@dropcast/notify/target';
import { shellWord } from '../../../shell-word.ts';
import { commandLine, configOf, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import type { Patient } from '../patient.ts';
import { isOpen } from './daemon.ts';

/**
 * Checks that targets accepted their last messages and that their servers are listening. Sends no message; `dropcast
 * notify test` does.
 */
export const notifications: Check = {
  name: 'notifications',
  run: async (patient) => {
    const { status } = patient;
    const config = configOf(patient);
    const deaf = status?.deaf_targets ?? [];
    const others = config.notify.filter(({ name }) => !deaf.some((each) => each.name === name));
    const found = await Promise.all(
      others.map(async (target) => ((await isThere(target)) ? [] : [away(target, patient)])),
    );
    return [...deaf.map((each) => deafVerdict(each, patient)), ...found.flat()];
  },
};

/** Reports the daemon's last failure with a target, including what only the target knows, such as a refused token. */
export function deafVerdict(target: DeafTargetView, patient: Pick<Patient, 'now' | 'service' | 'option'>): Finding {
  const test = commandLine(patient, `notify test ${shellWord(target.name)}`);
  return warning(
    deafWords(target, patient.now),
    'no notification arrives there',
    `fix it there, or correct notify in the configuration, then: ${test}`,
  );
}

async function isThere(target: NotifyTarget): Promise<boolean> {
  if (target.type === 'email') return isOpen(target.smtp);
  if (target.type === 'command') {
    const [program = ''] = target.argv;
    // A name without a slash is looked up in the daemon's own $PATH.
    return !program.includes('/') || succeeds(access(program, constants.X_OK));
  }
  const url = new URL(typeof target.url === 'string' ? target.url : target.url.reveal());
  return isOpen({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
  });
}

/** Reports an unreachable target by name, because its address may be secret. */
function away({ name, type }: NotifyTarget, patient: Patient): Finding {
  const what = type === 'command' ? 'is not an executable program' : 'does not answer';
  return warning(
    `the ${type} target "${name}" ${what}`,
    'its messages are not delivered, so problems may go unnoticed',
    `correct notify in the configuration, then: ${commandLine(patient, 'notify test')}`,
  );
}
