import type { Exchange } from '../http/exchange.ts';
import { isOfApi, operationOf } from '../http/operations.ts';
import type { Layer } from '../http/server.ts';
import type { World } from '../world.ts';
import { BodyValve } from './body-valve.ts';
import { callOf, channelInBody, hasBody } from './call-of-request.ts';
import { suffer } from './suffer.ts';

/** Lets the planned faults happen, around everything that answers API requests and uploads; nothing else is ever hit. */
export function createFaultLayer(parts: Pick<World, 'faults' | 'records' | 'clock' | 'journal'>): Layer {
  const { faults, records, clock, journal } = parts;
  return async (arrived, proceed) => {
    const { method = '', url = '' } = arrived.request;
    const operation = operationOf(method, url.split('?', 1)[0] ?? '');
    const interest = isOfApi(operation) ? faults.interestIn(operation) : 'none';
    if (interest === 'none') return proceed(arrived);
    const valve = new BodyValve(arrived.request); // before the first byte: nothing may be awaited above
    const isChannelInBody = interest === 'the channel' && operation === 'videos.create' && hasBody(arrived.request);
    const exchange = isChannelInBody ? withBodyAskedFor(arrived) : arrived;
    const channel = isChannelInBody ? { channelId: await channelInBody(valve) } : {};
    const fault = faults.take({ ...callOf(operation, url, records), ...channel });
    if (fault) journal.noteFault(exchange.response, fault.rule.kind);
    return suffer(fault?.rule, { exchange, valve, proceed: () => proceed(exchange), nowMs: clock.nowMs() });
  };
}

function withBodyAskedFor(exchange: Exchange): Exchange {
  if (exchange.awaitsContinue) exchange.response.writeContinue();
  return { ...exchange, awaitsContinue: false };
}
