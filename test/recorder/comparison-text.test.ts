import { compare } from '@dropcast/recorder';
import { expect, test } from 'vitest';
import { comparisonText } from '../../packages/recorder/src/commands/comparison-text.ts';
import { exchangesOf, type Said } from './said.ts';

const created = (status: number): Said => ({ method: 'POST', target: '/v1/videos', status, json: { id: 'vid_1' } });
const got = (json: object): Said => ({ target: '/v1/videos/vid_1', json });

const textOf = (...said: Said[]): string => comparisonText(compare(exchangesOf(said)), (text) => text);

test('a comparison tells how to make the sandbox do the same', () => {
  const text = textOf(created(200), created(200), got({ id: 'vid_1', status: 'ready' }));
  expect(text).toContain(
    `
Switches that make the sandbox do the same (3)
  --set create_status=200 (exchange 1, 2)
  --set get_body=bare (exchange 3)
  --set get_fields=minimal (exchange 3)
`,
  );
  expect(text).toMatch(
    /\n\nA sandbox like this service: dropcast sandbox --set create_status=200 --set get_body=bare --set get_fields=minimal\n$/,
  );
});

test('a comparison leaves the choice to the reader where a service does not always do the same', () => {
  const text = textOf(created(200), created(201));
  expect(text).toContain(
    '\nNot always the same: choose one for the sandbox (1)\n  create_status=200 (exchange 1), create_status=201 (exchange 2)\n',
  );
  expect(text).not.toContain('--set');
});
