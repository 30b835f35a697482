import { copyFile, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startVideoHost } from '../../e2e/video-host.ts';
import type { VideoHost } from '../../e2e/video-host.ts';
import { eventually, until } from '../../support/until.ts';
import { prepareFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { podmanObstacle } from './podman.ts';
import type { Storage } from './storage.ts';

const images = inject('images');
const obstacle = typeof images === 'string' ? images : await podmanObstacle();
if (obstacle !== null) process.stderr.write(`\n*** NOT CHECKED: contrib/compose.fleet.yaml: ${obstacle}\n\n`);

/** What `dropcast hosts --json` says of one. */
interface Listed {
  readonly name: string;
  readonly places: readonly string[];
  readonly uploads: number;
}

const members = ['ingest1', 'ingest2'];
const page = await readFile(join(import.meta.dirname, '../../../docs/fleet.md'), 'utf8');
const media = join(import.meta.dirname, '../../media');

// Its tests are the steps of one story, in their order.
describe.skipIf(obstacle !== null)('contrib/compose.fleet.yaml', () => {
  const own = new AsyncDisposableStack();
  /** While it is there, the first upload that begins is never answered. */
  let held: PromiseWithResolvers<void> | null = null;
  let host: VideoHost;
  let fleet: Fleet;

  const meddleUpload = (): boolean => {
    const isHeld = held !== null;
    held?.resolve();
    held = null;
    return isHeld;
  };

  beforeAll(async () => {
    host = own.use(await startVideoHost({ meddleUpload }));
    fleet = own.use(await prepareFleet(images as Storage, host));
  });
  afterAll(() => own.disposeAsync());

  /** As docs/fleet.md gives the command, for any member. */
  const hosts = (member: string, ...options: readonly string[]): Promise<string> => {
    const [, command = ''] = /^docker compose -f contrib\/compose\.fleet\.yaml exec ingest1 (.*?) +#/m.exec(page) ?? [];
    return fleet.compose('exec', '-T', member, ...command.split(' '), ...options);
  };
  const listed = async (member: string): Promise<readonly Listed[]> =>
    (JSON.parse(await hosts(member, '--json')) as { hosts: readonly Listed[] }).hosts;
  const bodies = (): readonly (readonly [title: string, bodies: number])[] =>
    [...host.videos.values()].map(({ title, bodies: received }) => [title, received.length] as const);
  const drop = async (name: string): Promise<void> => {
    await copyFile(join(media, name), join(fleet.inbox, `${name}.part`));
    await rename(join(fleet.inbox, `${name}.part`), join(fleet.inbox, name));
  };
  const done = async (member: string): Promise<readonly string[]> => {
    const printed = await fleet.compose('exec', '-T', member, '/usr/bin/dropcast', 'ls', '--json', '--state', 'done');
    return (JSON.parse(printed) as { files: { path: string }[] }).files.map(({ path }) => path).toSorted();
  };

  test('starts PostgreSQL, then both members, and all become healthy', async () => {
    await fleet.compose('up', '-d');
    for (const service of ['postgres', ...members]) {
      const container = await fleet.container(service);
      const health = (): Promise<string> => fleet.podman.inspect(container, '{{.State.Health.Status}}');
      await eventually(`${service} is healthy`, async () => expect(await health()).toBe('healthy'));
    }
  });

  test('shows each page at its port of the host', async () => {
    for (const port of [7878, 7879]) {
      const ask = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'GET / HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3; head -n 1 <&3`;
      expect((await fleet.podman.inNetwork('bash', '-c', ask)).stdout, `port ${port}`).toContain('HTTP/1.1 401');
    }
  });

  test('has two members, by the names of their containers, which share the folder', async () => {
    const lines = (await hosts('ingest1')).split('\n').filter((line) => line.includes('running'));
    expect(lines.map((line) => line.split(' ')[0])).toEqual(members);
    expect(await listed('ingest2')).toMatchObject(members.map((name) => ({ name, places: ['inbox:'], frozen: [] })));
  });

  test('uploads a file of the shared folder once', async () => {
    for (const member of members) await fleet.connect(member);
    await drop('clip.mp4');
    await eventually('the other member shows it as done', async () =>
      expect(await done('ingest2')).toEqual(['/srv/media/inbox/clip.mp4']),
    );
    expect(bodies()).toEqual([['clip', 1]]);
  });

  test('finishes on the other member what the killed one had begun', async () => {
    held = Promise.withResolvers();
    const { promise: begun } = held;
    await drop('camera.mov');
    await begun;
    const uploading = async () => (await listed('ingest1')).find(({ uploads }) => uploads > 0);
    const { name: killed } = await until('a member shows the upload', uploading);
    const other = members.find((member) => member !== killed) ?? '';
    await fleet.compose('kill', killed);
    await eventually('the other one has finished it', async () =>
      expect(await done(other)).toEqual(['/srv/media/inbox/camera.mov', '/srv/media/inbox/clip.mp4']),
    );
    expect(bodies()).toEqual([
      ['clip', 1],
      ['camera', 1],
    ]);
    expect(host.puts).toHaveLength(3);
  });

  test('goes down, and leaves no container', async () => {
    await fleet.compose('down');
    expect(await fleet.compose('ps', '-q')).toBe('');
  });
});
