import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatLine } from '../../src/log/line-format.ts';
import type { LineStyle, LogRecord } from '../../src/log/line-format.ts';

const record = (changes: Partial<LogRecord> = {}): LogRecord => ({
  time: '2026-11-20T05:24:53.167Z',
  level: 'info',
  message: 'upload finished',
  fields: { file: 'f1' },
  ...changes,
});
const format = (style: LineStyle, changes: Partial<LogRecord> = {}) =>
  formatLine(record(changes), style, (line) => line);
const STYLES: readonly LineStyle[] = [{ kind: 'json' }, { kind: 'journald' }, { kind: 'pretty', colour: false }];

test('JSON lines begin with time, level and message', () => {
  expect(format({ kind: 'json' })).toBe(
    '{"time":"2026-11-20T05:24:53.167Z","level":"info","message":"upload finished","file":"f1"}',
  );
});

test('a field named like one of ours is renamed', () => {
  const line = format({ kind: 'json' }, { fields: { level: 'error', message: 'forged', time: 0 } });
  expect(JSON.parse(line)).toMatchObject({
    level: 'info',
    message: 'upload finished',
    _level: 'error',
    _message: 'forged',
    _time: 0,
  });
});

test.each([
  ['error', 3],
  ['warn', 4],
  ['info', 6],
  ['debug', 7],
] as const)('the journal gets %s as priority %i', (level, priority) => {
  expect(format({ kind: 'journald' }, { level })).toBe(`<${priority}>upload finished file="f1"`);
});

test('the journal can be searched for the lines of a file as documented', () => {
  const page = readFileSync(new URL('../../docs/when-something-fails.md', import.meta.url), 'utf8');
  const pattern = /journalctl .*--grep '([^']+)'/.exec(page)?.[1]?.replace('ID', 'f1') ?? 'none';
  expect(format({ kind: 'journald' })).toMatch(new RegExp(pattern));
  expect(format({ kind: 'journald' }, { fields: { file: 'f12' } })).not.toMatch(new RegExp(pattern));
});

test('nested fields are dotted, texts quoted, numbers bare', () => {
  const fields = { path: 'a b="1".mp4', bytes: 3, err: { message: 'no', cause: { code: 'E' } }, tags: ['a'] };
  expect(format({ kind: 'journald' }, { fields })).toBe(
    String.raw`<6>upload finished path="a b=\"1\".mp4" bytes=3 err.message="no" err.cause.code="E" tags=["a"]`,
  );
});

test('pretty lines show the time of day and the level, in colour on request', () => {
  expect(format({ kind: 'pretty', colour: false })).toMatch(/^\d\d:\d\d:\d\d INFO {2}upload finished file="f1"$/);
  expect(format({ kind: 'pretty', colour: true })).toContain('\u{1B}[32mINFO');
});

describe.each(STYLES)('in $kind', (style) => {
  const hostile = 'a\n<2>forged\r\u{1B}[31m\0\u2028\u202E\u{9B}x';

  test('message, names and values of fields cannot begin a line or reach the terminal', () => {
    const line = format(style, { message: hostile, fields: { [hostile]: hostile, deep: { [hostile]: [hostile] } } });
    expect(line).not.toMatch(/[\p{Cc}\u2028\u202E]/u);
  });

  test('a line is under 48 KiB whatever it is given, and still names the file', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, '\u{1}'.repeat(8_000)]));
    const line = format(style, {
      message: '€'.repeat(8_000),
      fields: { file: 'f1', a: many, b: many, c: many, d: many },
    });
    expect(Buffer.byteLength(line)).toBeLessThan(48 * 1024);
    expect(line).toContain('f1');
    if (style.kind === 'json') expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  test('long texts are cut before fields are dropped', () => {
    const line = format(style, { fields: { file: 'f1', a: 'a'.repeat(40_000), b: 'b'.repeat(40_000) } });
    expect(line).toMatch(/a{1024}….*b{1024}…/);
  });
});
