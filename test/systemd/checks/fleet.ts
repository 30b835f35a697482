import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Box } from '../box.ts';
import { configure, dropVideo, expectOneVideo, giveKey, quoted, unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';
import { needs } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { serviceUrl, startVideoService } from '../video-service.ts';
import type { VideoService } from '../video-service.ts';
import { newerPackage } from './newer-package.ts';
import { databaseBeside } from './database.ts';
import type { Database } from './database.ts';

const page = await readFile(new URL('../../../docs/fleet.md', import.meta.url), 'utf8');
const [yaml = ''] = /(?<=^```yaml\n)[^]*?(?=^```$)/m.exec(page) ?? [];
const [dropIn = ''] = /(?<=^```ini\n)# \/etc\/systemd[^]*?(?=^```$)/m.exec(page) ?? [];
const password = /CREATE ROLE dropcast LOGIN PASSWORD '(.*)'/.exec(page)?.[1] ?? '';

/**
 * docs/fleet.md under the unit with all its confinement: two members in one machine, one of them as an instance. Its database has
 * roles and settings of the page, and is reached over TLS.
 */
export function checkFleet(box: () => Box, file: string): void {
  const own = new AsyncDisposableStack();
  let service: VideoService;
  let database: Database;
  const options = needs('postgres');
  const scene = () => ({ box: box(), service }) as Scene;
  const hosts = async (args = ''): Promise<Record<string, string>> => {
    const { stdout } = await box().run(`dropcast hosts --json ${args}`);
    const { hosts } = JSON.parse(stdout) as {
      readonly hosts: readonly { name: string; state: string; version: string }[];
    };
    return Object.fromEntries(hosts.map(({ name, state, version }) => [name, `${state} ${version}`]));
  };
  const both = async (one: string, other: string) =>
    until(`${one}, ${other}`, async () => {
      const seen = await hosts();
      return seen['ingest1']?.startsWith(one) === true && seen['ingest2']?.startsWith(other) === true;
    });

  beforeAll(async () => {
    if (options.skip === true) return;
    database = own.use(await databaseBeside(box(), page));
    await box().read(`DEBIAN_FRONTEND=noninteractive apt-get install -y ${file} 2>&1`);
    await box().read(`groupadd media; install -d -m 2770 -g media /mnt/nas/in`);
    service = await startVideoService(box());
  });
  afterAll(() => own.disposeAsync());

  const member = async (name: string, config: string, unit: string, instance: string): Promise<void> => {
    const asked = yaml
      .replace('https://video.example.com/v1', serviceUrl)
      .replace('@db.example.com/', `@127.0.0.1:${database.port}/`)
      .replace('host_name: ingest1', `host_name: ${name}`);
    await configure(box(), `${asked}status: { listen: off }\n`, `/etc/dropcast/${config}.yaml`);
    await giveKey(box(), await service.key(), `/etc/dropcast/${instance === '' ? 'api_key' : `${config}.key`}`);
    const folder = `/etc/systemd/system/${unit}.service.d`;
    await box().read(`mkdir -p ${folder} && cat > ${folder}/ledger.conf`, { input: dropIn });
    await box().read(`dropcast systemd drop-in --install ${instance} --config /etc/dropcast/${config}.yaml`);
    await box().read(`systemctl daemon-reload && systemctl restart ${unit}`);
  };

  test('two members start under the unit, over TLS, and one of them uploads a file', options, async () => {
    await box().read('cat > /etc/dropcast/ledger_ca.pem', { input: database.ca });
    await box().read(`cat | install -m 600 /dev/stdin /etc/dropcast/ledger_password`, { input: `${password}\n` });
    await member('ingest1', 'dropcast', 'dropcast', '');
    await member('ingest2', 'ingest2', 'dropcast@ingest2', '--instance ingest2');
    await both('running', 'running');
    await database.grant();
    const sha256 = await dropVideo(box(), '/mnt/nas/in/first.mp4');
    await expectOneVideo(scene(), '/mnt/nas/in/first.mp4', sha256);
  });

  test('without PostgreSQL the members say so, and resume once it is back', options, async () => {
    await database.stop();
    let said = '';
    const isSaid = async (): Promise<boolean> => {
      const { stdout, stderr } = await box().run('dropcast status');
      said = `${stdout}${stderr}`;
      return /PostgreSQL.* has not answered since/.test(said);
    };
    await until('status says it', isSaid, { withinMs: 20_000, seen: () => said });
    expect(await unitState(box(), 'dropcast', 'ActiveState')).toEqual({ ActiveState: 'active' });
    await database.start();
    await both('running', 'running');
    const sha256 = await dropVideo(box(), '/mnt/nas/in/second.mp4');
    await expectOneVideo(scene(), '/mnt/nas/in/second.mp4', sha256);
  });

  test('after an upgrade of the package both members run again, and continue with their ledger', options, async () => {
    await box().read(newerPackage(file, '0.2.0', '/root/newer.deb'), { timeoutMs: 300_000 });
    await box().read(`DEBIAN_FRONTEND=noninteractive apt-get install -y /root/newer.deb 2>&1`);
    await both('running', 'running');
    const sha256 = await dropVideo(box(), '/mnt/nas/in/third.mp4');
    await expectOneVideo(scene(), '/mnt/nas/in/third.mp4', sha256);
    expect(await box().read(`dropcast ls --json | grep -c ${quoted('/mnt/nas/in/first.mp4')}`)).not.toBe('0');
  });
}
