import type { Digests } from '../pipeline/file/checksums.ts';
import { isSignatureMismatch, sizeRefusalOf, UnauthorizedError, UploadRejectedError } from '@dropcast/client';
import type {
  CreateOptions,
  NewVideo,
  RequestOptions,
  SeekableSource,
  SendCallOptions,
  Video,
  VideoClient,
} from '@dropcast/client';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Failure, FailureKind } from '../pipeline/file/failure.ts';
import { markerOf } from '../pipeline/file/marker.ts';
import type {
  Answer,
  CreatedRecord,
  RemoteVideo,
  RequestPriority,
  VideoHost,
  VideoLibrary,
} from '../pipeline/file/ports.ts';
import { toFailure } from './failure.ts';
import { webAddress } from './feed-links.ts';
import type { FeedLinks } from './feed-links.ts';

export interface VideoHostParts {
  /** Returns the current client, which a reload may replace. */
  client(): VideoClient;
  /** Returns the body of an accepted file, with the digests to compute while it is being sent. */
  sourceOf(facts: Facts, alsoHash: readonly (keyof Digests)[]): SeekableSource & { digests(): Digests };
  /** Classifies an error from reading the body of a file; null for any other error. */
  failureOfFile(error: unknown): Failure | null;
  /**
   * Returns the longest time without progress, in milliseconds. The answer to a whole file may take at least a minute.
   */
  stallTimeoutMs(): number;
  /** Receives every listed feed with its address: untrusted text. */
  heardFeeds?: FeedLinks['heard'];
  /** Returns the configured headers and protocol of uploads; default: none. */
  sendOptions?(): Pick<SendCallOptions, 'headers' | 'contentType' | 'protocol'>;
  /** Whether each create request carries its token as `Idempotency-Key`; default: no. */
  honoursIdempotencyKey?(): boolean;
  /** Whether each video gets the marker of its file as a tag; default: no. */
  isMarking?(): boolean;
  /** Describes how the operator replaces the key, as part of a sentence. */
  howToRenewKey(): string;
}

/**
 * Adapts the video service to the pipeline: one request per call, errors become failures, and API terms become
 * dropcast's own. Each call passes its priority to the client's request gate.
 */
export function createVideoHost(parts: VideoHostParts): VideoHost & VideoLibrary {
  const { client } = parts;
  const answer = async <T>(ask: () => Promise<T>, sentBytes = Infinity): Promise<Answer<T>> => {
    try {
      return { ok: true, value: await ask() };
    } catch (error) {
      return { ok: false, failure: { ...failureOf(error, parts), ...tooLarge(error, sentBytes) } };
    }
  };
  const marked = (tags: readonly string[], file: Pick<Facts, 'path' | 'version'>): readonly string[] =>
    parts.isMarking?.() === true ? [...new Set([...tags, markerOf(file)])] : tags;
  return {
    create: async (facts, token, signal) => {
      const isKeyed = parts.honoursIdempotencyKey?.() === true;
      const created = await answer(() =>
        createRecord(
          client(),
          { ...facts, plan: facts.plan && { ...facts.plan, tags: marked(facts.plan.tags, facts) } },
          { ...asks('create', signal), ...(isKeyed && { idempotencyKey: token }) },
        ),
      );
      if (created.ok) return created;
      const { failure } = created;
      if (failure.kind === 'gone') return { ok: false, failure: createNotFound(failure, facts) };
      return { ok: false, failure: isKeyed && failure.status === 409 ? createUnderWay(failure) : failure };
    },
    status: (videoId, signal, priority = 'finish') =>
      answer(async () => (await client().videos.get(videoId, asks(priority, signal))).status),
    send: (facts, { signal, onProgress, onSession, alsoHash, beforeLastPart }) =>
      answer(() => {
        const source = parts.sourceOf(facts, alsoHash);
        return client().videos.send(
          source,
          {
            id: facts.videoId ?? '',
            uploadUrl: facts.uploadUrl ?? '',
            ...(facts.uploadHeaders !== null && { uploadHeaders: facts.uploadHeaders }),
          },
          {
            ...parts.sendOptions?.(),
            signal,
            onProgress,
            session: sessionOf(facts),
            onSession,
            beforeLastPart: (sha256) => beforeLastPart(sha256, source.digests()),
            stallTimeoutMs: parts.stallTimeoutMs(),
            answerTimeoutMs: Math.max(leastAnswerMs, parts.stallTimeoutMs()),
            // The state machine itself checks the status before it sends again, with the answer in the ledger (design
            // section 5).
            askAfterFailure: false,
          },
        );
      }, facts.version.size),
    remove: async (videoId, signal, priority = 'finish') => {
      const removed = await answer(() => client().videos.delete(videoId, asks(priority, signal)));
      return removed.ok || removed.failure.kind === 'gone' ? { ok: true, value: null } : removed;
    },
    amend: async (facts, signal) => {
      const { videoId, amendment } = facts;
      const { tags } = amendment ?? {};
      const fields = { ...amendment, ...(tags !== undefined && { tags: marked(tags, facts) }) };
      return withoutValue(await answer(() => client().videos.update(videoId ?? '', fields, asks('finish', signal))));
    },
    list: (page, signal, channelId) =>
      answer(async () => {
        const filter = channelId === undefined ? {} : { channelId };
        const { videos, perPage, total } = await client().videos.list(filter, asks('poll', signal)).page(page);
        return { videos: videos.map(remoteOf), perPage: Math.max(perPage, videos.length, 1), total };
      }),
    get: (videoId, signal, priority = 'poll') =>
      answer(async () => wholeOf(await client().videos.get(videoId, asks(priority, signal)))),
    publish: (feed, signal) =>
      answer(async () => ({ videos: (await client().feeds.publish(feed, asks('finish', signal))).videoCount ?? null })),
    names: (kind, signal) =>
      answer(async () => {
        const { channels, feeds } = client();
        if (kind === 'channel') return (await channels.list(asks('finish', signal))).map(({ id }) => id);
        const list = await feeds.list(asks('finish', signal));
        parts.heardFeeds?.(list);
        return list.map(({ id }) => id);
      }),
    probe: async (signal) => {
      const list = client().videos.list({ perPage: 1 }, asks('finish', signal));
      const listed = await answer(() => list.page(1));
      if (listed.ok || !mayBeOfList.has(listed.failure.kind)) return withoutValue(listed);
      const other = await answer(() => client().channels.list(asks('finish', signal)));
      const isNowhere = !other.ok && other.failure.kind === 'gone' && listed.failure.kind === 'gone';
      return isNowhere ? { ok: false, failure: wrongAddress } : withoutValue(other);
    },
  };
}

/** Failures that may concern only the list of videos. */
const mayBeOfList: ReadonlySet<FailureKind> = new Set(['transient', 'gone', 'permanent']);

/**
 * Minimum answer timeout. A service that assembles large files may need this long, even if `stall_timeout` is short.
 */
const leastAnswerMs = 60_000;

/**
 * Returns request options without retries, regardless of the client's settings. The state machine decides about
 * retries, with the answer in the ledger.
 */
function asks(priority: RequestPriority, signal: AbortSignal): RequestOptions {
  return { priority, signal, maxRetries: 0 };
}

/** The last part may have been sent once its hash was written, in the same commit. */
function sessionOf({ uploadSession, sha256, version }: Facts): Facts['uploadSession'] {
  return uploadSession !== null && sha256 !== null ? { ...uploadSession, reach: version.size } : uploadSession;
}

async function createRecord(
  { videos }: VideoClient,
  { id, plan, sourceUrl }: Facts,
  options: CreateOptions,
): Promise<CreatedRecord> {
  if (plan === null) throw new Error(`file ${id} has no plan`);
  const fields: NewVideo = {
    title: plan.title,
    channelId: plan.channel,
    tags: plan.tags,
    ...(plan.description !== null && { description: plan.description }),
  };
  const created = await (sourceUrl === null
    ? videos.create(fields, options)
    : videos.import(sourceUrl, fields, options));
  const { id: videoId, uploadUrl, uploadHeaders = null, status } = created;
  return { videoId, uploadUrl, uploadHeaders, status };
}

/** Failure when even the resources that every service has are missing. */
const wrongAddress: Failure = {
  kind: 'suspended',
  code: 'no_service',
  status: 404,
  message: 'the service answers 404 to everything: check service.base_url',
};

/**
 * Classifies a 404 to a create request. No video was deleted, because none exists yet. The file is blamed only the
 * second time: a service that answered 404 to everything may have recovered between the request and the probe.
 */
function createNotFound(failure: Failure, { attempts }: Facts): Failure {
  return { ...failure, kind: attempts === 0 ? 'transient' : 'permanent' };
}

/**
 * Classifies a 409 to a create request with a token. Each token is used for one request only, so a proxy must have
 * repeated the request while the service was processing it (draft-ietf-httpapi-idempotency-key-header section 2.7).
 */
function createUnderWay(failure: Failure): Failure {
  return { ...failure, kind: 'transient', inDoubt: true };
}

/** Advice after every content type, and none at all, was refused. Only the operator can find out what was signed. */
const howToSign =
  'set uploads.content_type or uploads.headers to what the service signs its addresses with (docs/services.md)';

function failureOf(error: unknown, parts: VideoHostParts): Failure {
  const failure = parts.failureOfFile(error) ?? toFailure(error);
  const advice = adviceOn(error, parts);
  return advice === null ? failure : { ...failure, message: `${failure.message.replace(/\.$/, '')}; ${advice}` };
}

function adviceOn(error: unknown, { howToRenewKey, sendOptions }: VideoHostParts): string | null {
  if (error instanceof UnauthorizedError) return howToRenewKey();
  if (isSignatureMismatch(error)) return howToSign;
  const { protocol } = sendOptions?.() ?? {};
  const isOther = error instanceof UploadRejectedError && otherProtocol.has(error.status ?? 0);
  if (protocol === undefined || !isOther) return null;
  return `uploads.protocol is ${protocol}: if the upload host speaks another protocol, set it to auto`;
}

/**
 * Statuses of a host that takes no uploads in this protocol: a wrong method, length or type (RFC 9110
 * section 15.5), or 412 for the version of tus.
 */
const otherProtocol: ReadonlySet<number> = new Set([405, 411, 412, 415]);

/** Marks the failure of an upload that its host refused because of the file's size. */
function tooLarge(error: unknown, sizeBytes: number): Pick<Failure, 'sizeLimit'> {
  const refusal = sizeRefusalOf(error, sizeBytes);
  return refusal === null ? {} : { sizeLimit: { from: 'service', ...refusal } };
}

function withoutValue(answer: Answer<unknown>): Answer<null> {
  return answer.ok ? { ok: true, value: null } : answer;
}

/** Limit for the service's message about a video, because every list, log line and notification repeats it. */
const longestMessage = 500;

function shortened(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage).toWellFormed()}…` : message;
}

function wholeOf(video: Video): RemoteVideo {
  const { description, channelId: channel, tags } = video;
  return {
    ...remoteOf(video),
    ...(description !== undefined && { description }),
    ...(channel !== undefined && { channel }),
    ...(tags !== undefined && { tags }),
  };
}

function remoteOf(video: Video): RemoteVideo {
  const createdAt = video.createdAt === undefined ? Number.NaN : Date.parse(video.createdAt);
  const embedUrl = webAddress(video.embedUrl ?? '');
  return {
    id: video.id,
    ...(video.title !== undefined && video.title !== '' && { title: video.title }),
    status: video.status,
    ...(video.message !== undefined && { message: shortened(video.message) }),
    ...(Number.isFinite(createdAt) && { createdAt }),
    ...(video.duration !== undefined && { duration: video.duration }),
    ...(embedUrl !== null && { embedUrl }),
  };
}
