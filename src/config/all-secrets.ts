import type { Config } from './config.ts';
import type { Secret } from './secret.ts';

/** Every secret of a configuration, for the log to hide. */
export function allSecrets({
  service,
  ledger,
  notify,
}: Pick<Config, 'service' | 'ledger' | 'notify'>): readonly Secret[] {
  const ofTargets = notify.flatMap((target) => {
    switch (target.type) {
      case 'webhook':
        return [target.url, target.token, ...Object.values(target.headers)];
      case 'ntfy':
        return [target.topic, target.token];
      case 'email':
        return [target.password];
      case 'heartbeat':
        return [target.url];
      case 'command':
        return [];
      default:
        return target satisfies never;
    }
  });
  return [service.apiKey, service.webhookSecret, ledger?.password ?? null, ...ofTargets].filter(
    (each) => each !== null,
  );
}
