import { expect, test } from 'vitest';
import { openDemoPostgres } from '../../../src/fleet/demo/demo-postgres.ts';
import { FleetCourse } from '../../../src/fleet/demo/fleet-course.ts';
import { fleetSummary, fleetTable } from '../../../src/fleet/demo/fleet-demo.ts';
import type { FileView } from '../../../src/view/files/file-view.ts';
import type { Shell } from '../../../src/cli/shell.ts';

test('without PostgreSQL the demo says what to install', async () => {
  await expect(openDemoPostgres({ env: {} }, () => null)).rejects.toThrow(
    'the demo of a fleet needs PostgreSQL 15 or newer: install it (Debian, Ubuntu: apt-get install postgresql; macOS: brew install postgresql), ' +
      'or name a server with PGHOST, PGUSER and PGPASSWORD',
  );
});

test('the table at the end says who finished each file, and from whom it was taken over', () => {
  const files = [
    { path: '/nas/a.mov', name: 'nas1/a.mov' },
    { path: '/nas/b.mov', name: 'nas1/b.mov' },
  ];
  const course = new FleetCourse(files);
  course.hear('ingest1', [view('/nas/a.mov', 'uploading', 'ingest1'), view('/nas/b.mov', 'uploading', 'ingest1')]);
  course.hear('ingest2', [view('/nas/a.mov', 'uploading', 'ingest2')]);
  course.hear('ingest2', [view('/nas/a.mov', 'done', 'ingest2')]);
  course.hear('ingest1', [view('/nas/b.mov', 'done', 'ingest1')]);
  const shell = { stdout: { isTTY: false }, env: { NO_COLOR: '1' } } as unknown as Shell;
  expect(
    fleetTable(files, course, shell)
      .split('\n')
      .map((line) => line.trimEnd().split(/ {2,}/)),
  ).toEqual([
    ['FILE', 'STATE', 'FINISHED BY', 'ATTEMPTS', 'TAKEN OVER FROM'],
    ['nas1/a.mov', 'done', 'ingest2', '2', 'ingest1'],
    ['nas1/b.mov', 'done', 'ingest1', '1'],
    [''],
  ]);
  expect(fleetSummary({ files: 2, lost: 0, twice: 0, isFine: true })).toBe('2 files, 0 lost, 0 twice\n');
});

function view(path: string, state: FileView['state'], host: string): FileView {
  return { path, state, stage: state, host, sent: 1, size: 100, why: null, times: { uploaded: null } } as FileView;
}
