import { createHash } from 'node:crypto';
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

/** The icon: a drop with a play symbol. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#2457d6"/>
<path d="M16 5.5c3.6 4.3 7.2 8.3 7.2 12.6a7.2 7.2 0 0 1-14.4 0C8.8 13.8 12.4 9.8 16 5.5z" fill="#fff"/>
<path d="m13.9 14.7 5.4 3.3-5.4 3.3z" fill="#2457d6"/>
</svg>
`;
