import { describe, expect, test } from 'vitest';
import { readXml, XmlError } from '../../../packages/sandbox/src/feeds/xml-reader.ts';

describe('the XML reader', () => {
  test('reads elements, attributes, references, CDATA and comments', () => {
    const root = readXml(
      `<?xml version="1.0"?><!-- a - b --><a xmlns:x='n' b="1&lt;&#x41;&#66;"><x:c>t&amp;<![CDATA[<&]]>u</x:c ><d/></a>\n`,
    );
    expect(root.attributes.get('b')).toBe('1<AB');
    expect(root.children.map(({ name, text }) => [name, text])).toEqual([
      ['x:c', 't&<&u'],
      ['d', ''],
    ]);
  });

  test.each([
    ['nothing', ''],
    ['two roots', '<a/><b/>'],
    ['text outside', '<a/>b'],
    ['an open element', '<a><b></b>'],
    ['crossed elements', '<a><b></a></b>'],
    ['an end too many', '<a/></b>'],
    ['a bare ampersand', '<a>b & c</a>'],
    ['an entity of HTML', '<a>&nbsp;</a>'],
    ['a reference to a control character', '<a>&#8;</a>'],
    ['a reference beyond Unicode', '<a>&#x110000;</a>'],
    ['a bare ampersand in an attribute', '<a b="c&d"/>'],
    ['the end of CDATA in a text', '<a>]]></a>'],
    ['a control character', '<a>\u0001</a>'],
    ['an attribute twice', '<a b="1" b="2"/>'],
    ['an attribute without quotes', '<a b=1/>'],
    ['an undeclared prefix', '<a><m:b/></a>'],
    ['an undeclared prefix of an attribute', '<a m:b="1"/>'],
    ['a DOCTYPE', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ['an endless depth', '<a>'.repeat(1e5)],
    ['a comment in a comment', '<!-- a -- b --><a/>'],
  ])('refuses %s', (_what, document) => {
    expect(() => readXml(document)).toThrow(XmlError);
  });
});
