import { expect, test } from 'vitest';
import { FleetCourse, Killing } from '../../../src/fleet/demo/fleet-course.ts';
import type { DemoMember } from '../../../src/fleet/demo/demo-member.ts';
import type { FileView } from '../../../src/view/files/file-view.ts';

const file = { path: '/nas/a.mov', name: 'nas1/a.mov' };

/** `ingest1` was killed while it sent the file. */
async function afterTheKill() {
  const calls: string[] = [];
  const clock = { now: 0 };
  const lines: string[] = [];
  const member = {
    name: 'ingest1',
    kill: () => calls.push('kill'),
    start: async () => void calls.push('start'),
  } as unknown as DemoMember;
  const course = new FleetCourse([file]);
  const killing = new Killing(
    [member],
    (line) => lines.push(line),
    () => clock.now,
  );
  course.hear('ingest1', [view({ host: 'ingest1', sent: 1 })]);
  await killing.look(course);
  expect(calls).toEqual(['kill']);
  return { calls, clock, lines, course, killing };
}

test('the killed member is started again once another one sends its file', async () => {
  const { calls, lines, course, killing } = await afterTheKill();
  await killing.look(course);
  expect(calls).toEqual(['kill']);
  course.hear('ingest2', [view({ host: 'ingest2', sent: 1 })]);
  await killing.look(course);
  expect(calls).toEqual(['kill', 'start']);
  expect(lines[1]).toContain('ingest2 has taken over nas1/a.mov');
  expect(killing.isOver).toBe(true);
});

test('the killed member is started again where the other one was done before anyone looked', async () => {
  const { calls, lines, course, killing } = await afterTheKill();
  course.hear('ingest3', [view({ host: 'ingest2', state: 'done', sent: null })]);
  await killing.look(course);
  expect(calls).toEqual(['kill', 'start']);
  expect(lines[1]).toContain('ingest2 has taken over nas1/a.mov');
});

test('the killed member is started again after half a minute, even if its file is not finished', async () => {
  const { calls, clock, course, killing } = await afterTheKill();
  clock.now = 29_999;
  await killing.look(course);
  expect(calls).toEqual(['kill']);
  clock.now = 30_000;
  await killing.look(course);
  await killing.look(course);
  expect(calls).toEqual(['kill', 'start']);
});

function view(facts: Partial<FileView>): FileView {
  return { path: file.path, state: 'uploading', size: 100, why: null, times: { uploaded: null }, ...facts } as FileView;
}
