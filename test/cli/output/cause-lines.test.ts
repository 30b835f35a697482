import { expect, test } from 'vitest';
import { causeLines, sharedCauses } from '../../../src/cli/output/picture-lines.ts';
import { busyPicture, noon } from '../../view/picture/some-picture.ts';

const [failed, noRule] = busyPicture().needs_you.causes;

test('60 files of one cause are two lines with the commands for all of them', () => {
  expect(causeLines(failed!, noon)).toEqual([
    '60 .mkv files could not be processed by the service, since 11:40, like /srv/in/archive/a-very-long-name-of-a-recording-that-wraps-on-a-phone_2026-11-22.mkv',
    '  Check one of them: it may be damaged or not a video. Replace or ignore them, or retry. Which: `dropcast ls --cause processing_failed`. All of them: `dropcast ignore --cause processing_failed`.',
  ]);
});

test('what no rule takes is ignored with one command', () => {
  expect(causeLines(noRule!, noon)[1]).toContain('`dropcast ignore --cause no_rule`');
});

test('a cause of one file is a row of its own', () => {
  expect(sharedCauses([failed!, { ...noRule!, files: 1 }])).toEqual([failed]);
});

test('a code that the service chose cannot leave its word or move the cursor', () => {
  const [, command] = causeLines({ ...failed!, key: '$(reboot)\u001B[2J' }, noon);
  expect(command).toContain(String.raw`--cause $'$(reboot)\x1b[2J'`);
  expect(command).not.toMatch(/\p{Cc}/u);
});
