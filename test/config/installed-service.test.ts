import { expect, test } from 'vitest';
import { howToRead } from '../../src/config/installed-service.ts';

const around = (env: Record<string, string>) => ({ env, cwd: '/', home: '/root' });

test.each<[string, string, Record<string, string>, string]>([
  [
    'a person',
    '/etc/dropcast/dropcast.yaml',
    {},
    '; run the command with sudo, or ask for membership in the group dropcast',
  ],
  [
    'a person',
    '/etc/dropcast/news.yaml',
    {},
    '; run the command with sudo, or ask for membership in the group dropcast',
  ],
  ['a person', '/srv/dropcast.yaml', {}, ''],
  [
    'the service',
    '/etc/dropcast/news.yaml',
    { STATE_DIRECTORY: '/var/lib/dropcast@news', INVOCATION_ID: '0f' },
    '; the service runs as user dropcast: `sudo chgrp dropcast /etc/dropcast/news.yaml && sudo chmod 640 /etc/dropcast/news.yaml`',
  ],
  [
    'the service',
    '/etc/dropcast/dropcast.yaml',
    { STATE_DIRECTORY: '/var/lib/dropcast', INVOCATION_ID: '0f' },
    '; the service runs as user dropcast: `sudo chgrp dropcast /etc/dropcast/dropcast.yaml && sudo chmod 640 /etc/dropcast/dropcast.yaml`',
  ],
  ['a container', '/etc/dropcast/dropcast.yaml', { STATE_DIRECTORY: '/var/lib/dropcast' }, ''],
  [
    'a person in a terminal',
    '/etc/dropcast/dropcast.yaml',
    { INVOCATION_ID: '0f' },
    '; run the command with sudo, or ask for membership in the group dropcast',
  ],
  ['a foreign service', '/srv/dropcast.yaml', { STATE_DIRECTORY: '/var/lib/other' }, ''],
])('%s that may not read %s learns how to get access', (_, file, env, advice) => {
  expect(howToRead(file, around(env))).toBe(advice);
});
