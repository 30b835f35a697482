import { expect, test } from 'vitest';
import { commandWith } from '../../../src/cli/setup/resume-command.ts';

test('the command to resume with keeps the answers, the skipped steps and the options, but no key', () => {
  const flags = {
    service: 'https://v.example/v1',
    feed: ['a', 'b'],
    instance: 'press',
    yes: true,
    testClip: true,
    probe: true,
    force: true,
  };
  expect(commandWith('sudo dropcast setup', flags)).toBe(
    "sudo dropcast setup --service 'https://v.example/v1' --instance 'press' --yes --test-clip --probe --force --feed 'a' --feed 'b'",
  );
});
