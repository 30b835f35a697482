import { expect, test } from 'vitest';
import { playerSettings } from '../../../packages/sandbox/src/embed/pages.ts';

const DEFAULTS = { autoplay: false, muted: false, loop: false, controls: true, accentColor: '#4f8cff' };

test('known settings are taken', () => {
  expect(playerSettings({ autoplay: true, muted: true, loop: true, controls: false, accent_color: '#Ff0080' })).toEqual(
    { autoplay: true, muted: true, loop: true, controls: false, accentColor: '#Ff0080' },
  );
});

test.each([
  ['nothing', {}],
  ['unknown keys', { colors: { accent: '#f00' }, onplay: 'alert(1)', constructor: 1 }],
  ['values of another type', { autoplay: 'true', muted: 1, loop: null, controls: 0, accent_color: 0xff0080 }],
  ['colours that are none', { accent_color: 'red' }],
  ['a colour that breaks out of the style', { accent_color: '#000;}</style><script>alert(1)</script>' }],
  ['a colour with a second line', { accent_color: '#000000\n' }],
])('%s changes nothing', (_what, stored) => {
  expect(playerSettings(stored)).toEqual(DEFAULTS);
});
