import { describe, expect, it } from 'vitest';
import { LONGEST, parseBandwidth, parseDuration } from '../../src/config/units.ts';

const ANY = { min: '0s', max: LONGEST };

describe('durations', () => {
  it.each([
    ['0s', 0],
    ['1ms', 1],
    ['500ms', 500],
    ['5s', 5000],
    ['2m', 120_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['24d', 2_073_600_000],
  ])('%s is %d ms', (text, value) => {
    expect(parseDuration(text, ANY)).toEqual({ ok: true, value });
  });

  it.each([
    '',
    '5',
    's',
    '5 s',
    ' 5s',
    '5s ',
    '-5s',
    '+5s',
    '1.5s',
    '1e3s',
    '5S',
    '5sec',
    '5constructor',
    '٥s',
    '99999999999s',
  ])('%j is none', (text) => {
    expect(parseDuration(text, ANY)).toMatchObject({ ok: false, message: expect.stringContaining('not a duration') });
  });

  it('never exceed what a timer can hold', () => {
    expect(parseDuration(LONGEST, ANY)).toSatisfy((read) => read.ok && read.value <= 2 ** 31 - 1);
    expect(parseDuration('25d', ANY)).toEqual({ ok: false, message: 'too long; at most 24d' });
    expect(parseDuration('9999999999d', ANY)).toEqual({ ok: false, message: 'too long; at most 24d' });
  });

  it('are refused outside of their range and taken at its ends', () => {
    const range = { min: '1s', max: '1m' };
    expect(parseDuration('999ms', range)).toEqual({ ok: false, message: 'too short; at least 1s' });
    expect(parseDuration('1000ms', range)).toEqual({ ok: true, value: 1000 });
    expect(parseDuration('60s', range)).toEqual({ ok: true, value: 60_000 });
    expect(parseDuration('61s', range)).toEqual({ ok: false, message: 'too long; at most 1m' });
  });
});

describe('bandwidths', () => {
  it.each([
    ['unlimited', Number.POSITIVE_INFINITY],
    ['1000B/s', 1000],
    ['500kB/s', 500_000],
    ['20MB/s', 20_000_000],
    ['1.5MB/s', 1_500_000],
    ['20 MB/s', 20_000_000],
    ['8Mbit/s', 1_000_000],
    ['8000bit/s', 1000],
    ['1Gbit/s', 125_000_000],
  ])('%s is %d bytes a second', (text, value) => {
    expect(parseBandwidth(text)).toEqual({ ok: true, value });
  });

  it.each([
    ['20', 'not a bandwidth'],
    ['20MB', 'not a bandwidth'],
    ['0MB/s', 'too slow'],
    ['7kbit/s', 'too slow'],
    ['2000GB/s', 'too fast'],
    ['20Mb/s', 'unclear unit'],
    ['20mbit/s', 'did you mean Mbit/s'],
    ['20KB/s', 'did you mean kB/s'],
    ['20toString', 'not a bandwidth'],
    ['-20MB/s', 'not a bandwidth'],
    ['Unlimited', 'not a bandwidth'],
  ])('%s is refused: %s', (text, message) => {
    expect(parseBandwidth(text)).toMatchObject({ ok: false, message: expect.stringContaining(message) });
  });
});
