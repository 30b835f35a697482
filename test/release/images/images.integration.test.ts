import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { architectures } from '../../../scripts/package/architecture.ts';
import type { Deb } from '../../../scripts/package/deb.ts';
import { DebianError } from '../../../scripts/release/image/debian.ts';
import { writeImages } from '../../../scripts/release/images.ts';
import { execute } from '../../systemd/execute.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';

const root = join(import.meta.dirname, '../../..');

/** Small files in the places of the real ones. */
const packages: readonly Deb[] = architectures.map((architecture) => ({
  version: '1.2.3',
  architecture,
  epochSeconds: 1_700_000_000,
  scripts: {},
  files: [
    { path: 'usr/lib/dropcast/bin/node', content: `Node for ${architecture.deb}`, mode: 0o755 },
    { path: 'usr/lib/dropcast/dist/main.js', content: 'void 0;' },
    { path: 'usr/bin/dropcast', content: '#!/bin/sh\n', mode: 0o755 },
    { path: 'usr/share/doc/dropcast/copyright', content: 'MIT' },
    { path: 'usr/share/man/man8/dropcast.8.gz', content: 'not in an image' },
  ],
}));

test(
  'two builds in two folders, with two umasks, give equal images of both processors',
  needs('dpkg-deb'),
  async (context) => {
    await using scratch = await scratchDirectory();
    const build = async (umask: number, ...folder: readonly string[]): Promise<readonly string[]> => {
      const out = scratch.file(...folder);
      await mkdir(out, { recursive: true });
      const before = process.umask(umask);
      try {
        return await writeImages({ root, out, packages, isFast: true, tell: () => undefined });
      } catch (error) {
        if (error instanceof DebianError) {
          process.stderr.write(`\n*** NOT CHECKED: two builds of the images: ${error.message}\n\n`);
          context.skip(error.message);
        }
        throw error;
      } finally {
        process.umask(before);
      }
    };
    const [dropcast = '', sandbox = ''] = await build(0o022, 'one');
    const again = await build(0o077, 'another', 'folder');
    for (const [index, file] of [dropcast, sandbox].entries())
      expect((await readFile(file)).equals(await readFile(again[index] ?? '')), file).toBe(true);

    const [amd64, arm64] = await imagesIn(dropcast, scratch, 'dropcast');
    expect(amd64?.config).toMatchObject({ architecture: 'amd64', os: 'linux', created: '2023-11-14T22:13:20Z' });
    expect(arm64?.config).toMatchObject({ architecture: 'arm64', os: 'linux', variant: 'v8' });
    expect(amd64?.files).toContain('-rwxr-xr-x 0/0 ./usr/lib/dropcast/bin/node');
    expect(amd64?.files).toContain('drwx------ 995/995 ./var/lib/dropcast/');
    expect(amd64?.files).toContain('drwxrwxrwt 0/0 ./tmp/');
    expect(amd64?.files.filter((line) => /\/man|healthcheck/.test(line))).toEqual([
      '-rwxr-xr-x 0/0 ./usr/lib/dropcast/healthcheck',
    ]);
    expect(arm64?.files).toContain('-rwxr-xr-x 0/0 ./usr/lib/aarch64-linux-gnu/libc.so.6');

    const [small] = await imagesIn(sandbox, scratch, 'sandbox');
    expect(small?.files.filter((line) => /\/bin\/./.test(line))).toEqual([
      '-rwxr-xr-x 0/0 ./usr/lib/dropcast/bin/node',
    ]);
    expect(small?.layers.slice(0, 3), 'layers that both images share').toEqual(amd64?.layers.slice(0, 3));
  },
);

interface OpenedImage {
  readonly config: unknown;
  readonly layers: readonly string[];
  /** Mode, owner and path of everything in the layers. */
  readonly files: readonly string[];
}

interface Descriptor {
  readonly digest: string;
}

/** Reads an archive as its format says. @throws if a blob has another digest than its name */
async function imagesIn(archive: string, scratch: ScratchDirectory, name: string): Promise<readonly OpenedImage[]> {
  const layout = scratch.file(name);
  await mkdir(layout);
  await tar('--extract', '--file', archive, '--directory', layout);
  expect(
    await execute(['sh', '-c', 'for f in *; do echo "$f  $f"; done | sha256sum --check --quiet'], {
      cwd: join(layout, 'blobs/sha256'),
    }),
  ).toMatchObject({ code: 0 });
  const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'));
  const read = async (file: string) => JSON.parse(await readFile(file, 'utf8'));
  const top = (await read(join(layout, 'index.json'))) as { manifests: readonly [Descriptor] };
  const index = (await read(blob(top.manifests[0].digest))) as { manifests: readonly Descriptor[] };
  return Promise.all(
    index.manifests.map(async ({ digest }) => {
      const manifest = (await read(blob(digest))) as { config: Descriptor; layers: readonly Descriptor[] };
      const layers = manifest.layers.map((layer) => layer.digest);
      const lists = await Promise.all(
        layers.map((layer) => tar('--list', '--verbose', '--numeric-owner', '--gzip', '--file', blob(layer))),
      );
      const files = lists
        .join('')
        .split('\n')
        .map((line) => line.replace(/^(\S+) (\S+) +\d+ \S+ \S+ /, '$1 $2 '));
      return { config: await read(blob(manifest.config.digest)), layers, files };
    }),
  );
}

async function tar(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await execute(['tar', ...args], { env: { TZ: 'UTC', LC_ALL: 'C' } });
  if (code !== 0) throw new Error(`tar ended with ${code}: ${stderr}`);
  return stdout;
}
