import { describe, expect, test } from 'vitest';
import { publishedManifest } from '../../../scripts/pack/published-manifest.ts';

const client = { name: '@x/client', version: '1.2.3' };
const repository = { address: 'https://git.example.com/x/x', directory: 'packages/client' };
const publishing = { repository };

describe('a published package.json', () => {
  test('leads to the built files and their types where the sources were, types first', () => {
    const exports = {
      '.': { browser: './browser.cjs', default: './src/index.ts' },
      './deep': './src/a/deep.ts',
      './package.json': './package.json',
    };
    const { exports: published } = publishedManifest({ ...client, exports }, [], publishing);
    expect(published).toEqual({
      '.': { types: './dist/index.d.ts', browser: './browser.cjs', default: './dist/index.js' },
      './deep': { types: './dist/a/deep.d.ts', default: './dist/a/deep.js' },
      './package.json': './package.json',
    });
    expect(Object.keys(published?.['.'] ?? {})).toEqual(['types', 'browser', 'default']);
  });

  test('has no field of development', () => {
    const dev = { private: true, scripts: {}, devDependencies: {}, workspaces: [], dependencies: { got: '1.0.0' } };
    const fields = Object.keys(publishedManifest({ ...client, ...dev }, [client], publishing));
    const addresses = ['homepage', 'bugs', 'repository', 'publishConfig'];
    expect(fields.toSorted()).toEqual(['name', 'version', 'dependencies', ...addresses].toSorted());
  });

  test('leads to the repository, and is public from its first version on', () => {
    expect(publishedManifest(client, [], publishing)).toMatchObject({
      homepage: 'https://git.example.com/x/x/tree/main/packages/client#readme',
      bugs: 'https://git.example.com/x/x/issues',
      repository: { type: 'git', url: 'git+https://git.example.com/x/x.git', directory: 'packages/client' },
      publishConfig: { access: 'public' },
    });
    const daemon = publishedManifest({ ...client, name: 'x' }, [], { repository: { ...repository, directory: '.' } });
    expect(daemon).toMatchObject({ homepage: 'https://git.example.com/x/x#readme', repository: { type: 'git' } });
    expect(daemon['repository']).not.toHaveProperty('directory');
  });

  test('of a library takes later patches of what it needs; the daemon, and siblings, are exact', () => {
    const dependencies = { got: '1.0.0', '@x/client': '1.2.3' };
    const library = { name: '@x/recorder', version: '1.2.3', dependencies };
    expect(publishedManifest(library, [client], publishing)).toMatchObject({
      dependencies: { got: '^1.0.0', '@x/client': '1.2.3' },
    });
    expect(publishedManifest({ ...library, name: 'x' }, [client], publishing)).toMatchObject({ dependencies });
  });

  test('says which siblings it carries with it, and needs what they need', () => {
    const site = { name: 'x', version: '1.2.3', dependencies: { '@x/client': '1.2.3' } };
    const carried = { ...client, dependencies: { got: '1.0.0' } };
    expect(publishedManifest(site, [carried, site], { bundled: ['@x/client'], repository })).toMatchObject({
      dependencies: { '@x/client': '1.2.3', got: '1.0.0' },
      bundleDependencies: ['@x/client'],
    });
    expect(publishedManifest(site, [client, site], publishing)).not.toHaveProperty('bundleDependencies');
  });

  test.each(['^1.2.3', '1.2.2', '*'])(
    'is refused when it depends on %s of a sibling instead of its version',
    (wanted) => {
      const daemon = { name: 'x', version: '1.2.3', dependencies: { '@x/client': wanted } };
      expect(() => publishedManifest(daemon, [client, daemon], publishing)).toThrow(/@x\/client/);
    },
  );
});
