import { compare } from '@dropcast/recorder';
import { expect, test } from 'vitest';
import { comparisonText } from '../../packages/recorder/src/commands/comparison-text.ts';
import type { RecordedExchange } from '../../packages/recorder/src/recording.ts';
import { placeOf } from '../../packages/recorder/src/upload-addresses.ts';
import { exchangesOf } from './said.ts';

const at = Date.parse('2026-11-29T12:00:00Z');

/** An exchange, with some members of its own. */
function exchange(method: string, status: number, more: Partial<RecordedExchange> = {}): RecordedExchange {
  const target = method === 'PUT' ? '/uploads/vid_1/1' : '/v1/videos';
  const [said] = exchangesOf([{ method, target, status, json: { id: 'vid_1' } }]);
  return { ...said, at: new Date(at).toISOString(), ...more } as RecordedExchange;
}

function formsOf(seen: RecordedExchange): Record<string, readonly string[]> {
  return Object.fromEntries(compare([seen]).forms.map(({ name, values }) => [name, values.map(({ value }) => value)]));
}

const expecting = { request: { headers: { expect: '100-continue' } } };
const created = (fields: object): Partial<RecordedExchange> => ({
  answer: { status: 201, headers: {}, body: { json: { id: 'vid_1', ...fields } } },
});

test.each<[string, RecordedExchange, Record<string, readonly string[]>]>([
  ['100', exchange('PUT', 200, { ...expecting, interim: [100] }), { expect: ['answered'] }],
  ['no 100', exchange('PUT', 200, expecting), { expect: ['ignored'] }],
  ['417', exchange('PUT', 417, expecting), { expect: ['refused'] }],
  ['a refusal before the 100', exchange('PUT', 403, expecting), {}],
  ['no Expect', exchange('PUT', 200), {}],
  ['104', exchange('PUT', 200, { interim: [104] }), { resumption: ['104'] }],
  ['a life in seconds', exchange('POST', 201, created({ expires_in: 900 })), { address_life: ['900'] }],
  [
    'a life until a time',
    exchange('POST', 201, created({ upload_expires_at: '2026-11-29T13:00:00Z' })),
    { address_life: ['3600'] },
  ],
  ['a life until an epoch', exchange('POST', 201, created({ expires: at / 1000 + 60 })), { address_life: ['60'] }],
  ['a life that is over', exchange('POST', 201, created({ expires: 7 })), {}],
  ['a life that is none', exchange('POST', 201, created({ expires_in: 'soon' })), {}],
])('%s', (_, seen, forms) => {
  expect(formsOf(seen)).toEqual(forms);
});

test.each<[string, number | undefined]>([
  ['https://a.example.com/x?X-Amz-Expires=3600&X-Amz-Signature=s', 3600],
  ['https://a.example.com/x?X-Goog-Expires=60', 60],
  [`https://a.example.com/x?Expires=${at / 1000 + 300}`, 300],
  ['https://a.example.com/x?se=2026-11-29T12%3A30%3A00Z&sig=s', 1800],
  ['https://a.example.com/x?Expires=1', undefined],
  ['https://a.example.com/x?X-Amz-Expires=1e99', undefined],
  ['https://a.example.com/x?se=tomorrow', undefined],
  ['https://a.example.com/x', undefined],
])('of the address %s only the origin is recorded, and its life', (address, life) => {
  expect(placeOf(new URL(address), at)).toEqual({
    origin: 'https://a.example.com',
    ...(life !== undefined && { life }),
  });
});

test('a comparison lists them', () => {
  const text = comparisonText(compare([exchange('PUT', 200, expecting)]), (line) => line);
  expect(text).toContain('\nNot in the specification (1)\n  Expect: 100-continue of the PUT: ignored (exchange 1)\n');
});
