import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execute } from '../../systemd/execute.ts';
import type { Ended } from '../../systemd/execute.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

/** A root in which rpm and dnf install. Leaving its block removes it. */
export interface FedoraRoot extends AsyncDisposable {
  /** A scratch directory of this host. */
  readonly scratch: string;
  /** Says where the repository of the release is. */
  useRepository(options: { readonly repository: string; readonly key: string }): Promise<void>;
  dnf(args: string): Promise<Ended>;
  /** A shell script inside. */
  run(script: string): Promise<Ended>;
}

/**
 * Fedora's tools on a Debian root: no mirror of Fedora is needed. An empty package has the names of the Fedora packages that ours
 * requires, and Debian's files do their work. Changes go to an overlay, mounted for each command in a namespace of its own.
 *
 * @param ground the Debian root, which stays as it is
 * @param tree of the release
 */
export async function fedoraRoot(ground: string, tree: string): Promise<FedoraRoot> {
  const scratch = await scratchDirectory();
  for (const name of ['upper', 'work', 'root', 'names', 'repos']) await mkdir(scratch.file(name));
  const root = scratch.file('root');
  const layers = `lowerdir=${ground},upperdir=${scratch.file('upper')},workdir=${scratch.file('work')}`;
  const enter = `mount -t overlay -o ${layers} overlay ${root} && mount --bind /proc ${root}/proc && exec "$@"`;
  const inNamespace = (command: readonly string[]): Promise<Ended> =>
    execute(['unshare', '--mount', '--propagation', 'private', 'sh', '-c', enter, 'sh', ...command]);
  await writeNames(scratch.file('names'));
  await scratch.write('repos/names.repo', `[names]\nname=names\nbaseurl=file://${scratch.file('names')}\ngpgcheck=0\n`);
  const repository = await readFile(join(tree, 'rpm/dropcast.repo'), 'utf8');
  const options = Object.entries({ reposdir: scratch.file('repos'), cachedir: scratch.file('cache'), keepcache: '0' });
  const dnf = ['dnf', '--assumeyes', `--installroot=${root}`, '--releasever=42', '--noautoremove'];
  return {
    scratch: scratch.path,
    useRepository: async ({ repository: place, key }) => {
      const local = repository.replace(/^baseurl=.*/m, `baseurl=file://${place}`);
      await writeFile(scratch.file('repos/dropcast.repo'), local.replace(/^gpgkey=.*/m, `gpgkey=file://${key}`));
      await execute(['rm', '-rf', scratch.file('cache')]);
    },
    dnf: (args) =>
      inNamespace([...dnf, ...options.map(([name, value]) => `--setopt=${name}=${value}`), ...args.split(' ')]),
    run: (script) => inNamespace(['chroot', root, 'sh', '-c', script]),
    [Symbol.asyncDispose]: () => Promise.resolve(scratch[Symbol.asyncDispose]()),
  };
}

const spec = `Name: fedora-names
Version: 1
Release: 1
Summary: Names of Fedora packages
License: MIT
BuildArch: noarch
Provides: glibc = 2.41, libstdc++, libgcc, libatomic, ca-certificates, systemd, shadow-utils, /bin/sh
%description
Names.
%files
`;

async function writeNames(directory: string): Promise<void> {
  await writeFile(join(directory, 'names.spec'), spec);
  const defines = ['--define', `_topdir ${directory}/build`, '--define', `_rpmdir ${directory}`];
  const file = join(directory, 'names.spec');
  for (const command of [['rpmbuild', '-bb', ...defines, file] as const, ['createrepo_c', directory] as const]) {
    const { code, stdout, stderr } = await execute([...command]);
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  }
}
