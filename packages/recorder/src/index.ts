// The public API of the package: records the traffic between a program and a service, compares it with the contract,
// and replays it.

export { compare } from './compare/compare.ts';
export type { Comparison, Finding } from './compare/compare.ts';
export type { SettledPoint } from './compare/settled-points.ts';
export { forms } from './compare/forms.ts';
export type { FormName, SeenForm } from './compare/forms.ts';
export { Observation } from './observation.ts';
export { readRecording, RecordingError } from './recording.ts';
export type { RecordedExchange, RecordedMessage, Recording } from './recording.ts';
export { writeRecording } from './recording.ts';
export { startRecorder } from './recorder.ts';
export type { Recorder, RecorderOptions } from './recorder.ts';
export { startReplay } from './replay.ts';
export type { Replay, ReplayOptions } from './replay.ts';
