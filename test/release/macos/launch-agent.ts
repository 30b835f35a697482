import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseHTML } from 'linkedom';

export const agentFile = join(import.meta.dirname, '../../../packaging/macos/local.dropcast.plist');

/** A value of a property list: plist(5). */
export type PropertyValue =
  | string
  | number
  | boolean
  | readonly PropertyValue[]
  | { readonly [key: string]: PropertyValue };

/** The launch agent as launchd reads it. */
export async function launchAgent(): Promise<Readonly<Record<string, PropertyValue>>> {
  const text = (await readFile(agentFile, 'utf8')).replace(/^<\?xml.*\n<!DOCTYPE.*\n/, '');
  const { document } = parseHTML(`<html><body>${text.replaceAll(/<(true|false)\/>/g, '<$1></$1>')}</body></html>`);
  const top = document.querySelector('plist > dict');
  if (top === null) throw new Error(`${agentFile} has no dictionary`);
  return valueOf(top) as Readonly<Record<string, PropertyValue>>;
}

interface Element {
  readonly tagName: string;
  readonly textContent: string | null;
  readonly children: Iterable<Element>;
}

function valueOf(element: Element): PropertyValue {
  const name = element.tagName.toLowerCase();
  const children = [...element.children];
  if (name === 'true' || name === 'false') return name === 'true';
  if (name === 'integer') return Number(element.textContent);
  if (name === 'array') return children.map(valueOf);
  if (name !== 'dict') return element.textContent ?? '';
  const pairs = children.flatMap((key, n) => (n % 2 === 0 ? [[key.textContent ?? '', children[n + 1]] as const] : []));
  return Object.fromEntries(pairs.map(([key, value]) => [key, value === undefined ? '' : valueOf(value)]));
}
