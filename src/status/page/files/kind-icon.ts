import type { Html } from '@dropcast/pages';
import { html, raw } from 'hono/html';

const shapes = {
  video: '<rect x="2" y="5" width="13" height="14" rx="2"/><path d="m15 10 7-4v12l-7-4z"/>',
  audio: '<path d="M9 18V5l11-2v13"/><circle cx="6" cy="18" r="3"/><circle cx="17" cy="16" r="3"/>',
  link: '<path d="M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-2 2M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l2-2"/>',
} as const;

const sounds = /\.(?:mp3|m4a|wav|flac|aac|ogg|opus)$/i;

/** A picture of what the file is; no request is made for it. */
export function kindIcon({
  path,
  source_url: source,
}: {
  readonly path: string;
  readonly source_url: string | null;
}): Html {
  const kind = source !== null ? 'link' : sounds.test(path) ? 'audio' : 'video';
  return html`<svg class="kind" viewBox="0 0 24 24" width="40" height="40" role="img" aria-label="${kind}">
    ${raw(shapes[kind])}
  </svg>`;
}
