import { expect, test } from 'vitest';
import { until } from '../../../support/until.ts';
import type { Box } from '../../../systemd/box.ts';
import { configure, dropVideo, fileState, reaches, unitState } from '../../../systemd/installed.ts';
import type { FileState } from '../../../systemd/installed.ts';
import { settings } from '../../../systemd/checks/settings.ts';
import type { Machine } from '../machine.ts';
import { next } from '../release-tree.ts';
import { addRepository, apt, installed, serveTree } from '../repository.ts';
import { inbox } from './newcomer.ts';

const later = '/srv/media/later';
const golden = '--config /etc/dropcast/golden.yaml';
const goldenState = '/var/lib/dropcast@golden';

/** An upload of 16 MB that takes about 8 s. */
const slowly = { kind: 'slow_read', operation: 'uploads.put', bytes_per_second: 2_000_000 };

/** From this version to the next one, whose ledger has a step more, over state of every kind. */
export function checkUpgrade(machine: () => Machine): void {
  let rows: Dump;
  let files: Readonly<Record<string, FileState | null>>;
  let uploading = '';
  const names = ['first', 'broken', 'twin', 'mismatch'].map((name) => `${inbox}/${name}.mp4`);

  test('before the upgrade there are files in every state', async () => {
    const { box, service } = machine();
    await box.read(`install -d -m 2770 -g media ${later}`);
    await configure(box, settings([inbox, later]));
    await box.read('dropcast setup --yes');
    await box.read(`printf 'this is no video' > ${inbox}/broken.mp4 && cp ${inbox}/first.mp4 ${inbox}/twin.mp4`);
    await box.read(`printf '%064d' 0 > ${inbox}/mismatch.mp4.sha256`);
    await dropVideo(box, `${inbox}/mismatch.mp4`);
    for (const [n, state] of ['done', 'failed', 'skipped', 'held'].entries()) await reaches(box, names[n] ?? '', state);
    await box.read(`dropcast pause ${later}`);
    await dropVideo(box, `${later}/paused.mp4`);
    await reaches(box, `${later}/paused.mp4`, 'queued');
    await service?.faults(slowly);
    uploading = await dropVideo(box, `${inbox}/uploading.mp4`, 16);
    files = await statesOf(box, names);
    await putGoldenLedger(box);
    rows = await dump(box);
    expect(rows.schema).toBe(1);
    expect(rows.tables['file']?.length).toBeGreaterThan(20);
  });

  test('apt upgrades the running service in the middle of an upload, and every file ends as one video', async () => {
    const { box, tree, service } = machine();
    await until('the upload is under way', async () => {
      const state = await fileState(box, `${inbox}/uploading.mp4`);
      return state !== null && Number(state.sent) > 0;
    });
    const before = await unitState(box, 'dropcast', 'MainPID');
    await addRepository(box, await serveTree(box, tree));
    expect(await apt(box, 'update')).toMatchObject({ code: 0 });
    const upgrade = await apt(box, 'upgrade');
    expect(upgrade).toMatchObject({ code: 0 });
    expect(await installed(box)).toBe(`${next} ii `);
    expect(await box.read('dropcast --version')).toBe(next);
    const after = await unitState(box, 'dropcast', 'MainPID', 'ActiveState');
    expect(after).toMatchObject({ ActiveState: 'active' });
    expect(after['MainPID']).not.toBe(before['MainPID']);
    await service?.faults();
    expect(await statesOf(box, names)).toEqual(files);
    const { video_id: id, sha256 } = await reaches(box, `${inbox}/uploading.mp4`, 'done');
    expect(sha256).toBe(uploading);
    expect(await service?.videos('uploading')).toMatchObject([{ id, status: 'ready' }]);
    expect(await service?.uploads(id ?? '')).toBe(1);
  });

  test('what was paused before the upgrade stays paused, and continues when it is resumed', async () => {
    const { box, service } = machine();
    expect(await fileState(box, `${later}/paused.mp4`)).toMatchObject({ state: 'queued' });
    await box.read(`dropcast resume ${later}`);
    const { video_id: id } = await reaches(box, `${later}/paused.mp4`, 'done');
    expect(await service?.videos('paused')).toMatchObject([{ id, status: 'ready' }]);
  });

  test('the step of the schema keeps every row of every table', async ({ task }) => {
    const { box } = machine();
    const list = JSON.parse(await box.read(asDropcast(`dropcast ls --json --limit 100 ${golden}`))) as Listing;
    const { schema, tables } = await dump(box);
    expect(schema).toBe(2);
    expect(tables).toEqual({
      ...rows.tables,
      file: rows.tables['file']?.map((row) => ({ ...row, reviewed_at: null })),
    });
    expect(list.files.map(({ id }) => id).toSorted()).toEqual(rows.tables['file']?.map(({ id }) => id).toSorted());
    const states = new Set(list.files.map(({ state }) => state));
    task.meta.figure = `${list.files.length} files in ${states.size} states, ${Object.keys(tables).length} tables`;
  });
}

interface Dump {
  readonly schema: number;
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

interface Listing {
  readonly files: readonly { readonly id: string; readonly state: string }[];
}

async function statesOf(box: Box, names: readonly string[]): Promise<Readonly<Record<string, FileState | null>>> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await fileState(box, name)] as const)));
}

/** The ledger that the tests keep of schema 1, with a row in every state, as that of another instance. */
async function putGoldenLedger(box: Box): Promise<void> {
  await configure(box, `state_dir: ${goldenState}\n${settings(['/srv/golden'])}`, '/etc/dropcast/golden.yaml');
  await box.read(`set -e
install -d -o dropcast -g dropcast -m 700 ${goldenState}
for name in ledger.db ledger.id receipts.jsonl; do
  install -o dropcast -g dropcast -m 600 /mnt/golden/1/$name ${goldenState}/$name
done`);
}

async function dump(box: Box): Promise<Dump> {
  const node = '/usr/lib/dropcast/bin/node --disable-warning=ExperimentalWarning';
  const path = `${goldenState}/ledger.db`;
  return JSON.parse(await box.read(asDropcast(`${node} /mnt/install/dump-ledger.ts ${path}`))) as Dump;
}

function asDropcast(command: string): string {
  return `runuser -u dropcast -- ${command}`;
}
