import { startSandbox, type Sandbox } from '../../../packages/sandbox/src/sandbox.ts';
import type { SandboxOptions } from '../../../packages/sandbox/src/options.ts';
import type { Switches } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import type { RecordOnService, Request } from '../../reliability/judge/evidence.ts';
import type { WorldService } from '../../reliability/world/world.ts';
import { admin } from '../admin/admin-side.ts';
import type { Json } from '../running-sandbox.ts';

/** A video as the service has it in the end. */
export interface Video {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly status: string;
  readonly source_url: string | null;
}

type StoredFile = ReturnType<Sandbox['files']>[number];

/** The sandbox as a world needs it, with a memory for what it deletes. */
export interface SandboxService extends WorldService {
  readonly sandbox: Sandbox;
  /** Replaces all faults. */
  plan(faults: readonly object[]): Promise<void>;
  /** Somebody else makes a record. */
  createForeign(title: string): Promise<{ readonly id: string; readonly upload_url: string }>;
  /** The next record gets an address that has expired when its answer arrives: the service's clock moves on by more than it lives. */
  expireNext(): void;
  /** Hashes of what it cannot play. */
  readonly unplayable: Set<string>;
  /** Moves the service's clock on. */
  advance(ms: number): void;
  /** Ids of the records whose address may have expired by that. */
  readonly expired: ReadonlySet<string>;
  /** Lets it be as by default, without faults, and reads what there is. */
  settle(): Promise<void>;
  /** After `settle`: the videos that are left. */
  videos(): readonly Video[];
}

/** Longer than an upload address lives. */
const beyondAddressMs = 3_600_001;

export async function startSandboxService(
  options: Omit<SandboxOptions, 'onExchange'>,
  switches: Switches,
): Promise<SandboxService> {
  const made = new Map<string, { readonly title: string; isDeleted: boolean }>();
  const files = new Map<string, StoredFile>();
  const expired = new Set<string>();
  const unplayable = new Set<string>();
  const foreign = new Set<string>();
  let willExpire = false;
  let left: readonly Video[] = [];
  const advance = (ms: number): void => {
    for (const id of made.keys()) expired.add(id);
    sandbox.advance(ms);
  };
  const onExchange = async (request: Request_, response: Response): Promise<void> => {
    for (const file of sandbox.files()) files.set(file.videoId, file);
    const path = new URL(request.url).pathname;
    if (request.method === 'DELETE' && response.status === 204) {
      const video = made.get(path.split('/').at(-1) ?? '');
      if (video !== undefined) video.isDeleted = true;
    }
    if (request.method !== 'POST' || path !== '/v1/videos' || response.status !== 201) return;
    // Before the answer leaves.
    const isExpired = willExpire;
    if (willExpire) advance(beyondAddressMs);
    willExpire = false;
    const [{ title }, { id }]: [Json, Json] = await Promise.all([request.json(), response.json()]);
    if (!made.has(id)) made.set(id, { title, isDeleted: false });
    if (isExpired) expired.add(id);
  };
  const sandbox = await startSandbox({
    processingMs: { min: 0, max: 300 },
    requestsPerHour: 1_000_000,
    ...options,
    onExchange,
  });
  const bodiesOf = (id: string): readonly string[] => {
    const file = files.get(id);
    return file === undefined ? [] : Array.from({ length: bodiesSent(sandbox, file, switches) }, () => file.sha256);
  };
  const recordOf = (id: string): RecordOnService => {
    const { title = '', isDeleted = false } = made.get(id) ?? {};
    const video = left.find((each) => each.id === id);
    const status = video?.status ?? statusOfDeleted(files.get(id)?.sha256, unplayable);
    return { id, title: video?.title ?? title, status, bodies: bodiesOf(id), isDeleted, isForeign: foreign.has(id) };
  };
  return {
    sandbox,
    host: { baseUrl: sandbox.baseUrl, key: sandbox.apiKey, leaks: [] },
    advance,
    expired,
    unplayable,
    get journal() {
      return sandbox.requests().map(({ method, path }): Request => {
        const id = path.split('/')[method === 'PUT' ? 2 : 3] ?? '';
        return { method, path, status: made.has(id) ? recordOf(id).status : null };
      });
    },
    records: () => [...made.keys()].map(recordOf),
    plan: async (faults) => void (await admin({ sandbox }, 'PUT /faults', faults)),
    createForeign: async (title) => {
      const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ title, channel_id: 'ch_main' });
      const post = () => fetch(`${sandbox.baseUrl}/videos`, { method: 'POST', headers, body });
      let response = await post();
      while (response.status === 429) {
        // Ten seconds later, a limit of bursts has room again.
        sandbox.advance(10_000);
        response = await post();
      }
      const answer: Json = await response.json();
      const created = answer.data ?? answer;
      foreign.add(created.id);
      return created;
    },
    expireNext: () => (willExpire = true),
    settle: async () => {
      await admin({ sandbox }, 'PUT /profile', {});
      await admin({ sandbox }, 'PUT /faults', []);
      await admin({ sandbox }, 'PUT /rate-limit', { requests_per_hour: 1_000_000 });
      left = await everyVideo(sandbox);
    },
    videos: () => left,
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

function statusOfDeleted(sha256: string | undefined, unplayable: ReadonlySet<string>): string {
  if (sha256 === undefined) return 'pending';
  return unplayable.has(sha256) ? 'failed' : 'ready';
}

/** That of the fetch standard; the one of the judge is another. */
type Request_ = globalThis.Request;

/**
 * How many complete bodies were sent to a video: the first is taken, and the answer to each further one says that it was there. The answer to
 * one may have been lost. None was sent to a video that the service fetched itself.
 */
function bodiesSent(sandbox: Sandbox, { videoId, sizeBytes }: StoredFile, { second_put: second }: Switches): number {
  let count = 0;
  for (const { operation, path, status, bytesIn } of sandbox.requests()) {
    if (operation !== 'uploads.put' || path.split('/')[2] !== videoId) continue;
    const isWhole = (bytesIn ?? 0) >= sizeBytes && status < 300;
    if (isWhole || (count > 0 && status === Number(second))) count += 1;
  }
  return count;
}

async function everyVideo(sandbox: Sandbox): Promise<readonly Video[]> {
  const headers = { authorization: `Bearer ${sandbox.apiKey}` };
  const get = async (path: string): Promise<Json> => (await fetch(sandbox.baseUrl + path, { headers })).json();
  const ids: string[] = [];
  for (let page = 1; ; page += 1) {
    const { data } = await get(`/videos?per_page=100&page=${page}`);
    if (data.length === 0) break;
    ids.push(...data.map(({ id }: Video) => id));
  }
  return Promise.all(ids.map(async (id) => (await get(`/videos/${id}`)).data));
}
