import { expect, test } from 'vitest';
import { copyrightFile } from '../../../scripts/package/copyright.ts';

const own = 'MIT License\n\nCopyright (c) 2026 The authors\n\nThe above copyright notice shall be included.\n';

test('every licence is a paragraph with its holders and its whole text', () => {
  const other = { files: 'node_modules/x/*', name: 'x 1.0', kind: 'ISC', text: 'Copyright (c) Sindre\n\nDo.' };
  expect(copyrightFile(own, [other])).toBe(`Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: dropcast

Files: *
Copyright:
 2026 The authors
License: Expat
 MIT License
 .
 Copyright (c) 2026 The authors
 .
 The above copyright notice shall be included.

Files: node_modules/x/*
Comment: x 1.0
Copyright:
 Sindre
License: ISC
 Copyright (c) Sindre
 .
 Do.
`);
});

test('a licence without a name belongs to its authors', () => {
  const other = { files: 'y', name: 'y 2.0', kind: 'MIT', text: 'COPYRIGHT HOLDERS are not liable.' };
  expect(copyrightFile(own, [other])).toContain('Copyright: the authors of y 2.0\n');
});
