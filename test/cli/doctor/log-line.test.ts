import { expect, test } from 'vitest';
import { AllowList } from '../../../src/cli/doctor/bundle/allow-list.ts';
import { SecretValues } from '../../../src/log/redaction.ts';
import { logLine } from '../../../src/cli/doctor/bundle/log-line.ts';

const shown = (text: string): string | null => logLine(`2026-03-01T10:00:00+0000 box dropcast[12]: ${text}`, list);
const list = new AllowList({ folders: ['/srv/in'], secrets: new SecretValues() }, false);
const key = 'sk_live_PLANTED0001';

test('a line of the journal keeps its message and the allowed fields', () => {
  expect(shown('Ready folders=2 code="not_found" failure.status=503')).toBe(
    '2026-03-01T10:00:00+0000 Ready {"folders":2,"code":"not_found","status":503}',
  );
  expect(shown('{"time":"2026-03-01T10:00:00Z","level":"info","message":"Ready","folders":2}')).toBe(
    '2026-03-01T10:00:00+0000 Ready {"time":"2026-03-01T10:00:00Z","level":"info","folders":2}',
  );
});

test.each([
  `Failed why="the key ${key} was refused"`,
  `Failed code="${key}"`,
  `Failed status="${key}" ${key}=1`,
  `Failed path="/srv/in/${key}.mp4" err.message="${key}"`,
  `Failed path="a \\" status=${key}"`,
  `Error: ${key}`,
  `    at ${key} (x.js:1:2)`,
  `{"message":"${key}","code":"${key}","${key}":1}`,
  `{"message":"Failed","failure":{"message":"${key}","code":"${key}"}}`,
])('nothing of %s is shown that may be a key', (text) => {
  expect(shown(text) ?? '').not.toContain('PLANTED');
});
