import { inspectOnline } from '../../configure/online-problems.ts';
import type { OnlineProblem } from '../../configure/online-problems.ts';
import { commandLine, configOf, problem, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import type { Patient } from '../patient.ts';

/**
 * Checks that the service answers, accepts the key and has every channel and feed, and whether others use the same key.
 */
export const service: Check = {
  name: 'service, key, channels and feeds',
  run: async (patient) => {
    const { status, shell } = patient;
    const others = status?.requests == null ? [] : othersFinding(status.requests);
    const online = await inspectOnline(configOf(patient), shell.stopping);
    return [...online.map((each) => onlineFinding(each, patient)), ...others];
  },
};

function onlineFinding(
  { key, message: said }: OnlineProblem,
  patient: Pick<Patient, 'service' | 'checked' | 'option'>,
): Finding {
  const { service, checked } = patient;
  const message = `${key}: ${said}`;
  const instance = service?.instance == null ? '' : ` --instance ${service.instance}`;
  if (key === 'service.api_key') {
    const fix =
      service === null
        ? 'replace the key that service.api_key names, then restart dropcast'
        : `sudo dropcast setup${instance} --key-file - --force    # asks for the new key, without showing it`;
    return problem(message, 'nothing can be uploaded: the key is wrong or was revoked', fix);
  }
  if (key === 'service.base_url') return problem(message, 'nothing can be uploaded until it answers');
  const fix = `edit ${checked?.file ?? 'the configuration'}, then: ${commandLine(patient, 'reload')}`;
  return problem(message, 'files of this rule wait', fix);
}

/** Share of the request budget below which other users of the key do no harm. */
const smallShare = 0.05;

export function othersFinding(requests: { readonly limit: number; readonly others: number }): readonly Finding[] {
  const { limit, others } = requests;
  if (others <= limit * smallShare) return [];
  return [
    warning(
      `something else used ${others} of the ${limit} requests per hour of this key`,
      'the service counts per key, so uploads wait for it',
      'give dropcast a key of its own, or lower service.requests_per_hour to what is left for it',
    ),
  ];
}
