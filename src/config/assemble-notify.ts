import type { NotifyTarget } from '@dropcast/notify/target';
import type { CheckedTree } from './schema.ts';
import { secret } from './secret.ts';
import type { Secret } from './secret.ts';

type CheckedTarget = CheckedTree['notify'][number];

/**
 * @param secrets keyed by path, such as `notify.0.url`; empty if secrets were not read
 * @param absolute resolves the path of a program
 */
export function assembleNotify(
  targets: readonly CheckedTarget[],
  secrets: ReadonlyMap<string, Secret>,
  absolute: (path: string) => string,
): readonly NotifyTarget[] {
  return targets.map((target, index) => {
    const find = (key: string): Secret | null => secrets.get(`notify.${index}.${key}`) ?? null;
    return assembleTarget(target, { find, need: (key) => find(key) ?? secret(''), absolute });
  });
}

interface Values {
  find(key: string): Secret | null;
  /** Returns the secret; an empty one if secrets were not read. */
  need(key: string): Secret;
  absolute(path: string): string;
}

function assembleTarget(target: CheckedTarget, values: Values): NotifyTarget {
  const { name = target.type, timeout: timeoutMs } = target;
  if (target.type !== 'heartbeat') return assembleMessageTarget(target, { name, timeoutMs }, values);
  const { type, every: everyMs, fail } = target;
  return { type, name, timeoutMs, everyMs, url: values.need('url'), fail: fail === 'off' ? null : fail };
}

function assembleMessageTarget(
  target: Exclude<CheckedTarget, { type: 'heartbeat' }>,
  known: { readonly name: string; readonly timeoutMs: number },
  { find, need, absolute }: Values,
): NotifyTarget {
  const { on, quiet = null, daily_at: at, idle_days: isForIdleDays } = target;
  const common = { ...known, on, quiet, daily: { at, isForIdleDays } };
  switch (target.type) {
    case 'webhook': {
      const headers = Object.keys(target.headers).map((header) => [header, need(`headers.${header}`)]);
      const named: Readonly<Record<string, Secret>> = Object.fromEntries(headers);
      return { ...common, type: target.type, url: need('url'), token: find('token'), headers: named };
    }
    case 'ntfy': {
      const { type, url, priority } = target;
      return { ...common, type, url: url.replace(/\/+$/, ''), priority, topic: need('topic'), token: find('token') };
    }
    case 'email': {
      const { type, user = null, from, to } = target;
      const smtp = target.tls === 'off' ? { ...target.smtp, security: 'plain' as const } : target.smtp;
      return { ...common, type, smtp, user, password: find('password'), from, to };
    }
    case 'command': {
      const [program = '', ...rest] = target.command;
      return { ...common, type: target.type, argv: [absolute(program), ...rest] };
    }
    default:
      return target satisfies never;
  }
}
