import { Client, escapeIdentifier, type ClientConfig } from 'pg';
import type { Reachable } from './reachable.ts';

/** A single connection for the notifications of all listeners. */
export interface Listener extends AsyncDisposable {
  listen(channel: string, heard: (payload: string) => void): Disposable;
}

type Heard = (payload: string) => void;

/** Interval of the query that detects a silently dead connection. */
const ASK_EVERY_MS = 30_000;

export function createListener(config: ClientConfig, createReachable: () => Reachable): Listener {
  return new OneListener(config, createReachable());
}

class OneListener implements Listener {
  readonly #config: ClientConfig;
  readonly #reachable: Reachable;
  readonly #channels = new Map<string, Set<Heard>>();
  #client: Client | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(config: ClientConfig, reachable: Reachable) {
    this.#config = config;
    this.#reachable = reachable;
  }

  listen(channel: string, heard: Heard): Disposable {
    const all = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, all.add(heard));
    if (this.#client === null) this.#connect();
    else if (all.size === 1) this.#ask(`listen ${escapeIdentifier(channel)}`);
    return { [Symbol.dispose]: () => void all.delete(heard) };
  }

  #connect(): void {
    if (this.#isClosed || this.#client !== null) return;
    const client = new Client(this.#config);
    this.#client = client;
    const { outages } = this.#reachable;
    client.on('error', (error) => void this.#reachable.translated(error, outages));
    client.on('end', () => this.#lost(client));
    client.on('notification', ({ channel, payload = '' }) => this.#tell(channel, payload));
    this.#begin(client).catch(() => this.#lost(client));
  }

  async #begin(client: Client): Promise<void> {
    await client.connect();
    this.#reachable.answered();
    const channels = [...this.#channels.keys()];
    for (const channel of channels) await client.query(`listen ${escapeIdentifier(channel)}`);
    if (this.#client !== client) return;
    this.#askLater();
    for (const channel of channels) this.#tell(channel, '');
  }

  #askLater(): void {
    this.#timer = setTimeout(() => {
      this.#ask('select 1');
      this.#askLater();
    }, ASK_EVERY_MS).unref();
  }

  #ask(text: string): void {
    const client = this.#client;
    client?.query(text).catch(() => this.#lost(client));
  }

  #tell(channel: string, payload: string): void {
    for (const heard of this.#channels.get(channel) ?? []) heard(payload);
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    client.connection.stream.destroy();
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#reachable.notConnected();
    this.#timer = setTimeout(() => this.#connect(), this.#reachable.pauseMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = null;
    client?.connection.stream.destroy();
    await Promise.resolve();
  }
}
