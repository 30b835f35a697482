import type { AnyStateNode, AnyTransitionDefinition } from 'xstate';

import { fileMachine } from '../src/pipeline/file/machine.ts';

/**
 * The file machine as a Mermaid `stateDiagram-v2`, for `docs/file-machine.mmd`. Made from the state nodes and not by
 * xstate's `toDirectedGraph`, which leaves out `always` edges (statelyai/xstate #5160): all of `resuming` here.
 */
export function fileMachineDiagram(): string {
  const states = Object.values(fileMachine.states);
  const initial = fileMachine.root.initial.target.map((state) => `  [*] --> ${idOf(state)}`);
  return [
    'stateDiagram-v2',
    '  direction LR',
    ...states.flatMap(declared),
    ...initial,
    ...states.flatMap(edgesOf),
    '',
  ].join('\n');
}

/** Mermaid ends a text at a colon or semicolon. */
const unpunctuated = (text: string): string => text.replaceAll(/[:;]/g, ',');

function declared(state: AnyStateNode): string[] {
  const { description } = state;
  const note = description === undefined ? [] : [`  note right of ${idOf(state)} : ${unpunctuated(description)}`];
  return [`  state "${state.key}" as ${idOf(state)}`, ...note];
}

function edgesOf(state: AnyStateNode): string[] {
  const always = (state.always ?? []).flatMap((edge) => arrow(state, edge, edge.guard === undefined ? 'else' : null));
  const events = [...state.transitions.values()].flat().flatMap((edge) => arrow(state, edge, edge.eventType));
  return [...always, ...events, ...(state.type === 'final' ? [`  ${idOf(state)} --> [*]`] : [])];
}

/** A transition without a target stays where it is: no arrow. */
function arrow(from: AnyStateNode, edge: AnyTransitionDefinition, event: string | null): string[] {
  const label = [event, conditionOf(edge)].filter((part) => part !== null).join(' ');
  return (edge.target ?? []).map((target) => `  ${idOf(from)} --> ${idOf(target)} : ${label}`);
}

/** `leftOff processing`; parameters that come with the event are not known here. */
function conditionOf({ guard }: AnyTransitionDefinition): string | null {
  if (guard === undefined) return null;
  if (typeof guard === 'string') return `[${guard}]`;
  const { type, params } = guard as { type: string; params?: unknown };
  const values = typeof params === 'object' && params !== null ? Object.values(params).flat() : [];
  return values.length === 0 ? `[${type}]` : `[${type} ${values.join(' or ')}]`;
}

function idOf({ key }: AnyStateNode): string {
  return key.replaceAll(' ', '_');
}
