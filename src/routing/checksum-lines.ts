import { posix } from 'node:path';
import { digestOf, hashNames } from './checksum-file.ts';
import type { ChecksumLine, HashName } from './checksum-file.ts';
import { UnusableListError, listBounds, overBound, requirePath } from './list-bounds.ts';
import type { ListReader } from './list-bounds.ts';

/**
 * Parses a checksum file line by line, in the forms that tools write: `sha256sum`, BSD and openssl (`SHA256 (clip.mp4)
 * = …`), `certutil`, PowerShell's `Get-FileHash` as a table, as a list, as CSV and as JSON, `7z h`, a name of the
 * algorithm before the digest, and a digest alone.
 */
export class ChecksumLines implements ListReader {
  readonly #named: HashName;
  readonly #found: (line: ChecksumLine) => void;
  #rest = '';
  #lines = 0;
  #entries = 0;
  /** Lines that are neither comments nor empty, as long as none was understood. */
  #strange = 0;
  /** The name and algorithm that `certutil` announces for the digest in the next line. */
  #header: { readonly algorithm: string; readonly name: string } | null = null;
  /** The properties of a file from `Format-List`, one a line. */
  #record: Map<string, string> | null = null;
  #property = '';
  /** 7-Zip writes the size before the name. */
  #hasSizes = false;

  /**
   * @param checksumName names the algorithm of lines that do not
   * @param found called for each line that has a digest, or that names a file without a usable one
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
   * The form of `sha256sum`: a name with a backslash or a line break is escaped, and the line begins with a backslash.
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

  /** @returns whether the line belongs to a record of `Format-List` or of JSON */
  #inRecord(written: string, line: string): boolean {
    const [, property = '', value = ''] = /^"?(Algorithm|Hash|Path)"?\s*:\s*(\S.*)?$/iu.exec(line) ?? [];
    if (property !== '') {
      this.#property = property.toLowerCase();
      if (this.#record?.has(this.#property) === true) this.#endRecord();
      this.#record ??= new Map();
      this.#record.set(this.#property, value);
      return true;
    }
    // PowerShell breaks long values, and indents the continuation.
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

/** As written. */
interface Entry {
  readonly algorithm: string;
  readonly digest: string;
  readonly name: string | undefined;
}

/** The length of the shortest line with a digest. */
const SHORTEST = 18;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r' };

function requireLine(line: string): void {
  if (line.length > listBounds.line) throw overBound('a line of', listBounds.line, 'characters');
}

/** Old versions of `certutil` put spaces between the bytes. */
function digestAlone(line: string): string | null {
  if (/^[\da-f]{32,}$/iu.test(line)) return line;
  return /^[\da-f]{2}(?: [\da-f]{2}){15,}$/iu.test(line) ? line.replaceAll(' ', '') : null;
}

/** A line that names its algorithm, including algorithms that dropcast does not compute. */
function withAlgorithm(line: string): Entry | null {
  for (const form of forms) {
    const { algorithm = '', digest = '', name } = form.exec(line)?.groups ?? {};
    if (digest !== '' && isAlgorithm(algorithm)) return { algorithm, digest, name };
  }
  return null;
}

const forms = [
  // BSD, openssl
  /^(?<algorithm>[\w/-]+) ?\((?<name>.+)\) ?= ?(?<digest>[\da-f]+)$/iu,
  // SHA256: …
  /^(?<algorithm>[\w/-]+)\s*[:=]\s*(?<digest>[\da-f]+)$/iu,
  // Get-FileHash: the table, and Export-Csv
  /^(?<algorithm>[\w/-]+)\s+(?<digest>[\da-f]{16,})(?:\s+(?<name>\S.*))?$/iu,
  /^"?(?<algorithm>[\w/-]+)"?[,;]"?(?<digest>[\da-f]{16,})"?(?:[,;]"?(?<name>.*?)"?)?$/iu,
];

function isAlgorithm(written: string): boolean {
  return (
    hashNameOf(written) !== null || /^(?:sha|md|blake|ripemd|rmd|mactripledes|xxh|crc|whirlpool|tiger)/iu.test(written)
  );
}

/** Accepts `SHA2-256` of openssl 3 and `SHA-256` too. */
function hashNameOf(written: string): HashName | null {
  const name = written
    .toLowerCase()
    .replace(/^sha2-(?=\d{3}$)/u, 'sha')
    .replaceAll('-', '');
  return hashNames.find((known) => known === name) ?? null;
}

/** A property in JSON, or as `Format-List` writes it. */
function valueOf(written: string): string {
  if (!written.startsWith('"')) return written;
  try {
    const value: unknown = JSON.parse(written.replace(/,$/u, ''));
    return typeof value === 'string' ? value : '';
  } catch {
    return written;
  }
}

/** A digest of standard input has no name. A path that PowerShell cut off is unknown. */
function nameOf(name: string | undefined): string | null {
  if (name === undefined || name === '' || name === '-' || name === 'stdin' || /(?:\.{3}|…)$/u.test(name)) return null;
  return requirePath(name);
}
