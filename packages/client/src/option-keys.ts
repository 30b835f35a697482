import type { VideoClientOptions } from './client-options.ts';
import type {
  AnalyticsQuery,
  CreateOptions,
  NewVideo,
  OverviewQuery,
  RequestOptions,
  SendCallOptions,
  UploadCallOptions,
  VideoQuery,
  WaitOptions,
} from './video-client.ts';
import type { Period } from './wire/analytics.ts';
import type { ChannelChanges, CustomRequest, VideoChanges } from './wire/requests.ts';

/** Every key of a type. The compiler refuses a table that lacks a key or has another. */
type KeysOf<T> = Readonly<Record<keyof T, true>>;

export const clientKeys: KeysOf<VideoClientOptions> = {
  baseUrl: true,
  apiKey: true,
  timeoutMs: true,
  maxRetries: true,
  maxRetryAfterMs: true,
  userAgent: true,
  sendKeyTo: true,
  ca: true,
  proxyEnv: true,
  agent: true,
  headers: true,
  bandwidth: true,
  uploadForms: true,
  honoursIdempotencyKey: true,
  requestGate: true,
  onRequest: true,
  onResponse: true,
  onExchange: true,
  onWait: true,
  logger: true,
};

export const agentKeys: KeysOf<NonNullable<VideoClientOptions['agent']>> = { http: true, https: true };

export const requestKeys: KeysOf<RequestOptions> = {
  signal: true,
  timeoutMs: true,
  maxRetries: true,
  maxRetryAfterMs: true,
  onWait: true,
  priority: true,
  headers: true,
};

export const createKeys: KeysOf<CreateOptions> = { ...requestKeys, idempotencyKey: true };

export const sendKeys: KeysOf<SendCallOptions> = {
  ...requestKeys,
  onProgress: true,
  beforeLastPart: true,
  askAfterFailure: true,
  contentType: true,
  protocol: true,
  session: true,
  onSession: true,
  stallTimeoutMs: true,
  answerTimeoutMs: true,
};

export const uploadKeys: KeysOf<UploadCallOptions> = { ...createKeys, ...sendKeys, onCreated: true };

export const waitKeys: KeysOf<WaitOptions> = { ...requestKeys, waitMs: true, intervalMs: true, onStatus: true };

export const videoChangeKeys: KeysOf<VideoChanges> = { title: true, description: true, tags: true };

export const newVideoKeys: KeysOf<NewVideo> = { ...videoChangeKeys, channelId: true };

export const channelChangeKeys: KeysOf<ChannelChanges> = {
  name: true,
  description: true,
  defaultPlayerSettings: true,
};

export const videoQueryKeys: KeysOf<VideoQuery> = { channelId: true, status: true, perPage: true, limit: true };

export const periodKeys: KeysOf<Period> = { from: true, to: true };

export const overviewKeys: KeysOf<OverviewQuery> = { ...periodKeys, channelId: true };

export const analyticsKeys: KeysOf<AnalyticsQuery> = { ...overviewKeys, limit: true };

export const customKeys: KeysOf<CustomRequest> = {
  method: true,
  path: true,
  query: true,
  json: true,
  isRepeatable: true,
};

/**
 * Refuses a misspelled key, which would otherwise be ignored: a video would land in another channel than intended.
 *
 * @param method as the caller writes it, for the message
 * @param pairs each an argument and the keys that it may have
 * @throws {TypeError} an argument is not an object or has another key; the message contains no value
 */
export function requireKeys(
  method: string,
  ...pairs: readonly (readonly [given: unknown, known: Readonly<Record<string, true>>])[]
): void {
  for (const [given, known] of pairs) {
    const names = Object.keys(known).join(', ');
    if (typeof given !== 'object' || given === null)
      throw new TypeError(`${method} needs an object here, with keys of ${names}`);
    const wrong = Object.keys(given).find((key) => !Object.hasOwn(known, key));
    if (wrong === undefined) continue;
    const near = nearest(wrong, Object.keys(known));
    const hint = near === undefined ? `its keys are ${names}` : `did you mean ${near}?`;
    throw new TypeError(`${method} does not know ${JSON.stringify(wrong.slice(0, longestKey))}: ${hint}`);
  }
}

/** Longest key that is shown, or compared with the known ones. */
const longestKey = 60;

/** Returns the known key that is most like the given one, in any notation (`channel_id`); undefined if none is. */
function nearest(key: string, known: readonly string[]): string | undefined {
  if (key.length > longestKey) return undefined;
  const letters = lettersOf(key);
  const ranked = known
    .map((other) => ({ other, edits: editsBetween(letters, lettersOf(other)), length: other.length }))
    .filter(({ edits, length }) => edits <= Math.ceil(Math.max(letters.length, length) / 3))
    .toSorted((a, b) => a.edits - b.edits);
  return ranked[0]?.other;
}

function lettersOf(key: string): string {
  return key.replaceAll(/[-_]/g, '').toLowerCase();
}

/** The Levenshtein distance. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const replaced = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
