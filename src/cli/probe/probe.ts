import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RequestGate, VideoClient } from '@dropcast/client';
import type { Config } from '../../config/config.ts';
import { Observation, writeRecording } from '@dropcast/recorder';
import { defaultStateDir } from '../../config/paths.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { StatusView } from '../../view/picture/documents.ts';
import { canAsk, confirm } from '../api/confirm.ts';
import { explain } from '../api/failures.ts';
import { openClient } from '../api/session.ts';
import { findTarget } from '../api/target.ts';
import type { Target, TargetOptions } from '../api/target.ts';
import { commandDaemon, queryRunningDaemon } from '../control.ts';
import { formatBytes, formatCount, formatDuration } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { tableOf } from '../output/table.ts';
import { uniqueClip } from '../setup/test-clip.ts';
import { CommandError, exitCodes, onRefusal } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { isRunning, LeftoverFile, nameOf, removeLeftover } from './leftover.ts';
import type { Leftover, Removal } from './leftover.ts';
import { notProbed, pointsOf, settingsOf, yamlOf } from './points.ts';
import type { Point, Setting } from './points.ts';
import { LateError, mostRequests, sendProbe } from './send-probe.ts';
import type { ProbeResult } from './send-probe.ts';

export interface ProbeOptions extends TargetOptions {
  readonly channel?: string;
  /** How long the video may take to become ready, in milliseconds. */
  readonly timeout?: number;
  readonly yes?: boolean;
  readonly cleanUp?: boolean;
  /** File for the recording. */
  readonly out?: string;
  readonly json?: boolean;
}

export const defaultTimeoutMs = 300_000;

/**
 * `dropcast probe`: with the user's consent, creates one small video, sends its file, waits until it is ready, and
 * deletes it. Prints what the service does and which settings it needs.
 *
 * @param samples folder of the sample media
 * @returns 1 if the video did not become ready or something remains on the service
 */
export async function probe(shell: Shell, samples: string, options: ProbeOptions): Promise<number> {
  const target = await findTarget(shell, options);
  const out = options.out === undefined ? null : resolve(shell.cwd, options.out);
  if (out !== null && existsSync(out))
    throw new CommandError(`${escapeControls(out)} already exists: choose another file with --out`, exitCodes.usage);
  shell.takeOverSignals();
  const budget = target.config === null ? null : await daemonBudget(target.config);
  const observation = new Observation(target.baseUrl);
  let requests = 0;
  await using client = openClient(target, {
    maxRetries: 0,
    onRequest: ({ method }) => void (requests += method === 'PUT' ? 0 : 1),
    onExchange: (exchange) => observation.note(exchange),
    ...(budget !== null && { requestGate: budget.gate }),
  });
  const file = new LeftoverFile(target.config?.stateDir ?? defaultStateDir(join(shell.cwd, 'dropcast.yaml'), shell));
  const context: ProbeContext = { shell, options, target, client, file, budget };
  try {
    await removeEarlier(context);
    if (options.cleanUp === true) return exitCodes.fine;
    const channel = await channelFor(context);
    const clip = await uniqueClip(samples);
    const timeoutMs = options.timeout ?? defaultTimeoutMs;
    await requireConsent(context, { channel, clip, timeoutMs });
    const did = (what: string): void => void shell.stderr.write(`${escapeControls(what)}\n`);
    const result = await sendProbe({ client, target, channel, clip, file, timeoutMs, shell, did });
    const { exchanges } = observation;
    const found = { points: pointsOf(exchanges, result), settings: settingsOf(exchanges, target) };
    printReport(context, { result, requests }, found);
    if (out !== null) await writeRecording(out, target.baseUrl, exchanges);
    return result.error === null && result.left === null ? exitCodes.fine : exitCodes.failed;
  } catch (error) {
    throw explain(error, { shell, target });
  }
}

interface ProbeContext {
  readonly shell: Shell;
  readonly options: ProbeOptions;
  readonly target: Target;
  readonly client: VideoClient;
  readonly file: LeftoverFile;
  readonly budget: DaemonBudget | null;
}

/** The request budget of a running daemon, which shares the key. */
interface DaemonBudget {
  /** Requests left in this hour. */
  readonly room: number;
  /** When the service accepts requests again, in epoch milliseconds; null if it does. */
  readonly blockedUntil: number | null;
  /** Counts each request in the daemon's budget before it is sent. */
  readonly gate: RequestGate;
}

/**
 * Finds the budget of the daemon that runs with this configuration.
 *
 * @returns null if no daemon is running
 * @throws {CommandError} the daemon does not answer, or this user may not command it
 */
async function daemonBudget(config: Config): Promise<DaemonBudget | null> {
  const status = await queryRunningDaemon<StatusView>(config, '/status').catch(
    onRefusal((refusal) => {
      if (refusal.exitCode === exitCodes.notRunning) return null;
      throw refusal;
    }),
  );
  if (status === null) return null;
  const { requests } = status;
  return {
    room: requests === null ? 0 : Math.max(0, requests.limit - requests.used - requests.others),
    blockedUntil: requests?.blocked_until ?? null,
    gate: { pass: () => passThrough(config), throttled: () => undefined },
  };
}

async function passThrough(config: Config): Promise<void> {
  await commandDaemon(config, '/request', {}).catch(
    onRefusal((refusal) => {
      // A daemon that has stopped in the meantime sends no requests that could exceed the budget.
      if (refusal.exitCode === exitCodes.notRunning) return;
      const message = `the daemon has no request to spare: \`dropcast status\` says until when (${refusal.message})`;
      throw new CommandError(message, exitCodes.failed, { cause: refusal });
    }),
  );
}

/** Deletes what an earlier probe left on the service, with the user's consent. */
async function removeEarlier({ shell, options, target, client, file }: ProbeContext): Promise<void> {
  const earlier = await file.read();
  if (earlier === null) {
    if (options.cleanUp === true) shell.stderr.write('No probe has left anything on the service.\n');
    return;
  }
  const since = new Date(earlier.started_at).toISOString();
  if (isRunning(earlier, Date.now()))
    throw new CommandError(`another probe has been running since ${since}: wait until it ends`);
  if (earlier.service !== target.baseUrl) {
    const message = `a probe of ${since} left ${nameOf(earlier)} on ${escapeControls(earlier.service)}, which is another service: delete it there, then remove ${file.path}`;
    throw new CommandError(message);
  }
  const question = `A probe of ${since} was interrupted and may have left ${nameOf(earlier)}. Delete it?`;
  const isWanted =
    options.yes === true || options.cleanUp === true || (canAsk(shell) && (await confirm(shell, question)));
  if (!isWanted)
    throw new CommandError(
      `a probe of ${since} may have left ${nameOf(earlier)}: \`dropcast probe --clean-up\` deletes it`,
    );
  const removal = await removeLeftover(client, earlier, shell.stopping);
  await file.forget();
  const what = removalWords[removal];
  shell.stderr.write(`${what} ${nameOf(earlier)}, from the probe of ${since}.\n`);
}

const removalWords: Readonly<Record<Removal, string>> = {
  deleted: 'Deleted',
  gone: 'Already gone:',
  'not found': 'Not among the newest videos:',
  'not ours': 'Not deleted, because it has another title:',
};

/**
 * Chooses the channel of the video: the given one, else that of the first rule that names one, else the only channel of
 * the account.
 */
async function channelFor({ options, target, client, shell }: ProbeContext): Promise<string> {
  const rules = target.config?.folders.flatMap((folder) => folder.rules) ?? [];
  const known = options.channel ?? rules.find(({ channel }) => !channel.includes('{'))?.channel;
  if (known !== undefined) return known;
  const channels = (await client.channels.list({ signal: shell.stopping })).map(({ id }) => id);
  const [only] = channels;
  if (only !== undefined && channels.length === 1) return only;
  const which = channels.length === 0 ? 'the account has none' : channels.slice(0, 20).map(escapeControls).join(', ');
  throw new CommandError(`name the channel of the video with --channel: ${which}`, exitCodes.usage);
}

/** @throws {CommandError} when the budget does not suffice, the user declines, or there is no terminal */
async function requireConsent(
  { shell, options, target, budget }: ProbeContext,
  { channel, clip, timeoutMs }: { readonly channel: string; readonly clip: Buffer; readonly timeoutMs: number },
): Promise<void> {
  const most = mostRequests(timeoutMs);
  if (budget !== null && budget.blockedUntil !== null) {
    const until = new Date(budget.blockedUntil).toISOString();
    throw new CommandError(`the service accepts no requests with this key until ${until}`);
  }
  if (budget !== null && budget.room < most) {
    const message = `a probe takes up to ${most} requests, and the daemon has ${formatCount(budget.room)} left in this hour: try again later, or with a shorter --timeout`;
    throw new CommandError(message);
  }
  const left = budget === null ? '' : `; the daemon has ${formatCount(budget.room)} left and counts them`;
  shell.stderr.write(
    `The probe creates one video, "dropcast probe …", in the channel ${escapeControls(channel)} of ${target.baseUrl},
sends ${formatBytes(clip.length)}, waits up to ${formatDuration(timeoutMs)} until the video is ready, and deletes it.
It takes about 7 requests, at most ${most}, of the hourly limit of the key${left}.
Until then, viewers of the channel may see the video.
`,
  );
  if (options.yes === true) return;
  if (!canAsk(shell))
    throw new CommandError('a probe needs your consent: pass --yes, because this is not a terminal', exitCodes.usage);
  if (!(await confirm(shell, 'Probe the service?'))) throw new CommandError('nothing was sent');
}

/** @param requests number of requests that count towards the limit of the key */
function printReport(
  context: ProbeContext,
  { result, requests }: { readonly result: ProbeResult; readonly requests: number },
  { points, settings }: { readonly points: readonly Point[]; readonly settings: readonly Setting[] },
): void {
  const { shell, options, target } = context;
  const problem = problemOf(context, result);
  const left = result.left === null ? null : { id: result.left.id, title: result.left.title };
  if (options.json === true) {
    const ok = problem === null && left === null;
    const { video } = result;
    printJson({ ok, service: target.baseUrl, video, problem, left, requests, points, settings }, shell.stdout);
  } else {
    shell.stdout.write(`${pointTable(shell, points)}\n${settingLines(settings, problem === null).join('\n')}\n`);
    shell.stdout.write(`\nNot probed:\n${notProbed.map((line) => `  ${line}\n`).join('')}`);
  }
  if (problem !== null) shell.stderr.write(`\nThe probe failed: ${problem}\n`);
  if (result.left !== null) shell.stderr.write(`${leftWords(result.left, context)}\n`);
}

function pointTable(shell: Shell, points: readonly Point[]): string {
  return tableOf(
    points,
    [
      ['point', ({ about }) => about, { cut: 'end' }],
      ['service', ({ service }) => service],
      ['dropcast', ({ dropcast }) => dropcast, { cut: 'end' }],
    ],
    shell,
  );
}

function settingLines(settings: readonly Setting[], isWhole: boolean): readonly string[] {
  if (settings.length > 0) return ['Settings that this service needs:', ...yamlOf(settings).map((line) => `  ${line}`)];
  return [
    isWhole ? 'No further settings needed.' : 'The probe ended before it could show whether settings are needed.',
  ];
}

/** What ended the probe early, in printable form; null if the video became ready. */
function problemOf({ shell, target }: ProbeContext, { error }: ProbeResult): string | null {
  if (error === null) return null;
  if (error instanceof LateError) return escapeControls(error.message);
  const explained = explain(error, { shell, target });
  if (explained instanceof CommandError) return explained.message;
  throw explained;
}

function leftWords(left: Leftover, { file }: ProbeContext): string {
  const what =
    left.id === null ? `the service may still create ${nameOf(left)}` : `${nameOf(left)} remains on the service`;
  return `${what}: \`dropcast probe --clean-up\` deletes it (noted in ${file.path}).`;
}
