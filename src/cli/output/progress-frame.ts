import { paint } from '../../log/colour.ts';
import type { Style } from '../../log/colour.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { RunTotals } from '../run/run-tally.ts';
import { formatBytes, formatDuration, formatPercent, formatRate } from './format.ts';
import { etaMs, hasEnded } from './progress-view.ts';
import type { FileProgress, ProgressView, Requests, TransferRates } from './progress-view.ts';
import { cutEnd, cutMiddle, displayWidth, pad } from './text-width.ts';

export interface FrameInput {
  readonly view: ProgressView;
  readonly rates: TransferRates;
  readonly nowMs: number;
  /** Size of the terminal. */
  readonly size: { readonly columns: number; readonly rows: number };
  readonly colour: boolean;
}

const MAX_FILE_ROWS = 10;
const STAGE_WIDTH = 'processing'.length;
const MIN_NAME_WIDTH = 16;
/** Minimum width for a reason. Anything shorter is not worth showing. */
const MIN_REASON_WIDTH = 12;
const GAP = '  ';

/**
 * Renders the live region: active files, the number of further files, and the total. One column narrower than the
 * terminal, because some terminals wrap a line that fills the last column; one row shorter, for the cursor.
 */
export function progressFrame(input: FrameInput): readonly string[] {
  const width = Math.max(0, input.size.columns - 1);
  const active = byActivity(input.view.files);
  const shown = active.slice(0, fileRows(active.length + input.view.more, input.size.rows));
  const hidden = active.length + input.view.more - shown.length;
  const nameWidth = nameWidthOf(shown, width);
  return [
    ...shown.map((file) => fileRow(file, input, { width, nameWidth })),
    ...(hidden > 0 && input.size.rows > 3 ? [cutEnd(`… and ${hidden} more`, width)] : []),
    ...(input.view.totals === null ? [] : [totalRow(input, width)]),
  ];
}

/** Number of file rows. Leaves room for the total, the cursor, and the row that counts further files. */
function fileRows(active: number, rows: number): number {
  const room = rows - 2;
  return Math.max(0, Math.min(MAX_FILE_ROWS, active <= Math.min(room, MAX_FILE_ROWS) ? room : room - 1));
}

const retrying = 'retrying';

/** Display order: files in motion first. Files of the same kind keep their order, so that rows do not jump. */
const ORDER = ['uploading', 'processing', 'publishing', retrying, 'queued'];

function byActivity(files: readonly FileProgress[]): readonly FileProgress[] {
  const rank = (file: FileProgress) => {
    const place = ORDER.indexOf(kindOf(file));
    return place === -1 ? ORDER.length : place;
  };
  return files.filter((file) => !hasEnded(file)).toSorted((a, b) => rank(a) - rank(b));
}

function kindOf({ stage, isRetrying }: FileProgress): string {
  return isRetrying === true ? retrying : stage;
}

const STYLES: Readonly<Record<string, Style>> = { uploading: 'cyan', processing: 'blue', [retrying]: 'yellow' };

/**
 * Formats a file as `name  uploading  ██████░░░░  60%  12 MB / 20 MB  8.1 MB/s  1 s`, or with the reason in place of
 * the meters. All names in a frame have the same width; a narrow terminal drops the least important cells first.
 */
function fileRow(
  file: FileProgress,
  input: FrameInput,
  { width, nameWidth }: Record<'width' | 'nameWidth', number>,
): string {
  const name = pad(cutMiddle(escapeControls(file.name), nameWidth), nameWidth);
  const stage = pad(cutEnd(escapeControls(file.stage), STAGE_WIDTH), STAGE_WIDTH);
  const room = width - nameWidth - STAGE_WIDTH - 2 * GAP.length;
  if (room < -GAP.length) return cutMiddle(escapeControls(file.name), width);
  const rest = kindOf(file) === 'uploading' ? fittingCells(meters(file, input), room).join(GAP) : reason(file, room);
  return [name, paintStage(file, stage, input.colour), ...(rest === '' ? [] : [rest])].join(GAP);
}

/** Width of the name column: the longest name shown, limited so that the state and the percentage still fit. */
function nameWidthOf(shown: readonly FileProgress[], width: number): number {
  const longest = Math.max(0, ...shown.map(({ name }) => displayWidth(escapeControls(name))));
  const most = Math.max(MIN_NAME_WIDTH, Math.floor(width * 0.4));
  return Math.max(1, Math.min(longest, most, width - STAGE_WIDTH - GAP.length));
}

function reason(file: FileProgress, room: number): string {
  return file.why === null || room < MIN_REASON_WIDTH ? '' : cutEnd(escapeControls(file.why), room);
}

function paintStage(file: FileProgress, right: string, colour: boolean): string {
  const style = STYLES[kindOf(file)];
  return style ? paint(style, right.slice(0, STAGE_WIDTH), colour) + right.slice(STAGE_WIDTH) : right;
}

interface Cell {
  readonly text: string;
  /** Importance. The cell with the lowest weight is dropped first. */
  readonly weight: number;
}

function meters(file: FileProgress, { rates, nowMs }: FrameInput): readonly Cell[] {
  const rate = rates.ofFile(file.id, nowMs);
  const eta = etaMs(file.sizeBytes - file.sentBytes, rate);
  return [
    { text: bar(file), weight: 1 },
    { text: pad(formatPercent(file.sentBytes, file.sizeBytes), 4, 'right'), weight: 5 },
    { text: pad(`${formatBytes(file.sentBytes)} / ${formatBytes(file.sizeBytes)}`, 17, 'right'), weight: 2 },
    { text: pad(formatRate(rate), 9, 'right'), weight: 3 },
    { text: pad(formatDuration(eta), 9, 'right'), weight: 4 },
  ];
}

const BAR_WIDTH = 16;

function bar({ sentBytes, sizeBytes }: FileProgress): string {
  const share = sizeBytes > 0 ? sentBytes / sizeBytes : 0;
  const full = Math.floor(Math.min(1, Math.max(0, share)) * BAR_WIDTH) || 0;
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
}

/** Drops the least important cells until the rest fit. */
function fittingCells(cells: readonly Cell[], room: number): readonly string[] {
  const needed = cells.reduce((sum, { text }) => sum + GAP.length + displayWidth(text), -GAP.length);
  if (needed <= room || cells.length === 0) return cells.map(({ text }) => text);
  const least = Math.min(...cells.map(({ weight }) => weight));
  return fittingCells(
    cells.filter(({ weight }) => weight !== least),
    room,
  );
}

function totalRow({ view, rates, nowMs, colour }: FrameInput, width: number): string {
  const text = cutEnd(totalParts(view, rates.ofAll(nowMs), nowMs).join('   '), width);
  return paint('bold', text, colour);
}

/**
 * Formats the totals as parts, most important first: `3/12 done, 1 failed   45 MB / 120 MB   8.1 MB/s   9.2 s left
 * requests 12/1000`. Empty if the view has no totals.
 */
export function totalParts({ totals, requests }: ProgressView, rate: number | null, nowMs: number): readonly string[] {
  if (totals === null) return [];
  const moved = bytesParts({ sentBytes: totals.sentBytes, sizeBytes: totals.totalBytes }, rate);
  return [counts(totals), ...moved, ...(requests === null ? [] : [budget(requests, nowMs)])];
}

/** Formats one running upload as parts, such as `45%`, `12 MB / 30 MB`, `8.1 MB/s` and `2.2 s left`. */
export function fileParts(file: FileProgress, rate: number | null): readonly string[] {
  return [formatPercent(file.sentBytes, file.sizeBytes), ...bytesParts(file, rate)];
}

type Bytes = Pick<FileProgress, 'sentBytes' | 'sizeBytes'>;

function bytesParts({ sentBytes, sizeBytes }: Bytes, rate: number | null): readonly string[] {
  const amount = `${formatBytes(sentBytes)} / ${formatBytes(sizeBytes)}`;
  if (sentBytes >= sizeBytes) return [amount];
  const leftMs = etaMs(sizeBytes - sentBytes, rate);
  const speed = rate === null ? [] : [formatRate(rate)];
  return [amount, ...speed, ...(leftMs === null ? [] : [`${formatDuration(leftMs)} left`])];
}

function counts({ done, failed, held, total }: RunTotals): string {
  const rest = [failed > 0 ? `, ${failed} failed` : '', held > 0 ? `, ${held} held` : ''].join('');
  return `${done}/${total} done${rest}`;
}

function budget({ used, limit, waitingUntil }: Requests, nowMs: number): string {
  const wait =
    waitingUntil === null || waitingUntil <= nowMs ? '' : `, next in ${formatDuration(waitingUntil - nowMs)}`;
  return `requests ${used}/${limit}${wait}`;
}
