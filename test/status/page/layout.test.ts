import { expect, test } from 'vitest';
import { html } from 'hono/html';
import { breakable } from '../../../src/status/page/elements.ts';
import { viewPage } from '../../../src/status/page/layout.ts';
import type { PageWorld } from '../../../src/status/page/world.ts';
import type { ExpectationView } from '../../../src/pipeline/expectation.ts';
import { idleDaemon } from './idle-daemon.ts';

const view = { title: 'Files', section: '/files', changesWith: [], body: html`` } as const;

test.each([
  ['missing', 'notice', '1 expected delivery is missing or late'],
  ['late', 'notice', '1 expected delivery is missing or late'],
  ['expected', 'good', 'All is well'],
])('with a delivery that is %s, the header does not contradict the overview', async (state, kind, words) => {
  const daemon = idleDaemon({ expectations: [{ state } as ExpectationView] });
  const page = String(
    await viewPage(view, { picture: daemon.picture, daemon, mayChange: false } as unknown as PageWorld),
  );
  expect(/id="health" href="\/">\s*<span class="badge (\w+)">.*?<\/svg>\s*([^<]*?)\s*</s.exec(page)?.slice(1)).toEqual([
    kind,
    words,
  ]);
});

test.each([
  ['/srv/in/a b.mp4', '/<wbr>srv/<wbr>in/<wbr>a b.<wbr>mp4'],
  ['folders[0].rules[2]', 'folders<wbr>[0].<wbr>rules<wbr>[2]'],
  ['uploads.stall_timeout', 'uploads.<wbr>stall_<wbr>timeout'],
  ['a<b>&[U+000A]', 'a&lt;b&gt;&amp;<wbr>[U+000A]'],
])('%s is cut into lines between its parts only', async (text, markup) => {
  expect(String(await breakable(text)).replaceAll('<wbr />', '<wbr>')).toBe(markup);
});
