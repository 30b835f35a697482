import { expect, test } from 'vitest';
import { anywhere, placeOf } from '../../src/cli/control.ts';
import type { DaemonPlace } from '../../src/cli/control.ts';
import { NotAllowedError, NotRunningError } from '../../src/daemon/control/client.ts';

const place = (file: string): DaemonPlace =>
  placeOf({
    file,
    stateDir: '/var/lib/dropcast',
    failureLog: '/var/log/dropcast/failures.jsonl',
    socket: '/var/lib/dropcast/dropcast.sock',
  });
const installed = place('/etc/dropcast/dropcast.yaml');
const closed = new NotAllowedError('permission denied; run this with sudo');
const isDown = new NotRunningError('the daemon is not running');

/** @param down the socket where no one listens; the state directory is closed, and so are all others */
const asking = (down: string) => async (socket: string) => {
  throw socket === down ? isDown : closed;
};

test('a member of the group learns that the daemon is not running: its runtime directory is gone', async () => {
  const asked = anywhere(installed, asking('/run/dropcast/dropcast.read.sock'));
  await expect(asked).rejects.toMatchObject({ name: 'NotRunningError', cause: closed });
});

test('a user of no group may not look, and learns both ways to get access', async () => {
  await expect(anywhere(installed, asking('/none'))).rejects.toMatchObject({
    name: 'NotAllowedError',
    message: `${closed.message}, or ask for membership in the group dropcast`,
  });
});

test('the daemon of another user refuses, whatever lies at its other socket', async () => {
  const asked = anywhere(place('/home/bob/dropcast.yaml'), asking('/var/lib/dropcast/dropcast.read.sock'));
  await expect(asked).rejects.toBe(closed);
});

test('where the first socket may be asked, its answer counts', async () => {
  await expect(anywhere(installed, asking(installed.status.socket))).rejects.toBe(isDown);
});
