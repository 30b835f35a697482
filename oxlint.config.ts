import { defineConfig } from 'oxlint';
import type { OxlintOverride } from 'oxlint';

/**
 * Which folder of src/ may import which: the arrows of the structure. `types` are folders of which only types are taken.
 * A folder not listed for another is refused, so a new arrow is a decision, not an accident.
 */
export const arrows: Record<string, { uses: readonly string[]; types?: readonly string[] }> = {
  log: { uses: [] },
  routing: { uses: ['log'] },
  http: { uses: [] },
  config: { uses: ['routing', 'log'] },
  pipeline: { uses: [], types: ['routing', 'config', 'log'] },
  watch: { uses: ['config', 'pipeline'], types: ['log'] },
  host: { uses: ['pipeline'], types: ['config'] },
  disk: { uses: ['pipeline', 'routing'], types: ['config'] },
  ledger: { uses: ['pipeline', 'disk', 'log'] },
  fleet: {
    uses: ['pipeline', 'ledger', 'watch', 'host', 'view'],
    types: ['config', 'intake', 'daemon', 'log'],
  },
  'fleet/commands': { uses: ['config', 'daemon', 'view', 'ledger', 'cli', 'log'] },
  'fleet/demo': { uses: ['pipeline', 'daemon', 'view', 'cli'] },
  intake: { uses: ['config', 'routing', 'pipeline', 'watch', 'disk'], types: ['ledger', 'log'] },
  view: { uses: ['config', 'pipeline', 'watch', 'host', 'ledger', 'log'], types: ['intake'] },
  status: {
    uses: ['http', 'daemon', 'view', 'config', 'log'],
    types: ['pipeline', 'host', 'intake', 'ledger'],
  },
  daemon: {
    uses: ['config', 'routing', 'pipeline', 'watch', 'intake', 'host', 'disk', 'ledger', 'fleet', 'view', 'http'],
    types: ['log'],
  },
  systemd: { uses: ['view', 'log'], types: ['config', 'daemon'] },
  cli: {
    uses: [
      'config',
      'routing',
      'pipeline',
      'watch',
      'intake',
      'host',
      'disk',
      'daemon',
      'view',
      'status',
      'ledger',
      'fleet',
      'systemd',
      'log',
    ],
  },
};

/** Where each third-party library may be imported: one place each. A package of our own is written with its scope. */
export const homes: Record<string, readonly string[]> = {
  '@dropcast/client': ['host', 'disk', 'daemon', 'cli', 'packages/notify'],
  '@dropcast/media': ['watch', 'disk', 'packages/sandbox'],
  '@dropcast/notify': ['config', 'ledger', 'daemon', 'status', 'cli'],
  '@dropcast/pages': ['status', 'log', 'systemd', 'packages/notify', 'packages/sandbox'],
  '@dropcast/recorder': ['cli'],
  '@dropcast/sandbox': ['cli', 'fleet/demo', 'packages/recorder'],
  chokidar: ['watch'],
  got: ['packages/client', 'packages/notify'],
  xstate: ['pipeline'],
  'p-queue': ['pipeline'],
  yaml: ['config', 'packages/sandbox'],
  ajv: ['packages/sandbox'],
  'ajv-formats': ['packages/sandbox'],
  winston: ['log'],
  zod: ['config', 'routing', 'packages/client', 'packages/recorder', 'packages/sandbox'],
  kysely: ['ledger', 'fleet'],
  pg: ['fleet'],
  'pg-boss': ['fleet'],
  commander: ['cli', 'fleet/commands', 'packages/recorder', 'packages/sandbox'],
  hono: ['daemon', 'status', 'packages/pages', 'packages/sandbox'],
  'prom-client': ['status'],
  '@opentelemetry/api': ['status'],
  nodemailer: ['packages/notify'],
  '@inquirer/prompts': ['cli'],
  '@hono/node-server': ['http', 'packages/sandbox'],
  'log-update': ['cli'],
  'string-width': ['cli'],
  'cli-truncate': ['cli'],
  'pretty-bytes': ['cli'],
  'pretty-ms': ['cli'],
  'mediainfo.js': ['packages/sandbox'],
  '@peculiar/x509': ['packages/sandbox'],
  'reflect-metadata': ['packages/sandbox'],
  'p-limit': ['watch', 'packages/sandbox'],
  send: ['packages/sandbox'],
};

/** Folders of packages/. */
export const packages = ['client', 'media', 'notify', 'pages', 'recorder', 'sandbox'];

const folders = Object.keys(arrows).filter((folder) => !folder.includes('/'));

const librariesOutside = (place: string) =>
  Object.entries(homes)
    .filter(([, places]) => !places.includes(place))
    .map(([library, places]) => ({
      group: [library, `${library}/*`],
      message: `${library} is imported in ${places.join(', ')} only.`,
    }));

const boundary = (
  folder: string,
  { uses, types = [] }: { uses: readonly string[]; types?: readonly string[] },
): OxlintOverride => ({
  files: [`src/${folder}/**/*.ts`],
  rules: {
    'typescript/no-restricted-imports': [
      'error',
      {
        patterns: [
          ...folders
            .filter((other) => other !== folder.split('/')[0] && !uses.includes(other))
            .map((other) => ({
              group: [`../${other}/**`, `../../${other}/**`, `../../../${other}/**`],
              message: `${folder}/ must not import ${other}/${types.includes(other) ? ' except types' : ''}.`,
              allowTypeImports: types.includes(other),
            })),
          { group: ['**/packages/**'], message: 'A package is imported by its name.' },
          ...librariesOutside(folder),
        ],
      },
    ],
  },
});

/** A package imports its own files and its libraries, nothing of the daemon. */
const packageBoundary = (name: string): OxlintOverride => ({
  files: [`packages/${name}/src/**/*.ts`],
  rules: {
    'typescript/no-restricted-imports': [
      'error',
      {
        patterns: [
          { group: ['**/packages/**', '**/../src/**'], message: `packages/${name} stands alone.` },
          ...librariesOutside(`packages/${name}`),
        ],
      },
    ],
  },
});

export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'oxc', 'promise', 'node'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  ignorePatterns: ['**/dist/**', 'bin/**', 'test/media/**', 'test/ecosystem/programs/**'],
  rules: {
    // A circle of types alone costs nothing at run time, but neither of its files can be read or moved without the other.
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/consistent-type-imports': 'error',
    // One after the other is the point wherever it is written: order, back-pressure, one request at a time.
    'no-await-in-loop': 'off',
    // Constructing in a row is a matter of taste; spreads of small facts are how a row is changed.
    'oxc/no-map-spread': 'off',
    'oxc/no-accumulating-spread': 'off',
    // File names, module side effects and shadowing by local meaning are clear in small files.
    'no-shadow': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default-member': 'off',
    'promise/always-return': 'off',
    'promise/avoid-new': 'off',
    // Objects made by functions have no `this` to lose; JSON that only we wrote is trusted at its border.
    'typescript/unbound-method': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
  },
  overrides: [
    ...Object.entries(arrows).map(([folder, allowed]) => boundary(folder, allowed)),
    ...packages.map(packageBoundary),
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
});
