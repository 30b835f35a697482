import { expect, test } from 'vitest';
import { listenAdvice } from '../../../src/cli/run/open-status-page.ts';

const refused = Object.assign(new Error('listen EPERM'), { code: 'EPERM' });

test.each([
  ['/etc/dropcast/dropcast.yaml', 'sudo dropcast setup'],
  ['/etc/dropcast/press.yaml', 'sudo dropcast setup --instance press'],
])('the service of %s that may not listen says what opens the port', (file, command) => {
  expect(listenAdvice(refused, file).why?.endsWith(`: ${command}`)).toBe(true);
});

test('for another error, and without a unit, there is nothing to say', () => {
  const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
  expect(listenAdvice(taken, '/etc/dropcast/dropcast.yaml')).toEqual({});
  expect(listenAdvice(refused, '/home/alice/dropcast.yaml')).toEqual({});
});
