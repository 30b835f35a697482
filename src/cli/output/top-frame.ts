import { clockTime } from '../../view/words/clock-time.ts';
import { expectationWords } from '../../daemon/expectations/expectation-words.ts';
import { fleetTroubles, hostWords } from '../../daemon/fleet/host-words.ts';
import { limitSentence } from '../../daemon/outlook/limit-words.ts';
import { deafWords } from '../../daemon/message-targets.ts';
import { waitLines } from '../../view/waits.ts';
import type { NowFile, OverviewView, Sentence } from '../../daemon/overview/overview-view.ts';
import { paint } from '../../log/colour.ts';
import type { Style } from '../../log/colour.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { formatBytes, formatCount, formatDuration, formatPercent, formatRate } from './format.ts';
import { cutEnd, cutMiddle, displayWidth, pad } from './text-width.ts';

export interface TopFrame {
  readonly view: OverviewView;
  /** Columns of the terminal; `Infinity` in a file or pipe. */
  readonly width: number;
  readonly colour: boolean;
}

interface Line {
  readonly text: string;
  readonly style?: Style;
}

/** Pure: the overview as lines of text, none wider than the terminal. */
export function topLines({ view, width, colour }: TopFrame): readonly string[] {
  const lines: readonly Line[] = [
    { text: view.sentence.text, style: looks[view.sentence.level] },
    ...trouble(view),
    ...stages(view, width),
    ...limit(view),
    ...needsYou(view),
    ...now(view, width),
    ...hosts(view),
    { text: '' },
    budget(view),
    ...feeds(view),
    day(view),
  ];
  return lines.map(({ text, style }) => {
    const shown = cutEnd(escapeControls(text), width);
    return style === undefined || shown === '' ? shown : paint(style, shown, colour);
  });
}

const looks: Readonly<Record<Sentence['level'], Style>> = {
  ok: 'green',
  busy: 'bold',
  attention: 'yellow',
  stopped: 'red',
};

function trouble({ waits, folders, expectations, deaf_targets: targets, fleet, at }: OverviewView): readonly Line[] {
  return [
    ...waitLines(waits, at).map((text) => ({ text, style: 'yellow' as const })),
    ...folders
      .filter(({ state }) => state !== 'frozen')
      .map(({ path, state }) => ({ text: `${state}  ${path}`, style: 'yellow' as const })),
    ...expectations
      .filter(({ state }) => state === 'missing' || state === 'late')
      .map((each) => ({
        text: `${each.state}  ${each.match} in ${each.folder}: ${expectationWords(each, at)}`,
        style: 'yellow' as const,
      })),
    ...targets.map((each) => ({ text: `not told  ${deafWords(each, at)}`, style: 'yellow' as const })),
    ...(fleet === null ? [] : fleetTroubles(fleet, at)).map((text) => ({ text, style: 'yellow' as const })),
  ];
}

/** In one line where there is room: `settling 1 → queued 12 → [uploading 2] → …`, the slowest in brackets. */
function stages({ stages: all, retrying, at }: OverviewView, width: number): readonly Line[] {
  const parts = all.map(({ name, files, bottleneck }) => {
    const words = `${name} ${formatCount(files)}`;
    return bottleneck === null ? words : `[${words}]`;
  });
  const line = parts.join(' → ');
  const retries =
    retrying.files === 0
      ? []
      : [
          {
            text: `retrying ${formatCount(retrying.files)}${retrying.next_at === null || retrying.next_at < at ? '' : `, the next at ${clockTime(retrying.next_at, at)}`}`,
          },
        ];
  const shown = displayWidth(line) <= width ? [line] : parts;
  return [{ text: '' }, ...shown.map((text) => ({ text, style: 'bold' as const })), ...retries];
}

function limit({ outlook, at }: OverviewView): readonly Line[] {
  const words = limitSentence(outlook);
  if (words === null || outlook.limited_by === 'pause') return [];
  const done = outlook.done_at === null ? '' : ` All done at about ${clockTime(outlook.done_at, at)}.`;
  return [{ text: `${words}.${done}` }];
}

const mostCauses = 5;

function needsYou({ needs_you: { files, causes, more } }: OverviewView): readonly Line[] {
  if (files === 0) return [];
  const shown = causes.slice(0, mostCauses);
  const rest = files - shown.reduce((sum, cause) => sum + cause.files, 0);
  const reasons = causes.length - shown.length + more.causes;
  return [
    { text: '' },
    { text: 'Needs you', style: 'bold' },
    ...shown.map(({ title, next }) => ({ text: `${title}. ${next}`, style: 'yellow' as const })),
    ...(rest === 0 ? [] : [{ text: `… and ${formatCount(rest)} for ${reasons} other reasons` }]),
  ];
}

function now({ now: { files, more }, at }: OverviewView, width: number): readonly Line[] {
  if (files.length === 0) return [];
  const names = files.map(({ path }) => escapeControls(path.slice(path.lastIndexOf('/') + 1)));
  const longest = Math.max(...names.map(displayWidth));
  const room = Math.min(longest, Math.max(12, Math.floor(Math.min(width, 160) * 0.35)));
  return [
    { text: '' },
    { text: 'Now', style: 'bold' },
    ...files.map((file, n) => ({
      text: `${pad(cutMiddle(names[n] ?? '', room), room)}  ${pad(file.state, 16)}  ${meters(file, at)}`.trimEnd(),
    })),
    ...(more === 0 ? [] : [{ text: `… and ${formatCount(more)} more` }]),
  ];
}

function meters(file: NowFile, at: number): string {
  const {
    state,
    sent,
    size,
    bytes_per_second: speed,
    ready_at: ready,
    sent_at: sentAt,
    next_look_at: look,
    why,
    host,
  } = file;
  const isSending = state === 'uploading' && sent !== null;
  const next = state === 'retrying' ? 'next try' : 'next check';
  return [
    ...(isSending ? [`${pad(formatPercent(sent, size), 4, 'right')} of ${formatBytes(size)}`] : []),
    ...(isSending && speed !== null ? [formatRate(speed)] : []),
    ...(ready !== null
      ? [`ready at ${clockTime(ready, at)}`]
      : sentAt === null
        ? []
        : [`sent at ${clockTime(sentAt, at)}`]),
    ...(look !== null && look > at ? [`${next} in ${formatDuration(Math.ceil((look - at) / 1_000) * 1_000)}`] : []),
    ...(why === null ? [] : [why]),
    ...(host === null ? [] : [`on ${host}`]),
  ].join('  ');
}

/** Of several hosts, what each of them does. */
function hosts({ fleet, at }: OverviewView): readonly Line[] {
  if (fleet === null || fleet.hosts.length < 2) return [];
  const longest = Math.max(...fleet.hosts.map(({ name }) => displayWidth(escapeControls(name))));
  return [
    { text: '' },
    { text: 'Hosts', style: 'bold' },
    ...fleet.hosts.map((host) => ({
      text: `${pad(escapeControls(host.name), longest)}  ${hostWords(host, at)}${host.bytes_per_second === null ? '' : `  ${formatRate(host.bytes_per_second)}`}`,
      ...(host.state !== 'running' && { style: 'yellow' as const }),
    })),
  ];
}

const gaugeWidth = 24;

function budget({ budget: { used, limit: most, others, blocked_until: blocked, frees }, at }: OverviewView): Line {
  const full = Math.min(gaugeWidth, Math.round((gaugeWidth * (used + others)) / Math.max(1, most)));
  const [first] = frees;
  const free =
    first === undefined || used === 0
      ? ''
      : `; ${formatCount(first.requests)} free again at ${clockTime(first.at, at)}`;
  const rest = blocked === null ? free : `; rate limited until ${clockTime(blocked, at)}`;
  const theirs = others === 0 ? '' : `, others about ${formatCount(others)}`;
  return {
    text: `API requests  ${'█'.repeat(full)}${'░'.repeat(gaugeWidth - full)}  ${formatCount(used)} of ${formatCount(most)} used${theirs}${rest}`,
  };
}

function feeds({ feeds: all, at }: OverviewView): readonly Line[] {
  return all.map(({ feed, published_at: published, waiting, next_at: next, failure }) => {
    const last = published === null ? 'not published yet' : `published ${clockTime(published, at)}`;
    const wait =
      waiting === 0
        ? ''
        : `, ${formatCount(waiting)} newer${next === null || next < at ? '' : ` by ${clockTime(next, at)}`}`;
    const failed = failure === null ? '' : `, failed: ${failure}`;
    return { text: `Feed ${feed}  ${last}${wait}${failed}`, ...(failure !== null && { style: 'red' as const }) };
  });
}

function day({ day: { done, failed, bytes } }: OverviewView): Line {
  const wrong = failed === 0 ? '' : `, ${formatCount(failed)} failed or held`;
  return { text: `Last 24 hours  ${formatCount(done)} live (${formatBytes(bytes)})${wrong}` };
}
