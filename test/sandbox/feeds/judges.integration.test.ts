import { describe, expect, test } from 'vitest';
import { complaintsAbout, judges } from './judges.ts';
import { goodFeeds, planted, withFault } from './planted.ts';

const types = Object.keys(goodFeeds) as (keyof typeof goodFeeds)[];

describe('the independent judges', () => {
  test.each(types)('have no complaint about a good %s feed', async (type) => {
    expect(await complaintsAbout(goodFeeds[type], type)).toEqual([]);
  });

  test.each(planted.map((fault) => [fault.type, fault.fault, fault] as const))(
    '%s: see %s',
    async (type, _what, fault) => {
      const document = withFault(fault);
      const seeing = await Promise.all(
        Object.entries(judges[type]).map(async ([name, judge]) => ((await judge(document)).length > 0 ? [name] : [])),
      );
      const others = seeing.flat().filter((name) => name !== 'bounds');
      expect(others.length > 0 ? others : seeing.flat()).toEqual(fault.seenBy);
    },
  );

  test('each of them sees a fault: one that sees none proves nothing', () => {
    for (const type of types)
      for (const name of Object.keys(judges[type]))
        expect(planted.filter((fault) => fault.type === type && fault.seenBy.includes(name))).not.toEqual([]);
  });
});
