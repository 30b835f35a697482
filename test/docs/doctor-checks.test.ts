import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checks } from '../../src/cli/doctor/checks.ts';

test('each check of the doctor has a row in the page about what fails, in the order of the doctor', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/when-something-fails.md'), 'utf8');
  const [, table = ''] = page.split('## What the doctor finds');
  const rows = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]+?) \|/gm)].map(([, name]) => name);
  expect(rows.slice(1)).toEqual(checks.map(({ name }) => name));
});
