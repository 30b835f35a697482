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
    ['text before the root', 'b<a/>'],
    ['CDATA outside the root', '<a/><![CDATA[b]]>'],
    ['< in an attribute', '<a b="<"/>'],
    ['an open comment', '<a><!-- b </a>'],
    ['a name that is only a prefix', '<xml:/>'],
    ['entities that grow', '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><a>&d;</a>'],
    ['an external entity', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'],
    ['text with > after an empty root', '<a/>b>'],
    ['a tag end after an empty root', '<a b=">"/>/>'],
    ['a byte order mark after the root', '<a/>\uFEFF'],
    ['an XML declaration inside', '<a><?xml version="1.0"?></a>'],
    ['an XML declaration after the root', '<a/><?xml version="1.0"?>'],
    ['an instruction with the name of a declaration', '<?XML a?><a/>'],
    ['an open instruction', '<a><?b </a>'],
    ['an open CDATA section', '<a><![CDATA[b</a>'],
    ['a prefix declared as empty', '<a xmlns:b=""/>'],
    ['a reference after the root', '<a></a>&#65;'],
    ['a reference between two roots', '<a></a><b/>&#65;<?c d?>'],
    ['a tag of a megabyte', `<a b="${'c'.repeat(1e6)}"/>`],
    ['unclosed comments', `<a>${'<!--'.repeat(1e6)}`],
    ['unclosed CDATA', `<a>${'<![CDATA['.repeat(1e6)}`],
    ['unclosed instructions', `<a>${'<?'.repeat(1e6)}`],
    ['a name that means something to JavaScript', '<__proto__ b="1"/>'],
  ])('refuses %s', (_what, document) => {
    expect(() => readXml(document)).toThrow(XmlError);
  });

  test.each([
    ['a bare ampersand', '<a>\n <b>c & d</b></a>', 'line 2, column 7'],
    ['an unknown reference', '<a>\n<![CDATA[&x;\n]]>&x;</a>', 'line 3, column 4'],
    ['crossed elements', '<a>\n<b></a></b>', 'line 2, column 4'],
    ['a DOCTYPE', '\n <!DOCTYPE a><a/>', 'line 2, column 2'],
    ['a control character', '<a>\n\u0001</a>', 'line 2, column 1'],
    ['text after the root', '<a/>\n\n b', 'line 3, column 2'],
    ['an open comment', '<a>\n <!-- b\n</a>', 'line 2, column 2'],
  ])('says where %s is', (_what, document, place) => {
    expect(() => readXml(document)).toThrow(place);
  });

  test('reads documents of many megabytes', () => {
    const declarations = Array.from({ length: 1e3 }, (_, index) => `xmlns:p${index}="u"`).join(' ');
    const root = readXml(`<a ${declarations}>${'<b/>'.repeat(1e5)}<c>${'&amp;'.repeat(1e6)}</c></a>`);
    expect([root.children.length, root.children.at(-1)?.text.length]).toEqual([1e5 + 1, 1e6]);
  });

  test('keeps white space and the texts that look like something else', () => {
    const root = readXml('<a> <b>007</b><c>true</c><d>\n 1 </d></a>');
    expect([root.text, ...root.children.map(({ text }) => text)]).toEqual([' ', '007', 'true', '\n 1 ']);
  });
});
