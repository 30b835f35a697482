import type { Failure } from './file/failure.ts';
import type { Answer, NameKind, VideoHost, VideoLibrary } from './file/ports.ts';
import type { Breaker } from './pause.ts';
import type { ServiceNames } from './service-names.ts';
import type { UploadHosts } from './upload-hosts.ts';

/**
 * The hosted service, with a verdict on every failure of a step or a round: is it this request's, or is a host away? Only the first
 * counts against a file (docs/decisions/0022).
 */
export function judgedService(
  { host, library }: { readonly host: VideoHost; readonly library: VideoLibrary },
  verdicts: {
    readonly breaker: Pick<Breaker, 'judge'>;
    readonly uploadHosts: Pick<UploadHosts, 'judge'>;
    readonly names: Pick<ServiceNames, 'refused' | 'whyNot' | 'worked'>;
    /** Fires when the daemon is asked to stop: no verdict is waited for then. */
    readonly stopping: AbortSignal;
  },
): { readonly host: VideoHost; readonly library: VideoLibrary } {
  const { breaker, uploadHosts, names, stopping } = verdicts;
  /** What it has not is no mistake of a file. */
  const whyRefused = async (failure: Failure, kind: NameKind, name: string): Promise<Refusal | null> => {
    const unknown = await names.refused(failure, { kind, name }, stopping);
    return unknown && { ok: false, failure: unknown };
  };
  const judged = async <T>(asked: Promise<Answer<T>>, signal: AbortSignal): Promise<Answer<T>> => {
    const answer = await asked;
    if (answer.ok || signal.aborted) return answer;
    return { ok: false, failure: await breaker.judge(answer.failure, AbortSignal.any([signal, stopping])) };
  };
  return {
    host: {
      create: async (facts, token, signal) => {
        const answer = await host.create(facts, token, signal);
        if (answer.ok) names.worked('channel', facts.plan?.channel ?? '');
        const refused = answer.ok ? null : await whyRefused(answer.failure, 'channel', facts.plan?.channel ?? '');
        return refused ?? judged(Promise.resolve(answer), signal);
      },
      status: (videoId, signal, priority) => judged(host.status(videoId, signal, priority), signal),
      send: async (facts, hooks) => {
        const answer = await host.send(facts, hooks);
        return hooks.signal.aborted ? answer : uploadHosts.judge(facts, answer);
      },
      remove: (videoId, signal, priority) => judged(host.remove(videoId, signal, priority), signal),
      amend: (videoId, amendment, signal) => judged(host.amend(videoId, amendment, signal), signal),
    },
    library: {
      // The sweep and the probe find out by themselves whether the service is away.
      list: (page, signal) => library.list(page, signal),
      get: (videoId, signal) => library.get(videoId, signal),
      probe: (signal) => library.probe(signal),
      names: (kind, signal) => library.names(kind, signal),
      publish: async (feed, signal) => {
        const unknown = names.whyNot('feed', feed);
        if (unknown !== null) return { ok: false, failure: unknown };
        const answer = await library.publish(feed, signal);
        if (answer.ok) names.worked('feed', feed);
        const refused = answer.ok ? null : await whyRefused(answer.failure, 'feed', feed);
        return refused ?? judged(Promise.resolve(answer), signal);
      },
    },
  };
}

interface Refusal {
  readonly ok: false;
  readonly failure: Failure;
}
