import type { Config, SecretOrigin } from '../config/config.ts';
import { serviceOf } from '../config/installed-service.ts';

/** What to do so that a new key is used, as part of a sentence. */
export function howToRenewKey({ file, service }: Config): string {
  return sentences[service.apiKeyFrom](serviceOf(file)?.name ?? 'dropcast');
}

const sentences: Readonly<Record<SecretOrigin, (unit: string) => string>> = {
  // systemd.io/CREDENTIALS: they are acquired at activation and do not change while the service runs.
  credential: (unit) =>
    `after changing the key, run \`sudo systemctl restart ${unit}\`: systemd reads credentials only at the start`,
  environment: () => 'after changing the key, restart dropcast: it reads the environment only at the start',
  file: () => 'after changing the key, run `dropcast reload`',
};
