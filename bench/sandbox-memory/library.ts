/** Rows of one table, in the form of the sandbox's snapshot. */
type Row = Record<string, string | number | null>;

/** A snapshot as the sandbox exports it. */
export interface Snapshot {
  readonly v: number;
  readonly schema: number;
  readonly exported_at: string;
  readonly tables: Readonly<Record<string, readonly Row[]>>;
  readonly sequences: Readonly<Record<string, number>>;
}

/**
 * The snapshot of an empty sandbox with many ready videos in it, as the text of a request, piece by piece: it is larger
 * than what this process should hold either.
 *
 * @param count how many videos; they have descriptions of 300 characters, and are all in the same channel
 */
export function* snapshotWith(empty: Snapshot, count: number): Generator<string> {
  const { tables, sequences, ...head } = empty;
  yield `${JSON.stringify(head).slice(0, -1)},"sequences":${JSON.stringify({ ...sequences, videos: count })},"tables":{`;
  const others = Object.entries(tables).filter(([name]) => name !== 'videos');
  yield others.map(([name, rows]) => `${JSON.stringify(name)}:${JSON.stringify(rows)},`).join('');
  yield '"videos":[';
  for (let first = 1; first <= count; first += rowsOfAPiece) {
    const numbers = Array.from({ length: Math.min(rowsOfAPiece, count - first + 1) }, (_, index) => first + index);
    yield `${first === 1 ? '' : ','}${numbers.map((number) => JSON.stringify(videoRow(number))).join(',')}`;
  }
  yield ']}}';
}

const rowsOfAPiece = 500;
const startMs = Date.UTC(2026, 0, 1);

function videoRow(number: number): Row {
  return {
    number,
    id: `vid_${String(number).padStart(16, '0')}`,
    title: `News ${number}: the harbour`,
    description: 'What happened overnight. '.repeat(12),
    channel_id: 'ch_main',
    tags: '["news","morning"]',
    source_url: null,
    created_at_ms: startMs + number,
    due_at_ms: null,
    status: 'ready',
    uploaded_at_ms: startMs + number,
    ended_at_ms: startMs + number,
    failure_code: null,
    failure_message: null,
    file_size_bytes: 65_182,
    file_sha256: number.toString(16).padStart(64, '0'),
    container: 'mp4',
    duration_s: 4,
    media_type: 'video/mp4',
    file_extension: 'mp4',
    width: 320,
    height: 180,
    video_codec: 'AVC',
    audio_codec: 'AAC',
    bit_rate: 130_000,
    frame_rate: 25,
  };
}
