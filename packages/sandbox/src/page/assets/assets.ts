import { createHash } from 'node:crypto';
import { ApiError } from '../../http/api-error.ts';
import type { Handler } from '../../http/handler.ts';
import { LIVE_SCRIPT } from './live-script.ts';
import { STYLE } from './style.ts';

/** A drop, and what it becomes. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#2457d6"/>
<path d="M16 5.5c3.6 4.3 7.2 8.3 7.2 12.6a7.2 7.2 0 0 1-14.4 0C8.8 13.8 12.4 9.8 16 5.5z" fill="#fff"/>
<path d="m13.9 14.7 5.4 3.3-5.4 3.3z" fill="#2457d6"/>
</svg>
`;

const ASSETS = {
  'style.css': { type: 'text/css; charset=utf-8', content: STYLE },
  'live.js': { type: 'text/javascript; charset=utf-8', content: LIVE_SCRIPT },
  'icon.svg': { type: 'image/svg+xml', content: ICON },
} as const;

type AssetName = keyof typeof ASSETS;

/** @returns its address, with a part that changes with its content, so that browsers may keep it for ever */
export function asset(name: AssetName): string {
  return `/_page/assets/${hashOf(name)}/${name}`;
}

/** GET /_page/assets/:hash/:name. For everybody: nothing of the account is in them. @throws ApiError 404 */
export function serveAsset(): Handler {
  const byAddress = new Map(Object.entries(ASSETS).map(([name, found]) => [asset(name as AssetName), found] as const));
  return (context) => {
    const found = byAddress.get(context.req.path);
    if (!found) throw new ApiError('not_found', 'There is no such file.');
    return context.body(found.content, 200, {
      'Content-Type': found.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
      // An SVG opened on its own is a page of this origin.
      'Content-Security-Policy': "default-src 'none'",
    });
  };
}

function hashOf(name: AssetName): string {
  hashes[name] ??= createHash('sha256').update(ASSETS[name].content).digest('hex').slice(0, 12);
  return hashes[name];
}

const hashes: Partial<Record<AssetName, string>> = {};
