import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Somebody else's work that is in the package, under its own licence. */
export interface Licence {
  /** What of the package it is about. */
  readonly files: string;
  readonly name: string;
  /** SPDX expression or a short name. */
  readonly kind: string;
  readonly text: string;
}

/**
 * /usr/share/doc/dropcast/copyright, machine-readable:
 * https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
 *
 * @param own content of LICENSE
 */
export function copyrightFile(own: string, others: readonly Licence[]): string {
  const parts = [
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: dropcast',
    paragraph({ files: '*', name: 'dropcast', kind: 'Expat', text: own }),
    ...others.map(paragraph),
  ];
  return `${parts.join('\n\n')}\n`;
}

function paragraph({ files, name, kind, text }: Licence): string {
  const isOwn = files === '*';
  return [
    `Files: ${files}`,
    ...(isOwn ? [] : [`Comment: ${name}`]),
    `Copyright:${holders(text, name)}`,
    `License: ${kind}`,
    ...text.trim().split('\n').map(folded),
  ].join('\n');
}

/** A continuation line; an empty one is a dot (deb822(5)). */
function folded(line: string): string {
  const text = line.trimEnd();
  return text === '' ? ' .' : ` ${text}`;
}

/** The lines of the licence that say whose it is; not those that speak of copyright notices and holders. */
function holders(text: string, name: string): string {
  const lines = text
    .split('\n')
    .flatMap((line) => /^\W*copyright\s+(?:\(c\)|©)?\s*(\S.*)$/i.exec(line.trim())?.[1] ?? []);
  const said = lines.filter((line) => !/^(?:notice|holder|owner|and |licen[cs]e|interest|statement|law)/i.test(line));
  return said.length === 0 ? ` the authors of ${name}` : said.map((line) => `\n ${line}`).join('');
}

/**
 * The licences of bundled libraries.
 *
 * @param directories of them, from the root of the repository
 * @throws when one came without the text of its licence: it must not be passed on then
 */
export function libraryLicences(root: string, directories: readonly string[]): Promise<readonly Licence[]> {
  return Promise.all(directories.map((directory) => libraryLicence(root, directory)));
}

async function libraryLicence(root: string, directory: string): Promise<Licence> {
  const home = join(root, directory);
  const { name, version, license } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  };
  const text = await licenceText(home);
  if (text === null || license === undefined) throw new Error(`${name} ${version} has no licence text`);
  return {
    files: `${directory}/*`,
    name: `${name} ${version}, bundled into usr/lib/dropcast/dist`,
    kind: license,
    text,
  };
}

/** A file of its own, else the section at the end of the readme. */
async function licenceText(home: string): Promise<string | null> {
  const entries = (await readdir(home)).toSorted();
  const file = entries.find((entry) => /^(?:licen[cs]e|copying)(?:[.-]|$)/i.test(entry));
  if (file !== undefined) return readFile(join(home, file), 'utf8');
  const readme = entries.find((entry) => /^readme(?:[.-]|$)/i.test(entry));
  if (readme === undefined) return null;
  const [, section = ''] = (await readFile(join(home, readme), 'utf8')).split(/^#+ *licen[cs]e *$/im);
  return /copyright/i.test(section) ? section.trim() : null;
}
