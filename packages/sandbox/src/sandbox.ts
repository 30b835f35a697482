import type { Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstKey, openAccount, reset } from './account.ts';
import { countReads } from './analytics/read-plays.ts';
import { createCdnListener } from './cdn/cdn-listener.ts';
import { Clock } from './clock.ts';
import { makeDataFolder, recordsIn, announce, withdrawAnnouncement } from './data-folder.ts';
import { Events } from './events.ts';
import { createFaultLayer } from './faults/fault-layer.ts';
import { Faults } from './faults/faults.ts';
import { ApiError, nothingHere } from './http/api-error.ts';
import { showingExchanges, type Fetch } from './http/exchange-listener.ts';
import { Journal } from './http/journal.ts';
import type { JournalEntry } from './http/journal-entry.ts';
import { Links } from './http/links.ts';
import { UPLOAD_PREFIX } from './http/operations.ts';
import { listen, serve, type Certificate, type Layer } from './http/server.ts';
import { createSite } from './http/site.ts';
import { verify } from './inspector/verify.ts';
import type { Verification } from './inspector/expectation.ts';
import { Cleanup } from './cleanup.ts';
import { BackgroundWork } from './background-work.ts';
import { plainHost, ownHosts } from './loopback.ts';
import { createMake, type Make } from './makers/make.ts';
import { NamedSnapshots } from './makers/named-snapshots.ts';
import { readEra } from './store/database.ts';
import { MediaFiles } from './store/media-files.ts';
import { Lifecycle } from './lifecycle.ts';
import { findProgram } from './media/ffmpeg.ts';
import { Pictures } from './media/pictures.ts';
import { Prober } from './media/prober.ts';
import { settingsFrom, type SandboxOptions, type SandboxSettings } from './options.ts';
import { Switchboard } from './profiles/switchboard.ts';
import { openRecords } from './store/records.ts';
import { latestTimeIn } from './store/tables.ts';
import { RequestWindow } from './store/request-window.ts';
import type { StoredFile } from './store/videos.ts';
import { certificateIn } from './tls.ts';
import { Acceptance } from './uploads/acceptance.ts';
import { Importer } from './uploads/import.ts';
import { createUploadListener } from './uploads/upload-listener.ts';
import { VideoAdmission } from './video-admission.ts';
import { Webhooks } from './webhooks/webhooks.ts';
import type { Services } from './services.ts';
import { createProfileLayer } from './profiles/settled-answer.ts';

/** A running video service on this machine, as described in api-spec. */
export interface Sandbox extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/v1` */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly port: number;
  /** Origin of the upload addresses. */
  readonly uploadOrigin: string;
  /** Address of the admin API, `http://127.0.0.1:PORT/_sandbox`, and its token. */
  readonly adminUrl: string;
  readonly adminToken: string;
  /** Address of the web page. Opening it signs the browser in. */
  readonly pageUrl: string;
  /** Path of the CA certificate that clients must trust; undefined without `tls`. */
  readonly caPath: string | undefined;
  /** Options for an API client: `createVideoClient(sandbox.client)`. */
  readonly client: { readonly baseUrl: string; readonly apiKey: string };
  /** Returns the requests so far, oldest first, without headers, bodies or secrets. */
  requests(): JournalEntry[];
  /**
   * Restores the state right after the start, for the next test. Ids start over; addresses and keys stay the same.
   * @throws Error the sandbox is closed
   */
  reset(): Promise<void>;
  /**
   * Moves the service's clock forward. @param ms a whole number, 0 or more @throws RangeError for any other value, and
   * beyond the year 9999
   */
  advance(ms: number): void;
  /**
   * Stops the service's clock at a time. @param time not before the clock's current time @throws RangeError for an
   * earlier or invalid time, and beyond the year 9999
   */
  setClock(time: Date | string): void;
  /** Creates channels, feeds, ready videos and plays. */
  readonly make: Make;
  /** Saves and restores named states. */
  readonly snapshots: Pick<NamedSnapshots, 'save' | 'restore' | 'list' | 'remove'>;
  /**
   * Checks the requests so far (docs/sandbox.md, 'Verify'). @throws ExpectationError with a report if they differ from
   * what is expected, TypeError if the expectation itself is invalid
   */
  verify(expected: Verification): void;
  /** Returns the stored files, in the order in which their videos were created. */
  files(): StoredFile[];
  /** Closes all connections and stops. Removes a temporary data folder. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts the service. @throws OptionsError the options are invalid, DataFolderError the data folder cannot be used, and
 * the error of `listen` (EADDRINUSE) if the port is taken
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = settingsFrom(options);
  await using cleanup = new Cleanup();
  const core = await openCore(settings, cleanup);
  const { records, clock } = core;
  openAccount(records, settings, settings.now ?? clock.nowMs());

  const hosts = [settings.host, ...externalHosts(settings)];
  const certificate = settings.tls
    ? await certificateIn({ folder: core.dataDir, hosts, nowMs: Date.now() })
    : undefined;
  const isSeparate = settings.uploadOrigin === 'separate';
  const second = isSeparate ? await listenUntilClosed({ ...settings, port: 0 }, certificate, cleanup) : undefined;
  // Opened last: clients know this port, and a request that arrives before setup is complete would go unanswered.
  const main = await listenUntilClosed(settings, certificate, cleanup);
  const uploads = second ?? main;
  const services = buildServices(core, main, uploads, cleanup);
  connect(core, services, { main, uploads });
  const at = (origin: string) => addressesOf(origin, settings.adminToken, certificate?.caPath);
  const addresses = at(settings.externalUrl ?? main.origin);
  // The local origin, because readers are on this machine, where the external address may not work.
  if (settings.dataDir !== undefined) await announceUntilClosed(settings.dataDir, at(main.origin), cleanup);

  const resources = cleanup.move();
  let ended: Promise<void> | undefined;
  const end = () => (ended ??= resources[Symbol.asyncDispose]());
  const apiKey = firstKey(settings);
  return {
    ...addresses,
    apiKey,
    client: { baseUrl: addresses.baseUrl, apiKey },
    port: main.port,
    uploadOrigin: uploads.origin,
    requests: () => services.journal.entries(),
    reset: async () => {
      if (resources.disposed) throw new Error('The sandbox is closed, so nothing can be reset. Start another one.');
      await reset(services);
    },
    advance: (ms) => core.clock.advance(wholeMs(ms)),
    setClock: (time) => core.clock.moveTo(epochMs(time)),
    make: createMake(services),
    snapshots: services.snapshots,
    verify: (expected) => verify(expected, services.journal),
    files: () => records.videos.files(),
    close: end,
    [Symbol.asyncDispose]: end,
  };
}

function wholeMs(ms: number): number {
  if (Number.isSafeInteger(ms) && ms >= 0) return ms;
  throw new RangeError(`the clock can be moved by a whole number of milliseconds, 0 or more, not by ${ms}`);
}

function epochMs(time: Date | string): number {
  const ms = new Date(time).getTime();
  if (Number.isNaN(ms)) throw new RangeError(`${String(time)} is not a time`);
  return ms;
}

function externalHosts({ externalUrl }: SandboxSettings): string[] {
  return externalUrl === undefined ? [] : [new URL(externalUrl).hostname];
}

type Addresses = Pick<Sandbox, 'baseUrl' | 'adminUrl' | 'adminToken' | 'pageUrl' | 'caPath'>;

function addressesOf(origin: string, adminToken: string, caPath: string | undefined): Addresses {
  const pageUrl = `${origin}/?token=${encodeURIComponent(adminToken)}`;
  return { baseUrl: `${origin}/v1`, adminUrl: `${origin}/_sandbox`, adminToken, pageUrl, caPath };
}

/** Writes the announcement. Its removal is deferred last, so that it runs first. */
async function announceUntilClosed(dataDir: string, addresses: Addresses, cleanup: Cleanup): Promise<void> {
  cleanup.defer(() => withdrawAnnouncement(dataDir));
  const { baseUrl, adminUrl, adminToken, pageUrl, caPath } = addresses;
  await announce(dataDir, {
    v: 1,
    pid: process.pid,
    base_url: baseUrl,
    admin_url: adminUrl,
    admin_token: adminToken,
    page_url: pageUrl,
    ...(caPath !== undefined && { ca_path: caPath }),
  });
}

interface Port {
  readonly server: Server;
  readonly port: number;
  readonly origin: string;
}

type Core = Awaited<ReturnType<typeof openCore>>;

/** Opens the parts that must exist before the ports open, and that close after the last request has finished. */
async function openCore(settings: SandboxSettings, cleanup: Cleanup) {
  const { seed, processingMs } = settings;
  const dataDir = await dataFolder(settings.dataDir, cleanup);
  const records = openRecords(settings.dataDir === undefined ? ':memory:' : recordsIn(dataDir));
  cleanup.defer(() => records.database.close());
  const mediaFiles = new MediaFiles(dataDir, readEra(records.database));
  const known = new Set(records.videos.files().map((file) => file.videoId));
  await mediaFiles.open((videoId) => known.has(videoId));
  const clock = new Clock(settings.nowMs, latestTimeIn(records.database), settings.now);
  const events = new Events();
  const channelOf = (videoId: string) => records.videos.find(videoId)?.channelId ?? '';
  const switchboard = new Switchboard(settings.profile, settings.switches);
  const faults = new Faults({ clock, events, seed, channelOf });
  const fateOf = faults.fateOf.bind(faults);
  const { videos, processing } = records;
  const prober = cleanup.use(new Prober());
  const probe = prober.probe.bind(prober);
  const lifecycle = new Lifecycle({ processing, clock, events, seed, processingMs, fateOf });
  const acceptance = new Acceptance({ videos, mediaFiles, lifecycle, events, probe });
  cleanup.defer(() => lifecycle.close());
  const background = new BackgroundWork(reportDefect);
  cleanup.defer(() => background.finished());
  const ffmpeg =
    settings.ffmpegPath === undefined ? findProgram('ffmpeg', process.env['PATH'] ?? '') : settings.ffmpegPath;
  const pictures = cleanup.use(new Pictures(mediaFiles, ffmpeg));
  return {
    settings,
    dataDir,
    records,
    mediaFiles,
    pictures,
    clock,
    events,
    faults,
    switchboard,
    lifecycle,
    acceptance,
    prober,
    background,
  };
}

async function dataFolder(wanted: string | undefined, cleanup: Cleanup): Promise<string> {
  if (wanted !== undefined) {
    makeDataFolder(wanted);
    return wanted;
  }
  const temporary = await mkdtemp(join(tmpdir(), 'dropcast-sandbox-'));
  cleanup.defer(() => rm(temporary, { recursive: true, force: true }));
  return temporary;
}

async function listenUntilClosed(
  { host, port }: Pick<SandboxSettings, 'host' | 'port'>,
  certificate: Certificate | undefined,
  cleanup: Cleanup,
): Promise<Port> {
  const listening = await listen(host, port, certificate);
  cleanup.defer(() => listening.close());
  const scheme = certificate ? 'https' : 'http';
  const name = reachable[plainHost(host)] ?? plainHost(host);
  return { ...listening, origin: `${scheme}://${isIPv6(name) ? `[${name}]` : name}:${listening.port}` };
}

/** Maps each wildcard address to a loopback address that reaches it. */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function buildServices(core: Core, main: Port, uploads: Port, cleanup: Cleanup): Services {
  const { settings, records, mediaFiles, pictures, lifecycle, acceptance, prober, clock, events } = core;
  const { seed, uploadUrlTtlMs, requestsPerHour, adminToken, importFrom } = settings;
  const onDefect = reportDefect;
  const links = linksOf(settings, { main, uploads }, pictures.extension);
  const importer = new Importer({
    videos: records.videos,
    lifecycle,
    acceptance,
    events,
    incoming: mediaFiles.incoming,
    importFrom,
    onDefect,
  });
  const startImport = importer.start.bind(importer);
  const admission = new VideoAdmission({ records, links, events, clock, seed, uploadUrlTtlMs, startImport });
  const requestWindow = new RequestWindow(records.database, requestsPerHour);
  const journal = new Journal({ nowMs: clock.nowMs, events, secrets: [adminToken, firstKey(settings)] });
  const webhooks = new Webhooks({
    records,
    links,
    events,
    clock,
    seed,
    reach: importFrom,
    switchboard: core.switchboard,
    onDefect,
  });
  cleanup.defer(() => {
    const closed = importer.close();
    prober.close(new ApiError('server_error', 'The sandbox is stopping.')); // imports and uploads wait for the prober
    return closed;
  });
  cleanup.defer(() => webhooks.close());
  const onClockChange = () => {
    lifecycle.advance();
    events.emit('clock.changed', '');
  };
  cleanup.defer(clock.onChange(onClockChange));
  importer.resume();
  webhooks.start();
  lifecycle.advance(); // only now, so that webhooks receive what became ready while the sandbox was down
  const snapshots = new NamedSnapshots(core.dataDir, { ...core, importer });
  const startedAtMs = Date.now();
  return {
    ...core,
    adminToken,
    startedAtMs,
    importer,
    admission,
    requestWindow,
    journal,
    snapshots,
    webhooks,
    links,
    onDefect,
  };
}

function linksOf({ externalUrl }: SandboxSettings, { main, uploads }: Ports, pictureExtension: string): Links {
  if (externalUrl === undefined) return new Links(main.origin, uploads.origin, pictureExtension);
  const uploadUrl = new URL(externalUrl);
  if (uploads !== main) uploadUrl.port = String(uploads.port);
  return new Links(externalUrl, uploadUrl.origin, pictureExtension);
}

interface Ports {
  readonly main: Port;
  readonly uploads: Port;
}

function connect({ background, pictures }: Core, services: Services, { main, uploads }: Ports): void {
  const { records, mediaFiles, lifecycle, acceptance, clock, journal, onDefect } = services;
  const { incoming } = mediaFiles;
  const { switchboard } = services;
  const upload = createUploadListener({ records, acceptance, incoming, nowMs: clock.nowMs, switchboard, onDefect });
  const site = createSite(services);
  const { onExchange, exposed, corsOrigins, host, tls } = services.settings;
  const fetch: Fetch = (request, bindings) => site.fetch(request, bindings);
  const isOwnHost = ownHosts(exposed ? { names: [host, ...externalHosts(services.settings)] } : undefined);
  const faults = createFaultLayer(services);
  const profile = createProfileLayer(services);
  const settled: Layer = (exchange, proceed) => faults(exchange, (inner) => profile(inner, proceed));
  const layer = exposed ? withLinksAsAsked(services.links, tls, settled) : settled;
  const shared = { journal, background, isOwnHost, corsOrigins, layer, onDefect };
  const cdn = createCdnListener({ records, mediaFiles, pictures, lifecycle, onRead: countReads(services), onDefect });
  const files = { '/cdn/': cdn };
  const raw = main === uploads ? { ...files, [UPLOAD_PREFIX]: upload } : files;
  const shown = onExchange ? showingExchanges(fetch, onExchange, background) : fetch;
  serve(main.server, { ...shared, raw, fetch: shown });
  if (uploads !== main) serve(uploads.server, { ...shared, raw: { [UPLOAD_PREFIX]: upload }, fetch: nothingHere });
}

function withLinksAsAsked(links: Links, tls: boolean, layer: Layer): Layer {
  return (exchange, proceed) =>
    links.seenBy(exchange.request.headers.host ?? '', tls ? 'https' : 'http', () => layer(exchange, proceed));
}

/** Reports a bug in the sandbox to the user; the service continues. */
function reportDefect(error: unknown): void {
  process.emitWarning(error instanceof Error ? (error.stack ?? error.message) : String(error), 'SandboxDefect');
}
