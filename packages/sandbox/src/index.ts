// The public API of the package: the sandbox itself, and key management.

export { startSandbox } from './sandbox.ts';
export type { Sandbox } from './sandbox.ts';
export { OptionsError } from './options.ts';
export type { OptionProblem, SandboxOptions } from './options.ts';
export { openPoints, profiles } from './profiles/switch-table.ts';
export type { OpenPoint, ProfileName, SwitchName, Switches } from './profiles/switch-table.ts';
export { parseSwitch, profileNamed } from './profiles/switchboard.ts';
export { useSandbox } from './testing/use-sandbox.ts';
export type { TestHooks } from './testing/use-sandbox.ts';
export { ExpectationError } from './inspector/verify.ts';
export type { Expectation, Verification } from './inspector/expectation.ts';
export type { Matcher } from './inspector/matcher.ts';
export type { Pattern } from './inspector/pattern.ts';
export { readAnnouncement } from './announcement.ts';
export { isLoopbackHost } from './loopback.ts';
export { KeyDesk } from './admin/key-desk.ts';
export type { KeyView } from './admin/key-desk.ts';
export { AdminError, RemoteKeys } from './admin/remote-keys.ts';
export { openRecords } from './store/records.ts';
export { DataFolderError } from './store/database.ts';
