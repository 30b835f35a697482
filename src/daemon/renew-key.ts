import type { Config, SecretOrigin } from '../config/config.ts';
import { serviceOf } from '../config/installed-service.ts';

/** What a person does for a new key to be used, as part of a sentence. */
export function howToRenewKey({ file, service }: Config): string {
  return sentences[service.apiKeyFrom](serviceOf(file)?.name ?? 'dropcast');
}

const sentences: Readonly<Record<SecretOrigin, (unit: string) => string>> = {
  // systemd.io/CREDENTIALS: they are acquired at activation and do not change while the service runs.
  credential: (unit) =>
    `a new key takes a restart (\`sudo systemctl restart ${unit}\`), because a credential stays as it was at the start`,
  environment: () => 'a new key takes a restart, because the environment stays as it was at the start',
  file: () => 'a new key is read by `dropcast reload`',
};
