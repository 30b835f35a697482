import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundleProgram, mediaParser } from './bundle.ts';
import { debianChangelog } from './changelog.ts';
import { describeProgram } from './command-tree.ts';
import { bashCompletion } from './completions/bash.ts';
import { fishCompletion } from './completions/fish.ts';
import { zshCompletion } from './completions/zsh.ts';
import { configManual } from './config-manual.ts';
import { copyrightFile, libraryLicences } from './copyright.ts';
import { programManual } from './manual.ts';
import { MAINTAINER } from './maintainer.ts';
import { linkedPages } from './pages.ts';
import type { PackagedFile } from './packaged-file.ts';
import type { PrivateNode } from './private-node.ts';

const HOME = 'usr/lib/dropcast';

/**
 * All files of the package but Node itself. @param root of the repository @param epochSeconds the time that they tell
 */
export async function packageContents(
  root: string,
  node: Pick<PrivateNode, 'version' | 'licence'>,
  epochSeconds: number,
): Promise<readonly PackagedFile[]> {
  const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
  const { files, libraries } = await programFiles(root);
  const config = packagedConfig(await read('config.example.yaml'));
  return [
    ...files,
    { path: 'usr/bin/dropcast', content: LAUNCHER, mode: 0o755 },
    ...(await systemFiles(read)),
    // postinst gives it its group.
    { path: 'etc/dropcast/', content: '', mode: 0o750 },
    // What postinst puts there. Not in etc: dpkg would ask about every change of the example.
    { path: `${HOME}/dropcast.yaml`, content: config },
    // For further accounts. Small images leave /usr/share/doc out.
    { path: 'usr/share/doc/dropcast/examples/dropcast.yaml', content: config },
    ...manualsAndCompletions(epochSeconds),
    ...(await documents(root, epochSeconds)),
    {
      path: 'usr/share/doc/dropcast/copyright',
      content: copyrightFile(await read('LICENSE'), [
        { files: `${HOME}/bin/node`, name: `Node.js ${node.version}`, kind: 'Node.js', text: node.licence },
        ...(await libraryLicences(root, libraries)),
      ]),
    },
  ];
}

/** Node with the code compiler on, as the sandbox needs it; the unit starts the daemon without. */
const LAUNCHER = `#!/bin/sh
exec /${HOME}/bin/node --disable-warning=ExperimentalWarning /${HOME}/dist/main.js "$@"
`;

/** The program, and what it looks for beside itself (src/package-files.ts). */
export async function programFiles(
  root: string,
): Promise<{ readonly files: readonly PackagedFile[]; readonly libraries: readonly string[] }> {
  const { chunks, libraries } = await bundleProgram(root);
  const beside = ['package.json', 'config.schema.json', ...(await samples(root))];
  const contract = await readFile(join(root, 'packages/sandbox/openapi.yaml'));
  return {
    files: [
      ...chunks.map(({ name, code }) => ({ path: `${HOME}/dist/${name}`, content: code })),
      { path: `${HOME}/openapi.yaml`, content: contract },
      { path: `${HOME}/MediaInfoModule.wasm`, content: await mediaParser(root) },
      ...(await Promise.all(
        beside.map(async (path) => ({ path: `${HOME}/${path}`, content: await readFile(join(root, path)) })),
      )),
    ],
    libraries,
  };
}

async function samples(root: string): Promise<readonly string[]> {
  const names = await readdir(join(root, 'test/media'));
  return names.filter((name) => !['.md', '.sh'].includes(extname(name))).map((name) => `test/media/${name}`);
}

/** What systemd and logrotate read. */
async function systemFiles(read: (path: string) => Promise<string>): Promise<readonly PackagedFile[]> {
  const units = 'usr/lib/systemd/system';
  const places: Readonly<Record<string, string>> = {
    'dropcast.service': `${units}/dropcast.service`,
    'dropcast@.service': `${units}/dropcast@.service`,
    'dropcast.preset': 'usr/lib/systemd/system-preset/50-dropcast.preset',
    'dropcast.sysusers': 'usr/lib/sysusers.d/dropcast.conf',
    'folders.conf.example': 'usr/share/doc/dropcast/examples/folders.conf',
    'logrotate/dropcast': 'etc/logrotate.d/dropcast',
  };
  const files = Object.entries(places).map(async ([from, path]) => ({ path, content: await read(`systemd/${from}`) }));
  // For who deleted the one in /etc: a package manager does not bring it back.
  const rotation = {
    path: 'usr/share/doc/dropcast/examples/logrotate',
    content: await read('systemd/logrotate/dropcast'),
  };
  const generator = { content: await read('systemd/generator'), mode: 0o755 };
  return [
    ...(await Promise.all(files)),
    rotation,
    { path: 'usr/lib/systemd/system-generators/dropcast-generator', ...generator },
  ];
}

/**
 * The example as it is installed: the key is a credential of the service, and a copy of it for another account has a
 * state directory of its own without a change.
 *
 * @throws when the example has no such lines any more
 */
export function packagedConfig(example: string): string {
  const changes: readonly (readonly [RegExp, string])[] = [
    [/^(# yaml-language-server: \$schema=).*$/m, `$1/${HOME}/config.schema.json`],
    [/^( *api_key: ).*$/m, '$1!credential api_key'],
    [/^(state_dir: )/m, '# $1'],
  ];
  return changes.reduce((text, [line, instead]) => {
    if (!line.test(text)) throw new Error(`config.example.yaml has no line like ${line.source}`);
    return text.replace(line, instead);
  }, example);
}

function manualsAndCompletions(epochSeconds: number): readonly PackagedFile[] {
  const program = describeProgram();
  return [
    { path: 'usr/share/man/man8/dropcast.8.gz', content: packed(programManual(program, epochSeconds)) },
    { path: 'usr/share/man/man5/dropcast.yaml.5.gz', content: packed(configManual(epochSeconds)) },
    { path: 'usr/share/bash-completion/completions/dropcast', content: bashCompletion(program) },
    { path: 'usr/share/zsh/vendor-completions/_dropcast', content: zshCompletion(program) },
    { path: 'usr/share/fish/vendor_completions.d/dropcast.fish', content: fishCompletion(program) },
  ];
}

async function documents(root: string, epochSeconds: number): Promise<readonly PackagedFile[]> {
  const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
  const folder = 'usr/share/doc/dropcast';
  const changes = debianChangelog(await read('CHANGELOG.md'), MAINTAINER, epochSeconds);
  return [
    { path: `${folder}/changelog.gz`, content: packed(changes) },
    ...(await linkedPages((path) => readFile(join(root, path)))),
    { path: `${folder}/examples/grafana.json`, content: await read('contrib/grafana.json') },
    { path: `${folder}/examples/alerts.yml`, content: await read('contrib/alerts.yml') },
    { path: 'usr/share/lintian/overrides/dropcast', content: await read('packaging/debian/lintian-overrides') },
  ];
}

/** As `gzip -9n` does: without a name and a time in it. */
function packed(text: string): Uint8Array {
  return gzipSync(text, { level: 9 });
}
