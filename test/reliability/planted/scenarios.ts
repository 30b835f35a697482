import type { Scenario } from './scenario.ts';
import { changeScenarios } from './scenarios/changes.ts';
import { compiledScenarios } from './scenarios/compiled.ts';
import { serviceScenarios } from './scenarios/service.ts';
import { stateScenarios } from './scenarios/state.ts';

const all = { ...serviceScenarios, ...changeScenarios, ...stateScenarios, ...compiledScenarios };

export type ScenarioName = keyof typeof all;

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = all;
