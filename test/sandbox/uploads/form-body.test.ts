import { describe, expect, test } from 'vitest';
import { isFormBody, isFormType } from '../../../packages/sandbox/src/uploads/refusals.ts';

const FORM =
  '--XX\r\nContent-Disposition: form-data; name="f"; filename="a.mp4"\r\nContent-Type: video/mp4\r\n\r\n\0\0';

describe('a form around a file', () => {
  test.each<[string, string, boolean]>([
    ['of a browser', FORM, true],
    ['with the type in front', '--X\r\nContent-Type: video/mp4\r\ncontent-disposition:form-data\r\n\r\n', true],
    ['with bare line feeds', FORM.replaceAll('\r', ''), true],
    ['behind an empty line', `\r\n${FORM}`, true],
    ['of an e-mail', '--X\r\nContent-Disposition: attachment\r\n\r\n', false],
    ['with a boundary that is too long', FORM.replace('XX', 'X'.repeat(71)), false],
    ['only a boundary', '--XX\r\n', false],
    ['text that speaks of it behind the headers', '--X\r\nA: b\r\n\r\nContent-Disposition: form-data\r\n', false],
    ['no boundary', FORM.slice(6), false],
    ['nothing', '', false],
    ['an MP4', '\0\0\0\x20ftypisom', false],
  ])('%s: %j', (_what, body, expected) => {
    expect(isFormBody(Buffer.from(body, 'latin1'))).toBe(expected);
  });

  test('is looked for in no time, whatever the first bytes are', () => {
    for (const unit of ['--', '--X\r\n', 'a:', 'a:\n', '-', ' ', '\r\n'])
      expect(isFormBody(Buffer.from(`--X\r\n${unit.repeat(1024)}`.slice(0, 1024)))).toBe(false);
  });

  test.each<[string | undefined, boolean]>([
    ['multipart/form-data; boundary=x', true],
    ['MULTIPART/Mixed', true],
    ['application/x-www-form-urlencoded', false],
    ['video/mp4', false],
    [undefined, false],
  ])('by the type %j: %j', (type, expected) => {
    expect(isFormType(type)).toBe(expected);
  });
});
