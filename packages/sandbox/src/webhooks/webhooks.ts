import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Events, SandboxEvent, EventType } from '../events.ts';
import type { Links } from '../http/links.ts';
import { BackgroundWork } from '../background-work.ts';
import type { Records } from '../store/records.ts';
import { seededToken } from '../seeded-random.ts';
import type { Switchboard } from '../profiles/switchboard.ts';
import { storageTroubleOf } from '../store/storage-trouble.ts';
import type { Attempt, Delivery, Webhook } from '../store/webhooks.ts';
import { post, type Outcome, newSecret } from './post.ts';
import type { FeedPublishedEvent, VideoFailedEvent, VideoReadyEvent } from '../contract/types.gen.ts';
import { isoTime, publishResult, wholeVideo } from '../http/wire.ts';

interface WebhookParts {
  readonly records: Records;
  readonly links: Links;
  readonly events: Events;
  readonly clock: Clock;
  readonly seed: number;
  /** Hosts that webhooks may use; the same rule as for imports. */
  readonly reach: 'loopback' | 'anywhere';
  readonly switchboard: Switchboard;
  readonly onDefect: (error: unknown) => void;
}

/**
 * Delivers events to registered webhooks (api-spec section 6 leaves all of this open). assumed: at least once, and for
 * each webhook in order and one at a time, so that a failing webhook delays only its own events. Deliveries are stored
 * in the records and fall due by the sandbox's clock.
 */
export class Webhooks {
  readonly #parts: WebhookParts;
  readonly #stop = new AbortController();
  readonly #running: BackgroundWork;
  /** Webhooks with a delivery in progress. */
  readonly #busy = new Set<string>();
  /** Incremented when all records are replaced, because ids are then reused. */
  #era = 0;
  #unsubscribers: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Does nothing until `start`. @param parts `reach`: hosts that webhooks may use; `onDefect`: receives bugs */
  constructor(parts: WebhookParts) {
    this.#parts = parts;
    this.#running = new BackgroundWork(parts.onDefect);
  }

  /** Starts listening, and resumes deliveries that an earlier process did not complete. */
  start(): void {
    const { events, clock } = this.#parts;
    this.#unsubscribers = [events.listen((event) => this.#hear(event)), clock.onChange(() => this.#advance())];
    this.#advance();
  }

  /** Aborts deliveries in progress; the next start repeats them. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    for (const end of this.#unsubscribers) end();
    await this.#running.finished();
  }

  register(url: string, wanted: readonly WebhookEvent[]): Webhook {
    const { records, clock, seed } = this.#parts;
    const webhook = { url, secret: newSecret(), events: wanted, createdAtMs: clock.nowMs() };
    return records.webhooks.add(webhook, (number) => `wh_${seededToken(seed, ['webhook', number], 16)}`);
  }

  /**
   * Sends a delivery again, immediately if no earlier event is waiting. @returns the delivery; undefined if it does not
   * exist
   */
  redeliver(webhookId: string, deliveryId: string): Delivery | undefined {
    const { webhooks } = this.#parts.records;
    if (!webhooks.findDelivery(webhookId, deliveryId)) return undefined;
    webhooks.startAgain(deliveryId, this.#parts.clock.nowMs());
    this.#advance();
    return webhooks.findDelivery(webhookId, deliveryId);
  }

  /**
   * Stores the deliveries of an event. @throws if a delivery cannot be stored; the change behind the event must then
   * fail too
   */
  #hear(event: SandboxEvent): void {
    if (event.type === 'reset') return this.#startNewEra();
    if (!isWebhookEvent(event.type)) return;
    try {
      this.#note(event);
    } catch (error) {
      if (storageTroubleOf(error)) throw error;
      this.#parts.onDefect(error); // the cause of the event has succeeded
    }
    this.#advanceIn(0); // not now: the caller is in the middle of a transaction
  }

  #note(event: SandboxEvent): void {
    const { records, clock, seed, links } = this.#parts;
    const { type } = event;
    const wanting = records.webhooks.list().filter(({ events }) => events.some((wanted) => wanted === type));
    if (wanting.length === 0) return;
    const createdAtMs = clock.nowMs();
    const body = links.seenByAll(() => payloadOf(event, createdAtMs, this.#parts));
    if (body === undefined) return;
    const idOf = (number: number) => `msg_${seededToken(seed, ['delivery', number], 16)}`;
    for (const { id } of wanting) records.webhooks.addDelivery({ webhookId: id, event: type, body, createdAtMs }, idOf);
  }

  /** Starts a new era: deliveries in progress no longer have a record, and imported ones may be due. */
  #startNewEra(): void {
    this.#era += 1;
    this.#advance();
  }

  /** Sends deliveries that are due, and sets the timer for the next one. */
  #advance(): void {
    if (this.#stop.signal.aborted) return;
    clearTimeout(this.#timer);
    const { records, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const waiting = records.webhooks.heads().filter(({ webhookId }) => !this.#busy.has(webhookId));
    for (const head of waiting) if ((head.dueAtMs ?? 0) <= nowMs) this.#running.track(this.#attempt(head));
    const later = waiting.flatMap(({ dueAtMs }) => (dueAtMs !== null && dueAtMs > nowMs ? dueAtMs : []));
    const delayMs = later.length === 0 ? null : clock.delayUntil(Math.min(...later));
    if (delayMs !== null) this.#advanceIn(Math.min(delayMs, MAX_DELAY_MS));
  }

  #advanceIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#advance(), delayMs).unref();
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const { records, clock, reach, switchboard } = this.#parts;
    const webhook = records.webhooks.find(delivery.webhookId);
    if (!webhook) return;
    this.#busy.add(webhook.id);
    const era = this.#era;
    try {
      const form = switchboard.now.webhook_form;
      const options = { reach, timeoutMs: TIMEOUT_MS, signal: this.#stop.signal, form };
      const outcome = await post(delivery, webhook, options);
      const attempt = attemptOf(outcome, delivery.attempts + 1, clock.nowMs());
      if (era === this.#era) records.webhooks.noteAttempt(delivery.id, attempt);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      if (!storageTroubleOf(error)) throw error;
      await this.#pause(); // the result cannot be stored, so it is sent again: not in a tight loop
    } finally {
      this.#busy.delete(webhook.id);
    }
    this.#parts.events.emit('webhook.changed', webhook.id);
    this.#advance();
  }

  /** Waits in real time: the sandbox's clock frees no disk space. */
  async #pause(): Promise<void> {
    await setTimeoutPromise(PAUSE_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}

/** Returns the new state of a delivery after an attempt. Pure. @param number number of the attempt, from 1 */
export function attemptOf({ status, error }: Outcome, number: number, nowMs: number): Attempt {
  if (error === null) return { status, error, dueAtMs: null, deliveredAtMs: nowMs };
  const waitMs = RETRY_AFTER_MS[number - 1];
  return { status, error, dueAtMs: waitMs === undefined ? null : nowMs + waitMs, deliveredAtMs: null };
}

/** assumed: time limit for one attempt. */
const TIMEOUT_MS = 10_000;

/** Delay before the next attempt when the disk is full. */
const PAUSE_MS = 2_000;

/** assumed: delays before the second to sixth attempts; the sixth is the last. */
const RETRY_AFTER_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000];

/** Longest timer: above 2^31 ms a timer would fire immediately, and a clock jump is noticed within this time. */
const MAX_DELAY_MS = 60_000;

/** assumed: the specification does not name the event types (api-spec section 6). */
export const webhookEvents = ['video.ready', 'video.failed', 'feed.published'] as const;

type WebhookEvent = (typeof webhookEvents)[number];

function isWebhookEvent(type: EventType): type is WebhookEvent {
  return webhookEvents.some((known) => known === type);
}

interface PayloadParts {
  readonly records: Pick<Records, 'videos' | 'feeds'>;
  readonly links: Links;
}

/**
 * Builds the body for an event. assumed: the form of Standard Webhooks, with the video as in GET /videos/:id, or with
 * the publish result. Undefined if the video or feed no longer exists.
 */
function payloadOf({ type, id }: SandboxEvent, nowMs: number, parts: PayloadParts): string | undefined {
  const { videos, feeds } = parts.records;
  const timestamp = isoTime(nowMs);
  if (type === 'feed.published') {
    const feed = feeds.find(id);
    if (!feed) return undefined;
    const data = publishResult(id, feed.lastPublishedAtMs ?? nowMs, feeds.count(id));
    return JSON.stringify({ type, timestamp, data } satisfies FeedPublishedEvent);
  }
  const video = videos.find(id);
  if (!video || (type !== 'video.ready' && type !== 'video.failed')) return undefined;
  const data = wholeVideo(video, parts.links);
  return JSON.stringify({ type, timestamp, data } satisfies VideoReadyEvent | VideoFailedEvent);
}
