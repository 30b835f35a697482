// The public API of the package: record the traffic of a program and a service, compare it with the contract, replay.

export { compare } from './compare/compare.ts';
export type { Comparison, Finding } from './compare/compare.ts';
export type { SettledPoint } from './compare/settled-points.ts';
export { readRecording, RecordingError } from './recording.ts';
export type { RecordedExchange, RecordedMessage, Recording } from './recording.ts';
export { startRecorder } from './recorder.ts';
export type { Recorder, RecorderOptions } from './recorder.ts';
export { startReplay } from './replay.ts';
export type { Replay, ReplayOptions } from './replay.ts';
