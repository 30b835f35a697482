import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Alias, Node, Pair, YAMLMap, YAMLSeq } from 'yaml';
import { error, type Finding, type Position } from './problem.ts';
import type { KeyPath } from './raw-tree.ts';

const MAX_DEPTH = 64;
/**
 * Maximum number of nodes that all aliases may expand to. A thousand folders with shared rules need about ten thousand.
 */
const MAX_ALIASED_NODES = 100_000;

type Item = Node | null;

/** A value and the number of nodes it expands to. */
interface Converted {
  readonly value: unknown;
  readonly weight: number;
}

/**
 * The plain data of a parsed document, with a lookup from key to position. Replaces the library's `toJS()`, which
 * throws at the first bad alias without a position, converts list keys to strings, and treats 101 uses of one anchor as
 * an attack (docs/decisions/0014-our-own-beside-a-library.md).
 */
export class YamlTree {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  readonly #root: Item;
  readonly #position: (offset: number) => Position;
  readonly #conversion: Conversion;

  /** @param position returns the line and column for an offset in the text */
  constructor(root: Item, position: (offset: number) => Position) {
    this.#root = root;
    this.#position = position;
    this.#conversion = new Conversion(position);
    this.value = this.#conversion.convert(root, []).value;
    this.findings = this.#conversion.findings;
  }

  /** Returns the position of a key or its value, or that of the nearest existing parent. */
  locate(path: KeyPath, at: Finding['at']): Position {
    let node = this.#root;
    let place = node;
    for (const [index, step] of path.entries()) {
      const { key, value } = this.#child(node, step);
      if (key === undefined && value === null) break;
      const wantsKey = index < path.length - 1 || at === 'key' || isNothing(value);
      place = wantsKey && key !== undefined ? key : value;
      node = value;
    }
    return this.#position(startOf(place));
  }

  /** Creates an error at an offset, under the deepest key whose text contains that offset. */
  at(offset: number, message: string): Finding {
    return { ...error(this.#pathAt(offset), message), place: this.#position(offset) };
  }

  /** The key at an offset. A tag belongs to the value after it. */
  #pathAt(offset: number): KeyPath {
    const path: (string | number)[] = [];
    let node = this.#root;
    while ((isMap(node) || isSeq(node)) && startOf(node) <= offset) {
      const index = node.items.findIndex((item) => endOf(item) > offset);
      const item: unknown = node.items[index];
      if (item === undefined) break;
      path.push(isMap(node) ? keyName((item as Pair).key) : index);
      node = (isMap(node) ? (item as Pair).value : item) as Item;
    }
    return path;
  }

  #child(parent: Item, step: string | number): { key?: Item; value: Item } {
    const node = isAlias(parent) ? this.#conversion.targets.get(parent) : parent;
    if (isSeq(node)) return { value: (node.items[Number(step)] as Item | undefined) ?? null };
    const pair = isMap(node) ? this.#conversion.pairs.get(node)?.get(String(step)) : undefined;
    return pair === undefined ? { value: null } : { key: pair.key as Item, value: pair.value as Item };
  }
}

/** Walks all nodes once and collects their data, their problems, and the positions for `locate`. */
class Conversion {
  readonly findings: Finding[] = [];
  /** The target of each alias. */
  readonly targets = new Map<Alias, Node>();
  /** The first pair with each name. */
  readonly pairs = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  readonly #position: (offset: number) => Position;
  readonly #anchors = new Map<string, Node>();
  readonly #converted = new Map<Node, Converted>();
  /** Collections that the walk is currently inside. */
  readonly #open = new Set<Node>();
  #aliasedNodes = 0;

  constructor(position: (offset: number) => Position) {
    this.#position = position;
  }

  convert(node: Item, path: KeyPath): Converted {
    if (node === null) return { value: null, weight: 1 };
    if (isAlias(node)) return this.#alias(node, path);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (path.length > MAX_DEPTH) return this.#refuse(node, path, 'nested too deeply');
    this.#open.add(node);
    const converted = this.#content(node, path);
    this.#open.delete(node);
    this.#converted.set(node, converted);
    return converted;
  }

  #content(node: Node, path: KeyPath): Converted {
    if (isMap(node)) return this.#map(node, path);
    if (isSeq(node)) return this.#list(node, path);
    const value: unknown = isScalar(node) ? node.value : null;
    if (typeof value === 'string' && !isCleanText(value))
      return this.#refuse(node, path, 'contains a control character or half of a surrogate pair; remove it');
    return { value, weight: 1 };
  }

  #map(node: YAMLMap, path: KeyPath): Converted {
    const entries = new Map<string, Converted>();
    const pairs = new Map<string, Pair>();
    this.pairs.set(node, pairs);
    for (const pair of node.items) {
      if (!isPlainKey(pair.key)) {
        this.#refuse(pair.key, path, 'a key must be a single word, not a list or mapping');
        continue;
      }
      const name = keyName(pair.key);
      const first = pairs.get(name);
      if (first === undefined) pairs.set(name, pair);
      else this.#refuseAgain([...path, name], { first: first.key, again: pair.key });
      const converted = this.convert(pair.value as Item, [...path, name]);
      if (first === undefined) entries.set(name, converted);
    }
    // Unlike an assignment, `fromEntries` makes `__proto__` an ordinary property.
    return {
      value: Object.fromEntries([...entries].map(([name, { value }]) => [name, value])),
      weight: totalWeight([...entries.values()]),
    };
  }

  #list(node: YAMLSeq, path: KeyPath): Converted {
    const items = node.items.map((item, index) => this.convert(item as Item, [...path, index]));
    return { value: items.map(({ value }) => value), weight: totalWeight(items) };
  }

  /** Resolves an alias. Its anchor comes earlier in the text, so the value is already converted and can be shared. */
  #alias(node: Alias, path: KeyPath): Converted {
    const target = this.#anchors.get(node.source);
    if (target === undefined)
      return this.#refuse(node, path, 'no anchor (&) with this name above; put text that starts with * in quotes');
    if (this.#open.has(target)) return this.#refuse(node, path, 'this alias (*) refers to a value that contains it');
    const converted = this.#converted.get(target) ?? { value: null, weight: 1 };
    this.#aliasedNodes += converted.weight;
    if (this.#aliasedNodes > MAX_ALIASED_NODES)
      return this.#refuse(node, path, `aliases (*) expand to more than ${MAX_ALIASED_NODES} values; write fewer`);
    this.targets.set(node, target);
    return converted;
  }

  #refuse(node: unknown, path: KeyPath, message: string): Converted {
    this.findings.push({ ...error(path, message), place: this.#position(startOf(node)) });
    return { value: null, weight: 1 };
  }

  #refuseAgain(path: KeyPath, keys: { readonly first: unknown; readonly again: unknown }): void {
    const { line } = this.#position(startOf(keys.first));
    const place = this.#position(startOf(keys.again));
    this.findings.push({ ...error(path, `duplicate key; it is already set in line ${line}`), place });
  }
}

function totalWeight(parts: readonly Converted[]): number {
  return parts.reduce((sum, { weight }) => sum + weight, 1);
}

function isPlainKey(key: unknown): boolean {
  return isScalar(key) && (key.value === null || typeof key.value !== 'object');
}

/** A key's name: `1:` and `true:` are "1" and "true"; a colon with nothing before it is "". */
function keyName(key: unknown): string {
  if (!isScalar(key)) return '';
  const { value } = key;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/**
 * Whether a node is `key:` with nothing after it. The library positions such a node at the start of whatever follows.
 */
function isNothing(node: Item): boolean {
  return node === null || (isScalar(node) && node.range?.[0] === node.range?.[1]);
}

function startOf(node: unknown): number {
  return (node as Item | undefined)?.range?.[0] ?? 0;
}

function endOf(item: unknown): number {
  const isPair = item !== null && typeof item === 'object' && 'key' in item;
  const node = isPair ? ((item as Pair).value ?? (item as Pair).key) : item;
  return (node as Item | undefined)?.range?.[1] ?? 0;
}

/** Whether text is free of control characters (from `\x00` escapes) and of unpaired surrogates. */
function isCleanText(text: string): boolean {
  return text.isWellFormed() && !/[^\P{Cc}\t\n\r]/u.test(text);
}
