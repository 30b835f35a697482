/** A package.json, as far as packing looks at it. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

/** What is published of a package.json; development and workspace fields are not. */
const published = [
  'name',
  'version',
  'description',
  'keywords',
  'license',
  'type',
  'bin',
  'dependencies',
  'optionalDependencies',
  'engines',
];

/** What a package exports beside its types and its JavaScript. */
export interface Entry {
  /** The file for browsers, which only says that there is none. */
  readonly browser?: string;
  /** Files that do something when they are only imported. */
  readonly sideEffects?: readonly string[];
}

/**
 * The package.json that is published: `exports` leads to the built files, siblings are wanted in exactly their version.
 *
 * @param all manifests of the three packages
 * @param entry null for a package that programs cannot import
 * @throws when a sibling is wanted in another version than it has
 */
export function publishedManifest(manifest: Manifest, all: readonly Manifest[], entry: Entry | null): Manifest {
  requireSiblings(manifest, all);
  const { name, version } = manifest;
  const fields = published.filter((field) => manifest[field] !== undefined).map((field) => [field, manifest[field]]);
  return { name, version, ...Object.fromEntries(fields), ...(entry !== null && entryFields(entry)) };
}

function entryFields({ browser, sideEffects }: Entry): Readonly<Record<string, unknown>> {
  const exports = {
    '.': {
      types: './dist/index.d.ts',
      ...(browser !== undefined && { browser }),
      default: './dist/index.js',
    },
    './package.json': './package.json',
  };
  return { exports, ...(sideEffects !== undefined && { sideEffects }) };
}

function requireSiblings({ name, dependencies }: Manifest, all: readonly Manifest[]): void {
  for (const [sibling, wanted] of Object.entries(dependencies ?? {})) {
    const found = all.find((other) => other.name === sibling);
    if (found === undefined || found.version === wanted) continue;
    throw new Error(`${name} wants ${sibling} ${String(wanted)}, but the repository has ${found.version}`);
  }
}
