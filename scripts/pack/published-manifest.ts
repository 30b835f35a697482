/** A package.json, as far as packing looks at it. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** Conditions (or the file alone) by path; the sources are always the `default`. */
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly sideEffects?: readonly string[];
  readonly [field: string]: unknown;
}

/** Fields that are published as they are; those of development and of the workspaces are not. */
const asTheyAre = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'bin',
  'dependencies',
  'optionalDependencies',
  'engines',
];

/**
 * The package.json that is published: what leads to the sources leads to the built files and their types instead.
 *
 * @param all manifests of the packages
 * @param bundled names of siblings that the package carries in its own node_modules
 * @throws when a sibling is wanted in another version than it has
 */
export function publishedManifest(
  manifest: Manifest,
  all: readonly Manifest[],
  bundled: readonly string[] = [],
): Manifest {
  requireSiblings(manifest, all);
  const { name, version, exports, sideEffects } = manifest;
  const kept = asTheyAre.filter((field) => field in manifest).map((field) => [field, manifest[field]]);
  const carried = all.filter((other) => bundled.includes(other.name)).map(({ dependencies }) => dependencies);
  const needed = Object.assign({}, ...carried, manifest.dependencies) as Manifest['dependencies'] & object;
  return {
    name,
    version,
    ...Object.fromEntries(kept),
    // A package manager installs no dependencies of what a package carries.
    ...(bundled.length > 0 && { dependencies: needed, bundleDependencies: bundled }),
    ...(exports !== undefined && { exports: publishedExports(exports) }),
    ...(sideEffects !== undefined && { sideEffects: sideEffects.map((file) => built(file, '.js')) }),
  };
}

function publishedExports(exports: NonNullable<Manifest['exports']>): Manifest['exports'] & object {
  const entries = Object.entries(exports).map(([path, target]) => {
    const conditions = typeof target === 'string' ? { default: target } : target;
    const { default: source = '' } = conditions;
    if (built(source, '.js') === source) return [path, target];
    // `types` comes first: the first condition that matches wins.
    return [path, { types: built(source, '.d.ts'), ...conditions, default: built(source, '.js') }];
  });
  return Object.fromEntries(entries) as Manifest['exports'] & object;
}

/** `./src/index.ts` becomes `./dist/index` and the ending; any other file stays. */
function built(file: string, ending: string): string {
  return file.replace(/^\.\/src\/(.*)\.ts$/, `./dist/$1${ending}`);
}

function requireSiblings({ name, dependencies = {} }: Manifest, all: readonly Manifest[]): void {
  for (const [sibling, wanted] of Object.entries(dependencies)) {
    const found = all.find((other) => other.name === sibling);
    if (found === undefined || found.version === wanted) continue;
    throw new Error(`${name} wants ${sibling} ${wanted}, but the repository has ${found.version}`);
  }
}
