import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rows = readFileSync(`${root}/docs/security.md`, 'utf8')
  .split('\n## ')
  .filter((section) => section.startsWith('Threats and their tests'))
  .join('')
  .split('\n')
  .filter((line) => /^\| (?!threat )[^|-]/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, threat = '', , tests = '']) => ({ threat, tests: tests.split(', ') }));

/** The test files that a name of the table stands for. */
function filesOf(name: string): readonly string[] {
  return globSync(
    [`test/${name}*.test.ts`, `test/${name}/**/*.test.ts`, `test/systemd/checks/${name.replace('systemd/', '')}.ts`],
    { cwd: root },
  );
}

describe('the table of threats in docs/security.md', () => {
  test('is there', () => expect(rows.length).toBeGreaterThan(25));

  test.each(rows)('names tests that exist: $threat', ({ tests }) => {
    for (const name of tests) expect(filesOf(name), name).not.toEqual([]);
  });

  test('names every test of this folder', () => {
    const named = new Set(rows.flatMap(({ tests }) => tests.flatMap((name) => filesOf(name))));
    const ours = globSync('test/security/*.test.ts', { cwd: root }).filter((file) => !file.includes('threat-table'));
    expect(ours.filter((file) => !named.has(file))).toEqual([]);
  });
});

describe.each(['dropcast.service', 'dropcast@.service'])('%s', (name) => {
  const unit = readFileSync(`${root}/systemd/${name}`, 'utf8');

  test('leaves no core with the key in it, gives it as a credential alone, and hides the original', () => {
    expect(unit).toMatch(/^LimitCORE=0$/m);
    expect(unit).toMatch(/^LoadCredential=api_key:\/etc\/dropcast\//m);
    expect(unit).toMatch(/^InaccessiblePaths=-\/etc\/dropcast\//m);
    expect(unit.match(/^Environment(?:File)?=.*$/gm)).toEqual([
      expect.stringMatching(/^Environment=DROPCAST_CONFIG=\S+$/),
    ]);
  });

  test('denies the metadata of clouds a second time', () => {
    expect(unit).toMatch(/^IPAddressDeny=.*\blink-local\b/m);
  });
});
