/** The video, channel and feed that a request and its answer name; null if they name none. */
export interface Subject {
  readonly videoId: string | null;
  readonly channelId: string | null;
  readonly feedId: string | null;
}

interface Said {
  readonly operation: string;
  readonly path: string;
  readonly query: string;
  /** Returns the parsed body; undefined if it is not JSON. */
  readonly requestBody: () => unknown;
  readonly answerBody: () => unknown;
}

/**
 * Finds the video, channel and feed in path and query, and for a video's own operations also in body and answer. Pure.
 */
export function subjectOf({ operation, path, query, requestBody, answerBody }: Said): Subject {
  const parameters = new URLSearchParams(query);
  const [first = '', second = '', third = ''] = path.split('/').slice(1);
  const isApi = first === 'v1';
  const named = (what: string) => (isApi && second === what && third !== '' ? third : null);
  const bodies = BODIED.has(operation) ? [requestBody(), answerBody()] : [];
  return {
    videoId: shortened(
      named('videos') ??
        videoInPath(first, second, third) ??
        parameters.get('video_id') ??
        createdId(operation, bodies[1]),
    ),
    channelId: shortened(named('channels') ?? parameters.get('channel_id') ?? firstOf(bodies.map(channelIn))),
    feedId: shortened(named('feeds') ?? (first === 'feeds' ? withoutExtension(second) : null)),
  };
}

const BODIED = new Set(['videos.create', 'videos.get', 'videos.update']);

function videoInPath(first: string, second: string, third: string): string | null {
  if (first === 'uploads' || first === 'embed') return second || null;
  return first === 'cdn' && (second === 'videos' || second === 'thumbnails') ? withoutExtension(third) : null;
}

function withoutExtension(file: string): string | null {
  return file.split('.', 1)[0] || null;
}

function createdId(operation: string, answer: unknown): string | null {
  return operation === 'videos.create' ? textIn(answer, 'id') : null;
}

function channelIn(body: unknown): string | null {
  return textIn(body, 'channel_id') ?? textIn(fieldOf(body, 'data'), 'channel_id');
}

function textIn(body: unknown, name: string): string | null {
  const value = fieldOf(body, name);
  return typeof value === 'string' ? value : null;
}

function fieldOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined;
}

function firstOf(found: readonly (string | null)[]): string | null {
  return found.find((one) => one !== null) ?? null;
}

function shortened(id: string | null): string | null {
  return id === null ? null : id.slice(0, 200);
}
