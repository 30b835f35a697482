import type { Config, SecretOrigin } from '../config/config.ts';
import { serviceOf } from '../config/installed-service.ts';
import type { InstalledService } from '../config/installed-service.ts';

/** What to do so that a new key is used, as part of a sentence. */
export function howToRenewKey({ file, service }: Config): string {
  return sentences[service.apiKeyFrom](serviceOf(file));
}

const sentences: Readonly<Record<SecretOrigin, (installed: InstalledService | null) => string>> = {
  // systemd.io/CREDENTIALS: they are acquired at activation and do not change while the service runs.
  credential: (installed) =>
    installed === null
      ? 'after changing the key, run `sudo systemctl restart dropcast`: systemd reads credentials only at the start'
      : `new key: \`${installed.setupCommand} --key-file - --force\``,
  environment: () => 'after changing the key, restart dropcast: it reads the environment only at the start',
  file: () => 'after changing the key, run `dropcast reload`',
};
