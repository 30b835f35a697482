import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

type Json = Readonly<Record<string, unknown>>;

/**
 * Writes the bills of materials, in CycloneDX and in SPDX: npm's own, of everything that package-lock.json locks for a
 * run, with Node.js, without the time and number that npm makes up.
 *
 * @returns the files
 */
export async function writeSboms(
  root: string,
  out: string,
  of: { readonly version: string; readonly node: string; readonly epochSeconds: number },
): Promise<readonly string[]> {
  const directory = join(out, 'sbom');
  const runs = await whatRuns(root);
  await mkdir(directory, { recursive: true });
  const written: string[] = [];
  for (const [format, ending, edit] of [
    ['cyclonedx', 'cdx', cyclonedx],
    ['spdx', 'spdx', spdx],
  ] as const) {
    const args = ['sbom', '--package-lock-only', '--sbom-format', format];
    const { stdout } = await run('npm', args, { cwd: root, maxBuffer: 2 ** 26 });
    const file = join(directory, `dropcast-${of.version}.${ending}.json`);
    await writeFile(file, `${JSON.stringify(edit(JSON.parse(stdout) as Json, of, runs), null, 2)}\n`);
    written.push(file);
  }
  return written;
}

type Of = Parameters<typeof writeSboms>[2];

/**
 * Packages that do not only serve development, as NAME@VERSION. `npm sbom --omit dev` also leaves out what both the program
 * and its tests need, as the parser of its configuration.
 */
async function whatRuns(root: string): Promise<ReadonlySet<string>> {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { readonly name?: string; readonly version?: string; readonly dev?: boolean }>>;
  };
  const running = Object.entries(packages).filter(([, { dev }]) => dev !== true);
  return new Set(
    running.map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`),
  );
}

function cyclonedx(made: Json, { version, node, epochSeconds }: Of, runs: ReadonlySet<string>): Json {
  const { component } = made['metadata'] as { readonly component: Json };
  const dependencies = made['dependencies'] as readonly {
    readonly ref: string;
    readonly dependsOn: readonly string[];
  }[];
  const bom = {
    ...made,
    metadata: {
      timestamp: timeOf(epochSeconds),
      lifecycles: [{ phase: 'build' }],
      component: { ...component, name: 'dropcast', version, type: 'application' },
    },
    components: [
      ...(made['components'] as readonly Json[]).filter((one) => runs.has(String(one['bom-ref']))),
      {
        'bom-ref': `node@${node}`,
        type: 'platform',
        name: 'Node.js',
        version: node,
        purl: `pkg:generic/node@${node}`,
        cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
        licenses: [{ license: { id: 'MIT' } }],
        externalReferences: [{ type: 'website', url: 'https://nodejs.org/' }],
      },
    ],
    dependencies: dependencies
      .filter(({ ref }) => runs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => runs.has(other)) })),
  };
  return { ...bom, serialNumber: `urn:uuid:${uuidOf({ ...bom, serialNumber: '' })}` };
}

function spdx(made: Json, { version, node, epochSeconds }: Of, runs: ReadonlySet<string>): Json {
  const packages = (made['packages'] as readonly { name: string; SPDXID: string; versionInfo: string }[]).filter(
    (one) => runs.has(`${one.name}@${one.versionInfo}`),
  );
  const ids = new Set<unknown>(['SPDXRef-DOCUMENT', ...packages.map(({ SPDXID }) => SPDXID)]);
  const relationships = made['relationships'] as readonly Json[];
  const document = {
    ...made,
    name: `dropcast@${version}`,
    creationInfo: { created: timeOf(epochSeconds), creators: ['Organization: dropcast'] },
    packages: [
      ...packages,
      {
        name: 'Node.js',
        SPDXID: 'SPDXRef-Package-nodejs',
        versionInfo: node,
        downloadLocation: 'https://nodejs.org/',
        filesAnalyzed: false,
        licenseDeclared: 'MIT',
        externalRefs: [
          {
            referenceCategory: 'PACKAGE-MANAGER',
            referenceType: 'purl',
            referenceLocator: `pkg:generic/node@${node}`,
          },
        ],
      },
    ],
    relationships: [
      ...relationships.filter((one) => ids.has(one['spdxElementId']) && ids.has(one['relatedSpdxElement'])),
      {
        spdxElementId: (made['documentDescribes'] as readonly string[])[0],
        relatedSpdxElement: 'SPDXRef-Package-nodejs',
        relationshipType: 'CONTAINS',
      },
    ],
  };
  const id = uuidOf({ ...document, documentNamespace: '' });
  return { ...document, documentNamespace: `https://spdx.org/spdxdocs/dropcast-${version}-${id}` };
}

function timeOf(epochSeconds: number): string {
  return new Date(epochSeconds * 1_000).toISOString().replace('.000Z', 'Z');
}

/** A UUID that follows from the content (RFC 9562, version 8). */
function uuidOf(content: Json): string {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
