import { accountTroubleOf } from './file/account-trouble.ts';
import type { Facts } from './file/facts.ts';
import { webPageCode } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { NameKind } from './events.ts';
import type { Answer, SendHooks, VideoHost, VideoLibrary } from './file/ports.ts';
import type { Breaker } from './pause.ts';
import type { RefusedCreates } from './refused-creates.ts';
import type { ServiceNames } from './service-names.ts';
import type { UploadHosts } from './upload-hosts.ts';

/**
 * The hosted service, with a verdict on every failure of a step or a round: either it concerns this request, or a host
 * is unreachable. Only failures of the request count against a file (docs/decisions/0022).
 */
export function judgedService(
  { host, library }: { readonly host: VideoHost; readonly library: VideoLibrary },
  verdicts: {
    readonly breaker: Pick<Breaker, 'judge'>;
    readonly uploadHosts: Pick<UploadHosts, 'judge' | 'believe' | 'isBelieved'>;
    readonly names: Pick<ServiceNames, 'refused' | 'whyNot' | 'worked'>;
    readonly refusedCreates: Pick<RefusedCreates, 'judge' | 'succeeded'>;
    /** Fires when the daemon has to stop. Verdicts are then no longer awaited. */
    readonly stopping: AbortSignal;
  },
): { readonly host: VideoHost; readonly library: VideoLibrary } {
  const { breaker, uploadHosts, names, refusedCreates, stopping } = verdicts;
  /** Explains a refusal by a missing channel or feed, which is not the file's fault. */
  const whyRefused = (failure: Failure, kind: NameKind, name: string): Promise<Failure | null> =>
    names.refused(failure, { kind, name }, stopping);
  const judged = async <T>(asked: Promise<Answer<T>>, signal: AbortSignal): Promise<Answer<T>> => {
    const answer = await asked;
    if (answer.ok || signal.aborted) return answer;
    return { ok: false, failure: await breaker.judge(answer.failure, AbortSignal.any([signal, stopping])) };
  };
  /**
   * Asks whether a file has arrived after its upload was answered with a web page, because some hosts report success
   * that way.
   */
  const hasArrived = async (facts: Facts, signal: AbortSignal): Promise<boolean> => {
    if (uploadHosts.isBelieved(facts)) return true;
    const status = await host.status(facts.videoId ?? '', signal);
    if (!status.ok || status.value === 'pending' || status.value === 'failed') return false;
    uploadHosts.believe(facts);
    return true;
  };
  return {
    host: {
      create: async (facts, token, signal) => {
        const answer = await host.create(facts, token, signal);
        if (answer.ok) {
          names.worked('channel', facts.plan?.channel ?? '');
          refusedCreates.succeeded(facts);
          return answer;
        }
        const isOfAccount = accountTroubleOf(answer.failure) !== null;
        const refused = isOfAccount ? null : await whyRefused(answer.failure, 'channel', facts.plan?.channel ?? '');
        const isAnswering = async (): Promise<boolean> => {
          const probed = await library.probe(stopping);
          return probed.ok || (probed.failure.kind === 'throttled' && !stopping.aborted);
        };
        const failure = refused ?? (await refusedCreates.judge(facts, answer.failure, isAnswering));
        return failure === null ? judged(Promise.resolve(answer), signal) : { ok: false, failure };
      },
      status: (videoId, signal, priority) => judged(host.status(videoId, signal, priority), signal),
      send: async (facts, hooks) => {
        let sent: string | null = null;
        const beforeLastPart: SendHooks['beforeLastPart'] = async (hash, also) => {
          await hooks.beforeLastPart(hash, also);
          sent = hash;
        };
        const answer = await host.send(facts, { ...hooks, beforeLastPart });
        if (hooks.signal.aborted) return answer;
        const sha256 = isPage(answer) ? sent : null;
        const isThere = sha256 !== null && (await hasArrived(facts, hooks.signal));
        return uploadHosts.judge(facts, isThere ? { ok: true, value: { sha256 } } : answer, hooks.isFirstUse);
      },
      remove: (videoId, signal, priority) => judged(host.remove(videoId, signal, priority), signal),
      amend: (facts, signal) => judged(host.amend(facts, signal), signal),
    },
    library: {
      // The sweep and the probe detect for themselves whether the service is unreachable.
      list: (page, signal) => library.list(page, signal),
      get: (videoId, signal, priority) => library.get(videoId, signal, priority),
      probe: (signal) => library.probe(signal),
      names: (kind, signal) => library.names(kind, signal),
      publish: async (feed, signal) => {
        const unknown = names.whyNot('feed', feed);
        if (unknown !== null) return { ok: false, failure: unknown };
        const answer = await library.publish(feed, signal);
        if (answer.ok) names.worked('feed', feed);
        const refused = answer.ok ? null : await whyRefused(answer.failure, 'feed', feed);
        return refused === null ? judged(Promise.resolve(answer), signal) : { ok: false, failure: refused };
      },
    },
  };
}

function isPage(answer: Answer<unknown>): boolean {
  return !answer.ok && answer.failure.code === webPageCode;
}
