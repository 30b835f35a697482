import { basename, dirname } from 'node:path/posix';
import { span, time, named, badge, percent, addressOf, type Html, type BadgeKind } from '@dropcast/pages';
import { html } from 'hono/html';
import { clockTime } from '../../view/words/text.ts';
import type { FileView } from '../../view/files/file-view.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { queryWords, type FileQuery } from '../../view/files/query.ts';

/** Renders a time in local time: `14:20`, with the date unless it is today. */
export function moment(atMs: number, nowMs: number): Html {
  return time(atMs, clockTime(atMs, nowMs));
}

/** Example: `14:20 (3 min ago)`, `14:25 (in 2 min)`. */
export function momentAndSpan(atMs: number, nowMs: number): Html {
  const distance = span(Math.max(1000, Math.round(Math.abs(nowMs - atMs) / 1000) * 1000));
  return html`${moment(atMs, nowMs)}
    <span class="muted">(${atMs <= nowMs ? `${distance} ago` : `in ${distance}`})</span>`;
}

/** Renders a path, key or address so that lines break between its parts, not within them. */
export function breakable(text: string): Html {
  const parts = text.split(/(?<=[/._,])|(?=\[)/u);
  return html`${parts.map((part, n) => (n === 0 ? part : html`<wbr />${part}`))}`;
}

/**
 * Renders a host's name. Its domain is long and usually the same for all hosts, so it is de-emphasised and wraps to its
 * own line first.
 */
export function hostName(name: string): Html {
  const dot = name.indexOf('.');
  if (dot < 1) return named(name);
  return html`${named(name.slice(0, dot))}<wbr /><span class="muted">${named(name.slice(dot))}</span>`;
}

/** Renders a file's stage or end as a word with a shape, and its upload progress. */
export function stageBadge({ stage, state, sent, size }: Pick<FileView, 'stage' | 'state' | 'sent' | 'size'>): Html {
  const isSent = state === 'uploading' && size > 0;
  return badge(
    kinds[state] ?? 'off',
    isSent ? `${stage} ${percent(Math.floor((100 * (sent ?? 0)) / size) / 100)}` : stage,
  );
}

/** Badge shape by state: files waiting for a retry have a different shape from files in progress. */
const kinds: Readonly<Record<string, BadgeKind | undefined>> = {
  settling: 'waiting',
  queued: 'waiting',
  creating: 'busy',
  'awaiting upload': 'waiting',
  uploading: 'busy',
  processing: 'busy',
  'awaiting publish': 'waiting',
  retrying: 'notice',
  done: 'good',
  failed: 'bad',
  held: 'notice',
};

/** Renders a file's name as a link, above its directory. @param path absolute */
export function nameCell(path: string, address: string): Html {
  return html`<a href="${address}">${named(basename(path))}</a> <span class="under">${named(dirname(path))}</span>`;
}

/** Carries values through a form. Omits empty ones. */
export function hidden(fields: readonly (readonly [name: string, value: string | undefined])[]): Html {
  const given = fields.filter(([, value]) => value !== undefined && value !== '');
  return html`${given.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}`;
}

/** Reads the file filters from an address. */
export function queryOf(asked: URLSearchParams): FileQuery {
  return Object.fromEntries(queryWords.map((word) => [word, asked.get(word) ?? undefined]));
}

/** @param place other parameters, such as the page */
export function filesAddress(query: FileQuery, place: Readonly<Record<string, string | null>> = {}): string {
  const words = addressOf({ ...query, ...place });
  return words === '?' ? '/files' : `/files${words}`;
}

export function fileAddress(id: string): string {
  return `/files/${encodeURIComponent(id)}`;
}

/** @param path absolute */
export function settlingAddress(path: string): string {
  return `/files/settling${addressOf({ path })}`;
}

/**
 * Returns channels that files can be sent to: the service's, or until it lists them, those of the rules and of files.
 */
export async function channelsToChoose({ conductor, config, ledger }: Daemon): Promise<readonly string[]> {
  const { names } = conductor;
  const known = names.known();
  if (known !== null) return known.channel.toSorted();
  const unknown = new Set(names.unknown().flatMap(({ kind, name }) => (kind === 'channel' ? [name] : [])));
  const seen = (await ledger.selection.facets({})).channels.map(({ value }) => value);
  const ruled = config().folders.flatMap(({ rules }) => rules.map(({ channel }) => channel));
  return [...new Set([...ruled, ...seen])].filter((name) => !unknown.has(name)).toSorted();
}
