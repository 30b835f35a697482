import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestOptions } from 'vitest';
import { findPostgres } from './postgres/programs.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** What the machine lacks for this test or suite. The reporter counts these. */
    lacks?: readonly Need[];
  }
}

interface Source {
  /** Debian package that has it. */
  readonly package?: string;
  /** How to have it where no package helps. */
  readonly otherwise?: string;
  readonly isThere?: () => boolean;
}

/** What tests need beside Node. A name without `isThere` is a program on the PATH. */
const sources = {
  'apt-ftparchive': { package: 'apt-utils' },
  bash: { package: 'bash' },
  bindfs: { package: 'bindfs' },
  cc: { package: 'gcc libc6-dev' },
  chromium: { package: 'chromium', isThere: () => findChromium() !== undefined },
  createrepo_c: { package: 'createrepo-c' },
  curl: { package: 'curl' },
  dnf: { package: 'dnf' },
  'dpkg-deb': { package: 'dpkg' },
  ffmpeg: { package: 'ffmpeg' },
  fish: { package: 'fish' },
  go: { package: 'golang-go' },
  gpg: { package: 'gnupg' },
  man: { package: 'man-db' },
  mandoc: { package: 'mandoc' },
  minisign: { package: 'minisign' },
  /** Its programs, for tests that start a server of their own. */
  postgres: { package: 'postgresql', isThere: () => findPostgres() !== undefined },
  prometheus: { package: 'prometheus' },
  promtool: { package: 'prometheus' },
  openssl: { package: 'openssl' },
  python3: { package: 'python3' },
  script: { package: 'bsdutils' },
  setfacl: { package: 'acl' },
  shellcheck: { package: 'shellcheck' },
  sox: { package: 'sox libsox-fmt-base' },
  strip: { package: 'binutils' },
  'systemd-analyze': { package: 'systemd' },
  'systemd-notify': { package: 'systemd' },
  xmllint: { package: 'libxml2-utils' },
  zsh: { package: 'zsh' },
  '/dev/full': { otherwise: 'run on Linux', isThere: () => existsSync('/dev/full') },
  '/proc': { otherwise: 'run on Linux', isThere: () => existsSync('/proc/self/fd') },
  mount: { otherwise: 'run as root where mounting is allowed', isThere: canMount },
  'readable clone': { otherwise: 'clone to where other users can read', isThere: othersCanRead },
  'older Node': { otherwise: 'put a Node 18 to 21 on the PATH', isThere: () => findOlderNode() !== undefined },
  rpm: { package: 'rpm' },
  rpmbuild: { package: 'rpm' },
  root: { otherwise: 'run as root', isThere: () => process.getuid?.() === 0 },
  'not root': { otherwise: 'run as another user than root', isThere: () => process.getuid?.() !== 0 },
} satisfies Record<string, Source>;

export type Need = keyof typeof sources;

/**
 * Options of a test or suite that needs programs: `test('makes a thumbnail', needs('ffmpeg'), () => …)`.
 * Where one is missing, the test is skipped, and the end of the run says how many were and how to have the program.
 */
export function needs(...wanted: readonly Need[]): TestOptions {
  const lacks = wanted.filter((need) => !has(need));
  return lacks.length === 0 ? {} : { skip: true, meta: { lacks } };
}

/** Whether the machine has it. Looked up once per process. */
export function has(need: Need): boolean {
  const known = found.get(need);
  if (known !== undefined) return known;
  const { isThere = () => findOnPath(need) !== undefined }: Source = sources[need];
  const is = isThere();
  found.set(need, is);
  return is;
}

const found = new Map<Need, boolean>();

/** How to have what is missing: 'apt-get install fish zsh; run as root'. */
export function howToHave(missing: readonly Need[]): string {
  const all: readonly Source[] = missing.map((need) => sources[need]);
  const packages = [...new Set(all.flatMap((source) => source.package ?? []))].toSorted();
  const others = [...new Set(all.flatMap((source) => source.otherwise ?? []))];
  return [...(packages.length > 0 ? [`apt-get install ${packages.join(' ')}`] : []), ...others].join('; ');
}

/** `$CHROMIUM`, else where distributions and macOS put it. */
export function findChromium(): string | undefined {
  const { CHROMIUM } = process.env;
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
  const places = [
    '/snap/bin/chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ];
  return CHROMIUM ?? names.map(findOnPath).find((path) => path !== undefined) ?? places.find(isProgram);
}

/** One of the major versions 10 to 21, which the packages refuse. */
export function findOlderNode(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  const isOlder = (node: string): boolean =>
    /^v(?:1\d|2[01])\./.test(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '');
  return folders.map((folder) => join(folder, 'node')).find(isOlder);
}

function findOnPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Tests run as another user where root would be refused nothing. */
function othersCanRead(): boolean {
  if (process.getuid?.() !== 0) return true;
  const nobody = { uid: 65_534, gid: 65_534 };
  const script = 'fs.accessSync(process.argv[1])';
  return spawnSync(process.execPath, ['-e', script, import.meta.filename], nobody).status === 0;
}

/** Only root may mount, and not in every container: it tries. */
function canMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'dropcast-mount-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', path]);
  if (status === 0) spawnSync('umount', [path]);
  rmdirSync(path);
  return status === 0;
}
