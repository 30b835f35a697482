import { expect, test } from 'vitest';
import { fileTable, shortPath, whyOf } from '../../../src/cli/output/file-table.ts';
import type { FileView } from '../../../src/view/files/file-view.ts';
import { viewOf } from '../../../src/view/files/file-view.ts';
import { needsPerson } from '../../../src/pipeline/file/reasons.ts';
import { ready, someFacts } from '../../pipeline/some-facts.ts';

import { fakeShell } from '../api/fake-shell.ts';

test.each([
  ['waiting', 'may not delete it', true],
  ['refused', 'may not delete it', false],
  ['deleted', '', false],
] as const)('a finished file whose local file is %s says why: %s', (disposal, why, isForPerson) => {
  const file = viewOf(null, someFacts({ ...ready, end: 'done', disposal, why: 'may not delete it' }));
  expect([whyOf(file), needsPerson(file)]).toEqual([why, isForPerson]);
});

test('progress without a reason stands alone', () => {
  const file = { ...viewOf(null, someFacts(ready)), why: null, state: 'processing', turn: null };
  const soon = { ...file, progress: { ready_at: Date.now() + 1_000 }, ready_at: Date.now() + 1_000 };
  expect(whyOf(soon as unknown as FileView)).toMatch(/^ready/);
});

test('a name that begins with a dash is printed so that it can be typed after a command', () => {
  expect(shortPath('/srv/in/-x.mp4', fakeShell({ cwd: '/srv/in' }))).toBe('./-x.mp4');
});

test('files have a column for their host in a fleet, and none on a single host', () => {
  const shell = fakeShell({ cwd: '/srv/in' });
  const [one, other] = [viewOf(null, someFacts({ id: 'f_1' })), viewOf(null, someFacts({ id: 'f_2' }))];
  const titles = (table: string): string => table.split('\n', 1)[0] ?? '';
  expect(titles(fileTable([one, other], shell))).not.toContain('HOST');
  const settling = { path: '/srv/in/new.mp4', size: 1, why: 'unchanged for 1 s' };
  const table = fileTable([{ ...one, host: 'ingest2' }, other], shell, [settling]);
  expect(titles(table)).toContain('HOST');
  expect(table).toMatch(/^settling +- +- +new\.mp4 +- /m);
  expect(table).toMatch(/^queued +f_1 +ingest2 +\S+ +\d{4}-\d\d-\d\d \d\d:\d\d /m);
});
