import { expect, test } from 'vitest';
import { ignoredBy } from '../../src/pipeline/file/reasons.ts';
import { knownStates, stageOf, stageOfState, stages, statesIn } from '../../src/view/stages.ts';
import type { StageOrEnd } from '../../src/view/stages.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, ready, someFacts, uploaded } from '../pipeline/some-facts.ts';

const begun = { ...created, uploadStartedAt: 2 };
const later = { notBefore: 9 };

const cases: readonly [string, Partial<Facts>, isHeld: boolean, StageOrEnd][] = [
  ['waits for a record', {}, false, 'queued'],
  ['gets its record', {}, true, 'queued'],
  ['waits for an upload slot', created, false, 'queued'],
  ['is sent', created, true, 'uploading'],
  ['waits for a slot in the middle of its upload', begun, false, 'queued'],
  ['is at the service', uploaded, false, 'processing'],
  ['is asked for', uploaded, true, 'processing'],
  ['waits for its feed', ready, false, 'publishing'],
  ['will create its record again', later, false, 'queued'],
  ['will be sent for the first time', { ...created, ...later }, false, 'queued'],
  ['will be sent again', { ...begun, ...later }, false, 'uploading'],
  ['will be asked for again', { ...uploaded, ...later }, false, 'processing'],
  ['will be published again', { ...ready, ...later }, false, 'publishing'],
  ['will get another record', { ...uploaded, ...later, dying: true }, false, 'queued'],
  ['is done', { ...ready, end: 'done' }, false, 'done'],
  ['failed', { ...uploaded, end: 'failed' }, false, 'failed'],
  ['is held', { end: 'held' }, false, 'held'],
  ['is a duplicate', { end: 'skipped' }, false, 'skipped'],
  ['was ignored by a person', { end: 'skipped', lastFailure: ignoredBy('anna', someFacts()) }, false, 'ignored'],
  ['vanished', { end: 'vanished' }, false, 'vanished'],
  ['changed', { end: 'superseded' }, false, 'superseded'],
];

test.each(cases)('a file that %s', (_name, facts, isHeld, stage) => {
  expect(stageOf(someFacts(facts), isHeld)).toBe(stage);
});

test('every state on the way is in one stage, but for `retrying`, which is in none', () => {
  const others = new Set(['retrying', 'failed', 'held', 'skipped', 'vanished', 'superseded']);
  const onTheWay = knownStates.filter((state) => !others.has(state));
  expect(stages.flatMap((stage) => statesIn[stage]).toSorted()).toEqual(onTheWay.toSorted());
});

test('a state alone has the stage of a file that is shown in it', () => {
  expect(['creating', 'awaiting upload', 'uploading', 'done', 'held', 'retrying'].map(stageOfState)).toEqual([
    'queued',
    'queued',
    'uploading',
    'done',
    'held',
    null,
  ]);
});
