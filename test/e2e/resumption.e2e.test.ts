import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { expectUploadedOnce, startStation } from './station.ts';
import type { Station } from './station.ts';
import { until } from '../support/until.ts';

const mib = 1024 * 1024;
/** More than the kernel's buffers on both sides hold. */
const large = randomBytes(48 * mib);
const sha256 = createHash('sha256').update(large).digest('hex');

/** The body of the only video, whose id is not known before. */
function partial({ host }: Station) {
  return [...host.partial.values()][0];
}

/** Cuts the connection of the first body once so many bytes have arrived. */
function cutOnce(station: Station, bytes: number): void {
  let isOver = false;
  station.faults.upload = (request) => {
    if (isOver || request.headers['content-length'] === undefined || request.headers['content-length'] === '0')
      return false;
    let received = 0;
    request.on('data', (part: Buffer) => {
      received += part.length;
      if (received < bytes || isOver) return;
      isOver = true;
      request.socket.destroy();
    });
    return false;
  };
}

describe.each(['content-range', 'tus'] as const)('an upload to a host that continues it (%s)', (resumable) => {
  test('that breaks is sent on from where it broke, and counts as one upload', async () => {
    await using station = await startStation({ host: { resumable } });
    cutOnce(station, 30 * mib);
    await station.drop('broken.mpg', large);
    const broken = await station.reaches('broken.mpg', 'retrying');
    expect(broken.why).toMatch(/; the next try sends only what the upload host does not have$/);
    await station.reaches('broken.mpg', 'done');
    expectUploadedOnce(station, 'broken');
    expect(station.videos('broken')[0]?.bodies).toEqual([sha256]);
    // Bytes under way when the connection broke are sent again.
    expect(partial(station)?.received).toBeLessThan(large.length + 12 * mib);
  });

  test('is sent on after kill -9, from another process', async () => {
    const settings = { uploads: { bandwidth: '40MB/s' } };
    await using station = await startStation({ host: { resumable }, settings });
    await station.drop('killed.mpg', large);
    await until('a half has arrived', () => (partial(station)?.size ?? 0) > large.length / 2);
    station.daemon().child.kill('SIGKILL');
    await until('it has ended', () => station.daemon().child.signalCode !== null);
    await station.start();
    await station.reaches('killed.mpg', 'done');
    expectUploadedOnce(station, 'killed');
    expect(station.videos('killed')[0]?.bodies).toEqual([sha256]);
    expect(partial(station)?.received).toBeLessThan(1.3 * large.length);
  });
});
