import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import type { Shell } from '../../src/cli/shell.ts';

const root = join(import.meta.dirname, '../..');
const shell = { stdout: new PassThrough(), stderr: new PassThrough() } as unknown as Shell;
const commands = createProgram(shell, { version: '0', samples: '' }, () => undefined).commands.map((each) =>
  each.name(),
);

/** In the first column of a table. */
const documented = (page: string): string =>
  readFileSync(join(root, page), 'utf8')
    .split('\n')
    .flatMap((line) => /^\| ((?:\\\||[^|])*) \|/.exec(line)?.[1] ?? [])
    .join('\n');

test.each(commands)('the README and the design name `%s` in their tables of commands', (name) => {
  for (const page of ['README.md', 'docs/design.md']) expect(documented(page)).toMatch(new RegExp(`\\b${name}\\b`));
});
