import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Answer } from '../../../packages/client/src/transport/answer.ts';
import { contentRangeProtocol, isSessionAddress } from '../../../packages/client/src/upload/protocols/content-range.ts';
import type { ProtocolStrategy } from '../../../packages/client/src/upload/protocols/protocol.ts';
import { putProtocol } from '../../../packages/client/src/upload/protocols/protocols.ts';
import { tusProtocol } from '../../../packages/client/src/upload/protocols/tus.ts';

const strategies: readonly ((sizeBytes: number) => ProtocolStrategy)[] = [
  putProtocol,
  contentRangeProtocol,
  tusProtocol,
];

function answered(status: number, headers: object): Answer {
  return { status, headers, body: Buffer.alloc(0) } as unknown as Answer;
}

const size = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.maxSafeNat());
const number = fc.oneof(
  fc.integer({ min: -5, max: 5 }).map(String),
  fc.maxSafeNat().map(String),
  fc.stringMatching(/^\d{1,40}$/),
  fc.constantFrom('', '1e3', '0x10', '+1', '1.5', 'NaN', 'Infinity', '٣', '1, 2', '1\n', ' 1'),
);
const value = fc.oneof(
  number,
  fc.string(),
  number.map((n) => `bytes=0-${n}`),
  fc.tuple(number, number).map(([a, b]) => `bytes=${a}-${b}`),
  fc.array(number),
);
const headers = fc.record(
  {
    range: value,
    'upload-offset': value,
    'upload-length': value,
    'upload-defer-length': value,
    'tus-resumable': value,
    location: value,
  },
  { requiredKeys: [] },
);
const status = fc.oneof(fc.constantFrom(200, 201, 204, 308), fc.integer({ min: 100, max: 599 }));

describe('the number of bytes that a host says it has', () => {
  test('is null or within the file, whatever the host answers', () => {
    fc.assert(
      fc.property(size, fc.array(fc.tuple(status, headers), { minLength: 1 }), (sizeBytes, said) => {
        for (const strategy of strategies.map((create) => create(sizeBytes))) {
          for (const each of said) {
            const offset = strategy.offsetIn(answered(...each));
            if (offset === null) continue;
            expect(Number.isSafeInteger(offset)).toBe(true);
            expect(offset).toBeGreaterThanOrEqual(0);
            expect(offset).toBeLessThanOrEqual(sizeBytes);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('is read back as it was said', () => {
    const file = fc.integer({ min: 2, max: Number.MAX_SAFE_INTEGER });
    const partOf = (sizeBytes: number) => fc.tuple(fc.constant(sizeBytes), fc.integer({ min: 1, max: sizeBytes - 1 }));
    fc.assert(
      fc.property(file.chain(partOf), ([sizeBytes, offset]) => {
        const ranged = answered(308, { range: `bytes=0-${offset - 1}` });
        expect(contentRangeProtocol(sizeBytes).offsetIn(ranged)).toBe(offset);
        const told = answered(200, { 'upload-offset': String(offset), 'upload-length': String(sizeBytes) });
        expect(tusProtocol(sizeBytes).offsetIn(told)).toBe(offset);
      }),
    );
  });

  test('is never the whole file in an answer that asks for more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), headers, (sizeBytes, said) => {
        const whole = { ...said, range: `bytes=0-${sizeBytes - 1}` };
        expect(contentRangeProtocol(sizeBytes).offsetIn(answered(308, whole))).toBeNull();
      }),
    );
  });
});

test('bytes are sent up to an end within the file, in parts that make progress', () => {
  const position = size.chain((sizeBytes) => fc.tuple(fc.constant(sizeBytes), fc.nat({ max: sizeBytes })));
  fc.assert(
    fc.property(position, ([sizeBytes, offset]) => {
      for (const create of strategies) {
        const { end } = create(sizeBytes).uploadRequest(offset);
        expect(end).toBeLessThanOrEqual(sizeBytes);
        expect(end).toBeGreaterThanOrEqual(Math.min(offset + 1, sizeBytes));
      }
    }),
  );
});

test.each([
  ['https://storage.googleapis.com/upload/storage/v1/b/x/o?uploadType=resumable&upload_id=AB', true],
  ['https://bucket.storage.googleapis.com/o?upload_id=AB', true],
  ['https://uploads.example.com/x?uploadType=resumable&upload_id=AB', true],
  ['https://uploads.example.com/x?upload_id=AB', false],
  ['https://storage.googleapis.com/o?X-Goog-Signature=AB', false],
  ['https://storage.googleapis.com.example.com/o?upload_id=AB', false],
  ['https://evilstorage.googleapis.com/o?upload_id=AB', false],
  ['https://uploads.example.com/storage.googleapis.com?upload_id=AB', false],
  ['no address', false],
])('%s is a session: %s', (address, isSession) => {
  expect(isSessionAddress(address)).toBe(isSession);
});
