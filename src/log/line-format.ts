import { fstatSync } from 'node:fs';
import { paint } from './colour.ts';
import type { Style } from './colour.ts';
import { escapeControls, escapeJson, quote } from './unsafe-characters.ts';
import { cutText, isObject } from './serialize.ts';
import type { JsonValue, JsonObject } from './serialize.ts';

export type Level = 'error' | 'warn' | 'info' | 'debug';

/** One log event. */
export interface LogRecord {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: Level;
  readonly message: string;
  readonly fields: JsonObject;
}

export type LineStyle = { readonly kind: 'json' | 'journald' } | { readonly kind: 'pretty'; readonly colour: boolean };

/**
 * Maximum length of a line, in bytes. journald splits longer ones (`LineMax=48K`, journald.conf(5)), and the second
 * half has no level.
 */
const MAX_LINE_BYTES = 48 * 1024 - 1;

/** Limits on the length of each text, in characters; tried in turn until the line fits. */
const TEXT_LIMITS = [Infinity, 1_024, 128] as const;

/**
 * Renders a record as exactly one line of less than 48 KiB, without the newline.
 *
 * @param redact applied to the complete line, before it is measured
 */
export function formatLine(record: LogRecord, style: LineStyle, redact: (line: string) => string): string {
  for (const limit of TEXT_LIMITS) {
    const line = redact(render(shorten(record, limit), style));
    if (Buffer.byteLength(line) <= MAX_LINE_BYTES) return line;
  }
  const { file } = record.fields;
  const fields = { ...(typeof file === 'string' ? { file } : {}), truncated: true };
  return redact(render(shorten({ ...record, fields }, 1_024), style));
}

function render(record: LogRecord, style: LineStyle): string {
  if (style.kind === 'json') return jsonLine(record);
  return style.kind === 'pretty' ? prettyLine(record, style.colour) : journalLine(record);
}

/** The journal takes the level from the prefix (sd-daemon(3)) and adds the time itself. */
function journalLine({ level, message, fields }: LogRecord): string {
  return `<${PRIORITIES[level]}>${escapeControls(message)}${pairs(fields, plainKey)}`;
}

/** syslog(3) priorities, as in sd-daemon(3). */
const PRIORITIES: Readonly<Record<Level, number>> = { error: 3, warn: 4, info: 6, debug: 7 };

/** Renames fields that collide with the standard ones (`_level` and so on), so that no line can imitate another. */
function jsonLine({ time, level, message, fields }: LogRecord): string {
  const own = { time, level, message };
  const others = Object.entries(fields).map(
    ([key, value]) => [Object.hasOwn(own, key) ? `_${key}` : key, value] as const,
  );
  return escapeJson(JSON.stringify(Object.fromEntries([...Object.entries(own), ...others])));
}

function prettyLine({ time, level, message, fields }: LogRecord, colour: boolean): string {
  const head = `${paint('dim', clock(time), colour)} ${paint(LEVEL_COLOURS[level], level.toUpperCase().padEnd(5), colour)}`;
  return `${head} ${escapeControls(message)}${pairs(fields, (key) => paint('dim', plainKey(key), colour))}`;
}

const LEVEL_COLOURS: Readonly<Record<Level, Style>> = {
  error: 'red',
  warn: 'yellow',
  info: 'green',
  debug: 'gray',
};

/** Formats the local time of day, for the person at the terminal. */
function clock(time: string): string {
  return new Date(time).toLocaleTimeString('en-GB', { hour12: false });
}

/**
 * Formats fields as ` key=value`, and objects as `outer.inner=value`. Texts are quoted, so that a file name cannot
 * imitate a field.
 */
function pairs(fields: JsonObject, key: (name: string) => string): string {
  return flatten(fields, '')
    .map(
      ([name, value]) =>
        ` ${key(name)}=${typeof value === 'string' ? quote(value) : escapeJson(JSON.stringify(value))}`,
    )
    .join('');
}

function flatten(fields: JsonObject, prefix: string): readonly (readonly [string, JsonValue])[] {
  return Object.entries(fields).flatMap(([key, value]) =>
    isObject(value) ? flatten(value, `${prefix}${key}.`) : [[prefix + key, value] as const],
  );
}

function plainKey(key: string): string {
  return /^[\w.…-]+$/.test(key) ? key : quote(key);
}

function shorten(record: LogRecord, limit: number): LogRecord {
  if (limit === Infinity) return record;
  return { ...record, message: cutText(record.message, limit), fields: shortenFields(record.fields, limit) };
}

function shortenFields(fields: JsonObject, limit: number): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, shortenValue(value, limit)]));
}

function shortenValue(value: JsonValue, limit: number): JsonValue {
  if (typeof value === 'string') return cutText(value, limit);
  if (Array.isArray(value)) return value.map((each: JsonValue) => shortenValue(each, limit));
  return isObject(value) ? shortenFields(value, limit) : value;
}

/**
 * Adds priority prefixes to lines for stderr if it goes to the journal, which would otherwise record them as `info`.
 *
 * A set `$JOURNAL_STREAM` alone proves nothing, because desktop shells inherit it. Its value is the stream's device and
 * inode (systemd.exec(5)).
 */
export function priorityLines(
  lines: readonly string[],
  level: Level,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return env['JOURNAL_STREAM'] === streamOf(2) ? lines.map((line) => `<${PRIORITIES[level]}>${line}`) : lines;
}

function streamOf(descriptor: number): string | null {
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
