import type { Server } from 'node:http';
import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireAccess } from './http/access.ts';
import { createApi, nothingHere } from './http/api.ts';
import { Journal, type JournalEntry } from './http/journal.ts';
import { Links } from './http/links.ts';
import { close, listen, serve } from './http/server.ts';
import { InFlight } from './in-flight.ts';
import { Library } from './library.ts';
import { Lifecycle } from './lifecycle.ts';
import { settingsFrom, type SandboxOptions, type SandboxSettings } from './options.ts';
import { addDemoData } from './seed-data.ts';
import { seededToken } from './seeded.ts';
import { ChannelStore } from './store/channels.ts';
import { openDatabase } from './store/database.ts';
import { FeedStore } from './store/feeds.ts';
import { KeyStore } from './store/keys.ts';
import { RequestWindow } from './store/request-window.ts';
import { UploadAddressStore } from './store/upload-addresses.ts';
import { VideoStore, type StoredFile } from './store/videos.ts';
import { Importer } from './uploads/import.ts';
import { createUploadListener } from './uploads/upload-listener.ts';
import { VideoAdmission } from './video-admission.ts';

/** A running video service on this machine, as api-spec describes it. */
export interface Sandbox extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/v1` */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly port: number;
  /** The origin of the upload addresses. */
  readonly uploadOrigin: string;
  /** What was asked so far, oldest first, without bodies and keys. */
  requests(): JournalEntry[];
  /** What is stored, in the order of the videos' creation. */
  files(): StoredFile[];
  /** Cuts every connection and ends; a temporary data folder is removed. Calling it again does nothing. */
  close(): Promise<void>;
}

/**
 * Starts the service. @throws TypeError for wrong options, DataFolderError when the data folder cannot be
 * used, and the error of `listen` (EADDRINUSE) when the port is taken.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = settingsFrom(options);
  await using cleanup = new AsyncDisposableStack();
  const core = await openCore(settings, cleanup);
  const { records } = core;
  const apiKey = settings.apiKey ?? `sk_sandbox_${seededToken(settings.seed, ['api key'], 32)}`;
  records.keys.add(apiKey, 'sandbox', settings.nowMs());
  if (settings.seedData === 'demo') addDemoData(records.channels, records.feeds, settings.nowMs());

  const main = await listenUntilClosed(settings.host, settings.port, cleanup);
  const uploads = settings.uploadOrigin === 'separate' ? await listenUntilClosed(settings.host, 0, cleanup) : main;
  const journal = new Journal(settings.nowMs);
  const importer = connect({ ...core, settings, journal, main, uploads });
  cleanup.defer(() => importer.close());
  importer.resume();

  const resources = cleanup.move();
  const end = () => resources.disposeAsync();
  return {
    baseUrl: `${main.origin}/v1`,
    apiKey,
    port: main.port,
    uploadOrigin: uploads.origin,
    requests: () => journal.entries(),
    files: () => records.videos.files(),
    close: end,
    [Symbol.asyncDispose]: end,
  };
}

interface Port {
  readonly server: Server;
  readonly port: number;
  readonly origin: string;
}

type Core = Awaited<ReturnType<typeof openCore>>;

interface World extends Core {
  readonly settings: SandboxSettings;
  readonly journal: Journal;
  readonly main: Port;
  readonly uploads: Port;
}

/** What exists before anybody can connect. It is closed after the ports, when the last request has ended. */
async function openCore(settings: SandboxSettings, cleanup: AsyncDisposableStack) {
  const dataDir = await dataFolder(settings.dataDir, cleanup);
  const records = openRecords(dataDir, cleanup);
  const library = new Library(dataDir);
  const known = new Set(records.videos.files().map((file) => file.videoId));
  await library.open((videoId) => known.has(videoId));
  const { nowMs, seed, processingMs } = settings;
  const lifecycle = new Lifecycle({ videos: records.videos, library, nowMs, seed, processingMs });
  cleanup.defer(() => lifecycle.close());
  lifecycle.advance();
  const inFlight = new InFlight(reportDefect);
  cleanup.defer(() => inFlight.settled());
  return { records, library, lifecycle, inFlight };
}

async function dataFolder(wanted: string | undefined, cleanup: AsyncDisposableStack): Promise<string> {
  if (wanted !== undefined) {
    // Without `recursive`, which never comes back where nothing can be made, as below /proc (Node 26.10).
    if (!existsSync(wanted)) mkdirSync(wanted, { mode: 0o700 });
    return wanted;
  }
  const temporary = await mkdtemp(join(tmpdir(), 'dropcast-sandbox-'));
  cleanup.defer(() => rm(temporary, { recursive: true, force: true }));
  return temporary;
}

function openRecords(dataDir: string, cleanup: AsyncDisposableStack) {
  const database = openDatabase(join(dataDir, 'sandbox.db'));
  cleanup.defer(() => database.close());
  return {
    database,
    keys: new KeyStore(database),
    channels: new ChannelStore(database),
    feeds: new FeedStore(database),
    videos: new VideoStore(database),
    addresses: new UploadAddressStore(database),
  };
}

async function listenUntilClosed(host: string, port: number, cleanup: AsyncDisposableStack): Promise<Port> {
  const listening = await listen(host, port);
  cleanup.defer(() => close(listening.server));
  const isBareIpv6 = host.includes(':') && !host.startsWith('[');
  return { ...listening, origin: `http://${isBareIpv6 ? `[${host}]` : host}:${listening.port}` };
}

function connect({ settings, records, library, lifecycle, inFlight, journal, main, uploads }: World): Importer {
  const { videos, channels, feeds, keys, addresses, database } = records;
  const { nowMs, seed, uploadUrlTtlMs, requestsPerHour } = settings;
  const links = new Links(main.origin, uploads.origin);
  const importer = new Importer({ videos, lifecycle, incoming: library.incoming, onDefect: reportDefect });
  const startImport = importer.start.bind(importer);
  const admission = new VideoAdmission({
    database,
    videos,
    addresses,
    links,
    seed,
    uploadUrlTtlMs,
    nowMs,
    startImport,
  });
  const access = requireAccess(keys, new RequestWindow(database, requestsPerHour), nowMs);
  const onDefect = reportDefect;
  const api = createApi({ videos, channels, feeds, admission, lifecycle, library, links, nowMs, access, onDefect });
  const upload = createUploadListener({ addresses, videos, lifecycle, incoming: library.incoming, nowMs, onDefect });

  const shared = { journal, inFlight, onDefect };
  serve(main.server, {
    ...shared,
    upload: main === uploads ? upload : undefined,
    fetch: (request) => api.fetch(request),
  });
  if (uploads !== main) serve(uploads.server, { ...shared, upload, fetch: nothingHere });
  return importer;
}

/** A defect of the sandbox itself: its user should see it, but the service goes on. */
function reportDefect(error: unknown): void {
  process.emitWarning(error instanceof Error ? (error.stack ?? error.message) : String(error), 'SandboxDefect');
}
