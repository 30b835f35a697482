// The public API of the package: the sandbox itself.

import './node-version.ts';
export { startSandbox } from './sandbox.ts';
export type { Sandbox } from './sandbox.ts';
export { OptionsError } from './options.ts';
export type { OptionProblem, SandboxOptions } from './options.ts';
export { openPoints, profiles } from './profiles/switch-table.ts';
export type { OpenPoint, ProfileName, SwitchName, Switches } from './profiles/switch-table.ts';
export { useSandbox } from './testing/use-sandbox.ts';
export type { TestHooks } from './testing/use-sandbox.ts';
export { ExpectationError } from './inspector/verify.ts';
export type { Expectation, Verification } from './inspector/expectation.ts';
export type { Matcher } from './inspector/matcher.ts';
export type { Pattern } from './inspector/pattern.ts';
