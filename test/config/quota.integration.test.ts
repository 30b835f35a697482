import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectProblems, scratch, type Scratch } from './scratch.ts';

let here: Scratch;
beforeAll(async () => {
  here = await scratch();
});
afterAll(() => here[Symbol.asyncDispose]());

const env = { KEY: 'abc' };
const text = (quota: string) => `service:
  base_url: https://video.example.com/v1
  api_key: !env KEY
  ${quota}
folders: [{ path: inbox, rules: [{ match: "**", channel: c }] }]
`;
const quotaOf = async (quota: string) => (await here.load(text(quota), env)).config?.service.quota;

it('is a number of videos, bytes or minutes in each day or month, with a reset in any zone', async () => {
  expect(await quotaOf('')).toBeNull();
  expect(await quotaOf('quota: { videos: 100 }')).toEqual({
    videos: 100,
    bytes: Infinity,
    minutes: Infinity,
    per: 'day',
    resets: { minutes: 0, zone: null },
  });
  expect(await quotaOf('quota: { size: 2TB, minutes: 600, per: month, resets: "06:30 America/Los_Angeles" }')).toEqual({
    videos: Infinity,
    bytes: 2e12,
    minutes: 600,
    per: 'month',
    resets: { minutes: 390, zone: 'America/Los_Angeles' },
  });
});

it.each([
  ['quota: { per: day }', '4:10 service.quota ~ needs videos, size or minutes'],
  ['quota: { videos: 0 }', '4:20 service.quota.videos ~ must be a whole number from 1 to 1000000'],
  ['quota: { videos: 1, per: week }', '4:28 service.quota.per ~ month'],
  ['quota: { videos: 1, resets: "25:00" }', '4:31 service.quota.resets ~ not a time'],
  ['quota: { videos: 1, resets: "00:00 Mars/Olympus" }', '4:31 service.quota.resets ~ Mars/Olympus is not a time zone'],
  ['quota: { videos: 1, resets: "00:00 UTC now" }', '4:31 service.quota.resets ~ not a time'],
  ['quota: { size: 5, per: day }', '4:18 service.quota.size ~ write unlimited'],
])('refuses %s', async (quota, problem) => {
  expectProblems(await here.problems(text(quota), env), [problem]);
});
