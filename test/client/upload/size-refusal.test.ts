import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AddressDeadError,
  ServerError,
  sizeRefusalOf,
  UploadRejectedError,
} from '../../../packages/client/src/index.ts';
import { uploadError } from '../../../packages/client/src/transport/answer.ts';

const gib = 1024 ** 3;

/** The refusal of a file of 6 GiB, as the upload host answered it. */
function refused(status: number, body: string) {
  const error = uploadError(
    { status, headers: {}, body, url: new URL('https://upload.example/x') },
    (text) => text,
    Date.now(),
  );
  return sizeRefusalOf(error, 6 * gib);
}

const json = (code: string, message: string) => JSON.stringify({ error: { code, message } });

describe('an upload host refuses a file because of its size', () => {
  test.each([
    ['a page of a proxy', 413, '<html><h1>413 Request Entity Too Large</h1></html>', null],
    ['nothing but the status', 413, '', null],
    [
      'S3',
      400,
      '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>EntityTooLarge</Code><Message>Your proposed upload exceeds the maximum allowed size</Message><ProposedSize>6442450944</ProposedSize><MaxSizeAllowed>5368709120</MaxSizeAllowed><RequestId>1</RequestId></Error>',
      5 * gib,
    ],
    ['a code', 422, json('file_too_large', 'No.'), null],
    ['a code and a limit', 422, json('max_file_size', 'A file may have 2GB.'), 2e9],
    ['a message with the limit', 400, json('invalid', 'The file is too large: at most 200 MiB.'), 200 * 1024 ** 2],
    ['a message with both sizes', 400, json('invalid', 'Your file of 7 GB exceeds the limit of 5 GB.'), 5e9],
    ['a message with a smallest size', 400, json('invalid', 'Must be between 1 kB and a maximum of 5 GB.'), 5e9],
    ['a limit above the file', 413, json('too_large', 'At most 900 GB.'), null],
    ['a limit that no service has', 413, json('too_large', 'At most 1 bytes.'), null],
  ])('%s', (_what, status, body, mostBytes) => {
    expect(refused(status, body)).toEqual({ mostBytes });
  });

  test.each([
    ['a quota', 413, json('quota_reached', 'Storage quota reached.')],
    ['a limit on uploads', 400, json('uploadLimitExceeded', 'The limit of 15 videos is exceeded.')],
    ['a limit per day', 400, json('invalid', 'At most 5 GB per day.')],
    ['another mistake', 400, json('invalid', 'The title is too long.')],
    ['a size without a limit', 400, json('invalid', 'Received 5 GB.')],
    ['an address that has expired', 403, json('EntityTooLarge', 'At most 5 GB.')],
    ['a server that is ill', 500, json('too_large', 'At most 5 GB.')],
  ])('but not with %s', (_what, status, body) => {
    expect(refused(status, body)).toBeNull();
  });

  test('only if it is the upload host that refuses', () => {
    expect(sizeRefusalOf(new ServerError('m', { status: 413 }), gib)).toBeNull();
    expect(sizeRefusalOf(new AddressDeadError('m', { status: 413 }), gib)).toBeNull();
    expect(sizeRefusalOf(new Error('413'), gib)).toBeNull();
  });

  test('and whatever it says, the limit is a whole number from 1 MiB to below the size of the file', () => {
    const words = fc.array(
      fc.oneof(fc.string(), fc.constantFrom('at most ', '5 GB', '9.999 TiB', '0 bytes', ' 1 MB', '<Error>', '1e9 GB')),
    );
    fc.assert(
      fc.property(words, fc.integer({ min: 0, max: 2 ** 50 }), (parts, size) => {
        const error = new UploadRejectedError(parts.join(''), { status: 413, code: 'too_large' });
        const mostBytes = sizeRefusalOf(error, size)?.mostBytes ?? null;
        if (mostBytes !== null)
          expect(Number.isSafeInteger(mostBytes) && mostBytes >= 2 ** 20 && mostBytes < size).toBe(true);
      }),
    );
  });
});
