import { createHash } from 'node:crypto';
import { ICON } from './icon.ts';
import { LIVE_SCRIPT } from './live-script.ts';
import { STYLE } from './style.ts';

/** The files that every page loads. They are public, because they contain no personal data. */
export interface Assets {
  readonly style: string;
  readonly script: string;
  readonly icon: string;
  /** Returns the answer for one of these addresses; null for any other. */
  find(path: string): Response | null;
}

/**
 * Serves the assets at addresses that change with the content, so that browsers may cache them forever.
 *
 * @param base path below which the assets are served, without a trailing slash
 * @param ownStyle CSS that one site adds to the shared style
 */
export function assetsAt(base: string, ownStyle = ''): Assets {
  const found = new Map<string, () => Response>();
  const add = (name: string, type: string, content: string): string => {
    const path = `${base}/${createHash('sha256').update(content).digest('hex').slice(0, 12)}/${name}`;
    found.set(path, () => new Response(content, { headers: { 'content-type': type, ...HEADERS } }));
    return path;
  };
  return {
    style: add('style.css', 'text/css; charset=utf-8', STYLE + ownStyle),
    script: add('live.js', 'text/javascript; charset=utf-8', LIVE_SCRIPT),
    icon: add('icon.svg', 'image/svg+xml', ICON),
    find: (path) => found.get(path)?.() ?? null,
  };
}

const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  // An SVG opened directly is a page of this origin, so it must not load or run anything.
  'content-security-policy': "default-src 'none'",
};
