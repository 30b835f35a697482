import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import type { FolderConfig } from '../../src/config/config.ts';
import { createRouter } from '../../src/intake/folder-router.ts';
import { WatchedFolder } from '../../src/intake/watched-folder.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { moments } from '../disk/put-away/moments.ts';
import { recordingEvents } from '../pipeline/held-rows.ts';
import { noRoots } from '../watch/no-roots.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { someFacts, someVersion } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { someFolderConfig } from '../support/folder-config.ts';

vi.mock('node:fs/promises', async (original) => {
  const { observed } = await import('../disk/put-away/moments.ts');
  return observed(await original());
});

const folderConfig = (path: string): FolderConfig =>
  someFolderConfig(path, {
    include: ['**/*.{mp4,mov}'],
    settleMs: 60_000,
    watch: 'polling',
    afterReady: { kind: 'delete' },
  });

async function open(rows: readonly Partial<Facts>[]) {
  const scratch = await scratchDirectory();
  const store = new MemoryStore(rows.map((other, n) => someFacts({ id: `f_${n}`, folder: scratch.path, ...other })));
  const routed: string[] = [];
  const unused = (): never => expect.unreachable();
  const world = {
    intake: {
      accept: unused,
      compare: unused,
      gone: unused,
      closed: unused,
      reroute: async ({ path }: Facts) => (routed.push(path), 'rerouted' as const),
    },
    ledger: Object.assign(store, { known: async () => undefined }),
    events: recordingEvents(),
    logger: silentLogger,
    broke: unused,
    owner: null,
    roots: noRoots,
    leftBehind: async () => undefined,
    stoppedFiles: async () => [],
    doubtRows: async () => undefined,
    tookIn: () => undefined,
  };
  return { scratch, world, routed, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() };
}

const offered = (folder: string, path: string) =>
  ({ folder, path, kind: 'sidecar', version: someVersion, flaw: null }) as const;

test('what a sidecar said is in the plan with the sidecar itself, so that it can go with the video', async () => {
  await using there = await open([]);
  const { scratch } = there;
  mkdirSync(scratch.file('news'));
  writeFileSync(scratch.file('news/clip.yaml'), '\uFEFFtitle: Mine');
  const sha256 = createHash('sha256').update('\uFEFFtitle: Mine').digest('hex');
  const route = await createRouter(folderConfig(scratch.path)).route('news/clip.mp4', someVersion);
  expect(route).toMatchObject({ kind: 'take', plan: { title: 'Mine', sidecar: { path: 'news/clip.yaml', sha256 } } });
  rmSync(scratch.file('news/clip.yaml'));
  const without = await createRouter(folderConfig(scratch.path)).route('news/clip.mp4', someVersion);
  expect(without).toMatchObject({ kind: 'take', plan: { title: 'clip' } });
  expect(JSON.stringify(without)).not.toContain('sidecar');
});

test('a video with nothing next to it opens no directory', async () => {
  await using there = await open([]);
  const { scratch } = there;
  mkdirSync(scratch.file('news'));
  const calls: string[] = [];
  moments.before = (name) => calls.push(name);
  await createRouter(folderConfig(scratch.path)).route('news/clip.mp4', someVersion);
  expect(calls).not.toContain('open');
  writeFileSync(scratch.file('news', 'with.yaml'), 'title: With');
  await createRouter(folderConfig(scratch.path)).route('news/with.mp4', someVersion);
  moments.reset();
  expect(calls).toContain('open');
});

test('the done marker of a video is in its plan too, and is used as long as a video of it is there', async () => {
  await using there = await open([{ path: 'clip.mp4' }, { path: 'clip.mov' }]);
  const { scratch, world } = there;
  const config = { ...folderConfig(scratch.path), include: ['**'], doneMarker: '{name}.done' };
  const router = createRouter(config);
  for (const path of ['clip.mp4', 'clip.mov', 'clip.done']) writeFileSync(scratch.file(path), '');
  const proofs = [{ path: 'clip.done', sha256: createHash('sha256').update('').digest('hex') }];
  expect(await router.route('clip.mp4', someVersion)).toMatchObject({ plan: { proofs } });
  expect(['clip.mp4', 'clip.done', 'clip.yaml'].map((path) => router.accepts(path))).toEqual([
    'media',
    'proof',
    'media',
  ]);
  expect(['clip.mp4', 'clip.done'].map((path) => router.markerOf(path))).toEqual(['clip.done', null]);
  await using folder = new WatchedFolder({ folder: config, nested: [], movedBy: [] }, world);
  for (const path of ['clip.mov', 'clip.mp4']) {
    expect(await folder.isSidecarUsed('clip.done')).toBe(true);
    rmSync(scratch.file(path));
  }
  expect(await folder.isSidecarUsed('clip.done')).toBe(false);
});

test('however many sidecars come, their directory is not listed for each of them', async () => {
  const names = Array.from({ length: 300 }, (_, n) => `clip-${n}`);
  await using there = await open(names.map((name) => ({ path: `${name}.mp4` })));
  const { scratch, world, routed } = there;
  for (const name of names)
    for (const ext of ['mp4', 'yaml']) writeFileSync(scratch.file(`${name}.${ext}`), 'title: x');
  await using folder = new WatchedFolder({ folder: folderConfig(scratch.path), nested: [], movedBy: [] }, world);
  let listings = 0;
  moments.before = (name) => void (listings += name === 'readdir' || name === 'opendir' ? 1 : 0);
  for (const name of names) await folder.complete(offered(scratch.path, `${name}.yaml`));
  moments.reset();
  expect(listings).toBeLessThan(names.length / 10);
  expect(routed).toEqual(names.map((name) => `${name}.mp4`));
});

test.each([
  ['clip.yaml', ['clip.mov', 'clip.mp4']],
  ['clip.mp4.json', ['clip.mp4']],
  ['clip.v2.yaml', ['clip.v2.mp4']],
])('%s is read again for %j alone', async (sidecar, expected) => {
  const paths = ['clip.mp4', 'clip.mov', 'clip.v2.mp4', 'clip (2).mp4', 'clip.txt'];
  await using there = await open(paths.map((path) => ({ path })));
  const { scratch, world, routed } = there;
  for (const path of [...paths, sidecar]) writeFileSync(scratch.file(path), 'title: x');
  await using folder = new WatchedFolder({ folder: folderConfig(scratch.path), nested: [], movedBy: [] }, world);
  await folder.complete(offered(scratch.path, sidecar));
  expect(routed.toSorted()).toEqual(expected);
});

test('a sidecar is used as long as a video of it is there, known or still settling', async () => {
  await using there = await open([{ path: 'clip.mp4' }, { path: 'clip.txt' }]);
  const { scratch, world } = there;
  await using folder = new WatchedFolder({ folder: folderConfig(scratch.path), nested: [], movedBy: [] }, world);
  for (const path of ['clip.mp4', 'clip.mov', 'clip.txt', 'clip.yaml']) writeFileSync(scratch.file(path), 'title: x');
  await folder.firstScan();
  for (const path of ['clip.mov', 'clip.mp4']) {
    expect(await folder.isSidecarUsed('clip.yaml')).toBe(true);
    rmSync(scratch.file(path));
  }
  expect(await folder.isSidecarUsed('clip.yaml')).toBe(false);
});

describe('a sidecar is found however its name is written', () => {
  const [composed, decomposed] = ['Gr\u00F6\u00DFe', 'Gro\u0308\u00DFe'];
  const forms: readonly (readonly [video: string, sidecar: string])[] = [
    ['clip.mp4', 'clip.mp4.yaml'],
    ['clip.mp4', 'clip.mp4.yml'],
    ['CLIP.MP4', 'CLIP.YAML'],
    ['Case.mp4', 'case.yaml'],
    ['MiXed.mp4', 'mixed.MP4.Json'],
    ['clip.mp4', 'clip.yaml.txt'],
    [`${decomposed}.mp4`, `${composed}.yaml`],
    [`${composed}.mp4`, `${decomposed}.yaml`],
  ];
  const include = ['**/*.{mp4,MP4}'];

  test.each(forms)('%j with %j', async (video, sidecar) => {
    await using there = await open([]);
    const { scratch } = there;
    mkdirSync(scratch.file('news'));
    for (const name of [video, sidecar, 'other.yaml']) writeFileSync(scratch.file('news', name), 'title: Mine');
    const router = createRouter({ ...folderConfig(scratch.path), include });
    expect(router.accepts(`news/${sidecar}`)).toBe('sidecar');
    expect(await router.route(`news/${video}`, someVersion)).toMatchObject({
      plan: { title: 'Mine', sidecar: { path: `news/${sidecar}` } },
    });
  });

  test.each(forms.filter(([video]) => video !== 'MiXed.mp4'))('%j with %j that comes late', async (video, sidecar) => {
    await using there = await open([{ path: video }]);
    const { scratch, world, routed } = there;
    writeFileSync(scratch.file(video), '');
    const config = { ...folderConfig(scratch.path), include };
    await using folder = new WatchedFolder({ folder: config, nested: [], movedBy: [] }, world);
    const { router } = folder;
    await router.route(video, someVersion);
    writeFileSync(scratch.file(sidecar), 'title: Late');
    await folder.complete(offered(scratch.path, sidecar));
    expect(routed).toEqual([video]);
    expect(await router.route(video, someVersion)).toMatchObject({ plan: { title: 'Late' } });
  });

  test.each([
    ['clip.yaml', 'CLIP.YAML'],
    ['clip.yaml', 'clip.mp4.yaml'],
    ['clip.YAML', 'clip.yaml.txt'],
  ])('and %j and %j hold their video', async (...names) => {
    await using there = await open([]);
    const { scratch } = there;
    for (const name of names) writeFileSync(scratch.file(name), 'title: Mine');
    const route = await createRouter(folderConfig(scratch.path)).route('clip.mp4', someVersion);
    expect(route).toMatchObject({ kind: 'held', code: 'sidecar' });
    for (const name of names) expect(JSON.stringify(route)).toContain(name);
  });

  test('and counts once where several names lead to one file', async () => {
    await using there = await open([]);
    const { scratch } = there;
    writeFileSync(scratch.file('clip.yaml'), 'title: Mine');
    linkSync(scratch.file('clip.yaml'), scratch.file('CLIP.yaml'));
    const route = await createRouter(folderConfig(scratch.path)).route('clip.mp4', someVersion);
    expect(route).toMatchObject({ plan: { title: 'Mine' } });
  });

  test('however many spellings there are, only a few are read: each takes 256 KiB in the meantime', async () => {
    await using there = await open([]);
    const { scratch } = there;
    for (let n = 0; n < 200; n += 1) {
      const stem = Array.from('recording', (letter, at) => ((n >> at) % 2 === 1 ? letter.toUpperCase() : letter)).join(
        '',
      );
      writeFileSync(scratch.file(`${stem}.yaml`), 'title: Mine');
    }
    let opened = 0;
    moments.before = (name, [path]) => void (opened += name === 'open' && String(path).endsWith('.yaml') ? 1 : 0);
    const route = await createRouter(folderConfig(scratch.path)).route('recording.mp4', someVersion);
    moments.reset();
    expect(route).toMatchObject({ kind: 'held', why: expect.stringContaining('two sidecars') });
    expect(opened).toBeLessThan(16);
  });

  test('the marker of a video is in its plan in whatever form its name is', async () => {
    await using there = await open([]);
    const { scratch } = there;
    const router = createRouter({ ...folderConfig(scratch.path), doneMarker: '{name}.done' });
    writeFileSync(scratch.file(`${composed}.done`), '');
    expect(router.isSidecarOf(`${decomposed}.mp4`, `${composed}.done`)).toBe(true);
    expect(await router.route(`${decomposed}.mp4`, someVersion)).toMatchObject({
      plan: { proofs: [{ path: `${composed}.done` }] },
    });
  });
});

test('a sidecar of no video is reported until its video comes', async () => {
  await using there = await open([{ path: 'known.mp4' }]);
  const { scratch, world } = there;
  const names = ['clip.yaml', 'CLIP.mp4.yml', 'known.yaml', 'gone.yaml'];
  for (const name of ['known.mp4', ...names]) writeFileSync(scratch.file(name), '');
  const intaking = { ...world, intake: { ...world.intake, accept: async () => 'new' as const } };
  const place = { folder: folderConfig(scratch.path), nested: [], movedBy: [] };
  await using folder = new WatchedFolder(place, intaking);
  for (const name of names) await folder.complete(offered(scratch.path, name));
  expect(folder.status().lone_sidecars).toEqual({ files: 3, first: ['clip.yaml', 'CLIP.mp4.yml', 'gone.yaml'] });
  await folder.gone('gone.yaml');
  writeFileSync(scratch.file('clip.mp4'), '');
  await folder.take({ ...offered(scratch.path, 'clip.mp4'), kind: 'media' });
  expect(folder.status().lone_sidecars).toEqual({ files: 0, first: [] });
});

test('a sidecar whose video still settles is not reported', async () => {
  await using there = await open([]);
  const { scratch, world } = there;
  await using folder = new WatchedFolder({ folder: folderConfig(scratch.path), nested: [], movedBy: [] }, world);
  for (const name of ['clip.yaml', 'other.yaml']) {
    writeFileSync(scratch.file(name), '');
    await folder.complete(offered(scratch.path, name));
  }
  folder.watcher.seen('clip.mov', someVersion);
  expect(folder.status().lone_sidecars).toEqual({ files: 1, first: ['other.yaml'] });
});
