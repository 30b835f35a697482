import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkSchema } from '../../src/config/check-schema.ts';
import { parseConfigDocument } from '../../src/config/document.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const page = read('docs/fleet.md');

interface Service {
  readonly [key: string]: unknown;
  readonly volumes: readonly string[];
  readonly secrets: readonly string[];
}

describe('contrib/compose.fleet.yaml', () => {
  const compose = parse(read('contrib/compose.fleet.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: object;
    readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  };
  const single = parse(read('contrib/compose.yaml')) as typeof compose;
  const { postgres, ...members } = compose.services;

  test('has PostgreSQL and two members, whose names stay', () => {
    expect(Object.keys(members)).toEqual(['ingest1', 'ingest2']);
    for (const [name, member] of Object.entries(members)) expect(member).toMatchObject({ hostname: name });
  });

  test('runs the members as compose.yaml runs a single one, with the same folder and a state of their own', () => {
    const differs = new Set(['hostname', 'ports', 'volumes', 'secrets', 'depends_on']);
    const common = (service: Service | undefined) =>
      Object.fromEntries(Object.entries(service ?? {}).filter(([key]) => !differs.has(key)));
    for (const member of Object.values(members)) expect(common(member)).toEqual(common(single.services['dropcast']));
    const [one, other] = Object.values(members).map(({ volumes }) => volumes.map((volume) => volume.split(':')));
    expect(one?.map(([, inside]) => inside)).toEqual(
      single.services['dropcast']?.volumes.map((volume) => volume.split(':')[1]),
    );
    expect(one?.[2]).toEqual(other?.[2]);
    expect(one?.[1]).not.toEqual(other?.[1]);
  });

  test('declares every volume and secret, shows ports to the host alone, and waits for a healthy database', () => {
    const all = [postgres, ...Object.values(members)];
    const named = all
      .flatMap((service) => service?.volumes ?? [])
      .flatMap((volume) => /^\w+(?=:)/.exec(volume)?.[0] ?? []);
    expect(Object.keys(compose.volumes).toSorted()).toEqual([...new Set(named)].toSorted());
    expect(Object.keys(compose.secrets)).toEqual(
      [...new Set(all.flatMap((service) => service?.secrets ?? []))].toSorted(),
    );
    for (const member of Object.values(members)) {
      expect(String(member['ports'])).toMatch(/^127\.0\.0\.1:\d+:7878$/);
      expect(member['depends_on']).toEqual({ postgres: { condition: 'service_healthy' } });
    }
    expect(postgres).toHaveProperty('healthcheck');
    expect(postgres).not.toHaveProperty('ports');
  });

  test('has a configuration that is valid, with the secrets, the database and the folder of the compose file', () => {
    const { value, problems } = parseConfigDocument(read('contrib/dropcast.fleet.yaml'));
    expect(problems).toEqual([]);
    const { checked, findings } = checkSchema(value);
    expect(findings).toEqual([]);
    expect(checked?.ledger?.url).toMatchObject({ host: 'postgres', user: 'dropcast', database: 'dropcast' });
    expect(postgres?.['environment']).toMatchObject({ POSTGRES_USER: 'dropcast', POSTGRES_DB: 'dropcast' });
    expect(read('contrib/dropcast.fleet.yaml')).toContain('!credential ledger_password');
    // Without the name of the share, the first member marks the folder as its own, and the other freezes it.
    expect(checked?.folders).toMatchObject([{ path: '/srv/media/inbox', share: 'inbox' }]);
    expect(checked?.status.listen).toEqual({ host: '0.0.0.0', port: 7878 });
  });
});

describe('docs/fleet.md', () => {
  test('gives the unit every credential that its configuration names', () => {
    const unit = /```ini\n(# \/etc\/systemd[^`]*)```/.exec(page)?.[1] ?? '';
    const given = [...unit.matchAll(/^LoadCredential=(\w+):(\S+)$/gm)].map(([, name = '', path = '']) => [name, path]);
    expect(given).toEqual([['ledger_password', '/etc/dropcast/ledger_password']]);
    const yaml = /```yaml\n([^`]*)```/.exec(page)?.[1] ?? '';
    const wanted = [...yaml.matchAll(/!credential (\w+)/g)].map(([, name]) => name);
    const ofUnit = /^LoadCredential=(\w+):/m.exec(read('systemd/dropcast.service'))?.[1];
    expect(new Set(wanted)).toEqual(new Set([ofUnit, ...given.map(([name]) => name)]));
    expect(page).toContain(`/dev/stdin ${given[0]?.[1]}`);
  });

  test('names the compose file that there is', () => {
    expect(page).toContain('docker compose -f contrib/compose.fleet.yaml up -d');
  });
});
