import { describe, expect, test } from 'vitest';
import { publishedManifest } from '../../../scripts/pack/published-manifest.ts';

const client = { name: '@x/client', version: '1.2.3' };

describe('a published package.json', () => {
  test('leads to the built files and their types where the sources were, types first', () => {
    const exports = {
      '.': { browser: './browser.cjs', default: './src/index.ts' },
      './deep': './src/a/deep.ts',
      './package.json': './package.json',
    };
    const { exports: published } = publishedManifest({ ...client, exports }, []);
    expect(published).toEqual({
      '.': { types: './dist/index.d.ts', browser: './browser.cjs', default: './dist/index.js' },
      './deep': { types: './dist/a/deep.d.ts', default: './dist/a/deep.js' },
      './package.json': './package.json',
    });
    expect(Object.keys(published?.['.'] ?? {})).toEqual(['types', 'browser', 'default']);
  });

  test('has no field of development', () => {
    const dev = { private: true, scripts: {}, devDependencies: {}, workspaces: [], dependencies: { got: '1.0.0' } };
    expect(publishedManifest({ ...client, ...dev }, [client])).toEqual({ ...client, dependencies: { got: '1.0.0' } });
  });

  test('says which siblings it carries with it, and needs what they need', () => {
    const site = { name: 'x', version: '1.2.3', dependencies: { '@x/client': '1.2.3' } };
    const carried = { ...client, dependencies: { got: '1.0.0' } };
    expect(publishedManifest(site, [carried, site], ['@x/client'])).toMatchObject({
      dependencies: { '@x/client': '1.2.3', got: '1.0.0' },
      bundleDependencies: ['@x/client'],
    });
    expect(publishedManifest(site, [client, site])).not.toHaveProperty('bundleDependencies');
  });

  test.each(['^1.2.3', '1.2.2', '*'])(
    'is refused when it depends on %s of a sibling instead of its version',
    (wanted) => {
      const daemon = { name: 'x', version: '1.2.3', dependencies: { '@x/client': wanted } };
      expect(() => publishedManifest(daemon, [client, daemon])).toThrow(/@x\/client/);
    },
  );
});
