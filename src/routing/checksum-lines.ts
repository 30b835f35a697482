import { posix } from 'node:path';
import { UnusableListError, digestOf, hashNames, listBounds, overBound, requirePath } from './checksum-file.ts';
import type { ChecksumLine, HashName, ListReader } from './checksum-file.ts';

/**
 * Parses a checksum file line by line. Accepts the formats of common tools: `sha256sum`, BSD and openssl (`SHA256
 * (clip.mp4) = …`), `certutil`, PowerShell's `Get-FileHash` (table, list, CSV and JSON), `7z h`, a digest preceded by
 * its algorithm, and a digest alone.
 */
export class ChecksumLines implements ListReader {
  readonly #named: HashName;
  readonly #found: (line: ChecksumLine) => void;
  #rest = '';
  #lines = 0;
  #entries = 0;
  /** Number of lines that were not understood, other than comments and empty lines. */
  #strange = 0;
  /** The name and algorithm from a `certutil` header. They apply to the digest on the next line. */
  #header: { readonly algorithm: string; readonly name: string } | null = null;
  /** Properties of the current `Format-List` record, which has one per line. */
  #record: Map<string, string> | null = null;
  #property = '';
  /** Whether names are preceded by a size, as in 7-Zip's output. */
  #hasSizes = false;

  /**
   * @param checksumName name of the checksum file; implies the algorithm for lines that do not name one
   * @param found called for each line that has a digest, or that names a file without a usable digest
   */
  constructor(checksumName: string, found: (line: ChecksumLine) => void) {
    this.#named = hashNames.find((hash) => posix.basename(checksumName).toLowerCase().includes(hash)) ?? 'sha256';
    this.#found = found;
  }

  read(piece: string): void {
    const lines = (this.#rest + piece).split(/[\r\n]+/u);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    requireLine(this.#rest);
  }

  end(): void {
    this.#take(this.#rest);
    this.#endRecord();
    if (this.#entries === 0 && this.#strange > 0)
      throw new UnusableListError('it has no line with a checksum in a format that dropcast knows');
  }

  #take(written: string): void {
    requireLine(written);
    const line = written.trim();
    if (line === '') return;
    this.#lines += 1;
    if (this.#lines > listBounds.lines) throw overBound('', listBounds.lines, 'lines');
    if (this.#inRecord(written, line)) return;
    this.#endRecord();
    const entry = line.length < SHORTEST ? null : this.#entryIn(line);
    if (entry !== null) this.#add(entry);
    else if (!this.#isHeader(line) && !/^(?:[#;]|\/\/)/u.test(line)) this.#strange += 1;
  }

  #entryIn(line: string): Entry | null {
    const header = this.#header;
    this.#header = null;
    const digest = digestAlone(line);
    if (digest !== null) return { algorithm: header?.algorithm ?? this.#named, digest, name: header?.name };
    return this.#withName(line) ?? withAlgorithm(line);
  }

  /**
   * Parses the `sha256sum` format. A leading backslash marks a name in which backslashes and line breaks are escaped.
   */
  #withName(line: string): Entry | null {
    const [, isEscaped, digest = '', name = ''] = /^(\\?)([\da-f]{16,})\s+\*?(\S.*)$/iu.exec(line) ?? [];
    if (digest === '') return null;
    const plain = isEscaped === '' ? name : name.replaceAll(/\\([\\nr])/gu, (_, code: string) => escapes[code] ?? code);
    return {
      algorithm: this.#named,
      digest,
      name: this.#hasSizes ? plain.replace(/^\d+\s+/u, '') : plain,
    };
  }

  /** @returns whether the line belongs to a `Format-List` or JSON record */
  #inRecord(written: string, line: string): boolean {
    const [, property = '', value = ''] = /^"?(Algorithm|Hash|Path)"?\s*:\s*(\S.*)?$/iu.exec(line) ?? [];
    if (property !== '') {
      this.#property = property.toLowerCase();
      if (this.#record?.has(this.#property) === true) this.#endRecord();
      this.#record ??= new Map();
      this.#record.set(this.#property, value);
      return true;
    }
    // PowerShell wraps long values and indents the continuation lines.
    if (this.#record === null || !/^\s{8}/u.test(written)) return false;
    const joined = `${this.#record.get(this.#property) ?? ''}${line}`;
    requireLine(joined);
    this.#record.set(this.#property, joined);
    return true;
  }

  #endRecord(): void {
    const record = this.#record;
    this.#record = null;
    if (record === null) return;
    const [algorithm, digest, name] = ['algorithm', 'hash', 'path'].map((key) => valueOf(record.get(key) ?? ''));
    if (digest === undefined || digest === '') this.#strange += 1;
    else this.#add({ algorithm: algorithm || this.#named, digest, name: name || undefined });
  }

  #isHeader(line: string): boolean {
    if (/\bSize\s+Name$/u.test(line)) this.#hasSizes = true;
    const [, algorithm = '', name = ''] = /^([A-Z]+-?\d+)\W*hash (?:of file|of|von) (.+):$/iu.exec(line) ?? [];
    this.#header = algorithm === '' ? null : { algorithm, name };
    return this.#header !== null;
  }

  #add({ algorithm: written, digest, name }: Entry): void {
    this.#entries += 1;
    if (this.#entries > listBounds.entries) throw overBound('', listBounds.entries, 'entries');
    const algorithm = hashNameOf(written);
    if (algorithm === null) return;
    this.#found({ algorithm, digest: digestOf(algorithm, digest), name: nameOf(name) });
  }
}

/** The fields of a line, as written. */
interface Entry {
  readonly algorithm: string;
  readonly digest: string;
  readonly name: string | undefined;
}

/** Length of the shortest possible line with a digest. */
const SHORTEST = 18;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r' };

function requireLine(line: string): void {
  if (line.length > listBounds.line) throw overBound('a line of', listBounds.line, 'characters');
}

/** Parses a line that is only a digest. Old versions of `certutil` put spaces between the bytes. */
function digestAlone(line: string): string | null {
  if (/^[\da-f]{32,}$/iu.test(line)) return line;
  return /^[\da-f]{2}(?: [\da-f]{2}){15,}$/iu.test(line) ? line.replaceAll(' ', '') : null;
}

/** Parses a line that names its algorithm. Algorithms that dropcast cannot compute are recognised too. */
function withAlgorithm(line: string): Entry | null {
  for (const form of forms) {
    const { algorithm = '', digest = '', name } = form.exec(line)?.groups ?? {};
    if (digest !== '' && isAlgorithm(algorithm)) return { algorithm, digest, name };
  }
  return null;
}

const forms = [
  // BSD and openssl: SHA256 (clip.mp4) = …
  /^(?<algorithm>[\w/-]+) ?\((?<name>.+)\) ?= ?(?<digest>[\da-f]+)$/iu,
  // Algorithm and digest only: SHA256: …
  /^(?<algorithm>[\w/-]+)\s*[:=]\s*(?<digest>[\da-f]+)$/iu,
  // Get-FileHash: the table, then Export-Csv
  /^(?<algorithm>[\w/-]+)\s+(?<digest>[\da-f]{16,})(?:\s+(?<name>\S.*))?$/iu,
  /^"?(?<algorithm>[\w/-]+)"?[,;]"?(?<digest>[\da-f]{16,})"?(?:[,;]"?(?<name>.*?)"?)?$/iu,
];

function isAlgorithm(written: string): boolean {
  return (
    hashNameOf(written) !== null || /^(?:sha|md|blake|ripemd|rmd|mactripledes|xxh|crc|whirlpool|tiger)/iu.test(written)
  );
}

/** Normalises an algorithm name. Also accepts `SHA2-256` (openssl 3) and `SHA-256`. */
function hashNameOf(written: string): HashName | null {
  const name = written
    .toLowerCase()
    .replace(/^sha2-(?=\d{3}$)/u, 'sha')
    .replaceAll('-', '');
  return hashNames.find((known) => known === name) ?? null;
}

/** Reads a property value written as JSON or by `Format-List`. */
function valueOf(written: string): string {
  if (!written.startsWith('"')) return written;
  try {
    const value: unknown = JSON.parse(written.replace(/,$/u, ''));
    return typeof value === 'string' ? value : '';
  } catch {
    return written;
  }
}

/** Returns the file name, or null for a digest of standard input and for a path that PowerShell truncated. */
function nameOf(name: string | undefined): string | null {
  if (name === undefined || name === '' || name === '-' || name === 'stdin' || /(?:\.{3}|…)$/u.test(name)) return null;
  return requirePath(name);
}
