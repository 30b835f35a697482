import { expect, test } from 'vitest';
import { readQuery } from '../../../src/view/files/query.ts';
import type { FileQuery } from '../../../src/view/files/query.ts';
import type { FileSelection } from '../../../src/pipeline/file/selection.ts';

const now = 1_800_000_000_000;

const meant: readonly [FileQuery, Pick<FileSelection, 'states' | 'stages'>][] = [
  [{}, {}],
  [{ state: 'queued' }, { stages: ['queued'] }],
  [{ state: 'publishing, held' }, { stages: ['publishing', 'held'] }],
  [{ state: 'failed,held' }, { states: ['failed', 'held'] }],
  [{ state: 'skipped' }, { states: ['skipped'] }],
  [{ state: 'skipped,queued' }, { stages: ['skipped', 'ignored', 'queued'] }],
  [{ state: 'ignored' }, { stages: ['ignored'] }],
  // A state that only JSON has makes all of them such states.
  [{ state: 'awaiting upload' }, { states: ['awaiting upload'] }],
  [{ state: 'retrying,uploading' }, { states: ['retrying', 'uploading'] }],
  [{ stage: 'publishing' }, { stages: ['publishing'] }],
  [{ stage: 'live' }, { stages: ['done'] }],
  [{ stage: 'queued', state: 'queued,uploading' }, { stages: ['queued'] }],
  [{ stage: 'queued', state: 'uploading' }, { stages: [] }],
  [
    { stage: 'uploading', state: 'retrying' },
    { states: ['retrying'], stages: ['uploading'] },
  ],
];

test.each(meant)('%j selects by %j', (query, expected) => {
  const { selection, problems } = readQuery(query, now);
  expect(problems).toEqual([]);
  expect(selection).toMatchObject({ states: undefined, stages: undefined, ...expected });
});

test.each([
  [{ state: 'faild' }, /^unknown state "faild"; the states are: settling, queued, .*superseded; or needs-you alone$/],
  [{ state: 'publishing,dreaming' }, /^unknown state "dreaming"/],
  [{ state: 'retrying,publishing' }, /^"publishing" cannot be selected together with states that only JSON has$/],
  [{ stage: 'held' }, /^unknown stage "held"; the stages are: settling, queued, /],
])('%j is refused', (query, problem) => {
  const { selection, problems } = readQuery(query, now);
  expect(problems).toEqual([expect.stringMatching(problem)]);
  expect(selection).toMatchObject({ states: undefined, stages: undefined });
});
