import { expect, test } from 'vitest';
import { unitAllows } from '../../src/cli/unit-allows.ts';

const refused = Object.assign(new Error('listen EPERM'), { code: 'EPERM' });

test.each([
  ['/etc/dropcast/dropcast.yaml', 'sudo dropcast systemd drop-in --install', 'dropcast'],
  ['/etc/dropcast/press.yaml', 'sudo dropcast systemd drop-in --install --instance press', 'dropcast@press'],
])('the service of %s that may not listen says what opens the port', (file, install, name) => {
  expect(unitAllows(refused, file).why).toBe(
    `the unit allows no port but its own; run: ${install} && sudo systemctl daemon-reload && sudo systemctl restart ${name}`,
  );
});

test('for another error, and without a unit, there is nothing to say', () => {
  const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
  expect(unitAllows(taken, '/etc/dropcast/dropcast.yaml')).toEqual({});
  expect(unitAllows(refused, '/home/alice/dropcast.yaml')).toEqual({});
});
