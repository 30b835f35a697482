import { expect, test } from 'vitest';
import { FleetCourse } from '../../../src/fleet/demo/fleet-course.ts';
import type { FileView } from '../../../src/view/files/file-view.ts';

const file = { path: '/nas/a.mov', name: 'nas1/a.mov' };
const local = { path: '/ingest1/b.mov', name: 'ingest1/b.mov' };

test('a file that another member takes over has both as its senders, and a line of progress for each', () => {
  const course = new FleetCourse([file]);
  course.hear('ingest1', [view({ host: 'ingest1', sent: 10 })]);
  course.hear('ingest2', [view({ host: 'ingest1', sent: 5 })]);
  expect(course.senders(file)).toEqual(['ingest1']);
  expect(course.progress().files).toMatchObject([{ name: 'ingest1: nas1/a.mov', sentBytes: 10 }]);
  course.hear('ingest2', [view({ host: 'ingest2', sent: 1 })]);
  expect(course.senders(file)).toEqual(['ingest1', 'ingest2']);
  expect(course.progress().files).toMatchObject([{ name: 'ingest2: nas1/a.mov', sentBytes: 1 }]);
});

test('what a member says of the work of another does not replace what that one said', () => {
  const course = new FleetCourse([file]);
  course.hear('ingest1', [view({ host: 'ingest1', state: 'uploading', sent: 90 })]);
  course.hear('ingest2', [view({ host: 'ingest1', state: 'awaiting upload', sent: null })]);
  expect(course.view(file)).toMatchObject({ state: 'uploading', sent: 90 });
});

test('only a sender of a file on the share is to be killed, and the one with the most to come', () => {
  const course = new FleetCourse([file, local]);
  course.hear('ingest1', [view({ path: local.path, host: 'ingest1', sent: 1, size: 1_000 })]);
  expect(course.busySender()).toBeNull();
  course.hear('ingest2', [view({ host: 'ingest2', sent: 1 })]);
  expect(course.busySender()).toMatchObject({ member: 'ingest2', file });
});

test('it is over when each file is done', () => {
  const course = new FleetCourse([file, local]);
  course.hear('ingest1', [view({ state: 'done', sent: null, host: 'ingest1' })]);
  expect(course.isOver()).toBe(false);
  course.hear('ingest1', [view({ path: local.path, state: 'done', stage: 'done', sent: null, host: 'ingest1' })]);
  expect(course.isOver()).toBe(true);
});

test('the end of a file is reported once', () => {
  const course = new FleetCourse([file]);
  const shown = (): readonly string[] => course.progress().files.map(({ stage }) => stage);
  course.hear('ingest1', [view({ host: 'ingest1', sent: 1 })]);
  expect([shown(), shown()]).toEqual([['uploading'], ['uploading']]);
  course.hear('ingest1', [view({ state: 'done', stage: 'done', host: 'ingest1' })]);
  expect([shown(), shown()]).toEqual([['done'], []]);
  course.hear('ingest2', [view({ state: 'done', stage: 'done', host: 'ingest1' })]);
  expect(shown()).toEqual([]);
});

function view(facts: Partial<FileView>): FileView {
  return {
    path: file.path,
    state: 'uploading',
    stage: 'uploading',
    size: 100,
    sent: 0,
    why: null,
    times: { uploaded: null },
    ...facts,
  } as FileView;
}
