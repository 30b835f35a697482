import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { knownSchema } from '../../src/ledger/sqlite/migrations.ts';
import { packageContents } from './contents.ts';
import { architectureOf } from './architecture.ts';
import type { Architecture } from './architecture.ts';
import { sha256Of, writeDeb } from './deb.ts';
import type { Deb } from './deb.ts';
import { archFiles } from './pkgbuild.ts';
import { writeRpm } from './rpm.ts';
import type { PackagedFile } from './packaged-file.ts';
import { privateNode } from './private-node.ts';
import { sourceDate } from './source-date.ts';
import { missingTools } from './tools.ts';

export interface BuildOptions {
  /** Of the repository. */
  readonly root: string;
  /** Where the package goes; `build` below the root when left out. */
  readonly directory?: string;
  /** Little compression, for tests. */
  readonly isFast: boolean;
  /** Another version than package.json has, to try an upgrade. */
  readonly version?: string;
  /** The processor; that of this machine when left out. */
  readonly architecture?: Architecture;
  /** Also for other distributions than Debian: needs rpmbuild. */
  readonly others?: boolean;
  /** Receives what was done. */
  readonly tell: (text: string) => void;
}

export interface BuiltPackage {
  /** Absolute when the directory was. */
  readonly file: string;
  readonly sha256: string;
}

/** Makes the Debian package. @throws with a sentence that says what is missing */
export async function buildPackage(options: BuildOptions): Promise<BuiltPackage> {
  const { root, directory = join(root, 'build'), isFast, tell } = options;
  const deb = await describePackage(options);
  await mkdir(directory, { recursive: true });
  const file = join(directory, `dropcast_${deb.version}_${deb.architecture.deb}.deb`);
  await writeDeb(deb, file, isFast);
  const sha256 = await sha256Of(file);
  if (options.others === true) await writeOthers(deb, { file, sha256 }, isFast, tell);
  tell(`${file}: ${megabytes((await stat(file)).size)}`);
  tell(`SHA-256 ${sha256}`);
  return { file, sha256 };
}

/** Collects everything that goes into a package. @throws with a sentence that says what is missing */
export async function describePackage({
  root,
  tell,
  architecture = architectureOf(),
  version,
}: Pick<BuildOptions, 'root' | 'tell' | 'architecture' | 'version'>): Promise<Deb> {
  const missing = await missingTools({ 'dpkg-deb': 'dpkg', [architecture.strip]: architecture.stripPackage });
  if (missing !== null) throw new Error(missing);
  const wanted = version ?? (await ownVersion(root));
  if (!/^\d[\w.+~-]*$/.test(wanted)) throw new Error(`"${wanted}" is no version: expected one like 1.2.3`);
  const epochSeconds = await sourceDate(root, await readFile(join(root, 'CHANGELOG.md'), 'utf8'), process.env);
  tell(`dropcast ${wanted} for ${architecture.deb}, as of ${new Date(epochSeconds * 1000).toISOString()}`);
  const node = await privateNode(root, architecture);
  tell(`Node.js ${node.version} without symbols: ${megabytes(node.binary.length)}`);
  const contents = (await packageContents(root, node, epochSeconds)).map((file) => asVersion(file, wanted));
  tell(
    `${contents.length} files of our own: ${megabytes(contents.reduce((sum, { content }) => sum + content.length, 0))}`,
  );
  const files = [...contents, { path: 'usr/lib/dropcast/bin/node', content: node.binary, mode: 0o755 }];
  return { version: wanted, architecture, files, scripts: await maintainerScripts(root), epochSeconds };
}

/** For Fedora and its kind, and for Arch Linux. */
async function writeOthers(
  deb: Deb,
  { file, sha256 }: BuiltPackage,
  isFast: boolean,
  tell: BuildOptions['tell'],
): Promise<void> {
  const directory = dirname(file);
  const rpm = join(directory, `dropcast-${deb.version}-1.${deb.architecture.rpm}.rpm`);
  await writeRpm(deb, rpm, isFast);
  tell(`${rpm}: ${megabytes((await stat(rpm)).size)}`);
  for (const [name, text] of Object.entries(archFiles(deb, { name: basename(file), sha256 }))) {
    await writeFile(join(directory, name), text);
    tell(join(directory, name));
  }
}

export async function ownVersion(root: string): Promise<string> {
  return (JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

/** The program reads its version from the package.json beside it. */
function asVersion(file: PackagedFile, version: string): PackagedFile {
  if (file.path !== 'usr/lib/dropcast/package.json') return file;
  return { ...file, content: String(file.content).replace(/^( *"version": )".*"/m, `$1"${version}"`) };
}

/** @returns the scripts that dpkg runs, by their names; `preinst` knows the schema of the ledger */
export async function maintainerScripts(root: string): Promise<Readonly<Record<string, string>>> {
  const names = ['preinst', 'postinst', 'prerm', 'postrm'];
  const texts = await Promise.all(names.map((name) => readFile(join(root, 'packaging/debian', name), 'utf8')));
  const asBuilt = texts.map((text) => text.replace('@LEDGER_SCHEMA@', String(knownSchema)));
  return Object.fromEntries(names.map((name, index) => [name, asBuilt[index] ?? '']));
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
