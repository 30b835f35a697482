import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ctvDocument, rokuSearchDocument } from '../../../packages/sandbox/src/feeds/ctv.ts';
import { mrssDocument } from '../../../packages/sandbox/src/feeds/mrss.ts';
import { podcastDocument } from '../../../packages/sandbox/src/feeds/podcast.ts';
import { complaintsAbout } from './judges.ts';
import { someContent, someItem } from './some-content.ts';

const DOCUMENTS = { mrss: mrssDocument, podcast: podcastDocument, ctv: ctvDocument, 'roku-search': rokuSearchDocument };

/** What breaks feeds: controls, lone surrogates, non-characters, markup in pieces. */
const pieces = fc.oneof(
  fc.constantFrom(
    '<',
    '</b>',
    '<b',
    '&',
    '&amp;',
    '&#x41;',
    '&eacute',
    ']]>',
    '\u007f',
    '\u0085',
    '\ufffd',
    '\u{1fffe}',
    '\ud800',
  ),
  fc.nat(0x2ff).map((code) => String.fromCharCode(code)),
  fc.string({ unit: 'binary', maxLength: 4 }),
);
const anyText = fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(''));

describe('any text of a client', () => {
  test.each(Object.keys(DOCUMENTS) as (keyof typeof DOCUMENTS)[])(
    'makes a valid %s feed, with visible characters alone',
    async (type) => {
      const texts = fc.sample(fc.tuple(anyText, anyText, anyText), 300);
      const items = texts.map(([name, title, description], index) =>
        someItem({ videoId: `vid_${index}`, title, description, tags: [name, title] }),
      );
      for (let start = 0; start < items.length; start += 100) {
        const [title = '', , description = ''] = texts[start] ?? [];
        const content = someContent({ title, description, items: items.slice(start, start + 100) });
        const document = DOCUMENTS[type](content);
        expect(document).not.toMatch(
          /[^\t\n\x20-\x7e\u{a0}-\u{fffc}\u{10000}-\u{10fffd}]|&#(?:1?[0-9]|12[7-9]|1[3-5]\d);/u,
        );
        expect(await complaintsAbout(document, type)).toEqual([]);
      }
    },
  );
});
