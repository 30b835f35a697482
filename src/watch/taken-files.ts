import type { BigIntStats } from 'node:fs';
import type { ContentVersion } from '../pipeline/file/file-version.ts';

/** File stats as JavaScript numbers. Times are in milliseconds and inexact below a microsecond. */
export interface RoughStats {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/**
 * The files that the sink accepted: path → version and state. There may be 100,000, so each version is packed into 40
 * bytes, where strings would take 300. Also records which files the current scan has found, so that scans need not copy
 * all paths.
 */
export class TakenFiles {
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  readonly #states = new SlotStates();
  /** Five numbers per slot. */
  #versions = new BigInt64Array(0);
  /** For each slot, the number of the scan that last found it. */
  #scans = new Uint32Array(0);
  #scan = 0;

  get size(): number {
    return this.#slots.size;
  }

  has(path: string): boolean {
    return this.#slots.has(path);
  }

  /** Sets a file's version and keeps its state. */
  set(path: string, version: ContentVersion): void {
    const slot = this.#slots.get(path) ?? this.#open(path);
    this.#versions.set(packed(version), COLUMNS * slot);
    this.#scans[slot] = this.#scan;
  }

  delete(path: string): void {
    const slot = this.#slots.get(path);
    if (slot === undefined) return;
    this.#slots.delete(path);
    this.#states.close(slot);
    this.#free.push(slot);
  }

  get(path: string): ContentVersion | undefined {
    const slot = this.#slots.get(path);
    if (slot === undefined) return undefined;
    const number = (column: number): bigint => this.#versions[COLUMNS * slot + column] ?? 0n;
    return {
      size: Number(number(SIZE)),
      mtimeNs: String(number(MTIME)),
      ino: String(BigInt.asUintN(64, number(INO))),
      birthtimeNs: String(number(BIRTHTIME)),
      ctimeNs: String(number(CTIME)),
    };
  }

  /** Whether the sink certainly accepted this content; see `isSameVersion`. */
  isSame(path: string, version: ContentVersion): boolean {
    const slot = this.#slots.get(path);
    return slot !== undefined && this.#holds(slot, packed(version));
  }

  /** Like `isSame`, but without building the strings of a version. */
  isExactly(path: string, { size, mtimeNs, ctimeNs, ino, birthtimeNs }: BigIntStats): boolean {
    const slot = this.#slots.get(path);
    return slot !== undefined && this.#holds(slot, [size, mtimeNs, ctimeNs, ino, birthtimeNs]);
  }

  /** Whether size and times match, within the precision of JavaScript numbers. */
  isRoughly(path: string, { size, mtimeMs, ctimeMs }: RoughStats): boolean {
    const slot = this.#slots.get(path);
    if (slot === undefined) return false;
    const number = (column: number): number => Number(this.#versions[COLUMNS * slot + column]);
    const isAt = (column: number, ms: number): boolean => Math.abs(number(column) / 1e6 - ms) < MICROSECOND_IN_MS;
    return number(SIZE) === size && isAt(MTIME, mtimeMs) && isAt(CTIME, ctimeMs);
  }

  paths(): IteratorObject<string> {
    return this.#slots.keys();
  }

  *entries(): Generator<readonly [path: string, version: ContentVersion], void, undefined> {
    for (const path of this.#slots.keys()) {
      const version = this.get(path);
      if (version !== undefined) yield [path, version];
    }
  }

  state(path: string): string | null {
    const slot = this.#slots.get(path);
    return slot === undefined ? null : this.#states.get(slot);
  }

  setState(path: string, state: string | null): void {
    const slot = this.#slots.get(path);
    if (slot !== undefined) this.#states.set(slot, state);
  }

  /** Counts files by state; `null` for files without a state. */
  countStates(): Map<string | null, number> {
    return this.#states.counts();
  }

  *withoutState(): Generator<string> {
    for (const [path, slot] of this.#slots) if (this.#states.get(slot) === null) yield path;
  }

  beginScan(): void {
    this.#scan += 1;
  }

  found(path: string): void {
    const slot = this.#slots.get(path);
    if (slot !== undefined) this.#scans[slot] = this.#scan;
  }

  /** Yields paths that existed when the scan began and that it has not found. */
  *unfound(): Generator<string> {
    for (const [path, slot] of this.#slots) if (this.#scans[slot] !== this.#scan) yield path;
  }

  #holds(slot: number, version: readonly bigint[]): boolean {
    return version.every((number, column) => this.#versions[COLUMNS * slot + column] === BigInt.asIntN(64, number));
  }

  #open(path: string): number {
    const slot = this.#free.pop() ?? this.#slots.size;
    if (slot >= this.#scans.length) this.#grow();
    this.#slots.set(path, slot);
    this.#states.open(slot);
    return slot;
  }

  #grow(): void {
    const slots = Math.max(FIRST_SLOTS, Math.ceil(1.5 * this.#scans.length));
    const [versions, scans] = [this.#versions, this.#scans];
    this.#versions = new BigInt64Array(COLUMNS * slots);
    this.#versions.set(versions);
    this.#scans = new Uint32Array(slots);
    this.#scans.set(scans);
    this.#states.grow(slots);
  }
}

const [SIZE, MTIME, CTIME, INO, BIRTHTIME, COLUMNS] = [0, 1, 2, 3, 4, 5];
const FIRST_SLOTS = 64;
const MICROSECOND_IN_MS = 0.001;

/** Returns the numbers of a version in column order. */
function packed({ size, mtimeNs, ctimeNs, ino, birthtimeNs }: ContentVersion): bigint[] {
  return [BigInt(size), BigInt(mtimeNs), BigInt(ctimeNs), BigInt(ino), BigInt(birthtimeNs)];
}

/** The state of each slot, packed into one byte, and the number of slots in each state. */
class SlotStates {
  /** All states seen so far (the ledger has eleven); index 0 means no state. */
  readonly #names: (string | null)[] = [null];
  readonly #counts = [0];
  #states = new Uint8Array(0);

  grow(slots: number): void {
    const before = this.#states;
    this.#states = new Uint8Array(slots);
    this.#states.set(before);
  }

  /** Marks a slot as used, without a state. */
  open(slot: number): void {
    this.#states[slot] = 0;
    this.#add(0, 1);
  }

  close(slot: number): void {
    this.#add(this.#states[slot] ?? 0, -1);
  }

  get(slot: number): string | null {
    return this.#names[this.#states[slot] ?? 0] ?? null;
  }

  set(slot: number, name: string | null): void {
    const state = this.#names.indexOf(name);
    if (state === -1) this.#names.push(name);
    this.#add(this.#states[slot] ?? 0, -1);
    this.#states[slot] = state === -1 ? this.#names.length - 1 : state;
    this.#add(this.#states[slot] ?? 0, 1);
  }

  /** Counts slots by state; `null` for slots without a state. */
  counts(): Map<string | null, number> {
    return new Map(this.#names.map((name, state) => [name, this.#counts[state] ?? 0]));
  }

  #add(state: number, by: number): void {
    this.#counts[state] = (this.#counts[state] ?? 0) + by;
  }
}
