import { describe, expect, it } from 'vitest';
import { LONGEST, parseBandwidth, parseDuration, parseSize } from '../../src/config/units.ts';

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
  ])('%j is not a duration', (text) => {
    expect(parseDuration(text, ANY)).toMatchObject({ ok: false, message: expect.stringContaining('5s') });
  });

  it('never exceed what a timer can hold', () => {
    expect(parseDuration(LONGEST, ANY)).toSatisfy((read) => read.ok && read.value <= 2 ** 31 - 1);
    expect(parseDuration('25d', ANY)).toMatchObject({ ok: false, message: expect.stringContaining('24d') });
    expect(parseDuration('9999999999d', ANY).ok).toBe(false);
  });

  it('are refused outside of their range and taken at its ends', () => {
    const range = { min: '1s', max: '1m' };
    expect(parseDuration('999ms', range)).toMatchObject({ ok: false, message: expect.stringContaining('1s') });
    expect(parseDuration('1000ms', range)).toEqual({ ok: true, value: 1000 });
    expect(parseDuration('60s', range)).toEqual({ ok: true, value: 60_000 });
    expect(parseDuration('61s', range)).toMatchObject({ ok: false, message: expect.stringContaining('1m') });
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
    ['20', '20MB/s'],
    ['20MB', '20MB/s'],
    ['0MB/s', '1kB/s'],
    ['7kbit/s', '1kB/s'],
    ['2000GB/s', '1000GB/s'],
    ['20Mb/s', 'Mbit/s'],
    ['20mbit/s', 'Mbit/s'],
    ['20KB/s', 'kB/s'],
    ['20toString', '20MB/s'],
    ['-20MB/s', '20MB/s'],
    ['Unlimited', '20MB/s'],
  ])('%s is refused, with %s in the reason', (text, message) => {
    expect(parseBandwidth(text)).toMatchObject({ ok: false, message: expect.stringContaining(message) });
  });
});

describe('sizes', () => {
  it.each([
    ['unlimited', Number.POSITIVE_INFINITY],
    ['1kB', 1_000],
    ['1000B', 1_000],
    ['200MB', 200_000_000],
    ['200 MiB', 209_715_200],
    ['5GB', 5_000_000_000],
    ['5GiB', 5_368_709_120],
    ['1.5TB', 1_500_000_000_000],
    ['1000TB', 1e15],
  ])('%s is %d bytes', (text, value) => {
    expect(parseSize(text)).toEqual({ ok: true, value });
  });

  it.each([
    ['5', 'like 200MB, 5GB or 5GiB'],
    ['5gb', 'did you mean GB?'],
    ['5Gb', 'did you mean GB?'],
    ['5gib', 'did you mean GiB?'],
    ['5GB/s', 'like 200MB, 5GB or 5GiB'],
    ['-5GB', 'like 200MB, 5GB or 5GiB'],
    ['5constructor', 'like 200MB, 5GB or 5GiB'],
    ['999B', 'at least 1kB'],
    ['1001TB', 'write unlimited'],
  ])('%j is not a size: %s', (text, why) => {
    expect(parseSize(text)).toMatchObject({ ok: false, message: expect.stringContaining(why) });
  });
});
