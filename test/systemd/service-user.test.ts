import { expect, test } from 'vitest';
import { operatorCommand } from '../../src/read-permission.ts';

test.each([
  [true, 'sudo dropcast resume /srv/in'],
  [false, 'dropcast resume /srv/in'],
])('a command for people, of the installed service: %s', (isService, command) => {
  expect(operatorCommand('dropcast resume /srv/in', isService)).toBe(command);
});
