/** A processor that packages are made for, by its names. */
export interface Architecture {
  readonly deb: 'amd64' | 'arm64';
  readonly rpm: 'x86_64' | 'aarch64';
  /** In Node and npm. */
  readonly npm: 'x64' | 'arm64';
  /** The program that removes symbols, and the Debian package that has it. */
  readonly strip: string;
  readonly stripPackage: string;
}

const own: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The processors, for a build on this machine: its own `strip` knows only one of them. */
export const architectures: readonly Architecture[] = [
  { deb: 'amd64', rpm: 'x86_64', npm: 'x64', ...stripOf('x64', 'x86_64-linux-gnu', 'x86-64-linux-gnu') },
  { deb: 'arm64', rpm: 'aarch64', npm: 'arm64', ...stripOf('arm64', 'aarch64-linux-gnu', 'aarch64-linux-gnu') },
];

function stripOf(arch: string, triplet: string, inPackage: string): Pick<Architecture, 'strip' | 'stripPackage'> {
  if (process.arch === arch) return { strip: 'strip', stripPackage: 'binutils' };
  return { strip: `${triplet}-strip`, stripPackage: `binutils-${inPackage}` };
}

/** @throws if no package is made for a processor @param name in Debian's words; default: that of this machine */
export function architectureOf(name: string = own[process.arch] ?? process.arch): Architecture {
  const found = architectures.find(({ deb }) => deb === name);
  if (found === undefined) throw new Error(`no package is made for ${name}: expected amd64 or arm64`);
  return found;
}
