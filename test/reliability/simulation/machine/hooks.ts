import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Replacement } from '../plants.ts';

const root = new URL('../../../../', import.meta.url);
const here = new URL('./', import.meta.url);

/** Modules of Node and of others that the machine has its own of. `rest`: names it does not replace stay, or must not be used. */
const replaced: Readonly<
  Record<string, { readonly by: string; readonly from: string; readonly rest: 'stay' | 'missing' }>
> = {
  'node:fs': { by: 'sync', from: 'file-system.ts', rest: 'missing' },
  'node:fs/promises': { by: 'promises', from: 'file-system.ts', rest: 'missing' },
  'node:timers/promises': { by: 'timers', from: 'small-modules.ts', rest: 'missing' },
  'node:net': { by: 'net', from: 'small-modules.ts', rest: 'stay' },
  'node:os': { by: 'os', from: 'small-modules.ts', rest: 'stay' },
  'node:crypto': { by: 'crypto', from: 'small-modules.ts', rest: 'stay' },
};
const wholly: Readonly<Record<string, string>> = {
  chokidar: 'watch-events.ts',
  'node:sqlite': 'database.ts',
  pg: 'postgres.ts',
};

/** Values that the machine scales down, so that small files have many parts, few files are many, and idle hours cost little. */
const scaled: readonly Replacement[] = [
  { file: 'packages/client/src/upload/body-reader.ts', from: 'partBytes = 1024 * 1024', to: 'partBytes = 4 * 1024' },
  {
    file: 'packages/client/src/upload/send-video.ts',
    from: 'reachStepBytes = 64 * 1024 * 1024',
    to: 'reachStepBytes = 4 * 1024',
  },
  {
    file: 'packages/client/src/upload/protocols/tus.ts',
    from: 'mostBytes = 64 * 1024 * 1024',
    to: 'mostBytes = 8 * 1024',
  },
  { file: 'src/watch/missing-files.ts', from: 'const LEAST_FILES = 10', to: 'const LEAST_FILES = 3' },
  { file: 'src/pipeline/loop.ts', from: 'const tickMs = 1_000', to: 'const tickMs = 4_000' },
];

/** The disk of the machine has no package in it. */
const unpacked: readonly Replacement[] = [
  {
    file: 'src/package-files.ts',
    from: "JSON.parse(await readFile(packageManifest(), 'utf8'))",
    to: "{ version: '1.0.0' }",
  },
];

/** What lies in the memory of a module outlives a simulated process, which no memory does: the first use in each starts anew. */
const forgotten: readonly Replacement[] = [
  { file: 'src/watch/watcher.ts', from: 'writers: openWriters,', to: 'writers: new OpenWriters(),' },
  {
    file: 'src/watch/clock.ts',
    from: 'stallWatches.get(clock) ?? new',
    to: "(globalThis.isFirstOfProcess('stalls') ? undefined : stallWatches.get(clock)) ?? new",
  },
  {
    file: 'src/intake/comparisons.ts',
    from: 'const done = last.then(work);',
    to: 'const memory = globalThis.memoryOfProcess(); const done = (memory.comparisons ?? Promise.resolve()).then(work);',
  },
  {
    file: 'src/intake/comparisons.ts',
    from: 'last = done.catch(() => undefined);',
    to: 'memory.comparisons = done.catch(() => undefined);',
  },
];

/**
 * From here on, the modules of the daemon are loaded with the machine in place of the system.
 *
 * @param planted bugs to put into them
 * @throws when a text to replace is not in its file exactly once
 */
export function loadIntoMachine(planted: readonly Replacement[] = []): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      if (!isOurs(context.parentURL)) return next(specifier, context);
      if (specifier in replaced) return { url: `machine:${specifier}`, shortCircuit: true };
      const whole = wholly[specifier];
      if (whole !== undefined) return { url: new URL(whole, here).href, shortCircuit: true };
      const found = next(specifier, context);
      if (!found.url.endsWith('packages/client/src/transport/exchange.ts')) return found;
      return { ...found, url: new URL('exchange.ts', here).href };
    },
    load: (url, context, next) => {
      if (url.startsWith('machine:')) return { format: 'module', source: sourceOf(url.slice(8)), shortCircuit: true };
      const changes = [...scaled, ...unpacked, ...forgotten, ...planted].filter(
        ({ file }) => url === new URL(file, root).href,
      );
      if (changes.length === 0) return next(url, context);
      const { source = '', ...loaded } = next(url, context);
      const text = typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString();
      return { ...loaded, source: changes.reduce(applied, text) };
    },
  });
}

function isOurs(parent: string | undefined): boolean {
  if (parent === undefined || !parent.startsWith(root.href)) return false;
  return /^(?:src|packages\/client\/src)\//.test(parent.slice(root.href.length));
}

function sourceOf(specifier: string): string {
  const module = replaced[specifier];
  if (module === undefined) throw new Error(`the machine has no ${specifier}`);
  const names = Object.keys(process.getBuiltinModule(specifier) ?? {}).filter((name) => name !== 'default');
  const rest =
    module.rest === 'stay'
      ? `real[name]`
      : `(() => { throw new Error('the machine has no ' + name + ' of ${specifier}'); })`;
  return [
    `import { ${module.by} as own } from ${JSON.stringify(new URL(module.from, here).href)};`,
    `const real = process.getBuiltinModule(${JSON.stringify(specifier)});`,
    `const the = (name) => own[name] ?? ${rest};`,
    ...names.map((name) => `export const ${name} = the(${JSON.stringify(name)});`),
    `export default new Proxy({}, { get: (_, name) => the(name) });`,
  ].join('\n');
}

function applied(source: string, { file, from, to }: Replacement): string {
  if (source.split(from).length !== 2)
    throw new Error(`${fileURLToPath(new URL(file, root))} does not have exactly once: ${from}`);
  return source.replace(from, () => to);
}
