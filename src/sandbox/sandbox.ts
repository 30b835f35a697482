import type { Server } from 'node:http';
import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCdnListener } from './cdn/cdn-listener.ts';
import { Clock } from './clock.ts';
import { Events } from './events.ts';
import { Faults } from './faults/faults.ts';
import { nothingHere } from './http/api.ts';
import { Journal, type JournalEntry } from './http/journal.ts';
import { Links } from './http/links.ts';
import { UPLOAD_PREFIX } from './http/operations.ts';
import { close, listen, serve, type Certificate } from './http/server.ts';
import { createSite } from './http/site.ts';
import { InFlight } from './in-flight.ts';
import { Library } from './library.ts';
import { Lifecycle } from './lifecycle.ts';
import { settingsFrom, type SandboxOptions, type SandboxSettings } from './options.ts';
import { openRecords } from './records.ts';
import { addDemoData } from './seed-data.ts';
import { seededToken } from './seeded.ts';
import { RequestWindow } from './store/request-window.ts';
import type { StoredFile } from './store/videos.ts';
import { certificateIn } from './tls.ts';
import { Importer } from './uploads/import.ts';
import { createUploadListener } from './uploads/upload-listener.ts';
import { VideoAdmission } from './video-admission.ts';
import { Webhooks } from './webhooks/webhooks.ts';
import type { World } from './world.ts';

/** A running video service on this machine, as api-spec describes it. */
export interface Sandbox extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/v1` */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly port: number;
  /** The origin of the upload addresses. */
  readonly uploadOrigin: string;
  /** Where the admin side begins, `http://127.0.0.1:PORT/_sandbox`, and the token it wants. */
  readonly adminUrl: string;
  readonly adminToken: string;
  /** The page to look at; the address lets in whoever opens it. */
  readonly pageUrl: string;
  /** With `tls`: the certificate that clients must trust. */
  readonly caPath: string | undefined;
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
  const { records, clock } = core;
  const apiKey = settings.apiKey ?? `sk_sandbox_${seededToken(settings.seed, ['api key'], 32)}`;
  records.keys.add(apiKey, 'sandbox', clock.nowMs());
  if (settings.seedData === 'demo') addDemoData(records.channels, records.feeds, clock.nowMs());

  const certificate = settings.tls ? await certificateIn(core.dataDir) : undefined;
  const main = await listenUntilClosed(settings, certificate, cleanup);
  const isSeparate = settings.uploadOrigin === 'separate';
  const uploads = isSeparate ? await listenUntilClosed({ ...settings, port: 0 }, certificate, cleanup) : main;
  const world = buildWorld(core, main, uploads, cleanup);
  connect(core, world, { main, uploads });

  const resources = cleanup.move();
  const end = () => resources.disposeAsync();
  return {
    baseUrl: `${main.origin}/v1`,
    apiKey,
    port: main.port,
    uploadOrigin: uploads.origin,
    adminUrl: `${main.origin}/_sandbox`,
    adminToken: settings.adminToken,
    pageUrl: `${main.origin}/?token=${settings.adminToken}`,
    caPath: certificate?.caPath,
    requests: () => world.journal.entries(),
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

/** What exists before anybody can connect. It is closed after the ports, when the last request has ended. */
async function openCore(settings: SandboxSettings, cleanup: AsyncDisposableStack) {
  const { seed, processingMs } = settings;
  const dataDir = await dataFolder(settings.dataDir, cleanup);
  const records = openRecords(settings.dataDir === undefined ? ':memory:' : join(dataDir, 'sandbox.db'));
  cleanup.defer(() => records.database.close());
  const library = new Library(dataDir);
  const known = new Set(records.videos.files().map((file) => file.videoId));
  await library.open((videoId) => known.has(videoId));
  const clock = new Clock(settings.nowMs);
  const events = new Events();
  const faults = new Faults();
  const fateOf = faults.fateOf.bind(faults);
  const { videos } = records;
  const lifecycle = new Lifecycle({ videos, library, clock, events, seed, processingMs, fateOf });
  cleanup.defer(() => lifecycle.close());
  lifecycle.advance();
  const inFlight = new InFlight(reportDefect);
  cleanup.defer(() => inFlight.settled());
  return { settings, dataDir, records, library, clock, events, faults, lifecycle, inFlight };
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

async function listenUntilClosed(
  { host, port }: Pick<SandboxSettings, 'host' | 'port'>,
  certificate: Certificate | undefined,
  cleanup: AsyncDisposableStack,
): Promise<Port> {
  const listening = await listen(host, port, certificate);
  cleanup.defer(() => close(listening.server));
  const isBareIpv6 = host.includes(':') && !host.startsWith('[');
  const scheme = certificate ? 'https' : 'http';
  return { ...listening, origin: `${scheme}://${isBareIpv6 ? `[${host}]` : host}:${listening.port}` };
}

function buildWorld(core: Core, main: Port, uploads: Port, cleanup: AsyncDisposableStack): World {
  const { settings, records, library, lifecycle, clock, events } = core;
  const { seed, uploadUrlTtlMs, requestsPerHour, adminToken, importFrom } = settings;
  const onDefect = reportDefect;
  const links = new Links(main.origin, uploads.origin);
  const importer = new Importer({
    videos: records.videos,
    lifecycle,
    incoming: library.incoming,
    importFrom,
    onDefect,
  });
  const startImport = importer.start.bind(importer);
  const admission = new VideoAdmission({ records, links, events, clock, seed, uploadUrlTtlMs, startImport });
  const requestWindow = new RequestWindow(records.database, requestsPerHour);
  const journal = new Journal(clock.nowMs);
  const webhooks = new Webhooks({ records, events, clock, onDefect });
  cleanup.defer(() => importer.close());
  cleanup.defer(() => webhooks.close());
  cleanup.defer(clock.onChange(() => lifecycle.advance()));
  importer.resume();
  webhooks.start();
  return { ...core, adminToken, admission, requestWindow, journal, webhooks, links, onDefect };
}

function connect({ inFlight }: Core, world: World, { main, uploads }: { main: Port; uploads: Port }): void {
  const { records, library, lifecycle, clock, journal, onDefect } = world;
  const { incoming } = library;
  const upload = createUploadListener({ records, lifecycle, incoming, nowMs: clock.nowMs, onDefect });
  const site = createSite(world);
  const shared = { journal, inFlight, onDefect };
  const files = { '/cdn/': createCdnListener({ records, library }) };
  const raw = main === uploads ? { ...files, [UPLOAD_PREFIX]: upload } : files;
  serve(main.server, { ...shared, raw, fetch: (request) => site.fetch(request) });
  if (uploads !== main) serve(uploads.server, { ...shared, raw: { [UPLOAD_PREFIX]: upload }, fetch: nothingHere });
}

/** A defect of the sandbox itself: its user should see it, but the service goes on. */
function reportDefect(error: unknown): void {
  process.emitWarning(error instanceof Error ? (error.stack ?? error.message) : String(error), 'SandboxDefect');
}
