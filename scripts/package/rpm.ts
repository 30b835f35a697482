import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Deb } from './deb.ts';
import { bodyOf, forOtherDistributions, SUMMARY } from './other-distributions.ts';
import { isDirectory, writeTree } from './packaged-file.ts';

const run = promisify(execFile);

/**
 * Writes the package for Fedora and its kind, from the files and scripts of the Debian package. The same files give the
 * same bytes.
 *
 * @param output the file to write; scratch files lie beside it
 * @param isFast compresses little, for tests
 */
export async function writeRpm(deb: Deb, output: string, isFast: boolean): Promise<void> {
  const scratch = await mkdtemp(`${output}.`);
  try {
    await writeTree(forOtherDistributions(deb.files), join(scratch, 'tree'), deb.epochSeconds);
    await writeFile(join(scratch, 'dropcast.spec'), rpmSpec(deb, join(scratch, 'tree')));
    const defines = {
      _topdir: scratch,
      _rpmdir: join(scratch, 'out'),
      _buildhost: 'localhost',
      _binary_payload: isFast ? 'w0.ufdio' : 'w19.zstdio',
      use_source_date_epoch_as_buildtime: '1',
      clamp_mtime_to_source_date_epoch: '1',
      // Node.js is stripped already, and its bytes are those that were tested.
      __os_install_post: '%{nil}',
      _build_id_links: 'none',
      debug_package: '%{nil}',
    };
    const options = Object.entries(defines).flatMap(([name, value]) => ['--define', `${name} ${value}`]);
    await run('rpmbuild', ['-bb', '--target', deb.architecture.rpm, ...options, join(scratch, 'dropcast.spec')], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(deb.epochSeconds), LC_ALL: 'C', TZ: 'UTC' },
    });
    const [built = ''] = await readdir(join(scratch, 'out', deb.architecture.rpm));
    await rename(join(scratch, 'out', deb.architecture.rpm, built), output);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** @param tree where the files lie */
function rpmSpec({ version, files, scripts }: Deb, tree: string): string {
  return `Name: dropcast
Version: ${version.replaceAll('-', '~')}
Release: 1
Summary: ${SUMMARY}
License: MIT
AutoReqProv: no
Requires: glibc >= 2.28, libstdc++, libgcc, libatomic, ca-certificates, systemd, shadow-utils

%description
Drop a video into a folder: dropcast waits until it is complete, uploads it,
waits until it is ready, and publishes the feed, with the channel, tags and
title that the rules of the folder say.

%install
cp -a "${tree}/." "%{buildroot}/"

%pre
if [ "$1" -gt 1 ]; then set -- upgrade; else set -- install; fi
${escaped(scripts['preinst'])}

%post
if [ "$1" -gt 1 ]; then set -- configure before; else set -- configure ''; fi
${escaped(scripts['postinst'])}

%preun
if [ "$1" -eq 0 ]; then set -- remove; else set -- upgrade; fi
${escaped(scripts['prerm'])}

%postun
if [ "$1" -eq 0 ]; then set -- remove; else set -- upgrade; fi
${escaped(scripts['postrm'])}

%files
${forOtherDistributions(files).map(entry).join('\n')}
`;
}

function entry(file: { readonly path: string; readonly mode?: number }): string {
  const isOwnDirectory = isDirectory(file as never);
  const mode = (file.mode ?? (isOwnDirectory ? 0o755 : 0o644)).toString(8).padStart(4, '0');
  const kind = isOwnDirectory ? '%dir ' : file.path.startsWith('etc/') ? '%config(noreplace) ' : '';
  return `%attr(${mode}, root, root) ${kind}"/${file.path.replace(/\/$/, '')}"`;
}

/** A percent sign begins a macro. */
function escaped(script: string | undefined): string {
  return bodyOf(script).replaceAll('%', '%%');
}
