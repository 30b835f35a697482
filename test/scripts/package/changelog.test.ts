import { expect, test } from 'vitest';
import { debianChangelog } from '../../../scripts/package/changelog.ts';

const someone = 'Some One <one@example.org>';

test('each version becomes an entry in the form of deb-changelog(5)', () => {
  const markdown =
    '# Changes\n\n## 0.2.0 (not released)\n\n- `run` is new.\n\n## 0.1.0 (2026-03-04)\n\n- First.\n- Second.\n';
  expect(debianChangelog(markdown, someone, 86_400)).toBe(`dropcast (0.2.0) UNRELEASED; urgency=medium

  * run is new.

 -- ${someone}  Fri, 02 Jan 1970 00:00:00 +0000

dropcast (0.1.0) stable; urgency=medium

  * First.
  * Second.

 -- ${someone}  Wed, 04 Mar 2026 00:00:00 +0000
`);
});

test('long changes are wrapped, and no word is lost', () => {
  const change = 'word '.repeat(60).trim();
  const lines = debianChangelog(`## 1.0.0 (2026-03-04)\n\n- ${change}\n`, someone, 0).split('\n');
  expect(lines.every((line) => line.length <= 80)).toBe(true);
  expect(lines.join(' ').match(/word/g)).toHaveLength(60);
});

test('a heading of another form is refused by its words', () => {
  expect(() => debianChangelog('## next\n\n- x\n', someone, 0)).toThrow('expected "## VERSION (DAY)": next');
});
