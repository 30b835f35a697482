import { defineConfig } from 'oxlint';
import type { OxlintOverride } from 'oxlint';

/**
 * Which folder of src/ may import which: the arrows of the structure. `types` are folders of which only types are taken.
 * A folder not listed for another is refused, so a new arrow is a decision, not an accident.
 */
const arrows: Record<string, { uses: readonly string[]; types?: readonly string[] }> = {
  log: { uses: [] },
  contract: { uses: [] },
  sandbox: { uses: [], types: ['contract'] },
  routing: { uses: [] },
  config: { uses: ['routing'] },
  pipeline: { uses: [], types: ['routing', 'config', 'log'] },
  watch: { uses: [], types: ['pipeline', 'log'] },
  service: { uses: [], types: ['pipeline', 'config', 'contract'] },
  ledger: { uses: ['pipeline', 'log'] },
  status: { uses: [], types: ['pipeline', 'daemon', 'log'] },
  daemon: { uses: ['config', 'routing', 'pipeline', 'watch', 'service', 'ledger'], types: ['log'] },
  systemd: { uses: [], types: ['config', 'daemon', 'log'] },
  cli: {
    uses: [
      'config',
      'routing',
      'pipeline',
      'watch',
      'daemon',
      'status',
      'ledger',
      'service',
      'sandbox',
      'systemd',
      'log',
    ],
  },
};

/** Where each third-party library may be imported: one place each. */
const homes: Record<string, readonly string[]> = {
  chokidar: ['watch'],
  got: ['service'],
  xstate: ['pipeline'],
  'p-queue': ['pipeline'],
  yaml: ['config'],
  winston: ['log'],
  zod: ['config', 'routing', 'service', 'sandbox'],
  kysely: ['ledger'],
  commander: ['cli'],
  hono: ['daemon', 'status', 'sandbox'],
  '@hono/node-server': ['daemon', 'status', 'sandbox'],
  'log-update': ['cli'],
  'string-width': ['cli'],
  'pretty-bytes': ['cli'],
  'pretty-ms': ['cli'],
  'mediainfo.js': ['sandbox'],
  'node-forge': ['sandbox'],
  send: ['sandbox'],
};

const folders = Object.keys(arrows);

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
            .filter((other) => other !== folder && !uses.includes(other))
            .map((other) => ({
              group: [`../${other}/**`, `../../${other}/**`],
              message: `${folder}/ must not import ${other}/${types.includes(other) ? ' except types' : ''}.`,
              allowTypeImports: types.includes(other),
            })),
          ...Object.entries(homes)
            .filter(([, places]) => !places.includes(folder))
            .map(([library, places]) => ({
              group: [library, `${library}/*`],
              message: `${library} is imported in ${places.join(', ')} only.`,
            })),
        ],
      },
    ],
  },
});

export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'oxc', 'promise', 'node'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  ignorePatterns: ['dist/**', 'bin/**', 'test/media/**'],
  rules: {
    'import/no-cycle': 'error',
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
    ...folders.map((folder) => boundary(folder, arrows[folder] ?? { uses: [] })),
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
});
