import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Libraries, and files of this program, that are loaded together with these files. What is imported when it is needed is not. */
function loadedWith(...files: readonly string[]): { libraries: readonly string[]; files: readonly string[] } {
  const libraries = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, from = ''] of text.matchAll(/^(?:import|export) (?!type\b)(?:[^;]*? from )?'([^']+)';/gm)) {
      if (from.startsWith('.')) visit(join(dirname(file), from));
      else if (from.startsWith('@dropcast/')) visit(relative(root, fileURLToPath(import.meta.resolve(from))));
      else if (!from.startsWith('node:')) libraries.add(from);
    }
  };
  files.forEach(visit);
  return { libraries: [...libraries].toSorted(), files: [...seen] };
}

const inFolder = (folder: string) => (file: string) => file.startsWith(`src/${folder}/`);

test('help loads no library but the one that reads the command line', () => {
  const { libraries, files } = loadedWith('src/main.ts');
  expect(libraries).toEqual(['commander']);
  expect(files.filter(inFolder('ledger'))).toEqual([]);
});

test('status loads neither the daemon’s libraries nor its page', () => {
  const { libraries, files } = loadedWith('src/main.ts', 'src/cli/look/status.ts');
  expect(libraries).toEqual(['commander', 'yaml', 'zod']);
  expect(files.filter(inFolder('status/page'))).toEqual([]);
});

test('a start loads no page, and neither Prometheus, OpenTelemetry nor mail', () => {
  const { libraries, files } = loadedWith('src/main.ts', 'src/cli/run/run.ts');
  expect(libraries).toContain('kysely');
  expect(libraries).not.toContain('prom-client');
  expect(libraries).not.toContain('@opentelemetry/api');
  expect(libraries).not.toContain('nodemailer');
  expect(files.filter(inFolder('status/page'))).toEqual([]);
});

test('the page is loaded without the library of the numbers', () => {
  const { libraries } = loadedWith('src/cli/run/open-status-page.ts');
  expect(libraries).toContain('hono');
  expect(libraries).not.toContain('prom-client');
});
