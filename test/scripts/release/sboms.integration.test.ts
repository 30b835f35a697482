import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeSboms } from '../../../scripts/release/sbom.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const of = { version: '0.1.0', node: '26.1.2', epochSeconds: 1_700_000_000 };

interface CycloneDx {
  readonly bomFormat: string;
  readonly metadata: { readonly timestamp: string; readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly purl?: string;
    readonly licenses?: readonly unknown[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Spdx {
  readonly spdxVersion: string;
  readonly creationInfo: { readonly created: string };
  readonly packages: readonly { readonly SPDXID: string; readonly name: string; readonly licenseDeclared: string }[];
  readonly relationships: readonly { readonly spdxElementId: string; readonly relatedSpdxElement: string }[];
}

describe('the bills of materials', () => {
  let scratch: ScratchDirectory;
  let cdx: CycloneDx;
  let spdx: Spdx;

  const write = async (name: string): Promise<readonly string[]> => {
    const files = await writeSboms(root, scratch.file(name), of);
    return Promise.all(files.map((file) => readFile(file, 'utf8')));
  };

  beforeAll(async () => {
    scratch = await scratchDirectory();
    [cdx, spdx] = (await write('one')).map((text) => JSON.parse(text) as unknown) as [CycloneDx, Spdx];
  });
  afterAll(() => scratch[Symbol.asyncDispose]());

  test('have every package that runs, and Node.js with its version', async () => {
    const lock = JSON.parse(await readFile(`${root}/package-lock.json`, 'utf8')) as {
      packages: Readonly<
        Record<string, { readonly dev?: boolean; readonly link?: boolean; readonly version?: string }>
      >;
    };
    const locked = Object.entries(lock.packages)
      .filter(([path, { dev }]) => path.startsWith('node_modules/') && dev !== true)
      .map(([path]) => path.split('node_modules/').at(-1) ?? '');
    const inCdx = new Set(
      cdx.components.map((one) => /^pkg:npm\/(.+)@/.exec(one.purl ?? '')?.[1]?.replace('%40', '@')),
    );
    expect(locked.length).toBeGreaterThan(20);
    expect(locked.filter((name) => !inCdx.has(name))).toEqual([]);
    const inSpdx = new Set(spdx.packages.map(({ name }) => name));
    expect(locked.filter((name) => !inSpdx.has(name))).toEqual([]);
    expect(cdx.components).toContainEqual(
      expect.objectContaining({ name: 'Node.js', version: '26.1.2', purl: 'pkg:generic/node@26.1.2' }),
    );
    expect(spdx.packages).toContainEqual(expect.objectContaining({ name: 'Node.js', versionInfo: '26.1.2' }));
  });

  test('say the licence of each', () => {
    expect(cdx.components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([]);
    expect(spdx.packages.filter(({ licenseDeclared }) => /NOASSERTION|^$/.test(licenseDeclared))).toEqual([]);
  });

  test('refer only to what they list, once each', () => {
    const refs = [cdx.metadata.component['bom-ref'], ...cdx.components.map((one) => one['bom-ref'])];
    expect(refs).toHaveLength(new Set(refs).size);
    const cdxUsed = cdx.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
    expect(cdxUsed.filter((ref) => !refs.includes(ref))).toEqual([]);
    const ids = ['SPDXRef-DOCUMENT', ...spdx.packages.map(({ SPDXID }) => SPDXID)];
    expect(ids).toHaveLength(new Set(ids).size);
    const used = spdx.relationships.flatMap((one) => [one.spdxElementId, one.relatedSpdxElement]);
    expect(used.filter((id) => !ids.includes(id))).toEqual([]);
  });

  test('have the time of the release, and are the same each time', async () => {
    expect([cdx.bomFormat, spdx.spdxVersion]).toEqual(['CycloneDX', 'SPDX-2.3']);
    expect([cdx.metadata.timestamp, spdx.creationInfo.created]).toEqual(Array(2).fill('2023-11-14T22:13:20Z'));
    expect(await write('two')).toEqual(await write('one'));
  });
});
