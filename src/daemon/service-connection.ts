import { uptime } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { createBandwidth, createVideoClient } from '@dropcast/client';
import type { VideoClient } from '@dropcast/client';
import { type Config, sendOptionsOf } from '../config/config.ts';
import type { SecretOrigin } from '../config/secrets.ts';
import { uploadSource } from '../disk/accepted-file.ts';
import { failureOfFile } from '../disk/failure.ts';
import { budgetOfOneHost } from '../host/budget-store.ts';
import type { BudgetStore, OwnWindow } from '../host/budget-store.ts';
import { createGate } from '../host/gate.ts';
import { budgetOf, clientGateOf, createUnsentCreates } from '../host/request-gate.ts';
import type { FeedLinks } from '../host/feed-links.ts';
import { uploadFormsIn } from '../host/upload-forms.ts';
import { createVideoHost } from '../host/video-host.ts';
import type { BudgetRow } from '../ledger/records.ts';
import type { Logger } from '../log/logger.ts';
import type { Events } from '../pipeline/events.ts';
import type { Answer, Clock, NoteStore, VideoHost, VideoLibrary } from '../pipeline/file/ports.ts';
import type { NamesOfService } from '../pipeline/service-names.ts';
import { keepLimit, quotaAt, uploadTimes } from './upload-times.ts';
import { serviceOf } from '../config/installed-service.ts';
import type { InstalledService } from '../config/installed-service.ts';

export type ServiceConnection = ReturnType<typeof connectToService>;

/** The request budget of a daemon that does not share its ledger. */
export function ownBudget(row: BudgetRow, clock: Clock): BudgetStore {
  const load = async (): Promise<OwnWindow | null> => (await row.load()) as OwnWindow | null;
  return budgetOfOneHost({ load, save: (spent) => row.save(spent) }, clock, () => uptime() * 1_000);
}

/**
 * Connects to the hosted service with the client, request budget and bandwidth that the configuration names.
 *
 * @param world.budget stores the last hour's requests across restarts
 */
export function connectToService(
  initial: Config,
  world: {
    readonly budget: BudgetStore;
    readonly notes: NoteStore;
    readonly feedLinks: Pick<FeedLinks, 'heard'>;
    readonly events: Events;
    readonly clock: Clock;
    readonly logger: Logger;
  },
) {
  const { clock, events, logger } = world;
  let config = initial;
  const gate = createGate({ store: world.budget, limit: config.service.requestsPerHour, clock });
  const bandwidth = createBandwidth(null);
  const times = uploadTimes(() => config.uploads, clock);
  const limit = keepLimit(bandwidth, times, clock);
  const unsent = createUnsentCreates(() => clock.elapsed());
  const requestGate = clientGateOf(gate, unsent, (header) =>
    logger.warn('Ignoring a rate-limit header; the request budget stays as it is', { header }),
  );
  const uploadForms = uploadFormsIn(world.notes, clock, (err) =>
    logger.warn('Cannot save what an upload host accepts', { err }),
  );
  const open = ({ service }: Config): VideoClient =>
    createVideoClient({
      baseUrl: service.baseUrl,
      apiKey: service.apiKey.reveal(),
      sendKeyTo: service.sendKeyTo,
      ca: service.authorities,
      honoursIdempotencyKey: service.honoursIdempotencyKey,
      requestGate,
      bandwidth,
      uploadForms,
      onResponse: (note) => {
        logger.debug('A request ended', { ...note });
        const { operation, status = null, ms } = note;
        events.emit({ type: 'request', operation, status, ms });
      },
    });
  const isWatched = (folder: string): boolean => config.folders.some(({ path }) => path === folder);
  let client = open(config);
  const former: VideoClient[] = [];
  const hostOf = (client: () => VideoClient, heardFeeds?: FeedLinks['heard']): VideoHost & VideoLibrary =>
    createVideoHost({
      client,
      sourceOf: (facts, alsoHash) => uploadSource(facts, isWatched, alsoHash),
      failureOfFile,
      ...(heardFeeds !== undefined && { heardFeeds }),
      sendOptions: () => sendOptionsOf(config),
      stallTimeoutMs: () => config.uploads.stallTimeoutMs,
      honoursIdempotencyKey: () => config.service.honoursIdempotencyKey,
      isMarking: () => config.service.isMarking,
      howToRenewKey: () => howToRenewKey(config),
    });
  return {
    gate,
    times,
    /** `service.quota` at this moment; null if there is none. */
    quota: () => quotaAt(config.service.quota, clock.now()),
    budget: budgetOf(gate, unsent),
    host: hostOf(() => client, world.feedLinks.heard),
    /** Lists the channels and feeds of the service that a configuration names, which may be another service or key. */
    namesOf: async (next: Config, signal: AbortSignal): Promise<Answer<NamesOfService>> => {
      const isOther = isOtherService(config, next);
      const asked = isOther ? open(next) : client;
      const host = hostOf(() => asked, isOther ? undefined : world.feedLinks.heard);
      const channel = await host.names('channel', signal);
      const feed = channel.ok ? await host.names('feed', signal) : channel;
      if (isOther) await asked[Symbol.asyncDispose]();
      if (!channel.ok) return channel;
      return feed.ok ? { ok: true, value: { channel: channel.value, feed: feed.value } } : feed;
    },
    /** Uses another configuration from the next request on. Requests in progress finish with the old key and address. */
    change: (next: Config): void => {
      const isOther = isOtherService(config, next);
      config = next;
      gate.setLimit(next.service.requestsPerHour);
      limit.update();
      // The old client stays open until the daemon stops, because its uploads may take hours.
      if (!isOther) return;
      gate.otherService();
      former.push(client);
      client = open(config);
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      limit[Symbol.dispose]();
      await Promise.all([client, ...former].map((each) => each[Symbol.asyncDispose]()));
      await gate[Symbol.asyncDispose]();
    },
  };
}

function isOtherService(one: Config, other: Config): boolean {
  return (
    one.service.baseUrl !== other.service.baseUrl ||
    one.service.apiKey.reveal() !== other.service.apiKey.reveal() ||
    one.service.honoursIdempotencyKey !== other.service.honoursIdempotencyKey ||
    one.service.sendKeyTo.join('\n') !== other.service.sendKeyTo.join('\n') ||
    !isDeepStrictEqual(one.service.authorities, other.service.authorities)
  );
}

/** Explains how to put a new key into use, as part of a sentence. */
export function howToRenewKey({ file, service }: Config): string {
  return sentences[service.apiKeyFrom](serviceOf(file));
}

const sentences: Readonly<Record<SecretOrigin, (installed: InstalledService | null) => string>> = {
  // systemd.io/CREDENTIALS: credentials are acquired at activation and do not change while the service runs.
  credential: (installed) =>
    installed === null
      ? 'after changing the key, run `sudo systemctl restart dropcast`: systemd reads credentials only at the start'
      : `new key: \`${installed.setupCommand} --key-file - --force\``,
  environment: () => 'after changing the key, restart dropcast: it reads the environment only at the start',
  file: () => 'after changing the key, run `dropcast reload`',
};
