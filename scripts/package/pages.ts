import { posix } from 'node:path';
import type { PackagedFile } from './packaged-file.ts';

const FOLDER = 'usr/share/doc/dropcast';

/** Where a page's link leads on an installed machine, if it leads out of the documentation. */
const elsewhere: Readonly<Record<string, string>> = {
  'config.example.yaml': 'usr/share/doc/dropcast/examples/dropcast.yaml',
  'config.schema.json': 'usr/lib/dropcast/config.schema.json',
  'packages/sandbox/openapi.yaml': 'usr/lib/dropcast/openapi.yaml',
};

/**
 * The guide to the installation and every page and picture that can be reached from it by links, with their links as
 * they are on an installed machine.
 *
 * @param read a file of the repository
 * @throws when a link leads to a file that is not packaged
 */
export async function linkedPages(read: (path: string) => Promise<Uint8Array>): Promise<readonly PackagedFile[]> {
  const pages = new Map<string, string | Uint8Array>();
  const waiting = ['docs/install.md'];
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    if (pages.has(page)) continue;
    const content = await read(page);
    const { text, linked } = page.endsWith('.md')
      ? installed(page, new TextDecoder().decode(content))
      : { text: content, linked: [] };
    pages.set(page, text);
    waiting.push(...linked);
  }
  return [...pages.keys()].toSorted().map((page) => ({ path: placeOf(page), content: pages.get(page) ?? '' }));
}

function installed(page: string, text: string): { readonly text: string; readonly linked: readonly string[] } {
  const linked: string[] = [];
  const moved = text.replaceAll(/\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g, (_, link: string, part = '') => {
    const target = posix.join(posix.dirname(page), link);
    if (elsewhere[target] === undefined) linked.push(target);
    return `](${posix.relative(posix.dirname(placeOf(page)), placeOf(target))}${part})`;
  });
  return { text: moved, linked };
}

function placeOf(path: string): string {
  const place = elsewhere[path] ?? (path.startsWith('docs/') ? `${FOLDER}/${path.slice('docs/'.length)}` : null);
  if (place === null) throw new Error(`a page links to ${path}, which is not in the package`);
  return place;
}
