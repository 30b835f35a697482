import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { readFile } from 'node:fs/promises';
import { getCACertificates } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import type { Config } from '../../../config/config.ts';
import { inspectOnline } from '../../configure/online-problems.ts';
import type { OnlineProblem } from '../../configure/online-problems.ts';
import { unknownKey } from '../../setup/service-answers.ts';
import { commandLine, configOf, problem, warning, SkippedError } from '../finding.ts';
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

/** Contacts the service once, without the key, to check its certificate's validity and its clock. */
export const connection: Check = {
  name: 'certificate and clock',
  run: async (patient) => {
    const { now } = patient;
    const answer = await exchange(configOf(patient).service).catch(() => null);
    // Another check reports an unreachable service.
    if (answer === null) throw new SkippedError('the service does not answer, or is reached through a proxy');
    return [
      ...certificateVerdict(answer.validTo, now),
      ...clockVerdict(answer.date, Date.now()),
      ...(await jumpOf(patient)),
    ];
  },
};

const dayMs = 86_400_000;
const soonDays = 14;

/** @param validTo when the certificate expires, in epoch milliseconds; null without TLS */
export function certificateVerdict(validTo: number | null, now: number): readonly Finding[] {
  if (validTo === null || validTo - now > soonDays * dayMs) return [];
  const days = Math.max(0, Math.floor((validTo - now) / dayMs));
  const what = `the certificate of the service is valid for ${days} more ${days === 1 ? 'day' : 'days'}`;
  return [warning(what, 'no request gets through after that', 'contact the operator of the service')];
}

const mostSkewMs = 60_000;

/** @param there the service's time, in epoch milliseconds; null if its answer has none */
export function clockVerdict(there: number | null, here: number): readonly Finding[] {
  if (there === null || Math.abs(there - here) <= mostSkewMs) return [];
  const seconds = Math.round(Math.abs(there - here) / 1000);
  return [
    warning(
      `the clock of this machine is ${seconds} s ${here > there ? 'ahead of' : 'behind'} the service's`,
      'signed addresses and webhooks are refused, and upload windows open and close at the wrong time',
      'sudo timedatectl set-ntp true',
    ),
  ];
}

/** Reports how far the clock was moved since the daemon started, from the daemon's age on the machine's two clocks. */
export function jumpVerdict(ages: { readonly wallMs: number; readonly monotonicMs: number }): readonly Finding[] {
  const jumpMs = ages.wallMs - ages.monotonicMs;
  if (Math.abs(jumpMs) <= mostSkewMs) return [];
  return [
    warning(
      `the clock was set ${jumpMs > 0 ? 'forward' : 'back'} by ${Math.round(Math.abs(jumpMs) / 1000)} s since the daemon started`,
      'earlier times in its history are off by as much',
      'timedatectl    # shows whether the clock is synchronized',
    ),
  ];
}

async function jumpOf({ status, now }: Patient): Promise<readonly Finding[]> {
  const { pid, started_at: startedAt } = status?.daemon ?? { pid: null, started_at: null };
  if (pid === null || startedAt === null) return [];
  const monotonicMs = await ageOfProcess(pid).catch(() => null);
  return monotonicMs === null ? [] : jumpVerdict({ wallMs: now - startedAt, monotonicMs });
}

/** A process's age in milliseconds. Ticks in proc(5) are hundredths of a second on every Linux that Node supports. */
async function ageOfProcess(pid: number): Promise<number> {
  const [stat, uptime] = await Promise.all([`/proc/${pid}/stat`, '/proc/uptime'].map((path) => readFile(path, 'utf8')));
  // The program name may contain spaces and parentheses.
  const started = Number(stat?.slice(stat.lastIndexOf(')')).split(' ')[20]) * 10;
  return Number(uptime?.split(' ')[0]) * 1000 - started;
}

const timeoutMs = 8_000;

function exchange({
  baseUrl,
  authorities,
}: Config['service']): Promise<{ readonly date: number | null; readonly validTo: number | null }> {
  const url = new URL(`${baseUrl}/channels`);
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const headers = { authorization: `Bearer ${unknownKey}` };
  const ca = [...getCACertificates('default'), ...Object.values(authorities)];
  return new Promise((resolve, reject) => {
    const call = request(url, { timeout: timeoutMs, agent: false, headers, ca }, (answer) => {
      const date = Date.parse(answer.headers.date ?? '');
      const certificate = url.protocol === 'https:' ? (answer.socket as TLSSocket).getPeerCertificate() : null;
      const validTo = Date.parse(certificate?.valid_to ?? '');
      answer.resume();
      resolve({ date: Number.isNaN(date) ? null : date, validTo: Number.isNaN(validTo) ? null : validTo });
    });
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', reject);
    call.end();
  });
}
