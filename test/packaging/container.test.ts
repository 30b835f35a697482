import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { dropcastRecipe } from '../../scripts/release/image/recipes.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { User: user, Healthcheck: health } = dropcastRecipe('').config;
const [uid] = user.split(':');
/** Podman has no `uid=` for it, so the user cannot be its owner. Nobody else is in the container. */
const ownTmpfs = '/run/dropcast:mode=1777';
const folders = ['/etc/dropcast/dropcast.yaml', '/var/lib/dropcast', '/srv/media/inbox'];
const mostDrainSeconds = 45;

interface Service {
  readonly [key: string]: unknown;
  readonly volumes: readonly string[];
  readonly stop_grace_period: string;
}

describe('the compose file', () => {
  const compose = parse(read('contrib/compose.yaml')) as {
    readonly services: { readonly dropcast: Service };
    readonly volumes: object;
    readonly secrets: object;
  };
  const service = compose.services.dropcast;

  test('runs it without privileges, on a read-only root', () => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(service['tmpfs']).toEqual([ownTmpfs]);
    expect(service).not.toHaveProperty('privileged');
  });

  test('mounts what the image expects, declares what it uses, and shows the page to the host alone', () => {
    expect(service.volumes.map((volume) => volume.split(':')[1])).toEqual(folders);
    expect(Object.keys(compose.volumes)).toEqual(['state']);
    expect(Object.keys(compose.secrets)).toEqual(service['secrets']);
    expect(service['ports']).toEqual(['127.0.0.1:7878:7878']);
  });

  test('asks for health as the image does', () => {
    expect(service['healthcheck']).toMatchObject({ test: health.Test, retries: health.Retries });
    expect(parse(read('contrib/compose.fleet.yaml'), { merge: true })).toMatchObject({
      services: { ingest1: { healthcheck: service['healthcheck'] } },
    });
  });

  test('stops it later than its uploads may finish', () => {
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(mostDrainSeconds);
  });
});

describe('the Quadlet unit', () => {
  const text = read('contrib/dropcast.container');
  const values = (key: string): readonly string[] =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  test('has the sections that Podman and systemd read', () => {
    expect(text.match(/^\[\w+\]$/gm)).toEqual(['[Unit]', '[Container]', '[Service]', '[Install]']);
    const lines = text.split('\n').filter((line) => !/^(?:#.*|\[\w+\]|)$/.test(line));
    for (const line of lines) expect(line).toMatch(/^[A-Z]\w+=\S.*$/);
  });

  test('runs it as the compose file does', () => {
    expect(values('ReadOnly')).toEqual(['true']);
    expect(values('DropCapability')).toEqual(['all']);
    expect(values('NoNewPrivileges')).toEqual(['true']);
    expect(values('Tmpfs')).toEqual([ownTmpfs]);
    expect(values('PublishPort')).toEqual(['127.0.0.1:7878:7878']);
    expect(values('Volume').map((volume) => volume.split(':')[1])).toEqual(folders);
    expect(['CMD', ...values('HealthCmd')]).toEqual(health.Test);
    expect(values('Secret')[0]).toContain(`target=api_key,uid=${uid},`);
  });

  test('stops it later than its uploads may finish, and systemd waits longer still', () => {
    const stop = Number(/--stop-timeout=(\d+)/.exec(values('PodmanArgs').join(' '))?.[1]);
    expect(stop).toBeGreaterThan(mostDrainSeconds);
    expect(Number.parseInt(values('TimeoutStopSec')[0] ?? '', 10)).toBeGreaterThan(stop);
  });
});
