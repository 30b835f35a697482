import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { ownVersion } from './package/build.ts';
import { missingTools } from './package/tools.ts';
import { keyTools, writeNewKeys } from './release/keys.ts';
import {
  releaseParts,
  requireClean,
  requireInstalled,
  requireUntagged,
  tagRelease,
  writeRelease,
} from './release/write-release.ts';
import type { ReleasePart } from './release/write-release.ts';

const help = `Usage: npm run release -- --out DIR [options]

Writes everything that a release consists of into DIR: repositories for apt and dnf, container images, npm tarballs,
manual pages, tarballs for macOS, bills of materials, provenance, checksums and signatures. Packages of older versions in DIR stay.

  --out DIR        where the tree goes
  --sign KEYS      directory with the keys of the release; also tags the commit. Default: throw-away keys, no tag
  --new-keys KEYS  writes new keys into a directory, and nothing else
  --url URL        address that the tree will have (default: https://packages.example.com/dropcast)
  --only PARTS     some of: ${releaseParts.join(', ')} (with commas between them); not with --sign
  --version V      another version than package.json has, to try an upgrade; not with --sign
  --fast           compresses little, to try a release
  --dirty          accepts a checkout with changes; not with --sign
`;

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      out: { type: 'string' },
      sign: { type: 'string' },
      'new-keys': { type: 'string' },
      url: { type: 'string', default: 'https://packages.example.com/dropcast' },
      only: { type: 'string' },
      version: { type: 'string' },
      fast: { type: 'boolean', default: false },
      dirty: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return console.log(help);
  if (values['new-keys'] !== undefined) {
    const missing = await missingTools(keyTools);
    if (missing !== null) throw new Error(missing);
    return writeNewKeys(resolve(values['new-keys']));
  }
  const { out, sign, version } = values;
  if (out === undefined) throw new Error('--out DIR is missing; --help lists the options');
  if (sign !== undefined && (version ?? values.only ?? (values.dirty || values.fast || undefined)) !== undefined)
    throw new Error(
      'a signed release is whole, of a commit, and of the version in package.json: leave out --only, --version, --dirty and --fast',
    );
  const parts = values.only === undefined ? releaseParts : partsOf(values.only);
  const root = resolve(import.meta.dirname, '..');
  if (!values.dirty) {
    await requireClean(root);
    await requireInstalled(root);
  }
  if (sign !== undefined) await requireUntagged(root, await ownVersion(root));
  const commit = await writeRelease({
    root,
    out: resolve(out),
    keys: sign === undefined ? null : resolve(sign),
    url: values.url.replace(/\/+$/, ''),
    parts,
    isFast: values.fast,
    ...(version !== undefined && { version }),
    tell: (text) => {
      stop.signal.throwIfAborted();
      console.error(`${(performance.now() / 1_000).toFixed(1).padStart(6)} s  ${text}`);
    },
  });
  if (sign !== undefined) await tagRelease(root, await ownVersion(root), commit);
}

function partsOf(list: string): readonly ReleasePart[] {
  return list.split(',').map((name) => {
    const part = releaseParts.find((one) => one === name);
    if (part === undefined) throw new Error(`--only knows no "${name}": expected some of ${releaseParts.join(', ')}`);
    return part;
  });
}

/** A stopped release fails at its next step, and so removes secret keys and scratch files. */
const stop = new AbortController();

if (import.meta.main) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  try {
    await main(process.argv.slice(2));
  } catch (caught) {
    const error: unknown = stop.signal.aborted ? stop.signal.reason : caught;
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
