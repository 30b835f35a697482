import { holdAnswer, sendAnswer } from '../faults/held-answer.ts';
import { isApiPath, operationOf } from '../http/operations.ts';
import type { Layer } from '../http/server.ts';
import type { Services } from '../services.ts';
import { settledAnswer } from './settled-answer.ts';
import { defaultSwitches, switchNames, type Switches } from './switch-table.ts';

/** Gives every answer of the API and of uploads the form that the switches select. Does nothing by default. */
export function createProfileLayer({ switchboard, clock }: Pick<Services, 'switchboard' | 'clock'>): Layer {
  return async (exchange, proceed) => {
    const { method = '', url = '' } = exchange.request;
    const path = url.split('?', 1)[0] ?? '';
    const switches = switchboard.now;
    if (!isApiPath(path) || isDefault(switches)) return proceed(exchange);
    const held = holdAnswer(exchange.response);
    await proceed(exchange);
    const answer = await held;
    if (answer === undefined) return;
    const { response } = exchange;
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    sendAnswer(
      response,
      settledAnswer(answer, { operation: operationOf(method, path), nowMs: clock.nowMs() }, switches),
    );
  };
}

function isDefault(switches: Switches): boolean {
  return switchNames.every((name) => switches[name] === defaultSwitches[name]);
}
