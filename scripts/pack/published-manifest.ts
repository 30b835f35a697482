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
  'keywords',
  'license',
  'type',
  'bin',
  'optionalDependencies',
  'engines',
];

export interface Publishing {
  /** Names of siblings that the package carries in its own node_modules. */
  readonly bundled?: readonly string[];
  /** Web address of the repository, and the folder of the package in it. */
  readonly repository: { readonly address: string; readonly directory: string };
}

/**
 * The package.json that is published: what leads to the sources leads to the built files and their types instead.
 *
 * @param all manifests of the packages
 * @throws when a sibling is wanted in another version than it has
 */
export function publishedManifest(
  manifest: Manifest,
  all: readonly Manifest[],
  { bundled = [], repository }: Publishing,
): Manifest {
  requireSiblings(manifest, all);
  const { name, version, exports, sideEffects } = manifest;
  const kept = asTheyAre.filter((field) => field in manifest).map((field) => [field, manifest[field]]);
  const carried = all.filter((other) => bundled.includes(other.name)).map(({ dependencies }) => dependencies);
  const needed =
    bundled.length === 0
      ? manifest.dependencies
      : (Object.assign({}, ...carried, manifest.dependencies) as Manifest['dependencies'] & object);
  return {
    name,
    version,
    ...Object.fromEntries(kept),
    ...addressesIn(repository),
    // Without it, the first version of a scoped package is private.
    publishConfig: { access: 'public' },
    ...(needed !== undefined && { dependencies: name.startsWith('@') ? withPatches(needed, all) : needed }),
    // A package manager installs no dependencies of what a package carries.
    ...(bundled.length > 0 && { bundleDependencies: bundled }),
    ...(exports !== undefined && { exports: publishedExports(exports) }),
    ...(sideEffects !== undefined && { sideEffects: sideEffects.map((file) => built(file, '.js')) }),
  };
}

function addressesIn({ address, directory }: Publishing['repository']): object {
  const isRoot = directory === '.';
  return {
    homepage: `${address}${isRoot ? '' : `/tree/main/${directory}`}#readme`,
    bugs: `${address}/issues`,
    repository: { type: 'git', url: `git+${address}.git`, ...(!isRoot && { directory }) },
  };
}

/**
 * A library takes patches of what it needs, and shares one copy with its program. Siblings are released together and
 * import internal modules of one another, so they stay exact.
 */
function withPatches(
  dependencies: NonNullable<Manifest['dependencies']>,
  siblings: readonly Manifest[],
): NonNullable<Manifest['dependencies']> {
  const isSibling = (name: string): boolean => siblings.some((other) => other.name === name);
  return Object.fromEntries(
    Object.entries(dependencies).map(([name, version]) => [name, isSibling(name) ? version : `^${version}`]),
  );
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
