import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { addressGraceMs, doubtMs } from '../../../src/pipeline/steps/upload.ts';
import type { FileVersion } from '../../../src/pipeline/file/file-version.ts';
import type { SpecId } from './specs.ts';

/** A file of the explored disk. */
export interface DiskFile {
  readonly version: FileVersion;
  /** Which bytes; its SHA-256 is the same word. */
  readonly content: string;
}

export interface ExploredRecord {
  readonly id: string;
  readonly token: string;
  status: 'pending' | 'processing' | 'ready';
  content: string | null;
  /** How often somebody asked since the bytes came. */
  asked: number;
  /** A body may have arrived since the service last said `pending`. */
  mayHaveBody: boolean;
}

/** A request whose answer never came, and that is carried out later. */
export interface Late {
  calls: number;
  readonly what: 'create' | 'receive' | 'remove';
  readonly of: string;
  readonly content: string | null;
}

/** The whole explored world between two turns, as plain data. */
export interface WorldState {
  /** On disk. */
  durable: Facts[];
  /** As the process believes it; it differs only for planted bugs. */
  believed: Facts[];
  files: Record<string, DiskFile>;
  /** Path → version that the watcher has handed over; null after a start. */
  taken: Record<string, FileVersion> | null;
  records: ExploredRecord[];
  /** Tokens of all create requests. */
  tokens: string[];
  late: Late[];
  published: number;
  /** Milliseconds. */
  now: number;
  requests: number;
  /** For names of tokens, records, rows and contents. */
  count: number;
  found: SpecId[];
}

/**
 * Equal for states that the future cannot tell apart: times are relative to now, names are those of their first appearance, and what
 * only people read is left out.
 */
export function keyOf(state: WorldState): string {
  const { now, durable, believed, files, taken, records, late, found } = state;
  const isOne = durable.length === believed.length && durable.every((row, index) => row === believed[index]);
  const text = JSON.stringify([
    durable.map((row) => essence(row, now)),
    isOne ? 0 : believed.map((row) => essence(row, now)),
    files,
    taken,
    records,
    late,
    found,
  ]);
  const names = new Map<string, string>();
  return text.replaceAll(/[a-z]+#\d+/g, (name) => {
    const known = names.get(name) ?? `${name.slice(0, 2)}${names.size}`;
    names.set(name, known);
    return known;
  });
}

function essence(facts: Facts, now: number): unknown[] {
  const left = (at: number | null): number | null => (at === null ? null : Math.max(0, at - now));
  const past = (at: number | null, most = 120_000): number | null => (at === null ? null : Math.min(most, now - at));
  return [
    facts.id,
    facts.path,
    facts.version,
    facts.intent,
    facts.suspects,
    facts.videoId,
    facts.uploadUrl === null,
    facts.uploadStartedAt === null,
    facts.sha256,
    facts.uploadedAt === null,
    past(facts.addressDeadAt, doubtMs + addressGraceMs),
    facts.dying,
    facts.replacements,
    facts.remoteStatus,
    past(facts.readyAt),
    Object.keys(facts.published).length,
    facts.attempts,
    left(facts.notBefore),
    facts.end,
    facts.lastFailure?.kind,
    facts.lastFailure?.code,
    facts.disposal,
  ];
}
