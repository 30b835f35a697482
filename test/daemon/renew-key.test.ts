import { expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import type { SecretOrigin } from '../../src/config/secrets.ts';
import { howToRenewKey } from '../../src/daemon/service-connection.ts';

function sentence(file: string, apiKeyFrom: SecretOrigin): string {
  return howToRenewKey({ file, service: { apiKeyFrom } } as Config);
}

test('the key of an installed service is changed with one command; another credential takes a restart', () => {
  expect(sentence('/etc/dropcast/dropcast.yaml', 'credential')).toContain('`sudo dropcast setup --key-file - --force`');
  expect(sentence('/etc/dropcast/news.yaml', 'credential')).toContain(
    '`sudo dropcast setup --instance news --key-file - --force`',
  );
  expect(sentence('/opt/x.yaml', 'credential')).toContain('`sudo systemctl restart dropcast`');
});

test('a variable takes a restart, a file a reload', () => {
  expect(sentence('/opt/x.yaml', 'environment')).toContain('restart');
  expect(sentence('/opt/x.yaml', 'file')).toContain('dropcast reload');
});
