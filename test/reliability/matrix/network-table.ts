import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isCreate, loseAnswer, refusal } from '../../e2e/answers.ts';
import { until } from '../../support/until.ts';
import { everythingWasSeen } from '../planted/scenarios/seen.ts';
import { openWorld } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { hostWith } from './cell.ts';
import type { MatrixTools, Table } from './cell.ts';
import { hurriedProgram } from './hurried.ts';
import { judged } from './judged.ts';
import { faultOf, faultsAfter, faultsBefore } from './network-faults.ts';
import type { FaultName } from './network-faults.ts';
import { settled } from './settled.ts';

const calls = [
  'create',
  'PUT at 0 %',
  'PUT at 50 %',
  'PUT at 99 %',
  'PUT at 100 %',
  'GET',
  'list',
  'DELETE',
  'publish',
  'PATCH',
] as const;
type Call = (typeof calls)[number];

/** Once the faults have begun a body can only be cut, refused or slow. */
const midBody: ReadonlySet<Call> = new Set(['PUT at 0 %', 'PUT at 50 %', 'PUT at 99 %']);

interface NetworkCell {
  readonly fault: FaultName;
  readonly call: Call;
}

/** Every fault of the network and the service × every call. */
export const networkTable: Table<NetworkCell> = {
  name: 'network',
  cells: (Object.keys({ ...faultsBefore, ...faultsAfter }) as FaultName[])
    .flatMap((fault) => calls.map((call) => ({ fault, call })))
    .filter(({ fault, call }) => isPossible(fault, call)),
  row: ({ fault }) => fault,
  column: ({ call }) => call,
  kind: () => 'one',
  // Two refused new addresses in one world would mean that the host refuses all of them, which ends after minutes.
  world: ({ fault, call }) => (call === 'DELETE' ? `DELETE, ${fault}` : 'one'),
  atOnce: 8,
  play: async (cells, tools) => {
    await using program = await hurriedProgram(tools.program);
    await using world = await openWorld({
      program: program.path,
      patienceMs: tools.patienceMs ?? 60_000,
      settings: { retry: { attempts: 12, first: '10ms', max: '30ms' }, uploads: { stall_timeout: '3s' } },
      host: hostWith(tools),
      allows: { requestsPerVideo: 2_000, requests: 20_000 },
    });
    return await judged(world, () => play(world, cells, tools));
  },
};

function isPossible(fault: FaultName, call: Call): boolean {
  if (midBody.has(call)) return fault in faultsBefore;
  // Bytes that count only after their connection was lost and the service was asked again are beyond any client.
  if (call === 'PUT at 100 %') return fault !== 'applied late';
  return true;
}

/** A cell has a file of its own. */
interface Subject extends NetworkCell {
  readonly title: string;
  isOver: boolean;
}

async function play(world: World, cells: readonly NetworkCell[], { env = {} }: MatrixTools): Promise<void> {
  const subjects = cells.map((cell) => ({ ...cell, title: titleOf(cell), isOver: false }));
  const { faults, host } = world.service;
  const titleWith = (id: string | undefined): string => host.videos.get(id ?? '')?.title ?? '';
  const of = (title: string): Subject | undefined => subjects.find((one) => title.startsWith(one.title));
  faults.api = async (request, response, body) => {
    const call = callOf(request);
    const id = /\/videos\/(\w+)/.exec(request.url ?? '')?.[1];
    const title = call === 'create' ? (JSON.parse(body.toString()) as { title: string }).title : titleWith(id);
    const isShared = call === 'list' || call === 'publish';
    const subject = isShared ? subjects.find((one) => one.call === call && !one.isOver) : of(title);
    if (call === 'create' && subject?.call === 'PATCH') await writeSidecar(world, subject);
    if (subject?.call !== call || subject.isOver) return false;
    subject.isOver = true;
    return await faultOf(subject.fault)(request, response);
  };
  const addressDies = new Map<string, string>();
  faults.upload = async (request, response, id) => {
    const subject = of(titleWith(id));
    if (subject === undefined || subject.isOver) return false;
    if (subject.call === 'GET') return loseAnswer(request, response);
    if (subject.call === 'DELETE' && (addressDies.get(subject.title) ?? id) === id) {
      addressDies.set(subject.title, id);
      return refusal(response, 404, 'expired');
    }
    if (!subject.call.startsWith('PUT')) return false;
    subject.isOver = true;
    return await inBody(Number.parseInt(subject.call.slice('PUT at '.length), 10), subject.fault, request, response);
  };
  const finishing = setInterval(() => {
    for (const video of host.videos.values()) {
      const subject = of(video.title);
      const isAwaited = subject !== undefined && subject.call === 'PATCH' && !subject.isOver;
      if (video.status === 'processing' && !isAwaited) video.status = 'ready';
    }
  }, 20);
  try {
    for (const { title } of subjects)
      await world.people.drop(world.at(`${title}.mpg`), randomBytes(3_000_000), { titles: [title, late(title)] });
    const daemon = await world.daemon({ env });
    await settled(world);
    // A list or a feed is asked for once for all files: each one that follows meets the next fault.
    for (let n = 0; n < subjects.length && subjects.some(({ isOver }) => !isOver); n += 1)
      await everythingWasSeen(world);
    await until('every fault has come', () => subjects.every(({ isOver }) => isOver), {
      withinMs: 1_000,
      seen: () => subjects.filter(({ isOver }) => !isOver),
    });
    await settled(
      world,
      subjects.filter(({ call }) => call === 'PATCH').map(({ title }) => late(title)),
    );
    await world.stop(daemon);
  } finally {
    clearInterval(finishing);
  }
}

/** Which call of the API it is, as far as it is one of the table's. */
function callOf(request: IncomingMessage): Call | null {
  const { method = '', url = '' } = request;
  if (isCreate(request)) return 'create';
  if (url.endsWith('/publish')) return 'publish';
  if (/\/videos(?:\?.*)?$/.test(url)) return 'list';
  if (/\/videos\/\w+$/.test(url) && (method === 'GET' || method === 'DELETE' || method === 'PATCH')) return method;
  return null;
}

/** Something goes wrong once the service has so much of a body. */
async function inBody(
  percent: number,
  fault: FaultName,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  if (fault in faultsAfter) return await faultOf(fault)(request, response);
  if (fault === 'slow') return await slowly(percent, request);
  if (percent > 0) {
    if (request.headers.expect !== undefined) response.writeContinue();
    await readPercent(percent, request);
  }
  return await faultOf(fault)(request, response);
}

/** The body stands still for a while. */
async function slowly(percent: number, request: IncomingMessage): Promise<boolean> {
  if (percent === 0) return await faultOf('slow')(request, request as never);
  const stopAt = (Number(request.headers['content-length']) * percent) / 100;
  let read = 0;
  const count = (part: Buffer): void => {
    read += part.length;
    if (read < stopAt) return;
    request.off('data', count);
    request.pause();
    setTimeout(() => request.resume(), 1_500);
  };
  setImmediate(() => request.on('data', count));
  return false;
}

function readPercent(percent: number, request: IncomingMessage): Promise<void> {
  const stopAt = (Number(request.headers['content-length']) * percent) / 100;
  let read = 0;
  return new Promise((resolve) => {
    request.once('error', () => resolve());
    request.on('data', (part: Buffer) => {
      read += part.length;
      if (read >= stopAt) resolve();
    });
  });
}

async function writeSidecar(world: World, { title }: Subject): Promise<void> {
  await writeFile(world.at(`${title}.yaml`), `title: "${late(title)}"\n`);
}

function titleOf({ fault, call }: NetworkCell): string {
  return `${fault} × ${call}`;
}

function late(title: string): string {
  return `${title}, late`;
}
