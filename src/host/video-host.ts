import type { Answer, Budget, VideoHost, VideoLibrary } from '../pipeline/file/ports.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import { AbortedError, UnauthorizedError } from '@dropcast/client';
import type { Bandwidth, Video } from '@dropcast/client';
import type { Gate } from './gate.ts';
import type { RequestGate, VideoService } from './video-service.ts';
import { toFailure } from './failure.ts';

/** The largest page that may be asked for (api-spec section 8). */
const mostPerPage = 100;

/** A create request and a list request are both answered 404: no file's fault. */
const wrongAddress: Failure = {
  kind: 'suspended',
  code: 'no_service',
  status: 404,
  message: 'the service answers 404 to everything: is service.base_url right?',
};

/** The hosted service behind the ports of the pipeline: errors become failures, wire words become ours. */
export function createHosted(options: {
  /** Asked anew for each call: a reload may have replaced it. */
  readonly service: () => VideoService;
  readonly bandwidth: Bandwidth;
  readonly stallTimeoutMs: () => number;
  /** What a person does for a new key to be used, as part of a sentence. */
  readonly howToRenewKey: () => string;
}): VideoHost & VideoLibrary {
  const { service } = options;
  const answer = async <T>(ask: () => Promise<T>): Promise<Answer<T>> => {
    try {
      return { ok: true, value: await ask() };
    } catch (error) {
      const failure = toFailure(error);
      if (!(error instanceof UnauthorizedError)) return { ok: false, failure };
      return {
        ok: false,
        failure: { ...failure, message: `${failure.message.replace(/\.$/, '')}; ${options.howToRenewKey()}` },
      };
    }
  };
  const finish = (signal: AbortSignal) => ({ lane: 'finish' as const, signal });
  return {
    create: async (facts, token, signal) => {
      const created = await answer(async () => {
        const { plan } = facts;
        if (plan === null) throw new Error(`file ${facts.id} has no plan`);
        const created = await service().createVideo(
          {
            title: plan.title,
            channelId: plan.channel,
            tags: plan.tags,
            ...(plan.description !== null && { description: plan.description }),
            ...(facts.sourceUrl !== null && { sourceUrl: facts.sourceUrl }),
          },
          { idempotencyKey: token, signal },
        );
        return { videoId: created.id, uploadUrl: created.uploadUrl, status: created.status };
      });
      if (created.ok || created.failure.kind !== 'gone') return created;
      const listed = await answer(() => service().listVideos({ page: 1, perPage: 1 }, { lane: 'poll', signal }));
      if (!listed.ok && listed.failure.kind === 'gone') return { ok: false, failure: wrongAddress };
      // Believed the second time: between the two requests a service that answered 404 to everything may have come back.
      return { ok: false, failure: { ...created.failure, kind: facts.attempts === 0 ? 'transient' : 'permanent' } };
    },
    status: (videoId, signal) => answer(async () => (await service().getVideo(videoId, finish(signal))).status),
    send: (facts, { signal, onProgress, beforeLastPart }) =>
      answer(async () => {
        const { sha256 } = await service().upload({
          url: facts.uploadUrl ?? '',
          root: facts.folder,
          path: `${facts.folder}/${facts.path}`,
          expected: facts.version,
          signal,
          stallTimeoutMs: options.stallTimeoutMs(),
          bandwidth: options.bandwidth,
          onProgress,
          beforeLastPart,
        });
        return { sha256 };
      }),
    remove: async (videoId, signal) => {
      const removed = await answer(async () => {
        await service().deleteVideo(videoId, finish(signal));
        return null;
      });
      return !removed.ok && removed.failure.kind === 'gone' ? { ok: true, value: null } : removed;
    },
    amend: (videoId, amendment, signal) =>
      answer(async () => {
        await service().updateVideo(videoId, amendment, finish(signal));
        return null;
      }),
    list: (page, signal) =>
      answer(async () => {
        const asked = { page, perPage: mostPerPage };
        const { videos, perPage, total } = await service().listVideos(asked, { lane: 'poll', signal });
        return { videos: videos.map(remoteOf), perPage: Math.max(perPage, videos.length, 1), total };
      }),
    get: (videoId, signal) => answer(async () => remoteOf(await service().getVideo(videoId, { lane: 'poll', signal }))),
    publish: (feed, signal) =>
      answer(async () => {
        await service().publishFeed(feed, finish(signal));
        return null;
      }),
  };
}

function remoteOf(video: Video): { id: string; status: string; message?: string; createdAt?: number } {
  const createdAt = video.createdAt === undefined ? Number.NaN : Date.parse(video.createdAt);
  return {
    id: video.id,
    status: video.status,
    ...(video.message !== undefined && { message: video.message }),
    ...(Number.isFinite(createdAt) && { createdAt }),
  };
}

/** The budget as the pipeline takes it, and as the client does: a create is paid for before its intent is written. */
export function createBudget(gate: Gate): { readonly budget: Budget; readonly clientGate: RequestGate } {
  return {
    budget: {
      take: async (lane, signal) => {
        try {
          await gate.take(lane, signal);
          return true;
        } catch (error) {
          if (error instanceof AbortedError) return false;
          throw error;
        }
      },
    },
    clientGate: {
      take: (lane, signal) => (lane === 'create' ? Promise.resolve() : gate.take(lane, signal)),
      throttled: (retryAfterMs) => gate.throttled(retryAfterMs),
    },
  };
}
