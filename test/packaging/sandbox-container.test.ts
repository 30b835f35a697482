import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { sandboxRecipe } from '../../scripts/release/image/recipes.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const { sandbox } = (
  parse(read('contrib/compose.sandbox.yaml')) as {
    services: { sandbox: Readonly<Record<string, unknown>> & { healthcheck: { test: string[] } } };
  }
).services;

describe('contrib/compose.sandbox.yaml', () => {
  test('asks for health as the image does, in words that no engine can take apart', () => {
    expect(sandbox.healthcheck.test).toEqual(sandboxRecipe.config.Healthcheck.Test);
    for (const word of sandbox.healthcheck.test) expect(word).not.toContain(' ');
  });

  test('gives the container no privilege, no way to write but to memory, and a port for this machine alone', () => {
    expect(sandbox).toMatchObject({
      ports: ['127.0.0.1:8787:8787'],
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: ['/tmp:mode=1777'],
    });
  });

  test('names the key that docs/sandbox.md shows', () => {
    const [key = 'none'] = /sk_sandbox_\w+/.exec(read('contrib/compose.sandbox.yaml')) ?? [];
    expect(read('docs/sandbox.md')).toContain(`with the key ${key}`);
  });
});
