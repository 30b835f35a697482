import { expect, test } from 'vitest';
import { progressFrame } from '../../../src/cli/output/progress-frame.ts';
import type { FileProgress } from '../../../src/cli/output/progress-view.ts';
import { displayWidth } from '../../../src/cli/output/text-width.ts';
import { TransferRates } from '../../../src/cli/output/progress-view.ts';
import { file, view } from './views.ts';

function frame(files: readonly FileProgress[], columns = 120, rows = 24) {
  const rates = new TransferRates();
  const before = files.map((each) => ({ ...each, sentBytes: 0 }));
  rates.observe(view(before, { totals: { ...view([]).totals, sentBytes: 0 } }), 0);
  rates.observe(view(files), 1_000);
  return progressFrame({ view: view(files), rates, nowMs: 1_000, size: { columns, rows }, colour: false });
}

test('a file that is uploading shows bar, percentage, bytes, rate and time left, with the total below', () => {
  const [row, total] = frame([file()]);
  expect(row?.split(/ {2,}/)).toEqual([
    'clip.mp4',
    'uploading',
    '███████░░░░░░░░░',
    '48%',
    '6 MB / 12.3 MB',
    '6 MB/s',
    '1 s',
  ]);
  expect(total).toBe('3/12 done   45 MB / 120 MB   45 MB/s   1.6 s left   requests 12/1000');
});

test('a waiting file shows why', () => {
  const [row] = frame([file({ stage: 'processing', isRetrying: true, why: 'the service answered 503' })]);
  expect(row).toBe('clip.mp4  processing  the service answered 503');
});

test('active files come first, ended ones are left out', () => {
  const states = ['queued', 'done', 'processing', 'failed', 'uploading', 'held', 'new word'];
  const rows = frame(states.map((stage, index) => file({ id: String(index), name: `${stage}.mp4`, stage })));
  expect(rows.map((row) => row.split('.mp4')[0])).toEqual([
    'uploading',
    'processing',
    'queued',
    'new word',
    expect.stringContaining('3/12 done'),
  ]);
});

test.each([1, 5, 19, 20, 30, 48, 60, 80, 100, 200])('no row is wider than a terminal of %i columns', (columns) => {
  const names = ['日本語'.repeat(20), '👩‍👩‍👧.mp4', 'a\u{1B}[2J\n\u202E.mp4', 'x'.repeat(300)];
  const files = names.flatMap((name, index) => [
    file({ id: `u${index}`, name }),
    file({ id: `r${index}`, name, stage: 'processing', isRetrying: true, why: 'why\n'.repeat(40) }),
  ]);
  for (const row of frame(files, columns)) {
    expect(displayWidth(row)).toBeLessThanOrEqual(Math.max(0, columns - 1));
    expect(row).not.toMatch(/\p{Cc}|\u202E/u);
  }
});

test.each([1, 2, 3, 4, 8, 24])('the region leaves the cursor its row in a terminal of %i rows', (rows) => {
  const files = Array.from({ length: 50 }, (_, index) => file({ id: String(index) }));
  const lines = frame(files, 100, rows);
  expect(lines.length).toBeLessThanOrEqual(Math.max(1, Math.min(rows - 1, 12)));
  expect(lines.at(-1)).toContain('3/12 done');
});

test('files without room are counted', () => {
  const files = Array.from({ length: 50 }, (_, index) => file({ id: String(index) }));
  expect(frame(files).at(-2)).toBe('… and 40 more');
  expect(frame(files.slice(0, 10))).toHaveLength(11);
});

test('sizes that make no sense draw no nonsense', () => {
  const odd = [0, NaN, -1, Infinity].flatMap((bytes) => [
    file({ id: `a${bytes}`, sizeBytes: bytes }),
    file({ id: `b${bytes}`, sentBytes: bytes }),
  ]);
  expect(frame(odd).join('\n')).not.toMatch(/NaN|Infinity|-\d/);
});
